"""A caller's navigations: which is meant, whose it is, how old it is."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
import anyio.to_thread

from mcp_server.auth import current_principal
from mcp_server.errors import one_line
from mcp_server.logs import about
from mcp_server.repositories import RepositoryAccess, Root
from mcp_server.responses import response_token_budget_for
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError, NavigatorError, UnknownNavigationError
from navigator.settings import DEFAULT_TOKEN_BUDGET, LOCAL_USER
from navigator.state.client_state import ClientState, StoredNavigation
from navigator.supervision import supervise
from repo_map.errors import RepositoryNotFoundError

if TYPE_CHECKING:
    from mcp_server.responses import Answer
    from navigator.navigator import BuildResponse, Navigator
    from navigator.settings import NavigationRequest


@dataclass(frozen=True, eq=False)
class AppContext:
    """What the handlers of one connection share; an object per connection, so it also tells them apart."""

    settings: Settings
    navigations: Navigations
    working_folder: Path


class SelectedNavigation(NamedTuple):
    """The navigation that a call is about, and what the caller's client was sent of it."""

    navigator: Navigator
    navigation_id: str
    user: str
    client: ClientState

    async def note_sent(self, **fields: Any) -> None:
        """Note that it was used, and what of its ``ClientState`` has changed by it."""
        await self.navigator.store.deliver(self.navigation_id, self.user, {**fields, "used_at": time.time()})


_DAY: Final = 86_400.0
_HOUR: Final = 3_600.0
_SESSIONS: Final = 10_000
_REMEMBERED: Final = 200

logger = logging.getLogger(__name__)


class Navigations:
    """Every navigation that this server opens or is asked about, by the caller of the current request."""

    def __init__(
        self, settings: Settings, load: Callable[[Settings], Navigator], project: Sequence[Root] = ()
    ) -> None:
        self._settings = settings
        self.access = RepositoryAccess(settings.repositories, settings.allowed, project)
        self._load = load
        self._navigator: Navigator | None = None
        self._loading = anyio.Lock()
        self._removal: asyncio.Task[None] | None = None
        self._opened: OrderedDict[str, list[str]] = OrderedDict()
        """Ids by session, or by user where the protocol has no sessions; the latest last."""

    async def navigator(self) -> Navigator:
        """Return the navigator; the first call imports and builds it, in a thread as that takes a second."""
        async with self._loading:
            if self._navigator is None:
                navigator = await anyio.to_thread.run_sync(self._load, self._settings)
                self._removal = supervise(self._remove_unused(navigator), "removing old navigations")
                self._navigator = navigator
            return self._navigator

    async def start(
        self, request: NavigationRequest, build_response: BuildResponse[Answer], **options: Any
    ) -> Answer:
        """Open a navigation of the caller's and take its steps, as ``Navigator.start`` does."""
        navigator, user = await self.navigator(), current_principal().user
        with ExitStack() as logged:

            def note(navigation_id: str) -> None:
                logged.enter_context(about(navigation_id))
                self._move_up(navigation_id)

            return await navigator.start(request, build_response, user=user, on_opened=note, **options)

    async def forget(self, navigation_id: str | None) -> str:
        """Delete a navigation of the caller's and return its id."""
        if navigation_id is None:
            raise InvalidRequestError(
                "Action `forget` deletes a navigation for good and takes none by default; pass its "
                "navigation_id.",
                code="missing_argument",
                argument="navigation_id",
            )
        navigator, user = await self.navigator(), current_principal().user
        if await navigator.store.known(navigation_id, user) is None:
            raise await self._unknown(navigation_id)
        await navigator.forget(navigation_id, user=user)
        for ids in self._opened.values():
            if navigation_id in ids:
                ids.remove(navigation_id)
        return navigation_id

    async def _unknown(self, navigation_id: str) -> UnknownNavigationError:
        ids = [each.navigation_id for each in await self.stored()]
        return UnknownNavigationError(f"You have no navigation `{navigation_id}`; {_choices(ids)}.", ids)

    async def resolve(self, navigation_id: str | None) -> SelectedNavigation:
        """Return the navigation that is meant: the named, else the session's latest, else the only one."""
        chosen = navigation_id or await self._implied()
        navigator, user = await self.navigator(), current_principal().user
        found = await navigator.store.known(chosen, user)
        if found is None or (found.used_at is not None and found.used_at < self._oldest):
            raise await self._unknown(chosen)
        self.access.require(found.repo_path, user)
        self._move_up(chosen)
        if (client := found.delivery) is not None:
            return SelectedNavigation(navigator, chosen, user, client)
        # The command line has opened it.
        report = await navigator.report(chosen, user=user)
        minimum = self._settings.token_budget or DEFAULT_TOKEN_BUDGET
        client = ClientState(token_budget=response_token_budget_for(report.map_token_budget, minimum=minimum))
        selected = SelectedNavigation(navigator, chosen, user, client)
        await selected.note_sent(token_budget=client.token_budget)
        return selected

    async def stored(self) -> list[StoredNavigation]:
        """Return the navigations that the caller opened or named here, latest first.

        Users with a token see all of their own, earlier runs of the server included. Others are known by
        their session alone, and two of them are not shown each other's.
        """
        principal = current_principal()
        if principal.user != LOCAL_USER:
            return (await self._used(await self.navigator(), principal.user))[::-1]
        if not (ids := self._opened.get(principal.session or principal.user)):
            return []
        stored = await (await self.navigator()).navigations(principal.user)
        found = {each.navigation_id: each for each in stored}
        return [found[each] for each in reversed(ids) if each in found]

    async def readable(self) -> list[StoredNavigation]:
        """Return those of ``stored`` whose repositories the caller may still read."""
        return [each for each in await self.stored() if self._may_read(each.repo_path)]

    def _may_read(self, address: str) -> bool:
        try:
            self.access.require(address, current_principal().user)
        except RepositoryNotFoundError:
            return False
        return True

    async def aclose(self) -> None:
        """Close the navigator; the next call builds a new one."""
        async with self._loading:
            navigator, self._navigator = self._navigator, None
            if self._removal is not None:
                self._removal.cancel()
                await asyncio.gather(self._removal, return_exceptions=True)
            if navigator is not None:
                await navigator.aclose()

    @property
    def _oldest(self) -> float:
        """The time since which a navigation must have been used, in seconds since the epoch."""
        return time.time() - self._settings.keep_days * _DAY

    async def _remove_unused(self, navigator: Navigator) -> None:
        """Remove expired navigations now and every hour; calls are served in between."""
        while True:
            try:
                for old in await navigator.store.index.unused_since(self._oldest):
                    with suppress(NavigatorError):  # Another server was faster, or the next round is.
                        await navigator.forget(old.navigation_id, user=old.user)
                await navigator.store.delete_forgotten()
            except NavigatorError as error:
                logger.warning("Expired navigations could not be removed: %s", one_line(error))
            except Exception:
                logger.exception("Expired navigations could not be removed")
            await asyncio.sleep(_HOUR)

    async def _implied(self) -> str:
        """Return the navigation that a caller means who names none."""
        principal = current_principal()
        if principal.session is not None and (latest := self._opened.get(principal.session)):
            return latest[-1]
        stored = await self.stored()
        if not stored:
            raise UnknownNavigationError(
                "There is no navigation in this session yet; call navigate first, "
                f"or pass the navigation_id of an earlier one{await self._latest_of_this_machine()}."
            )
        for choices in (stored, [each for each in stored if each.stop_reason is None]):
            if len(choices) == 1:
                return choices[0].navigation_id
        ids = [each.navigation_id for each in stored]
        raise UnknownNavigationError(
            f"`navigation_id` is left out and {len(ids)} navigations could be meant; {_choices(ids)}.", ids
        )

    async def _latest_of_this_machine(self) -> str:
        """Name the latest navigation to the user of a process on stdio that has served none yet."""
        principal = current_principal()
        if principal.user != LOCAL_USER or not principal.is_local or any(self._opened.values()):
            return ""
        latest = await (await self.navigator()).navigations(principal.user, limit=1)
        return "".join(f", the latest of which is `{each.navigation_id}`" for each in latest)

    def _move_up(self, navigation_id: str) -> None:
        principal = current_principal()
        key = principal.session or principal.user
        ids = [known for known in self._opened.get(key, ()) if known != navigation_id]
        self._opened[key] = [*ids[-_REMEMBERED:], navigation_id]
        self._opened.move_to_end(key)
        if len(self._opened) > _SESSIONS:
            self._opened.popitem(last=False)

    async def _used(self, navigator: Navigator, user: str) -> list[StoredNavigation]:
        """Return a user's navigations of which something was sent, used least lately first."""
        stored = await navigator.navigations(user)
        used = [(each.used_at, each) for each in stored if each.used_at and each.used_at >= self._oldest]
        return [each for _, each in sorted(used)]


def _choices(known: Sequence[str]) -> str:
    if not known:
        return "call navigate to start one"
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""
    return f"pass one of {', '.join(f'`{key}`' for key in known[:5])}{more}"
