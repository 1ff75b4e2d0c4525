"""Builds the navigator; the only place that imports what takes a second to import."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mcp_server.imports import large_imports, models_built_on_first_use
from mcp_server.settings import Settings

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.sampling_port import AskHost


def load_navigator(settings: Settings, ask_host: AskHost | None = None) -> Navigator:
    """Import everything that navigating needs, and build the navigator.

    ``ask_host`` asks the model of an assistant; without it there is no model ``host``.
    """
    with large_imports(), models_built_on_first_use():
        from navigator.loading import export_telemetry, load_all  # noqa: PLC0415
        from navigator.navigator import Navigator  # noqa: PLC0415

        load_all()
        export_telemetry(os.environ)
    return Navigator(settings, ask_host=ask_host)
