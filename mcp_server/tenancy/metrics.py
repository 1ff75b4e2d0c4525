"""Numbers of a server in Prometheus's text, for whoever watches it: of no principal and no repository."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mcp_server.errors import one_line
from mcp_server.tenancy.accounting import AFTER_ANSWER, UNAUTHORIZED
from mcp_server.version import package_version
from repo_map.errors import UserError

if TYPE_CHECKING:
    from mcp_server.tenancy.accounting import Counted
    from navigator.stores.usage import Load

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_BUCKETS: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 45, 60)
"""Upper bounds in seconds; a call answers within 45, or says that it is still indexing."""
_FRESH_SECONDS: Final = 15.0
"""How long the number of open navigations holds: whoever reads more often makes the store work no more."""
_BEFORE: Final = "repo_navigator_"
logger = logging.getLogger(__name__)


class OpenNavigations(Protocol):
    """What is looked at when metrics are asked for."""

    def load(self) -> Load | None:
        """Return what is computed at this moment, None before the navigator is loaded."""

    async def count_open(self) -> int:
        """Return how many navigations are open in the store."""


class Metrics:
    """What a server counts, and what it looks at when it is asked."""

    def __init__(self, navigations: OpenNavigations) -> None:
        self._navigations = navigations
        self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        self._calls = self._counter("calls", "Calls, and how they ended.", "tool", "outcome")
        self._seconds = Histogram(
            f"{_BEFORE}call_seconds",
            "Seconds until a call was answered.",
            ["tool"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._tokens = self._counter("tokens", "Tokens sent, to assistants and to models.", "to")
        self._cost = self._counter("cost_usd", "US dollars that models cost.")
        self._index_seconds = self._counter("index_seconds", "Seconds that calls waited for an index.")
        version = Info(_BEFORE.removesuffix("_"), "The version that runs.", registry=self._registry)
        version.info({"version": package_version()})
        self._state = _State()
        self._registry.register(self._state)
        self._looked_at = -_FRESH_SECONDS

    def count(self, counted: Counted) -> None:
        """Count a call."""
        call = counted.call
        self._calls.labels(call.tool, call.outcome).inc()
        if call.outcome not in (AFTER_ANSWER, UNAUTHORIZED):
            self._seconds.labels(call.tool).observe(counted.seconds)
        self._tokens.labels("assistant").inc(counted.answer_tokens)
        self._tokens.labels("model").inc(call.usage.tokens)
        self._cost.inc(float(call.usage.cost))
        self._index_seconds.inc(call.usage.index_seconds)

    async def text(self) -> bytes:
        """Return all numbers as they are now."""
        self._state.load = self._navigations.load()
        if monotonic() - self._looked_at > _FRESH_SECONDS:
            self._looked_at = monotonic()
            self._state.still_open = await self._count_open()
        return generate_latest(self._registry)

    async def _count_open(self) -> int | None:
        try:
            return await self._navigations.count_open()
        except UserError as error:
            logger.warning("Open navigations can't be counted: %s", one_line(error))
            return None

    def _counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(f"{_BEFORE}{name}", what, labels, registry=self._registry)


class _State(Collector):
    """What is looked at anew for each answer; a store that does not answer leaves its number out."""

    def __init__(self) -> None:
        self.load: Load | None = None
        """None until the navigator is loaded."""
        self.still_open: int | None = None

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers."""
        if self.still_open is not None:
            words = "Navigations that are open in the store, which servers may share: take the maximum."
            yield GaugeMetricFamily(f"{_BEFORE}open_navigations", words, self.still_open)
        if self.load is None:
            return
        load = self.load
        for name, words, number in (
            ("steps", "Steps that are computed.", load.steps),
            ("steps_waiting", "Steps that wait for their turn to be computed.", load.waiting),
            ("navigations_live", "Navigations that stand ready in this process.", load.live),
            ("leases", "Navigations that this process holds for a step.", load.leases),
        ):
            yield GaugeMetricFamily(f"{_BEFORE}{name}", words, number)
        words = "Leases that another server took over while a step ran."
        yield CounterMetricFamily(f"{_BEFORE}leases_lost", words, load.lost)
        errors = CounterMetricFamily(
            f"{_BEFORE}store_errors", "Calls that a store did not take.", labels=["store"]
        )
        for store, number in sorted(load.store_errors.items()):
            errors.add_metric([store], number)
        yield errors
