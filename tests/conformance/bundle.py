"""The official MCPB command line on the manifest of our bundle."""

from __future__ import annotations

from collections.abc import Mapping

from tests.conformance.node import HERE, run_tool


def check_bundle(environ: Mapping[str, str]) -> list[str]:
    """Validate the manifest; return what is wrong with it."""
    done = run_tool(environ, "mcpb", "validate", str(HERE.parents[1] / "bundle" / "manifest.json"))
    if done.returncode:
        return [f"bundle: {(done.stdout + done.stderr).strip()}"]
    print("bundle: its manifest is valid", flush=True)
    return []
