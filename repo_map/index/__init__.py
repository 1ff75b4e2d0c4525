"""From files to tables that are kept on disk and follow the tree as it changes."""
