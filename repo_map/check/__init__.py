"""What to do after an edit: what it breaks, what it forgot, and which tests to run."""
