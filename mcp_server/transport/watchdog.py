"""What systemd learns: that the server is ready, that its event loop turns, and that it ends.

The messages are those of sd_notify(3), sent to the socket that ``NOTIFY_SOCKET`` names, if there is one.
"""

from __future__ import annotations

import asyncio
import faulthandler
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

READY: Final = "READY=1"
ALIVE: Final = "WATCHDOG=1"
STOPPING: Final = "STOPPING=1"


class Watchdog:
    """Tells the service manager how the server is; it ends one of which it learns nothing in time."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Read who wants to know, and how often.

        Args:
            environ: ``NOTIFY_SOCKET``, a path or ``@`` and an abstract name; ``WATCHDOG_USEC``.
        """
        self._address = environ.get("NOTIFY_SOCKET", "")
        every = environ.get("WATCHDOG_USEC", "")
        self.seconds = int(every) / 1_000_000 if every.isdecimal() and self._address else 0.0
        """After so long without a word the server is ended; 0 where nobody watches."""

    async def watch(self) -> None:
        """Say that the loop turns, three times as often as it is asked for, until cancelled."""
        if not self.seconds:
            return
        # Ended by SIGABRT, the server writes into the log where each thread hangs.
        faulthandler.enable()
        while True:
            self.tell(ALIVE)
            await asyncio.sleep(self.seconds / 3)

    def tell(self, message: str) -> None:
        """Send a message; one that nobody takes is lost."""
        if not self._address:
            return
        name = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
            to.setblocking(False)
            to.sendto(message.encode(), name)
