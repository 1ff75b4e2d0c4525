"""The past of a repository: which commits said what, and which files and lines they touched."""

from repo_map.history.reading import read_history
from repo_map.history.value import History

__all__ = ["History", "read_history"]
