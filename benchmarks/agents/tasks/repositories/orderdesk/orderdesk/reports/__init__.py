"""What the owner reads."""
