"""What the handlers of one connection share; an object per connection, so it also tells them apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcp_server.protocol.navigations import Navigations
from mcp_server.protocol.subscriptions import Subscriptions
from mcp_server.settings import Settings


@dataclass(frozen=True, eq=False)
class AppContext:
    """The settings, the navigations and the folder that the server was started in."""

    settings: Settings
    navigations: Navigations
    working_folder: Path
    subscriptions: Subscriptions
