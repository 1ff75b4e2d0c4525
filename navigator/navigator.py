"""Navigator: start, step, read, close."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from navigator.errors import ModelFailedError, StillIndexingError
from navigator.loading import load_all
from navigator.models.sampling_port import HOST, AskHost
from navigator.planner.arguments import TurnRequest, turn_request
from navigator.planner.drawn import StepCache
from navigator.planner.request import ValidRequest, checked, initial_state
from navigator.planner.step_reader import StepReader
from navigator.settings import (
    LOCAL_USER,
    NO_TIMEOUT,
    NavigationRequest,
    NavigatorSettings,
    StepAction,
    Timeouts,
)
from navigator.state.client_state import ClientState
from navigator.state.reports import NavigationSummary, NavigatorOutput, OnProgress, Progress, TurnReport
from navigator.storage.opening import open_storage
from navigator.storage.storage import MAP_NAME
from navigator.workspaces.address import address_title, resolved
from repo_map.messages import plural

if TYPE_CHECKING:
    from navigator.picture.page import PictureData
    from navigator.state.run_state import Navigation
    from navigator.turns import TurnOutcome, Turns
    from navigator.workspaces.workspace import Workspaces

Answer = TypeVar("Answer")
BuildResponse = Callable[[TurnReport, NavigatorOutput, ClientState | None], tuple[Answer, ClientState]]
"""Makes an answer of a step, given what was delivered before; with it, what has been delivered then."""
_LEAST_S: Final = 3.0
"""Seconds that the steps of a navigation just opened have at least."""
_now = partial(datetime.now, UTC)


class Navigator:
    """Opens, steps and reads navigations; safe to share between the tasks of one event loop."""

    def __init__(
        self,
        settings: NavigatorSettings,
        *,
        clock: Callable[[], datetime] = _now,
        models: Mapping[str, Any] | None = None,
        ask_host: AskHost | None = None,
    ) -> None:
        """Build a navigator.

        Args:
            settings: where it keeps its data, which models it may use.
            clock: tells when a decision was made.
            models: ADK models by name, beside those of the catalogue; free unless a price file names them.
            ask_host: asks the model of the assistant whose call is served; nothing is booked for it.

        Raises:
            StorageError: the packages for a database or a bucket are not installed.
        """
        self._settings = settings
        self._clock = clock
        self._models = dict(models or {})
        self._ask_host = ask_host
        self._tasks: set[asyncio.Task[Any]] = set()
        self.store = open_storage(settings.data_dir, settings.store, settings.bucket)
        """Where navigations live: what a server asks of it, it asks here."""
        self._drawn = StepCache()
        self._reader = StepReader(self.store, self._drawn)

    async def start(
        self,
        request: NavigationRequest,
        build_response: BuildResponse[Answer],
        *,
        user: str = LOCAL_USER,
        delivery: ClientState | None = None,
        timeouts: Timeouts = NO_TIMEOUT,
        most_steps: int | None = None,
        on_opened: Callable[[str], None] | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        """Open a navigation, step until it stops, and return the answer that ``build_response`` makes of it.

        It makes one of whatever steps are done where ``timeouts`` ends before; the step under way goes on.

        Args:
            request: the task.
            build_response: makes the answer, as for ``step_and_respond``.
            user: whose navigation it is.
            delivery: what a server begins with.
            timeouts: how long the answer may take.
            most_steps: how many steps are taken at most.
            on_opened: told the navigation's id once it is stored.
            on_progress: told of each step.

        Raises:
            InvalidRequestError: the request, or a model's name, can't be used.
            RepositoryNotFoundError: its path is no readable folder.
            FlightPlanError: its flight plan is not well-formed.
            StillIndexingError: the repository is so large that ``timeouts`` ended before it was read.
        """
        begun = monotonic()
        opened = await self._open(request, user, on_progress, timeouts.index_s)
        if on_opened is not None:
            on_opened(opened.run.navigation_id)

        async def answer(latest: Navigation) -> Answer:
            report = await self._reader.report(latest, user)
            return await self._deliver(report, latest, user, build_response, delivery)

        ends = None if timeouts.answer_s is None else max(begun + timeouts.answer_s, monotonic() + _LEAST_S)
        return await self._run(opened, user, answer, ends, most_steps, on_progress=on_progress, is_new=True)

    async def open(
        self,
        request: NavigationRequest | ValidRequest,
        *,
        user: str = LOCAL_USER,
        delivery: ClientState | None = None,
        on_progress: OnProgress | None = None,
    ) -> str:
        """Index the repository, draw the opening view and return the new navigation's id.

        A server gives the ``delivery`` that it begins with. What was checked before is not checked again.

        Raises:
            InvalidRequestError: the request, or a model's name, can't be used.
            RepositoryNotFoundError: its path is no readable folder.
            FlightPlanError: its flight plan is not well-formed.
        """
        navigation_id = (await self._open(request, user, on_progress)).run.navigation_id
        if delivery is not None:
            await self.store.deliver(navigation_id, user, delivery.model_dump(mode="json"))
        return navigation_id

    async def index_repository(self, repository: str) -> None:
        """Read a repository whole, so that the cache holds its index and its history.

        Raises:
            RepositoryNotFoundError: it is no readable folder.
        """
        await self._workspaces.open(repository)

    def background_indexing(self) -> tuple[str, ...]:
        """Return the addresses of the repositories that are being read behind a first look at them."""
        return () if "_workspaces" not in self.__dict__ else self._workspaces.background_indexing()

    async def step(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        feedback: str | None = None,
        updates: Mapping[str, Any] | None = None,
        action: StepAction = "continue",
        outline_step: int | None = None,
        refresh: bool = True,
        on_progress: OnProgress | None = None,
        show: object = None,
        drop: object = None,
        ask: object = None,
    ) -> TurnReport:
        """Take one step: by ``updates`` where given, else by the model, steered by ``feedback``.

        ``show``, ``drop`` and ``ask`` steer it in fields, as ``arguments.parse_wishes`` reads them.

        ``updates`` are a partial flight plan, and may hold new ``max_cost_usd``, ``max_steps`` and ``model``.
        Numbers mean the outline of ``outline_step``, by default the latest. Without ``refresh``
        the repository is as the step before saw it, if only by a first look.
        A navigation that has ended stays as it is, unless feedback or updates open it again; where nothing
        changes, and where feedback only asks, no step is taken and the report's answer says the rest.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            NavigationClosedError: it was cancelled.
            ModelFailedError: no model gave a usable answer; the last good step stands.
        """
        request = turn_request(feedback, updates, action, outline_step, show=show, drop=drop, ask=ask)
        async with self._held(navigation_id, user) as stored:
            report, turn = await self._take(stored, user, request, refresh=refresh)
        await _report_progress(on_progress, report, turn.navigation)
        return report

    async def step_and_respond(
        self,
        navigation_id: str,
        request: TurnRequest,
        build_response: BuildResponse[Answer],
        *,
        user: str = LOCAL_USER,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        """Take one step and return the answer that ``build_response`` makes of it.

        It is called with the step's report, what is new against the step that the client holds, or the whole
        context where it holds none, and what was delivered before; it returns the answer and what has been
        delivered with it. Nobody else steps the navigation meanwhile. Without a step nothing is new but what
        others did.

        Raises:
            NavigatorError: as ``step`` does.
        """
        async with self._held(navigation_id, user) as stored:
            known = await self.store.known(navigation_id, user)
            before = None if known is None else known.delivery
            report, turn = await self._take(stored, user, request, refresh=True)
            after = turn.navigation
            # What others have changed since is new to the client, also where this turn takes no step.
            since = after.run.step if turn.answer else None
            answer = await self._deliver(report, after, user, build_response, before, since=since)
        await _report_progress(on_progress, report, turn.navigation)
        return answer

    async def run(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        on_progress: OnProgress | None = None,
        deadline_s: float | None = None,
        most_steps: int | None = None,
    ) -> NavigatorOutput:
        """Step until the navigation stops, ``deadline_s`` is over or ``most_steps`` are taken.

        A step that the deadline overtakes is finished in the background, and the next call finds it done.
        """
        ends = None if deadline_s is None else monotonic() + deadline_s
        before = await self.store.load(navigation_id, user)

        async def answer(latest: Navigation) -> NavigatorOutput:
            return await self._reader.context(latest, user)

        return await self._run(before, user, answer, ends, most_steps, on_progress=on_progress)

    async def report(
        self, navigation_id: str, *, user: str = LOCAL_USER, step: int | None = None
    ) -> TurnReport:
        """Return the report of ``step``, by default the latest.

        Raises:
            InvalidRequestError: the navigation has not come to that step.
        """
        navigation = await self.store.load(navigation_id, user)
        return await self._reader.report(navigation, user, step)

    async def context(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        since_step: int | None = None,
        step: int | None = None,
        held: Sequence[int] = (),
    ) -> NavigatorOutput:
        """Return the context of a step, by default the latest, or only what is new against ``since_step``.

        ``held`` are steps whose contexts the reader has besides.
        """
        navigation = await self.store.load(navigation_id, user)
        return await self._reader.context(navigation, user, since_step, step=step, held=held)

    async def navigations(
        self, user: str = LOCAL_USER, *, most: int | None = None, among: Sequence[str] | None = None
    ) -> list[NavigationSummary]:
        """Return the user's navigations, latest first, ``most`` at most.

        Of those ``among`` which the user has, in that order, where ids are given.
        """
        return await self.store.index.summaries(user, most, among)

    async def map_text(
        self, navigation_id: str, *, user: str = LOCAL_USER, version: int | None = None
    ) -> str:
        """Return a version of the map, by default the latest."""
        navigation = await self.store.load(navigation_id, user)
        wanted = navigation.run.map_version if version is None else version
        return await self.store.load_artifact(navigation_id, user, MAP_NAME, wanted)

    async def decisions(self, navigation_id: str, *, user: str = LOCAL_USER) -> list[TurnReport]:
        """Return the reports of all steps, oldest first; step 0 is the opening view."""
        navigation = await self.store.load(navigation_id, user)
        return await self._reader.reports(navigation, user)

    async def picture(self, navigation_id: str, *, user: str = LOCAL_USER, within: str = "") -> PictureData:
        """Return what a picture shows of the latest step, most of its tree of the folder ``within``.

        What was delivered stays as it is.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            RepositoryNotFoundError: its repository is gone.
        """
        from navigator.picture.data import picture_of_navigation  # noqa: PLC0415 - a stored navigation is read without the engine

        navigation = await self.store.load(navigation_id, user)
        output = await self._reader.context(navigation, user)
        reports = await self._reader.reports(navigation, user)
        workspace, _ = await self._workspaces.open(navigation.state.repo_path, refresh=False)
        return await self._turns.computing.run(
            picture_of_navigation, workspace, navigation, output, reports, within
        )

    async def forget(self, navigation_id: str, *, user: str = LOCAL_USER) -> None:
        """Delete a navigation with its maps and reports.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            NavigationBusyError: it is being stepped.
            StorageError: it can't be deleted.
        """
        async with self.store.hold(navigation_id):
            await self.store.forget(navigation_id, user)
            if "_turns" in self.__dict__:
                await self._turns.forget(navigation_id, user)

    async def aclose(self) -> None:
        """Stop what is under way, then release models, storage and indexes."""
        if "_workspaces" in self.__dict__:
            await self._workspaces.halt()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if "_turns" in self.__dict__:
            await self._turns.aclose()
        await self.store.close()
        if "_workspaces" in self.__dict__:
            self._workspaces.close()

    @cached_property
    def _turns(self) -> Turns:
        from navigator.turns import Turns  # noqa: PLC0415 - a stored navigation is read without the engine

        return Turns(
            self._settings,
            self.store,
            self._reader,
            self._drawn,
            clock=self._clock,
            models=self._models,
            ask_host=self._ask_host,
        )

    @cached_property
    def _workspaces(self) -> Workspaces:
        from navigator.workspaces.workspace import Workspaces  # noqa: PLC0415 - as above

        return Workspaces(self._settings)

    async def _open(
        self,
        request: NavigationRequest | ValidRequest,
        user: str,
        on_progress: OnProgress | None,
        index_s: float | None = None,
    ) -> Navigation:
        """Return a new navigation, stored with its opening view."""
        if isinstance(request, ValidRequest):
            task = request
        else:
            handed_in = {*self._models, *([HOST] if self._ask_host else [])}
            # A plan may take a second to read, and others are served meanwhile.
            task = await asyncio.to_thread(checked, request, self._settings, handed_in, environ=os.environ)
        loading = asyncio.create_task(asyncio.to_thread(load_all))
        on_words = _progress_messages(on_progress, task.max_steps)
        first_goal = task.goal if task.may_look_first else ""
        reading = self._started(
            self._workspaces.open(task.repo_path, on_words=on_words, first_goal=first_goal)
        )
        try:
            if not await _is_done(reading, None if index_s is None else monotonic() + index_s):
                raise StillIndexingError(
                    f"Indexing `{address_title(str(task.repo_path))}` takes long and goes on in the "
                    "background; call navigate again in a minute, it will find the index done."
                )
        finally:
            await loading
        workspace, seconds = await reading
        from navigator.planner.changes import resolve_changes  # noqa: PLC0415 - a stored navigation is read without

        rates = self._turns.price_of(task.model).rates(task.model)
        goal, changes = await asyncio.to_thread(resolve_changes, workspace.index, task.goal, task.asked)
        task = task._replace(goal=goal, changes=changes).noting(self.store.note)
        navigation_id, root = f"nav-{secrets.token_hex(12)}", resolved(str(task.repo_path))
        first = initial_state(task, navigation_id, root, rates, seconds)
        opened = await self._turns.open(first, workspace, user)
        if on_progress is not None:
            words = f"Indexed {plural(len(workspace.index), 'file')} in {seconds:.1f} s."
            await on_progress(Progress(0, task.max_steps, words, opened.state.map_metadata.total_tokens))
        return opened

    async def _run(
        self,
        before: Navigation,
        user: str,
        answer: Callable[[Navigation], Awaitable[Answer]],
        ends: float | None,
        most_steps: int | None,
        *,
        on_progress: OnProgress | None,
        is_new: bool = False,
    ) -> Answer:
        """Step until the navigation stops, and return what ``answer`` makes of it while it is held.

        Where the clock shows ``ends`` before that, it is made of the latest step that is done; the one under
        way goes on, and is the last.
        """
        latest, is_answered = before, False

        async def steps() -> Answer | None:
            nonlocal latest, is_answered
            async with self._held(before.run.navigation_id, user, before if is_new else None) as stored:
                latest, taken = stored, 0
                while not (is_answered or latest.run.stop_reason or taken == most_steps):
                    refresh = taken == 0 and latest.run.step > 0
                    latest = await self._stepped(latest, user, on_progress, refresh=refresh)
                    taken += 1
                    if latest.state.interactive_pause:
                        break
                # Of the two that could answer, one does.
                if is_answered:
                    return None
                is_answered = True
                return await answer(latest)

        running = self._started(steps())
        if not await _is_done(running, ends) and not is_answered:
            is_answered = True
            return await answer(latest)
        found = await running
        assert found is not None, "only a call that has been answered goes without"
        return found

    async def _stepped(
        self, before: Navigation, user: str, on_progress: OnProgress | None, *, refresh: bool
    ) -> Navigation:
        """Return a navigation that is held after one more step, or ended where no model takes it."""
        try:
            report, turn = await self._take(before, user, TurnRequest(), refresh=refresh)
        except ModelFailedError as error:
            failed = await self.store.load(before.run.navigation_id, user)
            return await self._turns.fail(failed, user, error)
        await _report_progress(on_progress, report, turn.navigation)
        return turn.navigation

    @asynccontextmanager
    async def _held(
        self, navigation_id: str, user: str, created: Navigation | None = None
    ) -> AsyncIterator[Navigation]:
        """Hold a navigation, which nobody else steps meanwhile, as it is stored or has just been created."""
        async with self.store.hold(navigation_id):
            yield created or await self.store.load(navigation_id, user)

    async def _take(
        self, before: Navigation, user: str, request: TurnRequest, *, refresh: bool
    ) -> tuple[TurnReport, TurnOutcome]:
        """Take one turn of a navigation that is held, and report it."""
        turn = await self._turns.take(before, user, request, self._workspaces, refresh=refresh)
        after = turn.navigation
        if after.run.stop_reason is not None:
            await self._turns.rest(after.run.navigation_id)
        report = await self._reader.report(after, user)
        update = {"answer": turn.answer or report.answer, "not_understood": turn.not_understood}
        return report.model_copy(update=update), turn

    async def _deliver(
        self,
        report: TurnReport,
        navigation: Navigation,
        user: str,
        build_response: BuildResponse[Answer],
        before: ClientState | None,
        *,
        since: int | None = None,
    ) -> Answer:
        """Make an answer of a turn, given what was delivered before, and note what is delivered with it.

        The context is whole where the client holds none, or what is new ``since`` a step where that is given.
        """
        if before is not None and before.held_step is not None:
            since = before.held_step
        held = () if before is None else before.held_steps
        news = await self._reader.context(navigation, user, since, held=held)
        answer, delivered = build_response(report, news, before)
        await self.store.deliver(report.navigation_id, user, delivered.model_dump(mode="json"))
        return answer

    def _started(self, work: Coroutine[Any, Any, Answer]) -> asyncio.Task[Answer]:
        """Begin work that goes on although nobody waits for it any more."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """Forget work that has ended; a fault that nobody waits for was told to the storage."""
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()


async def _is_done(task: asyncio.Task[Any], ends: float | None) -> bool:
    """Return whether ``task`` is done before ``ends``; cancelling the wait cancels the task."""
    try:
        done, _ = await asyncio.wait({task}, timeout=None if ends is None else max(0.0, ends - monotonic()))
    except asyncio.CancelledError:
        task.cancel()
        raise
    return bool(done)


async def _report_progress(on_progress: OnProgress | None, report: TurnReport, after: Navigation) -> None:
    if on_progress is not None:
        await on_progress(Progress.after(report, after.run.max_steps))


def _progress_messages(
    on_progress: OnProgress | None, max_steps: int
) -> Callable[[str], Awaitable[None]] | None:
    """Return what tells ``on_progress`` of the work before the first step."""
    if on_progress is None:
        return None

    async def tell(words: str) -> None:
        await on_progress(Progress(0, max_steps, words, 0))

    return tell
