"""What a server has handed out of a navigation; kept with it, so that there is one truth of each."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from navigator.state.reports import StopReason


class ClientState(BaseModel):
    """What the host of one navigation was given, in ``session.state["navigator_delivery"]``."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    token_budget: int = Field(ge=1)
    """Most tokens of a whole answer, headers and report included."""
    held_step: int | None = None
    """Latest step whose map the host was given, or offered page by page; None while it holds none."""
    held_steps: tuple[int, ...] = ()
    """Every such step, in order."""
    unread: tuple[str, ...] = ()
    """Cursors of the pages that were offered and not fetched, oldest first."""
    outline_step: int | None = None
    """Step whose outline the host was given last, which its numbers mean; None for the latest step's."""
    used_at: float = 0.0
    """Seconds since the epoch, by the clock of whoever hands out."""


class NavigationActivity(NamedTuple):
    """What a store tells of a navigation without reading it."""

    navigation_id: str
    user: str
    changed_at: float
    """Its latest step or other change, in seconds since the epoch."""
    used_at: float | None
    """When a server handed out something of it last, None where none did."""
    is_open: bool
    """Whether it takes another step."""


class KnownNavigation(NamedTuple):
    """A stored navigation as a server has to know it, without its plan and its totals."""

    navigation_id: str
    user: str
    repo_path: str
    stop_reason: StopReason | None
    delivery: ClientState | None
    """None where no server has handed out anything of it."""
