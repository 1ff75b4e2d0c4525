"""What is written into the configurations of assistants, and taken back."""
