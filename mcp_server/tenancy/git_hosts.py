"""What a git host says of who may read a repository, by its REST interface; no answer is no right."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import httpx2

from navigator.workspaces.git_host import GitHost, HostKind, Project

_SECONDS: Final = 10.0
"""Of one request."""
_LARGEST_BYTES: Final = 5_000_000
"""Of one page of an answer."""
_A_PAGE: Final = 100
_MOST_PAGES: Final = 100
_NEXT: Final = re.compile(r'rel="?next"?')
_REPORTER: Final = 20
"""GitLab's least access level that reads the code of a private project."""


class HostAnswerError(Exception):
    """The host does not say who may read; the message is why, in a few words without a secret."""

    def __init__(self, why: str, *, may_pass: bool = False) -> None:
        super().__init__(why)
        self.may_pass = may_pass
        """Whether it is out of order or overloaded: what it said before holds for its time."""


class HostClient:
    """Asks git hosts, at the addresses that the operator's file gives and at no other."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        """``tokens`` are by the host's name."""
        self._tokens = tokens
        self._client = httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False)

    async def readers(self, host: GitHost, project: Project) -> frozenset[str]:
        """Return the logins, case folded, that may read a project's code, those by groups and teams included.

        Raises:
            HostAnswerError: the host does not say so, or not in the form that its documentation gives.
        """
        people: set[str] = set()
        for page in range(1, _MOST_PAGES + 1):
            members, is_last = await self._page(host, project, page)
            try:
                people.update(login for each in members if (login := _reader(host.kind, each)))
            except (KeyError, TypeError, AttributeError) as error:
                raise HostAnswerError("its answer is in no known form") from error
            if is_last:
                return frozenset(people)
        raise HostAnswerError("it lists more members than are read")

    async def _page(self, host: GitHost, project: Project, page: int) -> tuple[list[Any], bool]:
        token = self._tokens.get(project.host, "")
        if not token:
            raise HostAnswerError("REPO_NAVIGATOR_HOST_TOKENS has no token for it")
        if host.kind is HostKind.GITHUB:
            url = f"{host.api}/repos/{quote(project.path)}/collaborators"
            headers = {
                "accept": "application/vnd.github+json",
                "authorization": f"Bearer {token}",
                "x-github-api-version": "2022-11-28",
            }
            params: dict[str, str | int] = {"affiliation": "all", "per_page": _A_PAGE, "page": page}
        else:
            url = f"{host.api}/projects/{quote(project.path, safe='')}/members/all"
            headers, params = {"private-token": token}, {"per_page": _A_PAGE, "page": page}
        try:
            async with self._client.stream("GET", url, params=params, headers=headers) as answer:
                content = b""
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > _LARGEST_BYTES:
                        raise HostAnswerError("its answer is too large")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise HostAnswerError(type(error).__name__, may_pass=True) from None
        if answer.status_code != httpx2.codes.OK:
            is_limited = answer.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in answer.headers
            may_pass = answer.status_code >= 500 or answer.status_code == 429 or is_limited
            raise HostAnswerError(f"it answers {answer.status_code}", may_pass=may_pass)
        try:
            members = json.loads(content)
        except ValueError:
            members = None
        if not isinstance(members, list):
            raise HostAnswerError("its answer is in no known form")
        # The next page is asked for by its number: an address in an answer is never followed.
        return members, not _NEXT.search(answer.headers.get("link", ""))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _reader(kind: HostKind, member: dict[str, Any]) -> str:
    """Return the login of a member who may read the code, ``""`` of one who may not."""
    if kind is HostKind.GITHUB:
        return str(member["login"]).casefold() if member["permissions"]["pull"] is True else ""
    is_active = member["state"] == "active" and member.get("membership_state", "active") == "active"
    return str(member["username"]).casefold() if is_active and member["access_level"] >= _REPORTER else ""
