"""What the handlers of one connection share; an object per connection, so it also tells them apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcp_server.navigations import Navigations
from mcp_server.settings import Settings
from mcp_server.subscriptions import Subscriptions


@dataclass(frozen=True, eq=False)
class AppContext:
    """The settings, the navigations and the folder that the server was started in."""

    settings: Settings
    navigations: Navigations
    working_folder: Path
    subscriptions: Subscriptions
