"""Which repositories a call is about, and whether the caller may read them: decided before any is touched.

A server of several people lists its repositories in a YAML file, which it reads again when it changes:

```yaml
- name: api
  path: /srv/git/api
  readers: [alice, bob]      # left out: everybody whom the server lets in
```
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from stat import S_IFDIR, S_IFREG
from typing import Annotated, Final, NamedTuple
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, field_validator

from mcp_server.settings import ReloadedFile
from navigator.settings import LOCAL_USER
from navigator.workspaces.address import Source, read_address, write_address
from repo_map.errors import RepositoryNotFoundError
from repo_map.sources.disk import kind
from repo_map.sources.repository import top_folder

MAX_REPOSITORIES: Final = 20
_MAX_SUGGESTED: Final = 10
_MAX_PATH_CHARS: Final = 4_096
"""Characters, as Linux has it: each folder above a path is looked at."""
_BARE: Final = re.compile(r"[^/\\~.][^/\\]*")
"""A name that can't be a path, such as ``api`` or ``api@v1``."""
_PROJECT_VARIABLES: Final = ("CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS", "GEMINI_PROJECT_DIR")
"""Variables by which Claude Code, Cursor and Gemini CLI tell a server the folders that are open."""


class RepositoryNotAllowedError(RepositoryNotFoundError):
    """The folder exists, or might, outside the allowed folders."""

    code = "not_allowed"


class RepositoryEntry(BaseModel):
    """One repository that is known by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    path: Path
    readers: tuple[str, ...] | None = None
    """Users who may read it; None for everybody whom the server lets in."""

    @field_validator("path")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        if not path.is_absolute():
            raise ValueError("write the absolute path of a folder on this machine")
        return path

    def admits(self, user: str) -> bool:
        return user == LOCAL_USER or self.readers is None or user in self.readers


def listed_repositories(path: Path) -> ReloadedFile[RepositoryEntry]:
    """Return the list of repositories in a file; raise ``SettingsError`` if it can't be used."""
    return ReloadedFile(path, RepositoryEntry, lambda entry: entry.name)


class Root(NamedTuple):
    """A folder that the client has open, and what it calls it."""

    folder: Path
    name: str = ""

    def is_called(self, name: str) -> bool:
        return bool(name) and name.rstrip("/") in (self.name, self.folder.name)


def project_roots(environ: Mapping[str, str]) -> list[Root]:
    """Return the existing folders of the first variable by which a client tells what is open."""
    for text in filter(None, (environ.get(name, "").strip() for name in _PROJECT_VARIABLES)):
        listed: list[object] = [text]
        if text.startswith("["):
            try:
                listed = list(json.loads(text))
            except ValueError:
                continue
        elif not Path(text).is_dir():
            listed = [part for each in text.split(",") for part in each.split(os.pathsep)]
        folders = [Path(each.strip()) for each in listed if isinstance(each, str)]
        if found := [Root(each) for each in folders if each.is_absolute() and each.is_dir()]:
            return found
    return []


class RepositoryAccess:
    """Who may read what: listed repositories by their readers, folders by the allow-list.

    Where repositories are listed, users with a token read folders only where an allow-list names them.
    """

    def __init__(self, listed: Path | None, allowed: Sequence[Path], project: Sequence[Root] = ()) -> None:
        """Decide by the file of ``listed`` repositories and the ``allowed`` folders, which are resolved.

        ``project`` are the folders that are open where a client lists no roots.
        """
        self._allowed = allowed
        self._project = project
        self._file = None if listed is None else listed_repositories(listed)

    def choose(
        self,
        named: str | Sequence[str] | None,
        roots: Sequence[Root],
        working_folder: Path,
        user: str = LOCAL_USER,
    ) -> str:
        """Return the address of what a call is about, or raise ``RepositoryNotFoundError``.

        Args:
            named: Folders (absolute, ``~``, ``file://``, or relative to the first root), or names of roots
                or of the list, each also with ``@`` and a commit's name; None for the folders that the
                client has open, else the work tree around ``working_folder``.
            roots: Folders that the client has open.
            working_folder: Where this process was started.
            user: Who calls.
        """
        given = [named] if isinstance(named, str) else list(named or ())
        texts = [text for each in given if (text := _unquoted(each.strip()))]
        roots = [each for each in roots if not _is_home(each.folder)] or self._project or roots
        if len(texts) > MAX_REPOSITORIES:
            raise RepositoryNotFoundError(
                f"{len(texts)} repositories are named, and one call takes {MAX_REPOSITORIES} at most; "
                "name fewer."
            )
        if texts:
            return write_address([self._source(text, roots, working_folder, user) for text in texts])
        if not self.may_name_folders(user):
            raise RepositoryNotFoundError(f"No repository is named; {self._advice(user)}")
        opened = [each for each in roots if not _is_home(each.folder)]
        folders = self._open_folders(opened) if opened else [self._started_in(working_folder)]
        return write_address([Source(str(each)) for each in folders])

    def require(self, address: str, user: str) -> None:
        """Raise ``RepositoryNotFoundError`` unless the user may read all repositories of an address."""
        for source in read_address(address):
            folder = Path(source.folder)
            if source.name:
                entry = self.readable(user).get(source.name)
                if entry is None or folder not in (entry.path, entry.path.resolve()):
                    raise self._not_found(source.title, user)
            elif not self.may_name_folders(user):
                raise self._not_found(source.title, user)
            else:
                require_allowed(folder, self._allowed)
                self._require_unrestricted(folder, source.title, user)

    def may_name_folders(self, user: str) -> bool:
        """Return True if the user may name folders of this machine at all."""
        return self._file is None or bool(self._allowed) or user == LOCAL_USER

    @property
    def _entries(self) -> tuple[RepositoryEntry, ...]:
        return () if self._file is None else self._file.entries

    def readable(self, user: str) -> dict[str, RepositoryEntry]:
        """Return the listed repositories that the user may read by their names, in the order of the list."""
        return {entry.name: entry for entry in self._entries if entry.admits(user)}

    def _source(self, text: str, roots: Sequence[Root], working_folder: Path, user: str) -> Source:
        name, _, ref = text.partition("@")
        if (entry := self.readable(user).get(name)) is not None:
            return Source(str(entry.path), name, ref)
        if not self.may_name_folders(user):
            raise self._not_found(text, user)
        bases = [*(root.folder for root in roots[:1]), working_folder]
        called = [root.folder for root in roots if root.is_called(text)]
        if not called and (called := [root.folder for root in roots if root.is_called(name)]):
            text = f"{called[0]}@{ref}"
        elif called:
            text = str(called[0])
        # A folder, else one and a commit's name, the longest first.
        cuts = [len(text), *(at for at in range(len(text) - 1, -1, -1) if text[at] == "@" and text[at + 1 :])]
        found = ((at, base) for base in bases for at in cuts if self._is_folder(base / path_of(text[:at])))
        at, base = next(found, (None, bases[0]))
        if at is None and self._file is not None and _BARE.fullmatch(text):
            raise self._not_found(text, user)
        chosen = self._folder(base / path_of(text[:at] or "."), text[:at])
        self._require_unrestricted(chosen, text, user)
        return Source(str(chosen), ref="" if at is None else text[at + 1 :])

    def _is_folder(self, path: Path) -> bool:
        try:
            return _may_be_read(path, self._allowed) and kind(_resolved(path)) == S_IFDIR
        except RepositoryNotFoundError:
            return False

    def _require_unrestricted(self, folder: Path, name: str, user: str) -> None:
        """Raise where a folder holds, or lies in, a listed repository that the user may not read."""
        for entry in self._entries:
            path = entry.path.resolve()
            if not entry.admits(user) and (folder.is_relative_to(path) or path.is_relative_to(folder)):
                raise self._not_found(name, user)

    def _open_folders(self, roots: Sequence[Root]) -> list[Path]:
        """Return the folders that the client has open, those within others left out."""
        found: dict[Path, None] = {}
        refused: list[RepositoryNotFoundError] = []
        for root in roots[:MAX_REPOSITORIES]:
            try:
                found[self._folder(root.folder)] = None
            except RepositoryNotFoundError as error:
                refused.append(error)
        if not found:
            raise refused[0]
        return [each for each in found if not any(other in each.parents for other in found)]

    def _started_in(self, working_folder: Path) -> Path:
        """Return the work tree around the working folder, else the only allowed folder."""
        tree = project_tree(working_folder)
        if tree is not None and _may_be_read(tree, self._allowed):
            return tree
        # A folder of many repositories is none: together they are no answer to a question about one.
        if len(self._allowed) == 1 and top_folder(self._allowed[0]) is not None:
            return self._folder(self._allowed[0], str(self._allowed[0]))
        raise RepositoryNotFoundError(
            "No repository is named, the client lists no root, and the server's working folder is in no "
            "project's git work tree; pass the repository's absolute path as `repo_path`."
        )

    def _folder(self, folder: Path, named: str = "") -> Path:
        """Return an allowed folder with its links resolved; errors call it as the caller ``named`` it."""
        # The allow-list comes first: whether a forbidden path exists is not disclosed.
        require_allowed(folder, self._allowed, named)
        resolved = _resolved(folder)
        if kind(resolved) != S_IFDIR:
            shown = f"`{named or folder}`"
            what = f"{shown} is a file" if kind(resolved) == S_IFREG else f"There is no folder {shown}"
            raise RepositoryNotFoundError(f"{what}; pass the absolute path of a repository's folder.")
        # A home folder may be the work tree of its settings, and holds everything else besides.
        if _is_home(resolved) and not (is_whole_path(named) and top_folder(resolved)):
            raise RepositoryNotFoundError(
                f"`{folder}` holds everything that you have, and is no project; name the project's folder "
                "in it."
            )
        return resolved

    def _not_found(self, name: str, user: str) -> RepositoryNotFoundError:
        """Return the same words for what is not there and for what is not the caller's."""
        return RepositoryNotFoundError(
            f"No repository is called `{ascii(name[:200])[1:-1]}`; {self._advice(user)}"
        )

    def _advice(self, user: str) -> str:
        names = [f"`{name}`" for name in self.readable(user)]
        if not names:
            return "ask the operator of this server for one that you may read."
        if len(names) == 1:
            return f"pass {names[0]}, the only one that you may read, as `repo_path`."
        more = f" and {len(names) - _MAX_SUGGESTED} more" if len(names) > _MAX_SUGGESTED else ""
        return f"name one of {', '.join(names[:_MAX_SUGGESTED])}{more} as `repo_path`."


def path_of(text: str) -> Path:
    """Return the path that ``text`` names, be it a path, a ``~`` path or a ``file://`` URI."""
    host = ""
    if text.startswith("file://"):
        # Some clients do not encode `#` and `?`, which mean nothing else in the address of a file.
        host, _, path = text.removeprefix("file://").partition("/")
        text = unquote(f"/{path}")
        if sys.platform == "win32" and re.match(r"/[A-Za-z]:", text):
            text = text[1:]
    # Opening `\\server\share` would already send the user's credentials to that server.
    if host not in ("", "localhost") or text.startswith(("//", "\\\\")):
        raise RepositoryNotFoundError(
            f"`{text}` names a folder on another machine; mount it, and pass its path on this one."
        )
    if len(text) > _MAX_PATH_CHARS or "\0" in text:
        raise RepositoryNotFoundError(
            "The path is too long or has a NUL character; pass the repository's absolute path."
        )
    # Unlike pathlib, which raises, it leaves the home of an unknown user as it is written.
    return Path(os.path.expanduser(text))  # noqa: PTH111


def is_whole_path(text: str) -> bool:
    """Return True if a text names the same folder wherever it is read."""
    bare = _unquoted(text.strip())
    return bare.startswith(("~", "file://", "\\\\")) or Path(bare).is_absolute()


def work_tree(folder: Path) -> Path | None:
    """Return the root of the git work tree that ``folder`` lies in, or ``None``."""
    return top_folder(folder.resolve())


def project_tree(folder: Path) -> Path | None:
    """Return the work tree that ``folder`` lies in, None also for that of a home folder's settings."""
    tree = work_tree(folder)
    return None if tree is None or _is_home(tree) else tree


def _is_home(folder: Path) -> bool:
    try:
        return _resolved(folder) in (_resolved(path_of("~")), Path(folder.anchor))
    except RepositoryNotFoundError:
        return False


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" else text


def require_allowed(folder: Path, allowed: Sequence[Path], named: str = "") -> None:
    """Raise unless ``folder``, its symlinks resolved, lies in one of ``allowed`` (empty allows any).

    The error calls it as the caller ``named`` it.
    """
    if not _may_be_read(folder, allowed):
        names = ", ".join(f"`{name}`" for name in allowed)
        raise RepositoryNotAllowedError(
            f"`{named or folder}` lies outside the folders this server may read ({names}); choose a "
            "repository in them, or start the server with `--allow` for that folder."
        )


def _may_be_read(folder: Path, allowed: Sequence[Path]) -> bool:
    return not allowed or any(_resolved(folder).is_relative_to(name) for name in allowed)


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError) as error:  # A loop of links.
        raise RepositoryNotFoundError(f"`{folder}` can't be followed; check its links.") from error
