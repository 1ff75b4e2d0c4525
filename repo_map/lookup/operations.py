"""Answer a request, whatever its operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from repo_map.lookup.locations import Answer, nothing_excluded
from repo_map.lookup.read import outline, read
from repo_map.lookup.references import find_references
from repo_map.lookup.requests import Outline, Read, References, Request, Search
from repo_map.lookup.search import search

if TYPE_CHECKING:
    from repo_map.index.index import Index


def answer(
    index: Index,
    request: Request,
    near: Iterable[str] = (),
    is_excluded: Callable[[str], bool] = nothing_excluded,
) -> Answer:
    """Return the answer to a request, the same for the same index.

    Args:
        index: what is asked of.
        request: what is asked.
        near: paths shown before, which decide between definitions of one name.
        is_excluded: tells of a path that the user left it out.

    Raises:
        LookupRequestError: the request can't be answered as it is.
    """
    match request:
        case Search():
            found = search(index, request, is_excluded)
        case Read():
            found = read(index, request, near, is_excluded)
        case References():
            found = find_references(index, request, is_excluded)
        case Outline():
            found = outline(index, request.path, request.cursor, is_excluded)
    if read_files := index.build.partial_files:
        note = f"Only {read_files:,} of {len(index):,} files are indexed so far; ask again for the rest."
        found = found._replace(text=f"{found.text}\n{note}")
    return found
