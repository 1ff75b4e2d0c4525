"""Running code that nobody has read: limits, a cell around the process, and what came of it."""
