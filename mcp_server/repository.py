"""Which folder a call is about, and whether the allow-list lets it be read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from stat import S_IFDIR
from typing import Final
from urllib.parse import unquote, urlsplit

from repo_map.errors import RepositoryNotFoundError
from repo_map.sources.disk import kind
from repo_map.sources.repository import top_folder

_MAX_PATH_CHARS: Final = 4_096
"""Characters, as Linux has it: each folder above a path is looked at."""


class RepositoryNotAllowedError(RepositoryNotFoundError):
    """The folder exists, or might, outside the allowed folders."""

    code = "not_allowed"


def choose_repository(
    repo_path: str | None, roots: Sequence[Path], working_folder: Path, allowed: Sequence[Path]
) -> Path:
    """Return the folder to navigate: the one named, else the host's first root, else the tree we stand in.

    Args:
        repo_path: What the caller named: absolute, ``~``, ``file://``, or relative to the first root.
        roots: Folders that the host has open.
        working_folder: Where this process was started.
        allowed: Resolved folders that the answer must lie in; empty allows any.

    Raises:
        RepositoryNotFoundError: Nothing names a readable folder.
        RepositoryNotAllowedError: The folder lies outside ``allowed``.
    """
    if repo_path is not None and repo_path.strip():
        base = roots[0] if roots else working_folder
        return _readable(base / path_of(repo_path.strip()), allowed, repo_path.strip())
    if roots:
        return _readable(roots[0], allowed)
    tree = work_tree(working_folder)
    if tree is not None and may_be_read(tree, allowed):
        return tree
    # A folder of many repositories is none: together they are no answer to a question about one.
    if len(allowed) == 1 and top_folder(allowed[0]) is not None:
        return _readable(allowed[0], allowed)
    raise RepositoryNotFoundError(
        "No repository is named, the host gives no root, and the server's working folder is no git work "
        "tree; "
        "pass the repository's absolute path as `repo_path`."
    )


def path_of(text: str) -> Path:
    """Return the path that ``text`` names, be it a path, a ``~`` path or a ``file://`` URI."""
    if text.startswith("file://"):
        parts = urlsplit(text)
        if parts.hostname not in (None, "localhost"):
            raise _on_another_machine(text)
        return path_of(unquote(parts.path))
    if text.startswith(("//", "\\\\")):
        # Opening `\\\\server\\share` would already send the user's credentials to that server.
        raise _on_another_machine(text)
    if len(text) > _MAX_PATH_CHARS:
        raise RepositoryNotFoundError(
            f"The path has {len(text):,} characters, which is too long; pass the repository's absolute path."
        )
    if "\0" in text:
        raise RepositoryNotFoundError("The path holds a NUL character; pass the repository's absolute path.")
    # Unlike pathlib, which raises, it leaves the home of an unknown user as it is written.
    return Path(os.path.expanduser(text))  # noqa: PTH111


def _on_another_machine(text: str) -> RepositoryNotFoundError:
    return RepositoryNotFoundError(
        f"`{text}` names a folder on another machine; mount it, and pass its path on this one."
    )


def work_tree(folder: Path) -> Path | None:
    """Return the root of the git work tree that ``folder`` lies in, or ``None``."""
    return top_folder(folder.resolve())


def require_allowed(folder: Path, allowed: Sequence[Path]) -> None:
    """Raise unless ``folder``, its symlinks resolved, lies in one of ``allowed`` (empty allows any)."""
    if not may_be_read(folder, allowed):
        names = ", ".join(f"`{name}`" for name in allowed)
        raise RepositoryNotAllowedError(
            f"`{folder}` lies outside the folders this server may read ({names}); choose a repository in "
            f"them, "
            "or start the server with `--allow` for that folder."
        )


def is_readable_folder(path: Path, allowed: Sequence[Path]) -> bool:
    """Tell whether a path is a folder in one of ``allowed``; whether others exist is not disclosed."""
    try:
        return may_be_read(path, allowed) and kind(_resolved(path)) == S_IFDIR
    except RepositoryNotFoundError:
        return False


def lies_below(folder: Path, other: Path) -> bool:
    """Tell whether a folder, or what would stand there, lies in another one, links followed."""
    return _resolved(folder).is_relative_to(_resolved(other))


def may_be_read(folder: Path, allowed: Sequence[Path]) -> bool:
    """Tell whether ``folder``, its symlinks resolved, lies in one of ``allowed`` (empty allows any)."""
    return not allowed or _lies_in(_resolved(folder), allowed)


def _readable(folder: Path, allowed: Sequence[Path], named: str = "") -> Path:
    # The allow-list comes first: whether a forbidden path exists is not disclosed.
    require_allowed(folder, allowed)
    resolved = _resolved(folder)
    found = kind(resolved)
    if not found:
        raise _missing(folder, named)
    if found != S_IFDIR:
        raise RepositoryNotFoundError(f"`{folder}` is a file, not a folder; pass the folder that holds it.")
    home = _resolved(Path(os.path.expanduser("~")))  # noqa: PTH111 - as above
    if resolved in (home, Path(resolved.anchor)) and top_folder(resolved) is None:
        raise RepositoryNotFoundError(
            f"`{folder}` holds everything that you have, and is no repository; name the project's folder "
            "in it."
        )
    return resolved


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError) as error:  # A loop of links.
        raise _missing(folder) from error


def _missing(folder: Path, named: str = "") -> RepositoryNotFoundError:
    """Return the error for a folder that is not there, by the words that ``named`` it."""
    if named.startswith("~") and not path_of(named).is_absolute():
        return RepositoryNotFoundError(
            f"`{Path(named).parts[0]}` is not a home folder on this machine; pass the repository's "
            "absolute path."
        )
    if named and not named.startswith("file://") and not path_of(named).is_absolute():
        return RepositoryNotFoundError(
            f"There is no folder at `{folder}`, which `{named}` was taken for; pass the repository's "
            "absolute path."
        )
    return RepositoryNotFoundError(
        f"There is no folder at `{folder}`; check how it is spelled, or name a folder that exists."
    )


def _lies_in(folder: Path, allowed: Sequence[Path]) -> bool:
    return any(folder.is_relative_to(name) for name in allowed)
