"""A client of one language server over its standard streams, under deadlines."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote, urlsplit

_GRACE_S = 5.0
_MOST_OPEN = 40
"""Documents that a server holds open at a time; each costs some servers a syntax tree."""
_CAPABILITIES: dict[str, Any] = {
    "workspace": {"configuration": True, "workspaceFolders": True, "didChangeConfiguration": {}},
    "window": {"workDoneProgress": True},
    "textDocument": {
        "synchronization": {},
        "references": {},
        "definition": {"linkSupport": True},
        "declaration": {"linkSupport": True},
    },
    "experimental": {"serverStatusNotification": True},
}


class ServerError(Exception):
    """A language server failed, ended or did not answer; the message says which."""


class Spot(NamedTuple):
    """Where a name stands: rows and columns from 0, columns in UTF-16 units, as the protocol counts."""

    path: str
    """Relative to the root, forward slashes."""
    row: int
    column: int


class LanguageServer:
    """One running server, told of one folder; a context manager that ends the process."""

    def __init__(
        self,
        command: Sequence[str],
        root: Path,
        *,
        deadline_s: float,
        workspace: Path | None = None,
        initialization: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Start ``command`` on ``root``; each answer must come within ``deadline_s`` seconds.

        ``workspace`` is the folder that the server is told of, where that is another: a project made for it.
        """
        self.root = root.resolve()
        self._settings = dict(settings or {})
        self._deadline_s = deadline_s
        self._name = Path(command[0]).name
        self._numbers = 0
        self._open: dict[str, None] = {}
        self._running: set[str] = set()
        self._heard: list[str] = []
        self._is_over = False
        self._inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        try:
            self._process = subprocess.Popen(
                command,
                cwd=self.root,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise ServerError(f"`{command[0]}` did not start: {error.strerror}.") from error
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=_read, args=(self._process.stdout, self._inbox), daemon=True)
        self._reader.start()
        try:
            self._initialize((workspace or self.root).resolve(), dict(initialization or {}))
        except ServerError:
            self.close()
            raise

    def __enter__(self) -> LanguageServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ask the server to end, and end it if it does not."""
        with suppress(ServerError):
            self._ask("shutdown", None, _GRACE_S)
            self._send({"method": "exit"})
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_GRACE_S)
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._is_over or self._process.poll() is not None

    def open(self, path: str, language_id: str) -> None:
        """Show the server a file of the folder; the one opened longest ago is closed for it."""
        if path in self._open:
            self._open[path] = self._open.pop(path)
            return
        if len(self._open) >= _MOST_OPEN:
            oldest = next(iter(self._open))
            del self._open[oldest]
            self._notify("textDocument/didClose", {"textDocument": {"uri": self._uri(oldest)}})
        text = (self.root / path).read_bytes().decode("utf-8", "replace")
        item = {"uri": self._uri(path), "languageId": language_id, "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": item})
        self._open[path] = None

    def references(self, spot: Spot) -> list[Spot]:
        """Return where the name at a spot is used, its declarations left out, inside the folder."""
        place = {**self._place(spot), "context": {"includeDeclaration": False}}
        return self._spots(self._ask("textDocument/references", place, self._deadline_s))

    def definition(self, spot: Spot) -> list[Spot] | None:
        """Return where the name at a spot is defined inside the folder; None if nothing is known of it."""
        found = self._ask("textDocument/definition", self._place(spot), self._deadline_s)
        return self._spots(found) if found else None

    def declaration(self, spot: Spot) -> list[Spot]:
        """Return where the name at a spot is declared inside the folder."""
        return self._spots(self._ask("textDocument/declaration", self._place(spot), self._deadline_s))

    def wait_until_ready(self, message: tuple[str, str] | None, *, quiet_s: float, deadline_s: float) -> None:
        """Wait for a notification (its method, and a text in it); without one until no work is under way.

        No work is under way once all progress that was begun has ended and ``quiet_s`` seconds brought no
        message. Raises ServerError after ``deadline_s`` seconds.
        """
        ends = time.monotonic() + deadline_s
        while True:
            if message is not None and any(
                heard.startswith(message[0]) and message[1] in heard for heard in self._heard
            ):
                return
            left = ends - time.monotonic()
            if left <= 0:
                raise ServerError(f"`{self._name}` was not ready after {deadline_s:.0f} s.")
            waits = left if message is not None else min(left, quiet_s)
            try:
                self._handle(self._inbox.get(timeout=min(waits, 1.0) if message else waits))
            except queue.Empty:
                if message is None and not self._running:
                    return

    def _initialize(self, workspace: Path, initialization: dict[str, Any]) -> None:
        uri = workspace.as_uri()
        message = {
            "processId": None,
            "rootPath": str(workspace),
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": workspace.name}],
            "capabilities": _CAPABILITIES,
            "initializationOptions": initialization,
        }
        self._ask("initialize", message, self._deadline_s)
        self._notify("initialized", {})
        self._notify("workspace/didChangeConfiguration", {"settings": self._settings})

    def _ask(self, method: str, params: object, deadline_s: float) -> Any:
        if self._is_over:
            raise ServerError(f"`{self._name}` has ended.")
        self._numbers += 1
        number = self._numbers
        self._send({"id": number, "method": method, "params": params})
        ends = time.monotonic() + deadline_s
        while True:
            left = ends - time.monotonic()
            try:
                message = self._inbox.get(timeout=max(0.0, left))
            except queue.Empty:
                raise ServerError(
                    f"`{self._name}` did not answer `{method}` within {deadline_s:.0f} s; "
                    "give it more with --deadline."
                ) from None
            if message is not None and message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise ServerError(f"`{self._name}`: {message['error'].get('message', 'an error')}")
                return message.get("result")
            self._handle(message)

    def _handle(self, message: dict[str, Any] | None) -> None:
        """Take what is no answer: a request of the server's is answered, progress is booked."""
        if message is None:
            self._is_over = True
            raise ServerError(f"`{self._name}` has ended.")
        method = message.get("method")
        if method is None:
            return
        params = message.get("params")
        if method == "$/progress" and isinstance(params, dict):
            value = params.get("value", {})
            kind = value.get("kind")
            # gopls shows an error as progress that never ends.
            if kind == "begin" and not str(value.get("title", "")).startswith("Error"):
                self._running.add(str(params.get("token")))
            elif kind == "end":
                self._running.discard(str(params.get("token")))
        elif "id" in message:
            result = None
            if method == "workspace/configuration" and isinstance(params, dict):
                result = [self._setting(item.get("section", "")) for item in params.get("items", [])]
            self._send({"id": message["id"], "result": result})
        else:
            self._heard.append(f"{method} {json.dumps(params)}")
            del self._heard[:-100]

    def _setting(self, section: str) -> Any:
        found: Any = self._settings
        for part in section.split(".") if section else ():
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def _notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise ServerError(f"`{self._name}` has ended.") from error

    def _uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def _place(self, spot: Spot) -> dict[str, Any]:
        return {
            "textDocument": {"uri": self._uri(spot.path)},
            "position": {"line": spot.row, "character": spot.column},
        }

    def _spots(self, found: Any) -> list[Spot]:
        """Return an answer's places inside the folder: one, a list, or links."""
        places = found if isinstance(found, list) else [found] if found else []
        spots = []
        for place in places:
            uri = place.get("targetUri") or place["uri"]
            range_ = place.get("targetSelectionRange") or place["range"]
            address = urlsplit(uri)
            path = Path(unquote(address.path))
            if address.scheme == "file" and path.is_relative_to(self.root):
                relative = path.relative_to(self.root).as_posix()
                spots.append(Spot(relative, range_["start"]["line"], range_["start"]["character"]))
        return spots


def _read(stream: IO[bytes], inbox: queue.Queue[dict[str, Any] | None]) -> None:
    """Put every message of a stream into ``inbox``, then None."""
    try:
        while line := stream.readline():
            length = 0
            while line.strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                line = stream.readline()
            if length:
                inbox.put(json.loads(stream.read(length)))
    except ValueError:
        # What is not the protocol ends the conversation, as the end of the stream does.
        pass
    finally:
        inbox.put(None)
