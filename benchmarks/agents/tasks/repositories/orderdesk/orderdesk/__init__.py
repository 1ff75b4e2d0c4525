"""Takes orders for a small warehouse."""
