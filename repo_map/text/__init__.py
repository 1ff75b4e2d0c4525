"""A file as text that is counted: tokens, terms, units and their costs."""
