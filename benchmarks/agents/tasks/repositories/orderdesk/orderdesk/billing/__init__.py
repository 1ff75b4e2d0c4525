"""What customers pay."""
