"""A git host that repositories come from: where it is asked, and what it calls a repository."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from navigator.loopback import is_loopback

_SCP = re.compile(r"[\w.-]+@([\w][\w.-]*):([\w./~-]+)")
_PART = re.compile(r"(?!\.+$)[\w.-]{1,100}")
_GITHUB: Final = "https://api.github.com"


class HostKind(StrEnum):
    """Whose interface a host has."""

    GITHUB = "github"
    GITLAB = "gitlab"


class GitHost(BaseModel):
    """A host, as the operator's file describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: HostKind
    api: str = ""
    """Base URL of its REST interface."""

    @field_validator("api")
    @classmethod
    def _trusted(cls, api: str) -> str:
        parts = urlsplit(api)
        is_known = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
        if not (is_known and parts.hostname) or "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("`api` is no URL such as https://git.example/api/v4")
        return api.rstrip("/")

    @model_validator(mode="before")
    @classmethod
    def _of_github(cls, given: object) -> object:
        is_usual = isinstance(given, dict) and given.get("kind") == HostKind.GITHUB and "api" not in given
        return {**given, "api": _GITHUB} if isinstance(given, dict) and is_usual else given

    @model_validator(mode="after")
    def _whole(self) -> GitHost:
        if not self.api:
            raise ValueError("`api` is missing; give its REST interface, such as https://git.example/api/v4")
        return self


class Project(NamedTuple):
    """A repository as its host knows it."""

    host: str
    path: str
    """``team/api``, at GitLab also deeper."""

    def __str__(self) -> str:
        """Return ``git.example/team/api``."""
        return f"{self.host}/{self.path}"


def project_of(address: str) -> Project | None:
    """Return the project that an address is of; None where it tells no host and path."""
    if found := _SCP.fullmatch(address):
        host, path = found.groups()
    else:
        parts = urlsplit(address)
        host, path = parts.hostname or "", parts.path
    path = path.strip("/").removesuffix(".git")
    parts_of_path = path.split("/")
    is_whole = host and len(parts_of_path) > 1 and all(_PART.fullmatch(part) for part in parts_of_path)
    return Project(host.lower(), path.lower()) if is_whole else None
