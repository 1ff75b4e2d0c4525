"""The numbers of calls for a collector of OpenTelemetry; without the SDK, or a collector, they go nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.metrics import Meter, get_meter

from mcp_server.tenancy.accounting import AFTER_ANSWER, UNAUTHORIZED

if TYPE_CHECKING:
    from mcp_server.tenancy.accounting import Counted


class OtelMetrics:
    """Counts calls by OpenTelemetry's interface, which hands them to whichever provider the process has."""

    def __init__(self, meter: Meter | None = None) -> None:
        """Count by ``meter``, by default that of the process's provider, also of one that is set later."""
        meter = meter or get_meter("repo_navigator")
        self._calls = meter.create_counter("repo_navigator.calls", "{call}")
        self._seconds = meter.create_histogram("repo_navigator.call.duration", "s")
        self._tokens = meter.create_counter("repo_navigator.tokens", "{token}")
        self._cost = meter.create_counter("repo_navigator.cost", "{US dollar}")
        self._index_seconds = meter.create_counter("repo_navigator.index.duration", "s")

    def count(self, counted: Counted) -> None:
        """Count a call; of no principal and no repository."""
        call = counted.call
        self._calls.add(1, {"tool": call.tool, "outcome": call.outcome})
        if call.outcome not in (AFTER_ANSWER, UNAUTHORIZED):
            self._seconds.record(counted.seconds, {"tool": call.tool})
        self._tokens.add(counted.answer_tokens, {"to": "assistant"})
        self._tokens.add(call.usage.tokens, {"to": "model"})
        self._cost.add(float(call.usage.cost))
        self._index_seconds.add(call.usage.index_seconds)
