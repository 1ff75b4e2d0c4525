"""What a server loads before anybody waits for it: the modules of a navigation, and the export of traces."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from importlib import import_module
from threading import Thread
from typing import Final

from repo_map.messages import install_command

_AGENTS: Final = "navigator.agent.agents"
"""What imports ADK, which takes as long as all the rest."""
_MODULES: Final = (
    "navigator.turns",
    "navigator.planner.changes",
    "navigator.workspaces.workspace",
    "repo_map.plan.yaml",
)
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_ENDPOINTS = (
    _ENDPOINT,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
)
_DEFAULTS = {
    "OTEL_SERVICE_NAME": "repo-navigator",
    # Spans would carry goals and source otherwise: a collector is often a third party's.
    "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "false",
}

logger = logging.getLogger(__name__)


def load_all(*, with_agents: bool = True) -> None:
    """Import what takes more than a second, and beside it load the tokenizers."""
    from repo_map.text import tokens  # noqa: PLC0415 - imported beside the rest

    # The tokenizer lets other threads run while it reads.
    tokenizers = Thread(target=tokens.load, daemon=True)
    tokenizers.start()
    for module in (*_MODULES, *([_AGENTS] if with_agents else [])):
        import_module(module)
    tokenizers.join()


def export_telemetry(environ: MutableMapping[str, str]) -> None:
    """Send what ADK and the protocol record to the collector that ``environ`` names; else do nothing."""
    if not any(environ.get(name) for name in _ENDPOINTS):
        return
    try:
        import_module("opentelemetry.exporter.otlp.proto.http")
    except ModuleNotFoundError:
        logger.warning("%s is set, and nothing is sent: run `%s`.", _ENDPOINT, install_command("otel"))
        return
    for name, value in _DEFAULTS.items():
        environ.setdefault(name, value)
    from google.adk.telemetry.setup import maybe_set_otel_providers  # noqa: PLC0415 - only where a collector is named

    maybe_set_otel_providers()
