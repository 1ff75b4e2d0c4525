"""The kinds of definition that queries may produce, and what is common to them."""

from __future__ import annotations

from typing import Final

FUNCTIONS: Final = frozenset({"function", "method", "macro"})
TYPES: Final = frozenset({"class", "interface", "struct", "enum", "trait", "impl"})
"""Kinds whose functions are methods, and whose constants are fields."""
CONTAINERS: Final = TYPES | {"module"}
"""Kinds in whose bodies definitions stand."""
CODE: Final = FUNCTIONS | TYPES - {"impl"} | {"type"}
"""Kinds that are worth following from one to the other."""
MEMBERS: Final = frozenset({"field", "constant"})
"""Kinds that join a map from level 3 on."""
TEXT: Final = frozenset({"heading", "key", "element", "rule"})
"""Kinds of prose, markup and data: no code refers to them by name."""
KINDS: Final = FUNCTIONS | CONTAINERS | MEMBERS | TEXT | {"type", "table"}
"""Every kind; a test holds the queries to them."""
