"""How good and how fast the navigator is, on tasks with known answers."""
