"""Which repositories a call is about, and whether the caller may read them: decided before any is touched."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mcp_server.repository import (
    RepositoryNotAllowedError,
    choose_repository,
    is_readable_folder,
    lies_below,
    path_of,
    require_allowed,
)
from mcp_server.tenancy.callers import Caller
from navigator.settings import LOCAL_USER, NavigatorSettings
from navigator.workspaces.catalogue import Catalogue, CatalogueError, RepositoryEntry, split_ref
from navigator.workspaces.repository_address import Source, read_address, write_address
from repo_map.errors import RepositoryNotFoundError

MOST: Final = 20
"""Repositories of one question."""
_TOLD: Final = 10
_BARE: Final = re.compile(r"[^/\\~.][^/\\]*")
"""A word that nobody takes for a path, such as ``api``, ``api@v1`` or ``apo``."""

if TYPE_CHECKING:
    from mcp_server.tenancy.host_rights import HostRights
    from mcp_server.tenancy.people import KnownPeople

logger = logging.getLogger(__name__)


class RepositoriesUnknownError(RepositoryNotFoundError):
    """Which repositories there are is not known; why is for the operator alone."""

    code = "repository_list_unavailable"


class Chosen(NamedTuple):
    """What a call is about."""

    address: str
    why: str = ""
    """By what words it was chosen, where the caller has named nothing."""


class RepositoryAccess:
    """Who may read what: the catalogue's repositories by their readers, folders by the allow-list.

    Where there is a catalogue, who comes with a token reads folders only where an allow-list names them.
    """

    def __init__(self, settings: NavigatorSettings, allowed: Sequence[Path]) -> None:
        self._allowed = allowed
        self.at_hosts: HostRights | None = None
        """What git hosts say of readers; None where nobody asks them, and then they admit nobody."""
        self.people: KnownPeople | None = None
        """Whom the shared database lets in and turns away; None where there is none."""
        self._catalogue: Catalogue | None = None
        if settings.repositories is not None and settings.data_dir is not None:
            self._catalogue = Catalogue(settings.repositories, settings.data_dir)

    def choose(
        self,
        named: str | Sequence[str] | None,
        roots: Sequence[Path],
        working_folder: Path,
        principal: Caller,
    ) -> str:
        """Return the address of what a call is about.

        Args:
            named: folders, or names of the catalogue, each also with ``@`` and a commit's name; None for the
                folders that the host has open, else the work tree we stand in.
            roots: folders that the host has open.
            working_folder: where this process was started.
            principal: who calls.

        Raises:
            RepositoryNotFoundError: one of them is none, or none that the caller may read.
        """
        given = [named] if isinstance(named, str) else list(named or ())
        texts = [text.strip() for text in given if text.strip()]
        if len(texts) > MOST:
            raise RepositoryNotFoundError(
                f"{len(texts)} repositories are named, and one question is about {MOST} at most; name fewer."
            )
        names = frozenset(self.names(principal))
        if texts:
            base = roots[0] if roots else working_folder
            return write_address([self._source(text, base, names, principal) for text in texts])
        if not self.may_name_folders(principal):
            raise self._none_named(principal)
        try:
            opened = self._open_ones(roots, working_folder)
        except RepositoryNotFoundError as error:
            if principal.user == LOCAL_USER or roots:
                raise
            # What is wrong with the server's own folder is nothing that a caller can mend.
            raise self._none_named(principal) from error
        return write_address([Source(folder=str(each)) for each in opened])

    def choose_for(
        self,
        goal: str,
        named: str | Sequence[str] | None,
        roots: Sequence[Path],
        working_folder: Path,
        principal: Caller,
    ) -> Chosen:
        """As ``choose``; where nothing is named or open, the repositories that ``goal`` is likeliest about.

        Of those that the caller may read, by their summaries, which are read from disk.

        Raises:
            RepositoryNotFoundError: what is named is none that the caller may read, or nothing is chosen.
        """
        given = [named] if isinstance(named, str) else list(named or ())
        names = () if any(text.strip() for text in given) or not goal.strip() else self.names(principal)
        if names and self.may_name_folders(principal) and (roots or principal.user == LOCAL_USER):
            with suppress(RepositoryNotFoundError):
                return Chosen(self.choose(None, roots, working_folder, principal))
        if not names or self._catalogue is None:
            return Chosen(self.choose(named, roots, working_folder, principal))
        from navigator.workspaces.summaries import likeliest_of  # noqa: PLC0415 - the engine, for who names nothing

        found = likeliest_of(self._catalogue, names, goal)
        if not found:
            raise self._none_named(principal)
        told = ", ".join(f"`{each.name}` ({', '.join(each.reasons)})" for each in found)
        why = (
            f"No repository was named: of {len(names):,} that you may read, {told} were looked at, for these "
            "words of the goal; name others as `repo_path`."
        )
        return Chosen(write_address([Source(name=each.name) for each in found]), why)

    def require(self, address: str, principal: Caller) -> None:
        """Raise ``RepositoryNotFoundError`` unless the caller may read all repositories of an address."""
        names = frozenset(self.names(principal))
        for source in read_address(address):
            if source.name:
                if source.name not in names:
                    raise self._not_found(source.title, principal)
            elif not self.may_name_folders(principal):
                raise self._not_found(source.title, principal)
            else:
                require_allowed(Path(source.folder), self._allowed)
                self._require_no_clone(Path(source.folder), source.title, principal)

    def names(self, principal: Caller) -> list[str]:
        """Return the names of the catalogue's repositories that the caller may read.

        Raises:
            CatalogueError: there is no list of repositories to go by; for who is on the machine.
            RepositoriesUnknownError: the same, for others without a name and a place of the file.
        """
        try:
            entries = self._entries()
        except CatalogueError as error:
            if principal.user == LOCAL_USER:
                raise
            raise RepositoriesUnknownError(
                "This server can't read its list of repositories at the moment; tell its operator, whose log "
                "says why."
            ) from error
        is_local = principal.user == LOCAL_USER
        return [
            name
            for name, entry in entries.items()
            if is_local
            or entry.admits(principal.user, principal.groups)
            or (self.at_hosts is not None and self.at_hosts.admits(entry, principal.login))
        ]

    def known_among(self, named: str | Sequence[str] | None) -> tuple[str, ...]:
        """Return which of the names that a call gives are repositories' names, whoever may read them."""
        try:
            entries = self._entries()
        except CatalogueError:
            return ()
        given = [named] if isinstance(named, str) else list(named or ())
        return tuple(name for text in given[:MOST] if (name := split_ref(text.strip()).name) in entries)

    def revokes(self, user: str) -> bool:
        """Tell whether a principal's tokens admit nobody any more."""
        by_file = self._catalogue is not None and self._catalogue.revokes(user)
        return by_file or (self.people is not None and self.people.revokes(user))

    @property
    def catalogue(self) -> Catalogue | None:
        """The repositories that are known by name; None where no file of them is set."""
        return self._catalogue

    def fault(self) -> str:
        """Return why an earlier list of repositories is used, for the operator; ``""`` where it is today's.

        Raises:
            CatalogueError: there is no list to go by.
        """
        return "" if self._catalogue is None else self._catalogue.current().fault

    def _entries(self) -> Mapping[str, RepositoryEntry]:
        """Return the catalogue's repositories; that an earlier list is used is logged each time."""
        if self._catalogue is None:
            return {}
        try:
            current = self._catalogue.current()
        except CatalogueError as error:
            logger.error("No repository is served by name: %s", error)
            raise
        if current.fault:
            logger.error(
                "The list of repositories is not valid, so AN EARLIER LIST IS USED, and rights "
                "removed since still apply: %s",
                current.fault,
            )
        return current.entries

    def may_name_folders(self, principal: Caller) -> bool:
        """Tell whether the caller may name folders of this machine at all."""
        return self._catalogue is None or bool(self._allowed) or principal.user == LOCAL_USER

    def _source(self, text: str, base: Path, names: frozenset[str], principal: Caller) -> Source:
        name, ref = split_ref(text)
        if name in names:
            return Source(name=name, ref=ref)
        if not self.may_name_folders(principal):
            raise self._not_found(text, principal)
        self._require_no_clone(base / path_of(text), text, principal)
        folder, ref = next(
            (each for each in _readings(text) if is_readable_folder(base / path_of(each[0]), self._allowed)),
            (text, ""),
        )
        is_folder = is_readable_folder(base / path_of(folder), self._allowed)
        if self._catalogue is not None and not is_folder and _BARE.fullmatch(text):
            raise self._not_found(text, principal)
        try:
            chosen = choose_repository(folder or ".", (base,), base, self._allowed)
        except RepositoryNotAllowedError as error:
            if principal.user == LOCAL_USER:
                raise
            # The caller's own words: where the server stands is none of its business.
            raise RepositoryNotAllowedError(
                f"`{ascii(text[:200])[1:-1]}` lies outside the folders that you may name here "
                f"({', '.join(f'`{each}`' for each in self._allowed)}); choose a repository in them."
            ) from error
        self._require_no_clone(chosen, text, principal)
        return Source(folder=str(chosen), ref=ref)

    def _open_ones(self, roots: Sequence[Path], working_folder: Path) -> list[Path]:
        """Return the folders that the host has open, those within others left out, else where we stand."""
        if len(roots) < 2:
            return [choose_repository(None, roots, working_folder, self._allowed)]
        found: list[Path] = []
        refused: list[RepositoryNotFoundError] = []
        for root in roots[:MOST]:
            try:
                found.append(choose_repository(None, (root,), working_folder, self._allowed))
            except RepositoryNotFoundError as error:
                refused.append(error)
        if not found:
            raise refused[0]
        found = list(dict.fromkeys(found))
        return [each for each in found if not any(other in each.parents for other in found)]

    def _require_no_clone(self, folder: Path, name: str, principal: Caller) -> None:
        """Raise where a folder is one of the catalogue's clones, which are read by their names alone."""
        if self._catalogue is not None and lies_below(folder, self._catalogue.clones):
            raise self._not_found(name, principal)

    def _none_named(self, principal: Caller) -> RepositoryNotFoundError:
        if self._catalogue is None:
            return RepositoryNotFoundError(
                "No repository is named; pass the absolute path of one on the server as `repo_path`."
            )
        return RepositoryNotFoundError(f"No repository is named; {self._advice(principal)}")

    def _not_found(self, name: str, principal: Caller) -> RepositoryNotFoundError:
        """Return the same words for what is not there and for what is not the caller's."""
        return RepositoryNotFoundError(
            f"No repository is called `{ascii(name[:200])[1:-1]}`; {self._advice(principal)}"
        )

    def _advice(self, principal: Caller) -> str:
        names = [f"`{name}`" for name in self.names(principal)]
        if not names:
            return "ask the operator of this server for one that you may read."
        more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
        return f"name one of {', '.join(names[:_TOLD])}{more} as `repo_path`."


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield how a text may be read: as a folder, then as one and a commit's name, the longest first."""
    yield text, ""
    at = len(text)
    while (at := text.rfind("@", 0, at)) >= 0:
        if ref := text[at + 1 :]:
            yield text[:at], ref
