"""A caller's navigations, and what was already delivered."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from mcp_server.logs import about
from mcp_server.principal import LOCAL, Principal
from mcp_server.repository import require_allowed
from mcp_server.responses import answer_budget
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError, NavigatorError, UnknownNavigationError
from repo_map.atomic_files import replace_file

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.reports import NavigationSummary, OnProgress, TurnReport
    from navigator.settings import NavigationRequest


DAY: Final = 86_400.0
"""In seconds."""
_ID: Final = re.compile(r"[A-Za-z0-9_-]{6,80}")


@dataclass(frozen=True)
class DeliveryState:
    """One navigation as the server sees it."""

    user: str
    repo_path: str
    token_budget: int
    """Most tokens of a whole answer, headers and report included."""
    status: str = "open"
    held_step: int | None = None
    """Step whose whole map the host was given, None while it holds none."""
    used_at: float = 0.0
    """Seconds since the epoch, by ``DeliveryStore.now``."""


class DeliveryStore:
    """Delivery states by navigation id, one small file each, so that they outlive the process."""

    def __init__(self, folder: Path | None) -> None:
        """Keep them in ``folder``, or in memory where there is none."""
        self._folder = folder
        self._read: dict[str, DeliveryState] = {}
        self._writing = Lock()
        self._began: tuple[float, float] | None = None

    def now(self) -> float:
        """Return the time that ages go by, in seconds since the epoch.

        It is the clock's, but begins at the latest use that is known or up to a day after it: neither a clock
        that is a month ahead when the server starts nor one that was behind makes anything a month old.
        """
        if self._began is None:
            clock = time.time()
            latest = max((delivery.used_at for _, delivery in self), default=clock)
            self._began = min(max(clock, latest), latest + DAY), time.monotonic()
        started, at = self._began
        return started + time.monotonic() - at

    def get(self, navigation_id: str) -> DeliveryState | None:
        """Return the delivery state of ``navigation_id``, or None where there is none that can be read."""
        if navigation_id not in self._read and self._folder and _ID.fullmatch(navigation_id):
            with suppress(OSError, ValueError, TypeError):
                self._read[navigation_id] = DeliveryState(**json.loads(self._file(navigation_id).read_text()))
        return self._read.get(navigation_id)

    def put(self, navigation_id: str, delivery: DeliveryState) -> None:
        """Keep ``holding``; a reader never sees half of it, and on a full disk it lasts until the end."""
        self._read[navigation_id] = delivery
        self._write(navigation_id)

    async def put_aside(self, navigation_id: str, delivery: DeliveryState) -> None:
        """Keep ``holding`` as ``put`` does, while others go on: files take their time when disks are busy."""
        self._read[navigation_id] = delivery
        await anyio.to_thread.run_sync(self._write, navigation_id)

    def _write(self, navigation_id: str) -> None:
        """Write what is known of a navigation by the time that it is this one's turn."""
        with self._writing:
            delivery = self._read.get(navigation_id)
            if self._folder is not None and delivery is not None:
                self._write_file(self._folder, navigation_id, delivery)

    def _write_file(self, folder: Path, navigation_id: str, delivery: DeliveryState) -> None:
        data = json.dumps(asdict(delivery)).encode()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._file(navigation_id), lambda file: file.write(data))
        except OSError as error:
            logger.warning("%s can't be written (%s): it is kept in memory only", folder, error.strerror)

    def remove(self, navigation_id: str) -> None:
        """Forget ``navigation_id``."""
        self._read.pop(navigation_id, None)
        if self._folder is not None:
            with suppress(OSError):  # A folder that can't be written keeps it until it can.
                self._file(navigation_id).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[tuple[str, DeliveryState]]:
        """Yield every id with its holding, by id."""
        stored = {file.stem for file in self._folder.glob("*.json")} if self._folder else set()
        for navigation_id in sorted(stored | self._read.keys()):
            if delivery := self.get(navigation_id):
                yield navigation_id, delivery

    def _file(self, navigation_id: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{navigation_id}.json"


_SESSIONS: Final = 10_000
_REMEMBERED: Final = 200
_OPENING_SECONDS: Final = 10.0
"""On top of a call's seconds: a navigation just opened is worth the wait, a host's patience ends at 60 s."""
logger = logging.getLogger(__name__)


class StillIndexingError(NavigatorError):
    """A repository is not indexed yet; the work goes on, and a later call finds it done."""


class Navigations:
    """Every navigation that this server opens or is asked about."""

    def __init__(self, settings: Settings, load: Callable[[Settings], Navigator]) -> None:
        self._settings = settings
        self._load = load
        self._navigator: Navigator | None = None
        self._loading = anyio.Lock()
        self._turns: dict[str, anyio.Lock] = {}
        self._opening: set[asyncio.Task[str]] = set()
        self._sessions: OrderedDict[str, list[str]] = OrderedDict()
        self._opened: OrderedDict[str, list[str]] = OrderedDict()
        self._holdings = DeliveryStore(settings.data_dir / "answers" if settings.data_dir else None)

    async def navigator(self) -> Navigator:
        """Return the navigator; the first call imports and builds it, in a thread as that takes a second."""
        async with self._loading:
            if self._navigator is None:
                self._navigator = await anyio.to_thread.run_sync(self._load, self._settings)
                await self._expire(self._navigator)
            return self._navigator

    async def open(
        self, principal: Principal, request: NavigationRequest, token_budget: int, on_progress: OnProgress
    ) -> tuple[str, DeliveryState]:
        """Open a navigation whose whole answers may take ``token_budget`` tokens.

        Raises:
            InvalidRequestError: The caller has as many navigations as are kept.
            StillIndexingError: The repository is so large that a host would give up waiting.
        """
        self._require_room(principal)
        navigator = await self.navigator()
        opening = asyncio.create_task(navigator.open(request, user=principal.user, on_progress=on_progress))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        try:
            done, _ = await asyncio.wait({opening}, timeout=self._settings.call_seconds + _OPENING_SECONDS)
        except asyncio.CancelledError:
            opening.cancel()
            raise
        if not done:
            raise StillIndexingError(
                f"Indexing `{request.repo_path}` takes long and goes on in the background; "
                "call navigate again in a minute, it will find the index done."
            )
        navigation_id = opening.result()
        delivery = DeliveryState(principal.user, str(request.repo_path), token_budget)
        self.remember(principal, navigation_id, delivery)
        return navigation_id, delivery

    def _require_room(self, principal: Principal) -> None:
        most = self._settings.max_navigations
        if sum(delivery.user == principal.user for _, delivery in self._holdings) >= most:
            raise InvalidRequestError(
                f"You have {most} navigations, the most that are kept for one caller; "
                "go on with one of them, or raise REPO_NAVIGATOR_MAX_NAVIGATIONS."
            )

    def remember(self, principal: Principal, navigation_id: str, delivery: DeliveryState) -> None:
        """Note that a navigation is the caller's, and his session's latest."""
        self._put(navigation_id, delivery)
        self._move_up(principal, navigation_id)

    async def resolve(self, principal: Principal, navigation_id: str | None) -> tuple[str, DeliveryState]:
        """Return the navigation that is meant: the named one, else the session's latest, else the only one.

        Raises:
            UnknownNavigationError: None of that id is the caller's, or several could be meant.
            RepositoryNotAllowedError: Its repository lies outside the allow-list by now.
        """
        chosen = navigation_id or self.implied(principal)
        delivery = self._holdings.get(chosen)
        if delivery is not None and self._is_expired(delivery):
            delivery = None
        if delivery is None and (delivery := await self._adopted(principal, chosen)) is not None:
            self._put(chosen, delivery)
        if delivery is None or delivery.user != principal.user:
            raise UnknownNavigationError(
                f"You have no navigation `{chosen}`; {self._choices(principal)}.", self.known(principal)
            )
        require_allowed(Path(delivery.repo_path), self._settings.allowed)
        self._move_up(principal, chosen)
        return chosen, delivery

    def known(self, principal: Principal) -> list[str]:
        """Return the ids that the caller opened or named here, latest first.

        Who authenticated sees all of his own, earlier runs of the server included. Others are told apart by
        session alone, and two of them are not shown each other's.
        """
        if principal.user != LOCAL:
            stored = [
                (delivery.used_at, key) for key, delivery in self._holdings if delivery.user == principal.user
            ]
            return [key for _, key in sorted(stored, reverse=True)]
        ids = (
            self._opened.get(principal.user, [])
            if principal.session is None
            else self._sessions.get(principal.session, [])
        )
        return ids[::-1]

    async def summaries(self, principal: Principal) -> list[NavigationSummary]:
        """Return what the navigator knows of the ``known`` navigations, latest first."""
        known = self.known(principal)
        if not known:
            return []
        navigator = await self.navigator()
        found = {summary.navigation_id: summary for summary in await navigator.navigations(principal.user)}
        return [found[key] for key in known if key in found]

    async def delivered(
        self, navigation_id: str, delivery: DeliveryState, report: TurnReport, *, whole: bool
    ) -> None:
        """Note how far a navigation is, and, where ``whole``, that the host holds the map of that step."""
        held = report.step_number if whole else delivery.held_step
        status = "open" if report.stop_reason is None else report.stop_reason.value
        message = replace(delivery, held_step=held, status=status, used_at=self._holdings.now())
        await self._holdings.put_aside(navigation_id, message)

    async def aclose(self) -> None:
        """Close the navigator; the next call builds a new one."""
        for opening in tuple(self._opening):
            opening.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)
        async with self._loading:
            navigator, self._navigator = self._navigator, None
            if navigator is not None:
                await navigator.aclose()

    @asynccontextmanager
    async def turn(self, navigation_id: str) -> AsyncIterator[None]:
        """Hold the navigation for one turn: what the host holds must not change between step and answer."""
        lock = self._turns.setdefault(navigation_id, anyio.Lock())
        try:
            async with lock:
                with about(navigation_id):
                    yield
        finally:
            if not lock.statistics().locked:
                self._turns.pop(navigation_id, None)

    def implied(self, principal: Principal) -> str:
        """Return the navigation that a caller means who names none.

        Raises:
            UnknownNavigationError: There is none, or more than one could be meant.
        """
        if principal.session is not None and (latest := self._sessions.get(principal.session)):
            return latest[-1]
        known = self.known(principal)
        if not known:
            raise UnknownNavigationError(
                "There is no navigation in this session yet; call navigate first, "
                "or pass the navigation_id of an earlier one."
            )
        still_open = [key for key in known if (held := self._holdings.get(key)) and held.status == "open"]
        for choices in (still_open, known):
            if len(choices) == 1:
                return choices[0]
        raise UnknownNavigationError(
            f"`navigation_id` is left out and {len(known)} navigations could be meant; "
            f"{self._choices(principal)}.",
            known,
        )

    def _choices(self, principal: Principal) -> str:
        known = self.known(principal)
        if not known:
            return "call navigate to start one"
        more = f" and {len(known) - 5} more" if len(known) > 5 else ""
        return f"pass one of {', '.join(f'`{key}`' for key in known[:5])}{more}"

    async def _adopted(self, principal: Principal, navigation_id: str) -> DeliveryState | None:
        """Return a new holding for a navigation that the command line opened."""
        navigator = await self.navigator()
        for summary in await navigator.navigations(principal.user):
            if summary.navigation_id == navigation_id:
                report = await navigator.report(navigation_id, user=principal.user)
                budget = max(self._settings.token_budget, answer_budget(report.token_budget))
                return DeliveryState(principal.user, summary.repo_path, budget)
        return None

    def _move_up(self, principal: Principal, navigation_id: str) -> None:
        _move_to_end(self._opened, principal.user, navigation_id)
        if principal.session is not None:
            _move_to_end(self._sessions, principal.session, navigation_id)

    def _put(self, navigation_id: str, delivery: DeliveryState) -> None:
        self._holdings.put(navigation_id, replace(delivery, used_at=self._holdings.now()))

    def _is_expired(self, delivery: DeliveryState) -> bool:
        return delivery.used_at < self._holdings.now() - self._settings.keep_days * DAY

    async def _expire(self, navigator: Navigator) -> None:
        passed = (time.time() - self._holdings.now()) / DAY
        if passed > self._settings.keep_days:
            logger.warning(
                "The clock has gone on by %d days since a navigation was used; their age goes on by one",
                passed,
            )
        for key, delivery in list(self._holdings):
            if self._is_expired(delivery):
                with suppress(NavigatorError):
                    await navigator.forget(key, user=delivery.user)
                self._holdings.remove(key)


def _move_to_end(ids_by_key: OrderedDict[str, list[str]], key: str, navigation_id: str) -> None:
    ids = [known for known in ids_by_key.get(key, ()) if known != navigation_id]
    ids_by_key[key] = [*ids[-_REMEMBERED:], navigation_id]
    ids_by_key.move_to_end(key)
    if len(ids_by_key) > _SESSIONS:
        ids_by_key.popitem(last=False)
