"""The past of a repository: which commits said what, and which files and lines they touched."""
