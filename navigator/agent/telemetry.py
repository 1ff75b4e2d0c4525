"""Traces through ADK's OpenTelemetry, if a collector is configured; else nothing is recorded or sent."""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping
from importlib.util import find_spec

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_ENDPOINTS = (
    _ENDPOINT,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
)
_EXPORTER = "opentelemetry.exporter.otlp.proto.http"
_DEFAULTS = {
    "OTEL_SERVICE_NAME": "repo-navigator",
    # Spans would carry goals and source otherwise: a collector is often a third party's.
    "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "false",
}

logger = logging.getLogger(__name__)


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Tell whether a collector is named."""
    return any(environ.get(name) for name in _ENDPOINTS)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # one of the packages that it lies in
        return False


def export_telemetry(environ: MutableMapping[str, str]) -> None:
    """Send what ADK and the protocol record to the collector that ``environ`` names; else do nothing."""
    if not is_wanted(environ):
        return
    if not _is_installed(_EXPORTER):
        logger.warning(
            "%s is set, and nothing is sent: install `pip install 'repo-navigator[otel]'`.", _ENDPOINT
        )
        return
    for name, value in _DEFAULTS.items():
        environ.setdefault(name, value)
    from google.adk.telemetry.setup import maybe_set_otel_providers  # noqa: PLC0415 - only where a collector is named

    maybe_set_otel_providers()
