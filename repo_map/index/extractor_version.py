"""What made an index: its code, its queries and its grammars, so that no other cache is believed."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

EXTRACTOR = (
    "atomic_files.py",
    "distinct.py",
    "errors.py",
    "globs.py",
    "index/*.py",
    "languages/**/*.scm",
    "languages/*.py",
    "languages/*/__init__.py",
    "languages/*/*blocks.py",
    "languages/*/*forms.py",
    "languages/*/*reader.py",
    "limits.py",
    "messages.py",
    "parsing/*.py",
    "recent.py",
    "secrets/**/*.*",
    "sources/*.py",
    "text/*.py",
    "working_folder.py",
)
"""The files that decide what tables say, as patterns within the package; a test follows the imports."""
_DEPENDENCIES = ("tree_sitter", "pystemmer", "ahocorasick_rs")


@cache
def extractor_version() -> str:
    """Return a digest that changes whenever the same bytes of a repository could give other tables."""
    whole = hashlib.sha256(repr(sys.version_info[:2]).encode())
    package = Path(__file__).parent.parent
    for path in sorted({found for pattern in EXTRACTOR for found in package.glob(pattern)}):
        if path.suffix == ".pyc":
            continue
        whole.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    for name in _installed_versions():
        whole.update(name.encode() + b"\0")
    return whole.hexdigest()[:16]


def _installed_versions() -> list[str]:
    """Return the names of the metadata folders of the parsers, each of which carries a version."""
    spec = find_spec("tree_sitter")
    if spec is None or spec.origin is None:
        return []
    packages = Path(spec.origin).parent.parent
    names = (entry.name for entry in packages.iterdir() if entry.suffix == ".dist-info")
    return sorted(name for name in names if name.lower().startswith(_DEPENDENCIES))
