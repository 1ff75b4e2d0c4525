"""Source in, map out: an index of a repository's symbols and maps of it that fit a token budget."""
