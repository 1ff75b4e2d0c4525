"""Build the MCPB bundle: ``python packaging/bundle.py [FILE]``; the same tree gives the same bytes."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from manifests import ROOT, as_json, bundle_manifest

PACKAGES: Final = ("mcp_server", "navigator", "repo_map", "repo_navigator")
_LEFT_OUT: Final = frozenset({"__pycache__"})
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def build(target: Path) -> Path:
    """Write the bundle to ``target`` and return it."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        _add(bundle, "manifest.json", as_json(bundle_manifest()).encode())
        _add(bundle, "pyproject.toml", _pinned(project).encode())
        for path in sorted(_files()):
            _add(bundle, path.relative_to(ROOT).as_posix(), path.read_bytes())
    return target


def _files() -> Iterator[Path]:
    yield from (ROOT / name for name in ("LICENSE", "README.md", "packaging/hatch_build.py"))
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and not _LEFT_OUT & set(path.parts):
                yield path


def _pinned(project: str) -> str:
    """Return the project file with the tested versions, so that uv installs no others."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    listed = "".join(f"    {json.dumps(pin)},\n" for pin in pins)
    return f"{project}\n[tool.uv]\nconstraint-dependencies = [\n{listed}]\n"


def _add(bundle: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    bundle.writestr(entry, data)


if __name__ == "__main__":
    built = build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "repo-navigator.mcpb")
    sys.stdout.write(f"{built}: {built.stat().st_size / 1e6:.1f} MB\n")
