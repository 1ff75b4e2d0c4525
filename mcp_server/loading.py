"""Builds the navigator; the only place that imports what takes a second to import."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mcp_server.imports import large_imports, models_built_on_first_use
from mcp_server.settings import Settings
from navigator.settings import EMBEDDED, NavigatorSettings

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.sampling_port import AskHost


def load_navigator(
    settings: Settings, ask_host: AskHost | None = None, *, takes_steps: bool = True
) -> Navigator:
    """Import everything that navigating needs, and build the navigator.

    Args:
        ask_host: asks the model of an assistant; without it there is no model ``host``.
        takes_steps: False where stored navigations are only read, which needs half of the imports.
    """
    with large_imports(), models_built_on_first_use():
        from navigator.loading import export_telemetry, load_all, load_stored  # noqa: PLC0415 - what takes a second
        from navigator.navigator import Navigator  # noqa: PLC0415 - what takes a second

        (load_all if takes_steps else load_stored)()
        export_telemetry(os.environ)
    return Navigator(navigator_settings(settings), ask_host=ask_host)


def navigator_settings(settings: Settings) -> NavigatorSettings:
    """Return the part of ``settings`` that is the navigator's."""
    return NavigatorSettings(
        data_dir=settings.data_dir,
        cache_dir=settings.cache_dir,
        use_cache=settings.cache_dir is not None,
        model=settings.model or EMBEDDED,
        fallback_models=settings.fallback_models,
        prices=settings.prices,
        unmasked=settings.unmasked,
        limits=settings.limits,
        model_urls=settings.models.urls,
        call_timeout_s=settings.models.seconds,
        retries=settings.models.retries,
        stream=settings.models.stream,
        embedded_fallback=settings.models.embedded_fallback,
        gemini_memory=settings.models.gemini_memory,
    )
