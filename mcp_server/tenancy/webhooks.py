"""Webhooks of git hosts. Nothing that one says is believed: it only has us ask sooner what is asked anyway.

So one that is late, out of order or replayed does no harm, and any number of them about one project come to
one question every two seconds.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from mcp_server.tenancy.host_rights import HostRights
from navigator.errors import StorageError

_PUSHES: Final = frozenset({"push", "create", "delete", "Push Hook", "Tag Push Hook"})
_GITLAB_SYSTEM: Final = "System Hook"
logger = logging.getLogger(__name__)


class Webhooks:
    """Takes what hosts send to ``/webhooks/HOST``."""

    def __init__(self, rights: HostRights, secrets: Mapping[str, str], most_bytes: int) -> None:
        """``secrets`` are by the host's name; who has none there is refused."""
        self._rights = rights
        self._secrets = secrets
        self._most_bytes = most_bytes

    async def take(self, request: Request) -> Response:
        """Answer one."""
        host = request.path_params["host"].lower()
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > self._most_bytes:
                return PlainTextResponse("The webhook has too large a body.\n", 413)
        # An unknown host is refused like a wrong secret, after the same work.
        secret = self._secrets.get(host, "")
        if not is_signed(request.headers, body, secret or "none") or not secret:
            return PlainTextResponse("The webhook is not signed with this server's secret.\n", 401)
        try:
            said = json.loads(body)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            return PlainTextResponse("The webhook is no JSON object; set its content type to JSON.\n", 400)
        meant = self._meant(host, said)
        try:
            if _is_push(request.headers, said):
                await self._rights.note_push(meant)
            else:
                self._rights.urge(meant)
        except StorageError as error:
            logger.warning("A webhook from %s was refused: %s", host, error)
            return PlainTextResponse("The webhook can't be kept now; send it again.\n", 503)
        return PlainTextResponse("", 202)

    def _meant(self, host: str, said: dict[str, Any]) -> list[str]:
        """Return the known projects that it names, else those below the group that it names, else all."""
        known = [key for key in self._rights.projects() if key.startswith(f"{host}/")]
        named = {f"{host}/{name.lower()}" for name in _projects(said)}
        groups = tuple(f"{host}/{name.lower()}/" for name in _groups(said))
        if named:
            return [key for key in known if key in named]
        return [key for key in known if key.startswith(groups)] if groups else known


def is_signed(headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """Tell whether a webhook comes from who knows the secret: by GitHub's signature, or GitLab's token."""
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    by_github = hmac.compare_digest(headers.get("x-hub-signature-256", "").encode(), signature.encode())
    by_gitlab = hmac.compare_digest(headers.get("x-gitlab-token", "").encode(), secret.encode())
    return by_github or by_gitlab


def _is_push(headers: Mapping[str, str], said: dict[str, Any]) -> bool:
    event = headers.get("x-github-event") or headers.get("x-gitlab-event", "")
    return event in _PUSHES or (event == _GITLAB_SYSTEM and said.get("event_name") in ("push", "tag_push"))


def _projects(said: dict[str, Any]) -> Iterator[str]:
    for part, name in (("repository", "full_name"), ("project", "path_with_namespace")):
        if isinstance(said.get(part), dict) and isinstance(said[part].get(name), str):
            yield said[part][name]
    for name in ("project_path_with_namespace", "path_with_namespace"):
        if isinstance(said.get(name), str):
            yield said[name]


def _groups(said: dict[str, Any]) -> Iterator[str]:
    if isinstance(said.get("organization"), dict) and isinstance(said["organization"].get("login"), str):
        yield said["organization"]["login"]
    if isinstance(said.get("group_path"), str):
        yield said["group_path"]
