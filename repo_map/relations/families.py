"""The families of languages that relations are resolved for."""

from __future__ import annotations

from typing import Final

from repo_map.relations.c import C
from repo_map.relations.go import Go
from repo_map.relations.jvm import Jvm
from repo_map.relations.php import Php
from repo_map.relations.python import Python
from repo_map.relations.ruby import Ruby
from repo_map.relations.rust import Rust
from repo_map.relations.script import Script

FAMILIES: Final = {
    make.__module__.rpartition(".")[2]: make for make in (C, Go, Jvm, Php, Python, Ruby, Rust, Script)
}
"""By the name that the languages' records give; each is made once for an index."""
