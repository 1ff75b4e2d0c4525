"""Calls as OpenTelemetry's metrics: for a collector, and for Prometheus at ``/metrics``."""

from __future__ import annotations

from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from opentelemetry.metrics import Meter, get_meter
from pydantic import BaseModel

from mcp_server.settings import SettingsError
from repo_map.messages import install_command

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_METER: Final = "repo_navigator"
_CALL: Final = "tools/call"
_COUNTED: Final = frozenset({_CALL, "resources/list", "resources/read", "prompts/get"})
_SECONDS: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 45.0, 60.0)
"""Upper bounds of the histogram's buckets; a call answers within 45 s, or says that it is still indexing."""


class CallMetrics:
    """Middleware that counts calls by tool and outcome; of no user and no repository."""

    def __init__(self, tools: frozenset[str], prometheus: PrometheusMetrics | None) -> None:
        """Count calls of ``tools`` for the process's collector, if one is named, and for ``prometheus``.

        A name that is no tool's counts as ``unknown``.
        """
        self._tools = tools
        meters = [get_meter(_METER), *([prometheus.meter] if prometheus else ())]
        self._calls = [meter.create_counter("repo_navigator.calls", "{call}") for meter in meters]
        self._seconds = [
            meter.create_histogram(
                "repo_navigator.call.duration", "s", explicit_bucket_boundaries_advisory=list(_SECONDS)
            )
            for meter in meters
        ]

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Serve a call, and count it."""
        if ctx.method not in _COUNTED:
            return await call_next(ctx)
        began, outcome = perf_counter(), "error"
        try:
            answer = await call_next(ctx)
            outcome = _outcome(answer)
        finally:
            name = ctx.method
            if name == _CALL:
                called = (ctx.params or {}).get("name")
                name = called if isinstance(called, str) and called in self._tools else "unknown"
            for calls, seconds in zip(self._calls, self._seconds, strict=True):
                calls.add(1, {"tool": name, "outcome": outcome})
                seconds.record(perf_counter() - began, {"tool": name})
        return answer


class PrometheusMetrics:
    """A meter whose numbers Prometheus reads, with those of the process beside them."""

    def __init__(self) -> None:
        """Prepare the registry; raise ``SettingsError`` if the exporter is not installed."""
        if find_spec("opentelemetry.exporter.prometheus") is None:
            raise SettingsError(
                "REPO_NAVIGATOR_METRICS is on, and a package is not installed; run "
                f"`{install_command('team')}`, or set it to `off`."
            )
        from opentelemetry.exporter.prometheus import PrometheusMetricReader  # noqa: PLC0415 - where it is asked for
        from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415 - as above
        from prometheus_client import CollectorRegistry, ProcessCollector  # noqa: PLC0415 - as above

        self._registry: CollectorRegistry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        reader = PrometheusMetricReader(registry=self._registry)
        self.meter: Meter = MeterProvider([reader]).get_meter(_METER)

    def text(self) -> tuple[bytes, str]:
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415 - where it is asked for

        return generate_latest(self._registry), CONTENT_TYPE_LATEST


def _outcome(answer: HandlerResult) -> str:
    fields = answer.model_dump(by_alias=True) if isinstance(answer, BaseModel) else answer
    if not isinstance(fields, dict) or not fields.get("isError"):
        return "ok"
    error = (fields.get("structuredContent") or {}).get("error") or {}
    return str(error.get("code", "error"))
