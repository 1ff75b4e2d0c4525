"""The repositories that a server keeps clones of, from its operator's YAML file, and who may read which.

```yaml
hosts:
  git.example: {kind: gitlab, api: https://git.example/api/v4}   # asked for readers that are `host`
repositories:
  api:
    address: https://git.example/team/api.git
    branches: [main, "release/*"]   # of which the first is meant where none is named; left out, all
    readers: [group:backend, user:alice, host]   # "*" is everybody who is admitted
```
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_IFDIR
from textwrap import indent
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from navigator.loopback import is_loopback
from navigator.workspaces.git_host import GitHost, Project, project_of
from repo_map.atomic_files import read_stored, replace_text
from repo_map.errors import RepoMapError, RepositoryNotFoundError
from repo_map.messages import one_line
from repo_map.worktree.disk import kind

EVERYBODY: Final = "*"
HOST: Final = "host"
"""A reader: whoever the repository's git host lets read it."""
_READERS: Final = ("user", "group")
"""What comes before the name of a reader, with a colon behind it."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_BRANCH = re.compile(r"[\w*][\w*./+#%=,-]{0,200}")
_SCP = re.compile(r"[\w.-]+@[\w][\w.-]*:(?!/)[\w./~-]+")
"""``git@host:team/api.git``, which is SSH."""
_SCHEMES: Final = ("https", "ssh", "file")
_FOLDER: Final = "repositories"
"""Of the clones, in the data folder."""
WANTED: Final = ".wanted"
"""Folder among the clones, with a file for each that a webhook told of a push to."""


class CatalogueError(RepoMapError):
    """The file of repositories can't be used; the message says where it is wrong, and is for its operator."""

    code = "invalid_repository_list"


class CatalogueMissingError(CatalogueError):
    """There is no file of repositories yet."""


class CatalogueContentError(CatalogueError):
    """The file is there, and is not well-formed."""


class RepositoryEntry(BaseModel):
    """One repository, as its operator describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: str
    branches: tuple[str, ...] = ()
    """Patterns of the branches that are fetched, the first of them the one that is read; all if left out."""
    readers: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = ()
    """``group:NAME`` and ``user:NAME``; nobody if left out, but who is on the machine itself."""

    @field_validator("address")
    @classmethod
    def _fetchable(cls, address: str) -> str:
        if (why := why_not_fetched(address)) is not None:
            raise ValueError(why)
        return address

    @field_validator("branches")
    @classmethod
    def _named(cls, branches: tuple[str, ...]) -> tuple[str, ...]:
        for at, branch in enumerate(branches):
            is_name = _BRANCH.fullmatch(branch) and ".." not in branch and branch.count("*") <= 1
            if not is_name or (at == 0 and "*" in branch):
                raise ValueError(
                    f"`{branch}` can't be used; name a branch first, such as `main`, then patterns of one `*`"
                )
        return branches

    @field_validator("readers")
    @classmethod
    def _users_or_groups(cls, readers: tuple[str, ...]) -> tuple[str, ...]:
        for reader in readers:
            kind, _, name = reader.partition(":")
            if reader not in (EVERYBODY, HOST) and (kind not in _READERS or not name.strip()):
                shown = ascii(reader[:100])[1:-1]
                raise ValueError(
                    # Who may name a group at the provider would else read as a user of that name.
                    f"`{shown}` says neither user nor group; write `user:{shown}` or `group:{shown}`"
                )
        return readers

    @property
    def project(self) -> Project | None:
        """What its host calls it; None for one of no host."""
        return project_of(self.address)

    def admits(self, principal: str, groups: Collection[str]) -> bool:
        """Tell whether a principal who is in these groups may read it, whatever its host says."""
        names = {EVERYBODY, f"user:{principal}", *(f"group:{group}" for group in groups)}
        return not names.isdisjoint(self.readers)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    revoked: frozenset[str] = frozenset()
    hosts: dict[str, GitHost] = Field(default_factory=dict)
    repositories: dict[str, RepositoryEntry] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _of_known_hosts(self) -> _File:
        for name, entry in self.repositories.items():
            if HOST in entry.readers and (entry.project is None or entry.project.host not in self.hosts):
                raise ValueError(f"`{name}` has the readers of its host, which `hosts` does not describe")
        return self

    @field_validator("repositories")
    @classmethod
    def _named(cls, entries: dict[str, RepositoryEntry]) -> dict[str, RepositoryEntry]:
        for name in entries:
            require_name(name)
        return entries


def require_name(name: str) -> str:
    """Return the name of a repository; raises ``ValueError`` for one that can't be used."""
    if not _NAME.fullmatch(name) or name.lower().endswith((".git", ".lock")):
        raise ValueError(
            f"`{ascii(name[:100])[1:-1]}` is not a valid name of a repository; use letters, digits, "
            "`.`, `_` and `-`, "
            "and no `.git` at the end"
        )
    return name


def why_not_fetched(address: str) -> str | None:
    """Return why an address is not fetched from, None where it is; no part of it is repeated."""
    if _SCP.fullmatch(address):
        return None
    try:
        parts = urlsplit(address)
        host, has_password = parts.hostname, parts.password is not None
    except ValueError:
        return "it is no URL such as https://host/path"
    if has_password or (parts.scheme == "https" and parts.username):
        return "it holds credentials; leave them to git's credential helper, or use an SSH key"
    is_local = parts.scheme == "http" and host is not None and is_loopback(host)
    if parts.scheme not in _SCHEMES and not is_local:
        return "only https, ssh and file addresses are fetched from"
    if not address.isprintable() or " " in address or (host or "").startswith("-"):
        return "it is no URL such as https://host/path"
    is_whole = parts.path.startswith("/") and (not host if parts.scheme == "file" else bool(host))
    return None if is_whole else "it names no repository, as https://host/path and file:///path do"


class Current(NamedTuple):
    """The repositories that a server goes by."""

    entries: Mapping[str, RepositoryEntry]
    hosts: Mapping[str, GitHost]
    """By their names in addresses."""
    revoked: frozenset[str] = frozenset()
    """Principals whose tokens admit nobody any more."""
    fault: str = ""
    """What is wrong with the file by now, for its operator, where these are those that it had before."""


class Catalogue:
    """The repositories of one file, read anew whenever it has changed."""

    def __init__(self, file: Path, data_dir: Path) -> None:
        self.file = file
        self.clones = data_dir / _FOLDER
        """The folder in which each repository has its clone."""
        self._read: tuple[bytes, _File] | None = None

    def entries(self) -> Mapping[str, RepositoryEntry]:
        """Return the repositories by name, in the file's order.

        Raises:
            CatalogueError: the file can't be read, or is not well-formed.
        """
        return self._today().repositories

    def _today(self) -> _File:
        try:
            content = read_stored(self.file)
        except FileNotFoundError as error:
            raise CatalogueMissingError(
                f"There is no file of repositories at `{self.file}`; `repo-navigator repositories add` makes "
                "it, or correct REPO_NAVIGATOR_REPOSITORIES."
            ) from error
        except OSError as error:
            raise CatalogueError(
                f"The repositories in `{self.file}` can't be read ({error.strerror}); check the file."
            ) from error
        if self._read is None or self._read[0] != content:
            self._read = content, self._parsed(content)
        return self._read[1]

    def current(self) -> Current:
        """Return the repositories by the file or, where it is not well-formed, as it was well-formed last.

        A slip of the pen in one entry must not take all repositories from everybody. The price: a right that
        is taken away in a file with such a slip stays until the slip is mended. So whoever serves by an
        earlier list has to tell its operator of the fault each time. A file that is gone or can't be opened
        is no slip: nobody is served by what it once said.

        Raises:
            CatalogueError: there is no list to go by.
        """
        try:
            today = self._today()
            return Current(today.repositories, today.hosts, today.revoked)
        except CatalogueContentError as error:
            if self._read is None:
                raise
            earlier = self._read[1]
            return Current(earlier.repositories, earlier.hosts, earlier.revoked, str(error))

    def revokes(self, principal: str) -> bool:
        """Tell whether a principal is turned away: by the file or, where that can't be read, as it was last.

        A file that is there and was never read turns everybody away.
        """
        try:
            return principal in self.current().revoked
        except CatalogueError as error:
            if self._read is None:
                return not isinstance(error, CatalogueMissingError)
            return principal in self._read[1].revoked

    def clone_of(self, name: str) -> tuple[Path, RepositoryEntry]:
        """Return the folder of a repository's clone, and what the catalogue says of the repository.

        Raises:
            RepositoryNotFoundError: no repository is called so, or it was not fetched yet.
        """
        entry = self.current().entries.get(name)
        if entry is None:
            raise RepositoryNotFoundError(
                f"No repository is called `{name}` any more; name one that you may read."
            )
        clone = self.clones / name
        if kind(clone / ".git") != S_IFDIR:
            raise RepositoryNotFoundError(
                f"`{name}` was not fetched yet; run `repo-navigator repositories sync {name}` on the server."
            )
        return clone, entry

    def add(self, name: str, entry: RepositoryEntry) -> None:
        """Write one more repository to the file; what stands there stays as it is.

        Raises:
            CatalogueError: the name is taken or can't be used, or the file has to be edited by hand.
        """
        try:
            before = self.entries()
        except CatalogueMissingError:
            before = {}
        try:
            require_name(name)
        except ValueError as error:
            raise CatalogueError(f"{error}.") from error
        if name in before:
            raise CatalogueError(
                f"`{name}` is in `{self.file}` already; edit it there, or choose another name."
            )
        import yaml  # noqa: PLC0415 - YAML loads only where it is read or written

        try:
            text = read_stored(self.file).decode("utf-8")
        except FileNotFoundError:
            text = ""
        data = {name: entry.model_dump(mode="json", exclude_defaults=True)}
        added = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
        start = text if text.strip() else "repositories:\n"
        whole = start.rstrip("\n") + "\n" + indent(added, "  ")
        # Other people's comments and order stay: what is added comes last, if it is right there.
        try:
            is_right = self._parsed(whole.encode()).repositories == {**before, name: entry}
        except CatalogueError:
            is_right = False
        if not is_right:
            raise CatalogueError(
                f"`{self.file}` is not written so that a repository can be added at its end; add it by hand: "
                f"{one_line(yaml.safe_dump(data, default_flow_style=True, sort_keys=False))}"
            )
        self.file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(self.file, whole)

    def want(self, name: str) -> None:
        """Note that a repository is to be fetched soon; where that can't be noted, it is fetched in time."""
        with suppress(OSError):
            (self.clones / WANTED).mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.clones / WANTED / name).touch()

    def _parsed(self, content: bytes) -> _File:
        import yaml  # noqa: PLC0415 - YAML loads only where it is read or written

        try:
            data: Any = yaml.safe_load(content.decode("utf-8")) if content.strip() else {}
            return _File.model_validate(data or {})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "its top"
            why = first["msg"].removeprefix("Value error, ")
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
            place, why = "its top", "it is not well-formed YAML"
        raise CatalogueContentError(f"The repositories in `{self.file}` can't be used, at `{place}`: {why}.")


def new_entry(address: str, branches: Sequence[str], readers: Sequence[str]) -> RepositoryEntry:
    """Return an entry; raises ``CatalogueError`` where a part of it can't be used.

    A folder of this machine has to be a repository by now; what another host has is seen when it is fetched.
    """
    if address.startswith("file:///"):
        folder = Path(unquote(urlsplit(address).path))
        if S_IFDIR not in (kind(folder / ".git" / "refs"), kind(folder / "refs")):
            raise CatalogueError("The address can't be used: there is no git repository in that folder.")
    try:
        return RepositoryEntry(address=address, branches=tuple(branches), readers=tuple(readers))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        why = first["msg"].removeprefix("Value error, ")
        raise CatalogueError(f"The {first['loc'][0]} can't be used: {why}.") from None


class NamedRepository(NamedTuple):
    """What names a repository and a commit in it."""

    name: str
    ref: str


def split_ref(text: str) -> NamedRepository:
    """Return the name and the commit's name in ``name@ref``; without one ``""``."""
    name, _, ref = text.partition("@")
    return NamedRepository(name, ref)
