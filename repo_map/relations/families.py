"""The families of languages that relations are resolved for."""

from __future__ import annotations

from typing import Final

from repo_map.relations.python import Python
from repo_map.relations.script import Script

FAMILIES: Final = (Python, Script)
"""Each is made once for an index that has files in one of its languages."""
