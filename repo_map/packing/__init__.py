"""Scores in, flight plan out: the parts of a repository that are worth a budget of tokens."""

from repo_map.packing.pack import pack

__all__ = ["pack"]
