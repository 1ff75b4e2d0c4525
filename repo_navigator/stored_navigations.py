"""Which stored navigation a command line means that names one, or none."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from navigator.errors import UnknownNavigationError
from navigator.workspaces.address import address_title, read_address

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.state.reports import NavigationSummary

ID_START: Final = "nav-"
"""What the id of a navigation begins with."""
_LOOKED_AT: Final = 200
"""Navigations, latest first: each one's state is read to learn its folder."""


class SelectedNavigation(NamedTuple):
    """The navigation that is meant."""

    navigation_id: str
    message: str = ""
    """Where others could have been meant: which one is taken, and how another is named."""


async def select_navigation(
    navigator: Navigator, named: str | None, folder: Path, *, must_be_here: bool = False
) -> SelectedNavigation:
    """Return the named navigation, else the latest of the repository that ``folder`` lies in.

    It is looked for among the latest 200. Where that has none it is the latest of all, unless it
    ``must_be_here``. The folder has no links in it.

    Raises:
        UnknownNavigationError: there is none yet, or none of this folder and it must be.
    """
    if named:
        return SelectedNavigation(named)
    stored = await navigator.navigations(limit=_LOOKED_AT)
    if not stored:
        raise UnknownNavigationError(
            "There is no stored navigation yet; `repo-navigator navigate` makes one."
        )
    here = [each for each in stored if _is_of(each, folder)]
    if not here and must_be_here:
        latest = stored[0]
        raise UnknownNavigationError(
            f"No navigation of this folder is stored, and the latest, {latest.navigation_id}, is about "
            f"{address_title(latest.repo_path)}; name its id to go on with it."
        )
    latest = (here or stored)[0]
    if len(stored) == 1:
        return SelectedNavigation(latest.navigation_id)
    which = "the latest of this folder" if here else "the latest"
    return SelectedNavigation(
        latest.navigation_id,
        f"Using navigation {latest.navigation_id}, {which}: “{_shortened(latest.goal)}”. "
        "Name another by its id.",
    )


def _is_of(navigation: NavigationSummary, folder: PurePath) -> bool:
    """Say whether a navigation is about a repository that holds a folder."""
    folders = [PurePath(each.folder) for each in read_address(navigation.repo_path) if each.folder]
    return any(each in (folder, *folder.parents) for each in folders)


def _shortened(goal: str, limit: int = 60) -> str:
    line = " ".join(goal.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
