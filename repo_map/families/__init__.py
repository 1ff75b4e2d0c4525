"""The families of languages whose names are resolved, a folder each."""
