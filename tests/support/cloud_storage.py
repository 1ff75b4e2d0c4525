"""Google Cloud Storage on loopback, as ADK's artifact service speaks to it by the JSON API.

It knows what it is asked for here and refuses all else with 400, so that no test rests on a guess.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import google_crc32c

_PAGE = 3
"""Objects of one list: more than one page is asked for soon."""
_UNUSED = {"alt", "fields", "prettyPrint", "projection", "uploadType"}


class Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


class Refusal(Exception):  # noqa: N818 - it is what the service answers
    """An error as the service tells it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        error = {"error": {"code": status, "message": message, "errors": [{"message": message}]}}
        self.answer = _json(error)._replace(status=status)


@dataclass
class Stored:
    """An object."""

    content: bytes
    kind: str
    generation: int
    custom: dict[str, str] = field(default_factory=dict)
    """Metadata of the user's own."""

    @property
    def hashes(self) -> tuple[str, str]:
        """Its CRC32C and its MD5."""
        crc = google_crc32c.Checksum(self.content).digest()
        md5 = hashlib.md5(self.content, usedforsecurity=False).digest()
        return base64.b64encode(crc).decode(), base64.b64encode(md5).decode()


class CloudStorage:
    """A server whose buckets tests make."""

    def __init__(self) -> None:
        self._buckets: dict[str, dict[str, Stored]] = {}
        self._generation = 1
        self._lock = threading.Lock()
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> CloudStorage:
        serve = self._http.serve_forever
        threading.Thread(target=serve, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def make_bucket(self) -> str:
        """Make a bucket and return its name."""
        name = f"navigations_{secrets.token_hex(6)}"
        self._buckets[name] = {}
        return name

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the answer to a request."""
        url = urlsplit(target)
        asked = {name: value for name, value in parse_qsl(url.query) if name not in _UNUSED}
        found = re.fullmatch(r"/(upload/|download/)?storage/v1/b/([^/]+)/o(?:/([^/]+))?", url.path)
        with self._lock:
            try:
                if found is None:
                    raise Refusal(400, f"{method} {url.path} is not known here.")
                bucket, name = unquote(found[2]), found[3] and unquote(found[3])
                if bucket not in self._buckets:
                    raise Refusal(404, "The specified bucket does not exist.")
                if found[1] == "upload/" and method == "POST" and "uploadType=multipart" in url.query:
                    return self._uploaded(bucket, asked, headers["content-type"], body)
                if name is None and method == "GET":
                    return self._listed(bucket, asked)
                stored = self._buckets[bucket].get(name or "")
                if stored is None or asked.get("generation") not in (None, str(stored.generation)):
                    raise Refusal(404, f"No such object: {bucket}/{name}")
                if method == "DELETE":
                    del self._buckets[bucket][str(name)]
                    return Answer(204)
                if method != "GET":
                    raise Refusal(400, f"{method} of an object is not known here.")
                if "alt=media" not in url.query:
                    return _json(_resource(bucket, str(name), stored))
                crc, md5 = stored.hashes
                return Answer(
                    200,
                    stored.content,
                    {"Content-Type": stored.kind, "X-Goog-Hash": f"crc32c={crc},md5={md5}"},
                )
            except Refusal as refusal:
                return refusal.answer

    def _listed(self, bucket: str, asked: Mapping[str, str]) -> Answer:
        objects, after = self._buckets[bucket], asked.get("pageToken", "")
        left = sorted(name for name in objects if name.startswith(asked.get("prefix", "")) and name > after)
        page: dict[str, Any] = {"items": [_resource(bucket, name, objects[name]) for name in left[:_PAGE]]}
        if len(left) > _PAGE:
            page["nextPageToken"] = left[_PAGE - 1]
        return _json(page)

    def _uploaded(self, bucket: str, asked: Mapping[str, str], content_type: str, body: bytes) -> Answer:
        message = BytesParser(policy=HTTP).parsebytes(
            b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body
        )
        head, data = message.iter_parts()
        metadata = json.loads(head.get_content())
        # The parser would decode the second part's line ends.
        content = body.split(b"\r\n\r\n", 2)[2].rpartition(b"\r\n--")[0]
        objects, name = self._buckets[bucket], metadata["name"]
        wanted = asked.get("ifGenerationMatch")
        if wanted is not None and int(wanted) != (objects[name].generation if name in objects else 0):
            raise Refusal(412, "At least one of the pre-conditions you specified did not hold.")
        self._generation += 1
        objects[name] = Stored(
            content, str(data["content-type"]), self._generation, dict(metadata.get("metadata") or {})
        )
        return _json(_resource(bucket, name, objects[name]))


def _json(value: Mapping[str, Any]) -> Answer:
    return Answer(200, json.dumps(value).encode(), {"Content-Type": "application/json; charset=UTF-8"})


def _resource(bucket: str, name: str, stored: Stored) -> dict[str, Any]:
    crc, md5 = stored.hashes
    return {
        "kind": "storage#object",
        "name": name,
        "bucket": bucket,
        "generation": str(stored.generation),
        "contentType": stored.kind,
        "size": str(len(stored.content)),
        "md5Hash": md5,
        "crc32c": crc,
        "timeCreated": "2026-01-01T00:00:00.000Z",
        **({"metadata": stored.custom} if stored.custom else {}),
    }


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away before its answer."""


def _handler(server: CloudStorage) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # An answer in two pieces waits for the client's acknowledgement of the first one.
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            answer = server.answer(self.command, self.path, headers, body)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.status != 204:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Stay silent."""

    return Handler
