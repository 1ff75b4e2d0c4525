"""The one way out of a cell without network: a port inside that leads to a Unix socket outside.

Standard library only, it runs inside the cell; behind the socket, the benchmark speaks to the model.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import threading
from typing import Any

_SET_FLAGS = 0x8914
_UP_AND_RUNNING = 0x1 | 0x40


def start(way: dict[str, Any], *, alone: bool) -> None:
    """Listen on ``way["port"]`` of loopback until the cell ends; ``alone``, it has a loopback of its own."""
    if alone:
        _raise_loopback()
    listener = socket.create_server(("127.0.0.1", way["port"]))
    if os.fork() == 0:
        while True:
            inside, _ = listener.accept()
            outside = socket.socket(socket.AF_UNIX)
            outside.connect(way["socket"])
            for source, target in ((inside, outside), (outside, inside)):
                threading.Thread(target=_pump, args=(source, target), daemon=True).start()
    listener.close()


def _raise_loopback() -> None:
    """Bring up ``lo``: a new network namespace has it down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", _UP_AND_RUNNING)
        fcntl.ioctl(any_socket, _SET_FLAGS, request)


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        target.close()
