"""The official MCPB command line on the manifest of our bundle."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.conformance.node import HERE, run_tool


def check_bundle(environ: Mapping[str, str]) -> list[str]:
    """Validate the manifest; return what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "repo-navigator.mcpb")
        build = [sys.executable, HERE.parents[1] / "packaging/bundle.py", target]
        subprocess.run(build, check=True, capture_output=True)
        with zipfile.ZipFile(target) as bundle:
            bundle.extract("manifest.json", folder)
        done = run_tool(environ, "mcpb", "validate", str(Path(folder, "manifest.json")))
    if done.returncode:
        return [f"bundle: {(done.stdout + done.stderr).strip()}"]
    print("bundle: its manifest is valid", flush=True)
    return []
