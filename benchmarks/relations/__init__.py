"""Relations that the index states, compared with language servers."""
