"""Google Cloud Storage on loopback, as its client speaks to it: the JSON API, with conditions that hold.

It knows what it is asked for here and refuses all else with 400, so that no test rests on a guess.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import google_crc32c
import jwt

_UNIT = 262_144
"""A piece of a resumable upload has so many bytes, or a multiple of it, but the last one."""
_COMMON = {"prettyPrint", "projection"}
_AUDIENCE = "https://oauth2.googleapis.com/token"
"""Whom what an account signs is for, wherever it is sent."""


class Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


class Refusal(Exception):  # noqa: N818 - it is what the service answers
    """An error as the service tells it."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(status, reason, message)
        self.status, self.reason, self.message = status, reason, message


class Account(NamedTuple):
    """Whom the server lets in: who signs with this key is given the token, and who has it may call."""

    name: str
    key: Any
    token: str


@dataclass
class Stored:
    """An object."""

    content: bytes
    kind: str
    generation: int
    created: datetime
    custom: dict[str, str]
    """Metadata of the user's own."""

    @property
    def crc32c(self) -> str:
        return _crc32c(self.content)

    @property
    def md5(self) -> str:
        return base64.b64encode(hashlib.md5(self.content, usedforsecurity=False).digest()).decode()


@dataclass
class _Upload:
    """A resumable upload that is not at its end."""

    bucket: str
    metadata: Mapping[str, Any]
    condition: str | None
    content: bytearray = field(default_factory=bytearray)


class CloudStorage:
    """A server whose buckets tests make, look into and break."""

    def __init__(self, page: int = 3) -> None:
        self.buckets: dict[str, dict[str, Stored]] = {}
        self.asked: list[str] = []
        """Method and path of each request, with what was uploaded how."""
        self.account: Account | None = None
        """Who is let in; None lets in everybody who names no one."""
        self._page = page
        self._uploads: dict[str, _Upload] = {}
        self._faults: deque[Callable[[Callable[[], Answer]], Answer | None]] = deque()
        self._generation = time.time_ns() // 1_000
        self._lock = threading.RLock()
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        """Of the server."""
        return int(self._http.server_address[1])

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
        self.buckets[name] = {}
        return name

    def refuse(self, *statuses: int) -> None:
        """Answer the next requests with these."""
        for status in statuses:
            self._faults.append(lambda _, status=status: _told(Refusal(status, "backendError", "Try later.")))  # type: ignore[misc]

    def lose_answers(self, count: int) -> None:
        """Do what the next requests ask for, and close their connections without an answer."""

        def lost(act: Callable[[], Answer]) -> None:
            act()

        self._faults.extend([lost] * count)

    def cut_answers(self, count: int) -> None:
        """Answer the next requests with the half of what there is to say, and close their connections."""

        def cut(act: Callable[[], Answer]) -> Answer:
            answer = act()
            half = answer.body[: len(answer.body) // 2]
            return Answer(answer.status, half, {**answer.headers, "Content-Length": str(len(answer.body))})

        self._faults.extend([cut] * count)

    def garble_answers(self, count: int) -> None:
        """Answer the next requests with the bytes of what there is to say in another order."""

        def garbled(act: Callable[[], Answer]) -> Answer:
            answer = act()
            return answer._replace(body=answer.body[::-1])

        self._faults.extend([garbled] * count)

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer | None:
        """Return the answer to a request, None where its connection is to be closed."""
        with self._lock:
            self.asked.append(f"{method} {target}")

            def act() -> Answer:
                try:
                    if (method, target) == ("POST", "/token"):
                        return self._token(body)
                    self._admit(headers)
                    return self._routed(method, target, headers, body)
                except Refusal as refusal:
                    return _told(refusal, is_text="alt=media" in target)

            return self._faults.popleft()(act) if self._faults else act()

    def _admit(self, headers: Mapping[str, str]) -> None:
        if self.account is None:
            if "authorization" in headers:
                raise _bad("This server knows no credentials.")
        elif headers.get("authorization") != f"Bearer {self.account.token}":
            raise Refusal(401, "authError", "Invalid Credentials")

    def _token(self, body: bytes) -> Answer:
        asked = dict(parse_qsl(body.decode(), strict_parsing=True))
        if self.account is None or asked.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer":
            raise _bad("No token is given for that here.")
        said = jwt.decode(asked["assertion"], self.account.key, ["RS256"], audience=_AUDIENCE)
        if said["iss"] != self.account.name or "devstorage.full_control" not in said["scope"]:
            raise Refusal(401, "authError", "Invalid Credentials")
        return _json({"access_token": self.account.token, "expires_in": 3_600, "token_type": "Bearer"})

    def _routed(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        url = urlsplit(target)
        pairs = parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query))
        asked = dict(pairs)
        if len(asked) != len(pairs):
            raise _bad("A parameter is given twice.")
        if found := re.fullmatch(r"/(upload/|download/)?storage/v1/b/([^/]+)/o(?:/([^/]+))?", url.path):
            way, bucket, name = found[1], unquote(found[2]), found[3] and unquote(found[3])
            match (method, way, name):
                case ("POST", "upload/", None):
                    return self._uploaded(bucket, asked, headers, body)
                case ("PUT", "upload/", None):
                    return self._continued(asked, headers, body)
                case ("GET", None, None):
                    return self._listed(bucket, asked)
                case ("GET", None | "download/", str()) if asked.get("alt") == "media":
                    return self._downloaded(self._object(bucket, name, asked, {"alt", "generation"}), headers)
                case ("GET", None, str()) if way is None:
                    return _json(_resource(bucket, name, self._object(bucket, name, asked, set())))
                case ("DELETE", None, str()):
                    self._object(bucket, name, asked, set())
                    del self.buckets[bucket][name]
                    return Answer(204)
        raise _bad(f"{method} {url.path} is not known here.")

    def _objects(self, bucket: str) -> dict[str, Stored]:
        if bucket not in self.buckets:
            raise Refusal(404, "notFound", "The specified bucket does not exist.")
        return self.buckets[bucket]

    def _object(self, bucket: str, name: str, asked: Mapping[str, str], more: set[str]) -> Stored:
        _only(asked, more | _COMMON)
        objects = self._objects(bucket)
        found = objects.get(name)
        if found is None or asked.get("generation") not in (None, str(found.generation)):
            raise Refusal(404, "notFound", f"No such object: {bucket}/{name}")
        return found

    def _listed(self, bucket: str, asked: Mapping[str, str]) -> Answer:
        _only(asked, {"prefix", "pageToken", "maxResults", "fields"} | _COMMON)
        after = base64.urlsafe_b64decode(asked.get("pageToken", "")).decode()
        most = min(int(asked.get("maxResults", 1_000)), self._page)
        objects = self._objects(bucket)
        left = sorted(
            (name for name in objects if name.startswith(asked.get("prefix", "")) and name > after),
            key=str.encode,
        )
        whole: dict[str, Any] = {"kind": "storage#objects"}
        if left:
            whole["items"] = [_resource(bucket, name, objects[name]) for name in left[:most]]
        if len(left) > most:
            whole["nextPageToken"] = base64.urlsafe_b64encode(left[most - 1].encode()).decode()
        return _json(_parts(whole, asked["fields"]) if "fields" in asked else whole)

    def _downloaded(self, stored: Stored, headers: Mapping[str, str]) -> Answer:
        content, status = stored.content, 200
        about = {
            "Content-Type": stored.kind,
            "X-Goog-Generation": str(stored.generation),
            "X-Goog-Metageneration": "1",
            "X-Goog-Stored-Content-Encoding": "identity",
            "X-Goog-Stored-Content-Length": str(len(content)),
            "X-Goog-Hash": f"crc32c={stored.crc32c},md5={stored.md5}",
        }
        if "range" in headers:
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", headers["range"])
            if asked is None or int(asked[1]) >= len(content):
                raise Refusal(416, "requestedRangeNotSatisfiable", "The range can't be satisfied.")
            first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
            about["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
            content, status = content[first : last + 1], 206
        return Answer(status, content, about)

    def _uploaded(
        self, bucket: str, asked: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Answer:
        _only(asked, {"uploadType", "name", "ifGenerationMatch"} | _COMMON)
        self._objects(bucket)
        condition = asked.get("ifGenerationMatch")
        match asked.get("uploadType"):
            case "media":
                metadata = {"name": asked.get("name"), "contentType": headers["content-type"]}
                return self._kept(bucket, metadata, condition, body)
            case "multipart":
                metadata, kind, content = _related(headers["content-type"], body)
                return self._kept(bucket, {"contentType": kind, **metadata}, condition, content)
            case "resumable":
                kind = headers["x-upload-content-type"]
                upload = _Upload(bucket, {"contentType": kind, **_read_json(body)}, condition)
                self._conditions_hold(upload.bucket, str(upload.metadata.get("name")), condition)
                key = secrets.token_urlsafe(24)
                self._uploads[key] = upload
                place = f"{self.url}/upload/storage/v1/b/{bucket}/o?uploadType=resumable&upload_id={key}"
                return Answer(200, b"", {"Location": place})
        raise _bad("The type of the upload is not known here.")

    def _continued(self, asked: Mapping[str, str], headers: Mapping[str, str], body: bytes) -> Answer:
        _only(asked, {"uploadType", "upload_id"})
        upload = self._uploads.get(asked.get("upload_id", ""))
        if upload is None:
            raise Refusal(404, "notFound", "There is no such upload.")
        place = headers.get("content-range", "")
        if re.fullmatch(r"bytes \*/(\d+|\*)", place):
            return self._received(upload)
        found = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", place)
        if found is None or int(found[2]) - int(found[1]) + 1 != len(body):
            raise _bad("What the piece says of its place is wrong.")
        first, whole = int(found[1]), int(found[3])
        if first != len(upload.content):
            raise Refusal(503, "backendError", "The piece is not the next one.")
        if first + len(body) < whole and len(body) % _UNIT:
            raise _bad("The piece has a length that no piece may have.")
        upload.content += body
        if len(upload.content) < whole:
            return self._received(upload)
        del self._uploads[asked["upload_id"]]
        return self._kept(upload.bucket, upload.metadata, upload.condition, bytes(upload.content))

    @staticmethod
    def _received(upload: _Upload) -> Answer:
        size = len(upload.content)
        return Answer(308, b"", {"Range": f"bytes=0-{size - 1}"} if size else {})

    def _kept(
        self, bucket: str, metadata: Mapping[str, Any], condition: str | None, content: bytes
    ) -> Answer:
        unknown = set(metadata) - {"name", "contentType", "crc32c", "md5Hash", "metadata"}
        name = metadata.get("name")
        if unknown or not isinstance(name, str) or not 1 <= len(name.encode()) <= 1_024 or "\n" in name:
            raise _bad(f"The object has no usable name, or what is not known here: {sorted(unknown)}.")
        self._conditions_hold(bucket, name, condition)
        self._generation += 1
        stored = Stored(
            content,
            metadata["contentType"],
            self._generation,
            datetime.now(UTC).replace(microsecond=0),
            dict(metadata.get("metadata") or {}),
        )
        for given, found in (("crc32c", stored.crc32c), ("md5Hash", stored.md5)):
            if metadata.get(given, found) != found:
                raise _bad(f"Provided {given} does not match that of the content.")
        self._objects(bucket)[name] = stored
        return _json(_resource(bucket, name, stored))

    def _conditions_hold(self, bucket: str, name: str, condition: str | None) -> None:
        if condition is None:
            return
        stored = self._objects(bucket).get(name)
        if int(condition) != (0 if stored is None else stored.generation):
            message = "At least one of the pre-conditions you specified did not hold."
            raise Refusal(412, "conditionNotMet", message)


def _bad(message: str) -> Refusal:
    return Refusal(400, "invalid", message)


def _only(asked: Mapping[str, str], known: set[str]) -> None:
    if unknown := set(asked) - known:
        raise _bad(f"What is not known here: {sorted(unknown)}.")


def _read_json(body: bytes) -> dict[str, Any]:
    found = json.loads(body)
    if not isinstance(found, dict):
        raise _bad("The body is no object of JSON.")
    return found


def _json(value: Mapping[str, Any]) -> Answer:
    return Answer(200, json.dumps(value).encode(), {"Content-Type": "application/json; charset=UTF-8"})


def _told(refusal: Refusal, *, is_text: bool = False) -> Answer:
    if is_text:
        return Answer(refusal.status, refusal.message.encode(), {"Content-Type": "text/html; charset=UTF-8"})
    one = {"message": refusal.message, "domain": "global", "reason": refusal.reason}
    error = {"code": refusal.status, "message": refusal.message, "errors": [one]}
    return _json({"error": error})._replace(status=refusal.status)


def _crc32c(content: bytes) -> str:
    return base64.b64encode(google_crc32c.Checksum(content).digest()).decode()


def _related(content_type: str, body: bytes) -> tuple[dict[str, Any], str, bytes]:
    """Return what an upload of two parts says of the object, the second part's type, and its bytes."""
    found = re.fullmatch(r'multipart/related; boundary="?([^"]+)"?', content_type)
    if found is None:
        raise _bad("The body is not of two parts.")
    mark = b"--" + found[1].encode()
    before, *parts, end = body.split(mark)
    if before.strip() or end.strip() != b"--" or len(parts) != 2:
        raise _bad("The body is not of two parts.")
    heads, bodies = [], []
    for part in parts:
        head, _, rest = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        heads.append(BytesParser().parsebytes(head + b"\r\n\r\n"))
        bodies.append(rest.removesuffix(b"\r\n"))
    if heads[0].get_content_type() != "application/json":
        raise _bad("The first part is no JSON.")
    return _read_json(bodies[0]), str(heads[1]["content-type"]), bodies[1]


def _resource(bucket: str, name: str, stored: Stored) -> dict[str, Any]:
    time_created = stored.created.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return {
        "kind": "storage#object",
        "id": f"{bucket}/{name}/{stored.generation}",
        "name": name,
        "bucket": bucket,
        "generation": str(stored.generation),
        "metageneration": "1",
        "contentType": stored.kind,
        "storageClass": "STANDARD",
        "size": str(len(stored.content)),
        "md5Hash": stored.md5,
        "crc32c": stored.crc32c,
        "etag": base64.b64encode(str(stored.generation).encode()).decode(),
        "timeCreated": time_created,
        "updated": time_created,
        **({"metadata": stored.custom} if stored.custom else {}),
    }


def _parts(value: Mapping[str, Any], fields: str) -> dict[str, Any]:
    """Return the part of an answer that ``fields`` asks for: names, and those in brackets of a list."""
    wanted = re.findall(r"(\w+)(?:\(([\w,]+)\))?(?:,|$)", fields)
    if ",".join(f"{name}({within})" if within else name for name, within in wanted) != fields:
        raise _bad("The fields can't be read here.")
    found: dict[str, Any] = {}
    for name, within in wanted:
        if name not in value:
            continue
        kept = set(within.split(","))
        found[name] = (
            [{key: each[key] for key in each if key in kept} for each in value[name]]
            if within
            else value[name]
        )
    return found


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
            if answer is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            length = str(len(answer.body))
            told = {"Content-Length": length, **answer.headers}
            for name, value in told.items():
                if answer.status != 204 or name != "Content-Length":
                    self.send_header(name, value)
            self.end_headers()
            self.close_connection = self.close_connection or told["Content-Length"] != length
            with suppress(OSError):
                self.wfile.write(answer.body)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Stay silent."""

    return Handler
