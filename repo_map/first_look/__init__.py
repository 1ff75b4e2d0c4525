"""A first look: an index of the files that a goal's words point at, before the whole tree is read."""
