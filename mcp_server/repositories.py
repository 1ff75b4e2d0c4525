"""Which repositories a call is about, and whether the caller may read them: decided before any is touched.

A server of several people lists its repositories in a YAML file, which it reads again when it changes:

```yaml
- name: api
  path: /srv/git/api
  readers: [alice, bob]      # left out: everybody whom the server lets in
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, field_validator

from mcp_server.reloaded_file import ReloadedFile
from mcp_server.repository import (
    RepositoryNotAllowedError,
    choose_repository,
    is_readable_folder,
    path_of,
    require_allowed,
)
from navigator.settings import LOCAL_USER
from navigator.workspaces.address import Source, read_address, write_address
from repo_map.errors import RepositoryNotFoundError

MAX_REPOSITORIES: Final = 20
"""Repositories of one call."""
_MAX_SUGGESTED: Final = 10
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_BARE: Final = re.compile(r"[^/\\~.][^/\\]*")
"""A name that can't be a path, such as ``api`` or ``api@v1``."""


class RepositoryEntry(BaseModel):
    """One repository that is known by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    path: Path
    """Its folder on this machine, which the operator updates."""
    readers: tuple[str, ...] | None = None
    """Users who may read it; None for everybody whom the server lets in."""

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("use letters, digits and . _ -, beginning with a letter or digit")
        return name

    @field_validator("path")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        if not path.is_absolute():
            raise ValueError("write the absolute path of a folder on this machine")
        return path

    def admits(self, user: str) -> bool:
        """Return True if the user may read the repository."""
        return user == LOCAL_USER or self.readers is None or user in self.readers


def read_repositories(path: Path) -> tuple[RepositoryEntry, ...]:
    """Return the entries of a file of repositories.

    Raises:
        SettingsError: It can't be used; the message names the line.
    """
    return ReloadedFile(path, RepositoryEntry, lambda entry: entry.name).entries


class RepositoryAccess:
    """Who may read what: listed repositories by their readers, folders by the allow-list.

    Where repositories are listed, users with a token read folders only where an allow-list names them.
    """

    def __init__(self, listed: Path | None, allowed: Sequence[Path]) -> None:
        """Prepare the decisions.

        Args:
            listed: The file of the repositories that are known by name; None for none.
            allowed: Resolved folders that a repository must lie in; empty allows any.

        Raises:
            SettingsError: The file can't be used.
        """
        self._allowed = allowed
        self._file = None if listed is None else ReloadedFile(listed, RepositoryEntry, lambda each: each.name)

    def choose(
        self,
        named: str | Sequence[str] | None,
        roots: Sequence[Path],
        working_folder: Path,
        user: str = LOCAL_USER,
    ) -> str:
        """Return the address of what a call is about.

        Args:
            named: Folders, or names of the list, each also with ``@`` and a commit's name; None for the
                folders that the client has open, else the work tree that the process stands in.
            roots: Folders that the client has open.
            working_folder: Where this process was started.
            user: Who calls.

        Raises:
            RepositoryNotFoundError: One of them is none, or none that the caller may read.
        """
        given = [named] if isinstance(named, str) else list(named or ())
        texts = [text.strip() for text in given if text.strip()]
        if len(texts) > MAX_REPOSITORIES:
            raise RepositoryNotFoundError(
                f"{len(texts)} repositories are named, and one call takes {MAX_REPOSITORIES} at most; "
                "name fewer."
            )
        if texts:
            base = roots[0] if roots else working_folder
            return write_address([self._source(text, base, user) for text in texts])
        if not self.may_name_folders(user):
            raise self._none_named(user)
        try:
            opened = self._open_folders(roots, working_folder)
        except RepositoryNotFoundError as error:
            if user == LOCAL_USER or roots:
                raise
            # What is wrong with the server's own folder is nothing that a caller can mend.
            raise self._none_named(user) from error
        return write_address([Source(str(each)) for each in opened])

    def require(self, address: str, user: str) -> None:
        """Raise ``RepositoryNotFoundError`` unless the user may read all repositories of an address."""
        for source in read_address(address):
            if source.name:
                entry = self._readable(user).get(source.name)
                if entry is None or Path(source.folder) not in (entry.path, entry.path.resolve()):
                    raise self._not_found(source.title, user)
            elif not self.may_name_folders(user):
                raise self._not_found(source.title, user)
            else:
                require_allowed(Path(source.folder), self._allowed)
                self._require_unrestricted(Path(source.folder), source.title, user)

    def names(self, user: str) -> list[str]:
        """Return the names of the listed repositories that the user may read, in the order of the list."""
        return list(self._readable(user))

    def may_name_folders(self, user: str) -> bool:
        """Return True if the user may name folders of this machine at all."""
        return self._file is None or bool(self._allowed) or user == LOCAL_USER

    def _readable(self, user: str) -> dict[str, RepositoryEntry]:
        entries = () if self._file is None else self._file.entries
        return {entry.name: entry for entry in entries if entry.admits(user)}

    def _source(self, text: str, base: Path, user: str) -> Source:
        name, _, ref = text.partition("@")
        if (entry := self._readable(user).get(name)) is not None:
            return Source(str(entry.path), name, ref)
        if not self.may_name_folders(user):
            raise self._not_found(text, user)
        folder, ref = next(
            (each for each in _splits(text) if is_readable_folder(base / path_of(each[0]), self._allowed)),
            (text, ""),
        )
        is_folder = is_readable_folder(base / path_of(folder), self._allowed)
        if self._file is not None and not is_folder and _BARE.fullmatch(text):
            raise self._not_found(text, user)
        try:
            chosen = choose_repository(folder or ".", (base,), base, self._allowed)
        except RepositoryNotAllowedError as error:
            if user == LOCAL_USER:
                raise
            # The caller's own words: where the server stands is none of its business.
            raise RepositoryNotAllowedError(
                f"`{ascii(text[:200])[1:-1]}` lies outside the folders that you may name here "
                f"({', '.join(f'`{each}`' for each in self._allowed)}); choose a repository in them."
            ) from error
        self._require_unrestricted(chosen, text, user)
        return Source(str(chosen), ref=ref)

    def _require_unrestricted(self, folder: Path, name: str, user: str) -> None:
        """Raise where a folder holds, or lies in, a listed repository that the user may not read."""
        for entry in () if self._file is None else self._file.entries:
            path = entry.path.resolve()
            if not entry.admits(user) and (folder.is_relative_to(path) or path.is_relative_to(folder)):
                raise self._not_found(name, user)

    def _open_folders(self, roots: Sequence[Path], working_folder: Path) -> list[Path]:
        """Return the folders that the client has open, those within others left out, else where we stand."""
        if len(roots) < 2:
            return [choose_repository(None, roots, working_folder, self._allowed)]
        found: list[Path] = []
        refused: list[RepositoryNotFoundError] = []
        for root in roots[:MAX_REPOSITORIES]:
            try:
                found.append(choose_repository(None, (root,), working_folder, self._allowed))
            except RepositoryNotFoundError as error:
                refused.append(error)
        if not found:
            raise refused[0]
        found = list(dict.fromkeys(found))
        return [each for each in found if not any(other in each.parents for other in found)]

    def _none_named(self, user: str) -> RepositoryNotFoundError:
        if self._file is None:
            return RepositoryNotFoundError(
                "No repository is named; pass the absolute path of one on the server as `repo_path`."
            )
        return RepositoryNotFoundError(f"No repository is named; {self._advice(user)}")

    def _not_found(self, name: str, user: str) -> RepositoryNotFoundError:
        """Return the same words for what is not there and for what is not the caller's."""
        return RepositoryNotFoundError(
            f"No repository is called `{ascii(name[:200])[1:-1]}`; {self._advice(user)}"
        )

    def _advice(self, user: str) -> str:
        names = [f"`{name}`" for name in self.names(user)]
        if not names:
            return "ask the operator of this server for one that you may read."
        more = f" and {len(names) - _MAX_SUGGESTED} more" if len(names) > _MAX_SUGGESTED else ""
        return f"name one of {', '.join(names[:_MAX_SUGGESTED])}{more} as `repo_path`."


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield how a text may be read: as a folder, then as one and a commit's name, the longest first."""
    yield text, ""
    at = len(text)
    while (at := text.rfind("@", 0, at)) >= 0:
        if ref := text[at + 1 :]:
            yield text[:at], ref
