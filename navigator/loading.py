"""What a navigation imports on its way, all at once: a server does it before anybody waits for it."""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib import import_module
from threading import Thread
from typing import Final

_STORED: Final = "navigator.storage.opening"
"""What reading a stored navigation needs."""
_AGENTS: Final = "navigator.agent.runner"
"""What imports ADK, which takes as long as all the rest."""
_MODULES: Final = (
    "navigator.turns",
    "navigator.planner.changes",
    "navigator.workspaces.workspace",
    "repo_map.plan.yaml",
)


def export_telemetry(environ: MutableMapping[str, str]) -> None:
    """Send traces to the collector that ``environ`` names; without one nothing is recorded or sent."""
    from navigator.agent import telemetry  # noqa: PLC0415 - imported when it is called for

    telemetry.export_telemetry(environ)


def load_stored() -> None:
    """Import what reading a stored navigation needs: about half of what a step does."""
    import_module(_STORED)


def load_all(*, with_agents: bool = True) -> None:
    """Import what takes more than a second, and beside it load the tokenizers."""
    from repo_map.text import tokens  # noqa: PLC0415 - imported beside the rest

    # The tokenizer lets other threads run while it reads.
    tokenizers = Thread(target=tokens.load, daemon=True)
    tokenizers.start()
    for module in (*_MODULES, *([_AGENTS] if with_agents else [])):
        import_module(module)
    tokenizers.join()
