"""Builds the navigator; the only place that imports what takes a second to import."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mcp_server.settings import Settings

if TYPE_CHECKING:
    from navigator.models.sampling import SamplingFn
    from navigator.navigator import Navigator


def load_navigator(
    settings: Settings,
    sample: SamplingFn | None = None,
    *,
    takes_steps: bool = True,
    loads_agents: bool = False,
) -> Navigator:
    """Import everything that navigating needs, and build the navigator.

    Without ``takes_steps`` stored navigations are only read, which needs half of the imports; the agents are
    imported now if it ``loads_agents``, else while the first repository is read.
    """
    from navigator.loading import export_telemetry, load_all  # noqa: PLC0415 - what takes a second
    from navigator.navigator import Navigator  # noqa: PLC0415 - what takes a second

    if takes_steps:
        load_all(with_agents=loads_agents)
    export_telemetry(os.environ)
    return Navigator(settings, sample=sample)
