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

from mcp_server.auth import Principal
from mcp_server.errors import one_line
from mcp_server.logs import about
from mcp_server.repositories import RepositoryAccess
from mcp_server.responses import response_token_budget_for
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError, NavigatorError, UnknownNavigationError
from navigator.settings import DEFAULT_TOKEN_BUDGET, LOCAL_USER
from repo_map.errors import RepositoryNotFoundError
from repo_map.messages import plural

if TYPE_CHECKING:
    from mcp_server.responses import Page
    from navigator.navigator import BuildResponse, Navigator
    from navigator.settings import NavigationRequest, Timeouts
    from navigator.state.client_state import ClientState, NavigationActivity
    from navigator.state.reports import NavigationSummary, OnProgress


@dataclass(frozen=True, eq=False)
class AppContext:
    """What the handlers of one connection share; an object per connection, so it also tells them apart."""

    settings: Settings
    navigations: Navigations
    working_folder: Path
    """The folder that the server was started in."""


class DeliveryTarget(NamedTuple):
    """A navigation that a call is about."""

    navigation_id: str
    user: str
    token_budget: int
    """Most tokens of a whole answer, headers and report included."""
    held_step: int | None
    """Latest step whose map the host was given, or offered page by page; None while it holds none."""
    held_steps: tuple[int, ...] = ()
    """Every such step."""
    unread: tuple[str, ...] = ()
    """Cursors of the pages that were offered and not fetched, oldest first."""
    outline_step: int | None = None
    """Step whose outline the host was given last."""


_DAY: Final = 86_400.0
_HOUR: Final = 3_600.0
_BATCH: Final = 100
_SESSIONS: Final = 10_000
_REMEMBERED: Final = 200

logger = logging.getLogger(__name__)


class Navigations:
    """Every navigation that this server opens or is asked about."""

    def __init__(self, settings: Settings, load: Callable[[Settings], Navigator]) -> None:
        self._settings = settings
        self.access = RepositoryAccess(settings.repositories, settings.allowed)
        """Who may read which repository."""
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
                self._removal = asyncio.create_task(self._remove_unused(navigator))
                self._navigator = navigator
            return self._navigator

    async def start(
        self,
        principal: Principal,
        request: NavigationRequest,
        build_response: BuildResponse[Page],
        *,
        response_token_budget: int,
        timeouts: Timeouts,
        max_steps: int | None,
        on_progress: OnProgress,
    ) -> Page:
        """Open a navigation whose answers may take ``response_token_budget`` tokens, and take its steps.

        Raises:
            InvalidRequestError: The caller has as many navigations as are kept, and too few have ended.
            StillIndexingError: The repository is so large that a host would give up waiting.
        """
        navigator = await self.navigator()
        surplus = await self._surplus(navigator, principal)
        with ExitStack() as logged:

            def note(navigation_id: str) -> None:
                logged.enter_context(about(navigation_id))
                self._move_up(principal, navigation_id)

            page = await navigator.start(
                request,
                build_response,
                user=principal.user,
                client=self.delivery(response_token_budget),
                timeouts=timeouts,
                step_limit=max_steps,
                on_opened=note,
                on_progress=on_progress,
            )
        for old in surplus:
            # It is being stepped, or gone; the next one that is opened looks again.
            with suppress(NavigatorError):
                await self._delete(principal, old.navigation_id)
        return page

    async def _surplus(self, navigator: Navigator, principal: Principal) -> list[NavigationActivity]:
        """Return the navigations that have to go for one more: the ended ones, used least lately first.

        Raises:
            InvalidRequestError: Too few of a caller's navigations have ended.
        """
        limit, uses = self._settings.max_navigations, await self._uses(navigator, principal)
        used = [(use.used_at, use) for use in uses if use.used_at is not None]
        surplus = max(0, len(used) + 1 - limit)
        ended = [use for _, use in sorted(used) if not use.is_open]
        if len(ended) < surplus:
            raise InvalidRequestError(
                f"You have {plural(len(used), 'navigation')}, the limit for one caller, and too few "
                "have ended; delete one by step with its navigation_id and action `forget`, end one "
                "with action `finish`, or raise REPO_NAVIGATOR_MAX_NAVIGATIONS.",
                code="limit_reached",
            )
        return ended[:surplus]

    async def forget(self, principal: Principal, navigation_id: str | None) -> str:
        """Delete a navigation of the caller's and return its id.

        Raises:
            InvalidRequestError: None is named.
            UnknownNavigationError: None of that id is the caller's.
            StorageError: It can't be deleted.
        """
        if navigation_id is None:
            raise InvalidRequestError(
                "Action `forget` deletes a navigation for good and takes none by default; pass its "
                "navigation_id.",
                code="missing_argument",
                argument="navigation_id",
            )
        navigator = await self.navigator()
        found = await navigator.store.known(navigation_id, principal.user)
        if found is None:
            raise await self._unknown(principal, navigation_id)
        await self._delete(principal, navigation_id)
        return navigation_id

    async def _delete(self, principal: Principal, navigation_id: str) -> None:
        await (await self.navigator()).forget(navigation_id, user=principal.user)
        for ids in self._opened.values():
            if navigation_id in ids:
                ids.remove(navigation_id)

    async def _unknown(self, principal: Principal, navigation_id: str) -> UnknownNavigationError:
        ids = await self.known(principal)
        return UnknownNavigationError(f"You have no navigation `{navigation_id}`; {_choices(ids)}.", ids)

    async def resolve(self, principal: Principal, navigation_id: str | None) -> DeliveryTarget:
        """Return the navigation that is meant: the named one, else the session's latest, else the only one.

        Raises:
            UnknownNavigationError: None of that id is the caller's, or several could be meant.
            RepositoryNotFoundError: The caller may not read its repository, or not any more.
        """
        chosen = navigation_id or await self.implied(principal)
        navigator = await self.navigator()
        found = await navigator.store.known(chosen, principal.user)
        if found is None or (found.delivery is not None and self._is_expired(found.delivery.used_at)):
            raise await self._unknown(principal, chosen)
        self.access.require(found.repo_path, principal.user)
        self._move_up(principal, chosen)
        if found.delivery is not None:
            fields = found.delivery.model_dump(exclude={"used_at"})
            return DeliveryTarget(chosen, found.user, **fields)
        # The command line has opened it.
        report = await navigator.report(chosen, user=principal.user)
        budget = response_token_budget_for(
            report.map_token_budget, minimum=self._settings.token_budget or DEFAULT_TOKEN_BUDGET
        )
        fields = {"used_at": time.time(), "token_budget": budget}
        await navigator.store.deliver(chosen, principal.user, fields)
        return DeliveryTarget(chosen, found.user, budget, None)

    async def known(self, principal: Principal) -> list[str]:
        """Return the ids that the caller opened or named here, latest first.

        Who authenticated sees all of his own, earlier runs of the server included. Others are known by
        their session alone, and two of them are not shown each other's.
        """
        if principal.user != LOCAL_USER:
            uses = await self._uses(await self.navigator(), principal)
            used = [(use.used_at, use.navigation_id) for use in uses if use.used_at is not None]
            return [key for _, key in sorted(used, reverse=True)]
        return self._opened.get(principal.session or principal.user, [])[::-1]

    async def summaries(self, principal: Principal, limit: int | None = None) -> list[NavigationSummary]:
        """Return what the navigator knows of the ``known`` navigations, latest first, ``limit`` at most.

        One of a repository that the caller may not read any more is left out: its name and goal tell of it.
        """
        known = await self.known(principal)
        if not known:
            return []
        found = await (await self.navigator()).navigations(principal.user, limit=limit, among=known)
        return [each for each in found if self._may_read(each.repo_path, principal)]

    def _may_read(self, address: str, principal: Principal) -> bool:
        try:
            self.access.require(address, principal.user)
        except RepositoryNotFoundError:
            return False
        return True

    def delivery(self, token_budget: int, **held: Any) -> ClientState:
        """Return the state of a delivery that is made now; ``held`` are its further fields."""
        # It comes with models that take long to build, and the server starts without them.
        from navigator.state.client_state import ClientState  # noqa: PLC0415 - the server answers before the navigator loads

        return ClientState(token_budget=token_budget, **held, used_at=time.time())

    async def note_delivered(self, delivering: DeliveryTarget, **held: Any) -> None:
        """Note that a navigation was used, and what of ``ClientState`` has changed by it."""
        navigator = await self.navigator()
        fields = {**held, "used_at": time.time()}
        await navigator.store.deliver(delivering.navigation_id, delivering.user, fields)

    async def reach_stores(self) -> None:
        """Load the navigator, and ask its stores something.

        Raises:
            StorageError: One does not answer.
        """
        await (await self.navigator()).store.reach()

    async def aclose(self) -> None:
        """Close the navigator; the next call builds a new one."""
        async with self._loading:
            navigator, self._navigator = self._navigator, None
            if self._removal is not None:
                self._removal.cancel()
                await asyncio.gather(self._removal, return_exceptions=True)
            if navigator is not None:
                await navigator.aclose()

    def _is_expired(self, used_at: float | None) -> bool:
        """Return True if a navigation is too old; one that no server handed out never is."""
        return used_at is not None and used_at < time.time() - self._settings.keep_days * _DAY

    async def _remove_unused(self, navigator: Navigator) -> None:
        """Remove expired navigations now and every hour; calls are served in between."""
        while True:
            try:
                await self._remove_expired(navigator)
                await navigator.store.delete_forgotten()
            except NavigatorError as error:
                logger.warning("Expired navigations could not be removed: %s", one_line(error))
            except Exception:
                logger.exception("Expired navigations could not be removed")
            await asyncio.sleep(_HOUR)

    async def _remove_expired(self, navigator: Navigator) -> None:
        before, last = time.time() - self._settings.keep_days * _DAY, None
        while old := await navigator.store.index.unused_since(before, _BATCH, last):
            last = old[-1]
            for use in old:
                with suppress(NavigatorError):  # Another server was faster, or the next round is.
                    await navigator.forget(use.navigation_id, user=use.user)

    async def implied(self, principal: Principal) -> str:
        """Return the navigation that a caller means who names none.

        Raises:
            UnknownNavigationError: There is none, or more than one could be meant.
        """
        if principal.session is not None and (latest := self._opened.get(principal.session)):
            return latest[-1]
        known = await self.known(principal)
        if not known:
            raise UnknownNavigationError(
                "There is no navigation in this session yet; call navigate first, "
                "or pass the navigation_id of an earlier one."
            )
        if len(known) == 1:
            return known[0]
        uses = await self._uses(await self.navigator(), principal)
        still_open = {use.navigation_id for use in uses if use.is_open}.intersection(known)
        if len(still_open) == 1:
            return still_open.pop()
        raise UnknownNavigationError(
            f"`navigation_id` is left out and {len(known)} navigations could be meant; {_choices(known)}.",
            known,
        )

    def _move_up(self, principal: Principal, navigation_id: str) -> None:
        key = principal.session or principal.user
        ids = [known for known in self._opened.get(key, ()) if known != navigation_id]
        self._opened[key] = [*ids[-_REMEMBERED:], navigation_id]
        self._opened.move_to_end(key)
        if len(self._opened) > _SESSIONS:
            self._opened.popitem(last=False)

    async def _uses(self, navigator: Navigator, principal: Principal) -> list[NavigationActivity]:
        """Return what the store tells of a principal's navigations, without those that are too old."""
        return [
            use
            for use in await navigator.store.index.uses(principal.user)
            if not self._is_expired(use.used_at)
        ]


def _choices(known: Sequence[str]) -> str:
    if not known:
        return "call navigate to start one"
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""
    return f"pass one of {', '.join(f'`{key}`' for key in known[:5])}{more}"
