"""A plan to the level of each file and part."""
