"""What a model or a person asks of an index: search, read, references, outline."""
