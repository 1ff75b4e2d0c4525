"""The address of a navigation's repository as one text: a folder, a commit, or several repositories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from repo_map.sources.source import FileSource

_MARK: Final = "repositories:"
"""Begins every address that is no plain folder; no absolute path does."""


class Source(NamedTuple):
    """One repository, as it is named."""

    folder: str
    name: str = ""
    """What the server's list of repositories calls it; ``""`` for a folder that is named by its path."""
    ref: str = ""
    """The commit's name; ``""`` for the work tree."""

    @property
    def title(self) -> str:
        return (self.name or self.folder) + (f"@{self.ref}" if self.ref else "")

    @property
    def own_name(self) -> str:
        return self.name or PurePath(self.folder).name


def write_address(sources: Sequence[Source]) -> str:
    """Return the address of repositories; a folder's is its path."""
    if len(sources) == 1 and not (sources[0].name or sources[0].ref):
        return sources[0].folder
    return _MARK + json.dumps([list(each) for each in sources], ensure_ascii=False, separators=(",", ":"))


def read_address(text: str) -> tuple[Source, ...]:
    """Return the repositories of an address; what ``write_address`` did not write is the path of a folder."""
    if not text.startswith(_MARK):
        return (Source(folder=text),)
    try:
        found = tuple(Source(*each) for each in json.loads(text.removeprefix(_MARK)))
    except (TypeError, ValueError):
        return (Source(folder=text),)
    is_whole = bool(found) and all(isinstance(part, str) for each in found for part in each)
    return found if is_whole else (Source(folder=text),)


def address_title(text: str) -> str:
    return ", ".join(each.title for each in read_address(text))


def address_name(text: str) -> str:
    return ", ".join(dict.fromkeys(each.own_name for each in read_address(text)))


def file_source_of(address: str) -> FileSource:
    """Return where the files of an address come from."""
    from repo_map.sources.source import combine  # noqa: PLC0415 - a server starts without numpy

    sources = read_address(address)
    return combine([_source_of(each) for each in sources], [each.own_name for each in sources])


def resolve_address(address: str) -> str:
    """Return an address with the folders that it means from here, links followed."""
    from repo_map.sources.files import resolve_root  # noqa: PLC0415 - a server starts without numpy

    return write_address(
        [each._replace(folder=str(resolve_root(Path(each.folder)))) for each in read_address(address)]
    )


def _source_of(source: Source) -> FileSource:
    from repo_map.sources.commits import CommitSource  # noqa: PLC0415 - a server starts without numpy
    from repo_map.sources.source import folder_source  # noqa: PLC0415 - as above

    folder = folder_source(Path(source.folder))
    return CommitSource(folder.root, source.ref, source.title) if source.ref else folder
