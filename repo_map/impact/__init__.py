"""What a change touches: a patch read, its lines found in the tree, and what is at risk."""
