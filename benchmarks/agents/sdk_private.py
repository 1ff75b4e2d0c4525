"""The private names of ADK that are used here, each with its reason; ADK's minor version is pinned."""

from __future__ import annotations

# Not among the package's exports, and the only way to what failed inside a node that was run dynamically.
from google.adk.workflow._errors import DynamicNodeFailError

__all__ = ["DynamicNodeFailError"]
