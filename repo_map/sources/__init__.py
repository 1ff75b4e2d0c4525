"""A tree on disk: which files it has, as git sees them, what each is, and its bytes."""
