"""What the index knows of navigations without reading their state, and what clients were sent."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from navigator.state.reports import StopReason


class ClientState(BaseModel):
    """What the client of one navigation was sent."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    token_budget: int = Field(ge=1)
    """Of a whole answer at most, headers and report included."""
    held_step: int | None = None
    """Latest step whose map the client was sent, or offered page by page; None if it has none."""
    held_steps: tuple[int, ...] = ()
    unread: tuple[str, ...] = ()
    """Cursors of the pages that were offered and not fetched, oldest first."""
    outline_step: int | None = None
    """Step whose outline the client was sent last, which its numbers mean; None for the latest step's."""
    used_at: float = 0.0
    """Time of the latest response, in seconds since the epoch."""


class StoredNavigation(NamedTuple):
    """A stored navigation, as far as it is known without its state."""

    navigation_id: str
    user: str
    goal: str
    repo_path: str
    steps: int
    stop_reason: StopReason | None
    """None while it takes another step."""
    changed_at: float
    used_at: float | None
    """The latest response of a server, None if there was none."""
    delivery_json: str | None

    @property
    def delivery(self) -> ClientState | None:
        """What the client was sent; None if no server has responded with it."""
        return None if self.delivery_json is None else ClientState.model_validate_json(self.delivery_json)
