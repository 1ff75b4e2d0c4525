"""The navigator's front door: open a navigation, step or run it, and read what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from navigator.reports import NavigationSummary, NavigatorOutput, OnProgress, TurnReport
from navigator.settings import NavigationRequest, NavigatorSettings

StepAction = Literal["continue", "finish", "cancel"]
LOCAL_USER = "local"


class Navigator(Protocol):
    """Opens, steps and reads navigations; safe to share between tasks of one event loop."""

    def __init__(self, settings: NavigatorSettings) -> None: ...

    async def open(
        self, request: NavigationRequest, *, user: str = LOCAL_USER, on_progress: OnProgress | None = None
    ) -> str:
        """Index the repository, draw the satellite view and return the new navigation's id."""
        ...

    async def step(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        feedback: str | None = None,
        updates: Mapping[str, Any] | None = None,
        action: StepAction = "continue",
        on_progress: OnProgress | None = None,
    ) -> TurnReport:
        """Take one step: by ``updates`` where given, else by the model, steered by ``feedback``."""
        ...

    async def run(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        on_progress: OnProgress | None = None,
        deadline_s: float | None = None,
    ) -> NavigatorOutput:
        """Step until the navigation stops, or until ``deadline_s`` is over; return what there is."""
        ...

    async def report(
        self, navigation_id: str, *, user: str = LOCAL_USER, step: int | None = None
    ) -> TurnReport:
        """Return the report of ``step``, by default the latest."""
        ...

    async def context(
        self, navigation_id: str, *, user: str = LOCAL_USER, since_step: int | None = None
    ) -> NavigatorOutput:
        """Return the context, or only what is new against ``since_step``."""
        ...

    async def navigations(self, user: str = LOCAL_USER) -> list[NavigationSummary]:
        """Return the user's navigations, latest first."""
        ...

    async def map_text(
        self, navigation_id: str, *, user: str = LOCAL_USER, version: int | None = None
    ) -> str:
        """Return the map drawn at step ``version``, by default the latest."""
        ...

    async def decisions(self, navigation_id: str, *, user: str = LOCAL_USER) -> list[TurnReport]:
        """Return the reports of all steps, oldest first."""
        ...

    async def aclose(self) -> None:
        """Release models, stores and indexes."""
        ...
