"""What a name means: the one core by which the names of every language are resolved."""
