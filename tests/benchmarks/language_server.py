"""A language server that answers from a table: ``python -m tests.benchmarks.language_server TABLE``.

The table is JSON: ``references`` and ``definition`` by ``path:row:column``, lists of ``[path, row, column]``;
``silent`` names methods that are never answered, ``ends`` methods that end the process. It speaks the real
protocol: framing, initialisation, progress, and a question of its own in the middle of each answer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer until told to exit."""
    table = json.loads(Path(sys.argv[1]).read_text())
    root = ""
    opened: set[str] = set()
    while True:
        message = _read()
        method = message.get("method")
        if method == "exit" or method in table.get("ends", ()):
            return
        if method == "initialize":
            root = message["params"]["rootUri"]
            _answer(message, {"capabilities": {}})
        elif method == "initialized":
            _send(
                {"method": "$/progress", "params": {"token": 1, "value": {"kind": "begin", "title": "Index"}}}
            )
            _send({"method": "$/progress", "params": {"token": 1, "value": {"kind": "end"}}})
        elif method == "textDocument/didOpen":
            opened.add(message["params"]["textDocument"]["uri"])
        elif "id" not in message or method is None or method in table.get("silent", ()):
            continue
        elif method.startswith("textDocument/"):
            _send(
                {"id": "ask", "method": "workspace/configuration", "params": {"items": [{"section": "a.b"}]}}
            )
            uri, at = message["params"]["textDocument"]["uri"], message["params"]["position"]
            if uri not in opened:
                _send({"id": message["id"], "error": {"code": -32602, "message": f"{uri} is not open"}})
                continue
            key = f"{uri.removeprefix(root + '/')}:{at['line']}:{at['character']}"
            places = table.get(method.partition("/")[2], {}).get(key, [])
            _answer(message, [_location(root, *place) for place in places])
        else:
            _answer(message, None)


def _location(root: str, path: str, row: int, column: int) -> dict[str, Any]:
    at = {"line": row, "character": column}
    uri = path if "://" in path else f"{root}/{path}"
    return {"uri": uri, "range": {"start": at, "end": at}}


def _read() -> dict[str, Any]:
    length = 0
    while (line := sys.stdin.buffer.readline().strip()) or not length:
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return message


def _answer(message: dict[str, Any], result: object) -> None:
    _send({"id": message["id"], "result": result})


def _send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
