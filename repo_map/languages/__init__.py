"""What is known of each language: its grammar, queries, comments and words."""
