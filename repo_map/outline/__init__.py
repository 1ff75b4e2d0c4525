"""Scores in, flight plan out: the parts of a repository that are worth a budget of tokens."""
