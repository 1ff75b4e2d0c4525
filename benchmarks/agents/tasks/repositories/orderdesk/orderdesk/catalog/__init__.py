"""What is sold, and how much of it is there."""
