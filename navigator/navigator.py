"""Navigator: open, step, read and delete navigations."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from navigator.errors import ModelFailedError, StillIndexingError
from navigator.loading import load_all
from navigator.models.catalogue import further_models, price_of
from navigator.models.sampling import SamplingFn
from navigator.planner.arguments import TurnRequest, first_look_goal, turn_request
from navigator.planner.context import StepReader
from navigator.planner.request import ValidRequest, initial_state, validate
from navigator.settings import (
    LOCAL_USER,
    NO_TIMEOUT,
    NavigationRequest,
    NavigatorSettings,
    Timeouts,
)
from navigator.state.client_state import ClientState, StoredNavigation
from navigator.state.labels import EMBEDDED
from navigator.state.reports import NavigatorOutput, OnProgress, Progress, TurnReport
from navigator.storage.opening import open_storage
from navigator.storage.storage import MAP_NAME
from navigator.supervision import supervise
from navigator.workspaces.address import address_title, file_source_of, resolve_address
from repo_map.messages import plural

if TYPE_CHECKING:
    from navigator.picture.page import PictureData
    from navigator.planner.steering import Turn
    from navigator.state.run_state import Navigation
    from navigator.turns import Turns
    from navigator.workspaces.workspace import Workspaces

Answer = TypeVar("Answer")
BuildResponse = Callable[[TurnReport, NavigatorOutput, ClientState | None], tuple[Answer, ClientState]]
"""Makes a response of a step, given what the client was sent before; with it, what it has been sent then."""
_MIN_STEPS_S: Final = 3.0
"""Seconds that the steps of a new navigation have at least."""
_RUNNING_WAIT_S: Final = 40.0
"""Seconds that a call waits for the steps of an earlier one: clients give up after 60."""
_now = partial(datetime.now, UTC)


class Navigator:
    """Opens, steps and reads navigations; safe to share between the tasks of one event loop."""

    def __init__(
        self,
        settings: NavigatorSettings,
        *,
        clock: Callable[[], datetime] = _now,
        models: Mapping[str, Any] | None = None,
        sample: SamplingFn | None = None,
    ) -> None:
        """Build a navigator.

        ``models`` are ADK's by name, beside those of the catalogue, and free unless a price file names them.
        ``sample`` asks the client's model; nothing is booked for it.
        """
        self._settings = settings
        self._clock = clock
        self._models = dict(models or {})
        self._sample = sample
        self._further_models = further_models(self._models, sample)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._running: dict[str, asyncio.Task[Any]] = {}
        """By navigation, the steps that go on although their call was answered."""
        self.store = open_storage(settings.data_dir, settings.store, settings.bucket)
        self._reader = StepReader(self.store)

    async def start(
        self,
        request: NavigationRequest,
        build_response: BuildResponse[Answer],
        *,
        user: str = LOCAL_USER,
        client: ClientState | None = None,
        timeouts: Timeouts = NO_TIMEOUT,
        step_limit: int | None = None,
        on_opened: Callable[[str], None] | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        """Open a navigation, step until it stops, and return the response that ``build_response`` makes.

        On timeout it makes one of the steps completed so far; the running step continues in the background.
        The call takes ``step_limit`` steps at most. ``on_opened`` is called with the navigation's id once it
        is stored, ``on_progress`` after each step.

        Raises:
            InvalidRequestError: the request, or a model's name, can't be used.
            RepositoryNotFoundError: its path is no readable folder.
            FlightPlanError: its flight plan is not well-formed.
            StillIndexingError: the repository was not indexed before the timeout.
        """
        started = monotonic()
        opened = await self._open(request, user, on_progress, timeouts.index_s)
        if on_opened is not None:
            on_opened(opened.run.navigation_id)

        async def respond(latest: Navigation, is_running: bool) -> Answer:
            return await self._respond(latest, user, build_response, client, is_running=is_running)

        deadline = None
        if timeouts.answer_s is not None:
            deadline = max(started + timeouts.answer_s, monotonic() + _MIN_STEPS_S)
        return await self._run(
            opened,
            user,
            respond,
            on_progress=on_progress,
            deadline=deadline,
            step_limit=step_limit,
            is_new=True,
        )

    async def open(
        self,
        request: NavigationRequest | ValidRequest,
        *,
        user: str = LOCAL_USER,
        on_progress: OnProgress | None = None,
    ) -> str:
        """Index the repository, draw the opening view and return the new navigation's id.

        A ``ValidRequest`` is not validated again. Raises what ``start`` does.
        """
        return (await self._open(request, user, on_progress)).run.navigation_id

    async def index_repository(self, repository: str) -> None:
        """Index a repository fully, so that the cache holds its index and its history."""
        await self._workspaces.open(repository)

    def background_indexing(self) -> tuple[str, ...]:
        """Return the addresses of the repositories that are being indexed after a first look at them."""
        return self._workspaces.background_indexing() if "_workspaces" in self.__dict__ else ()

    async def step(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        refresh: bool = True,
        on_progress: OnProgress | None = None,
        **asked: Any,
    ) -> TurnReport:
        """Take one turn: by ``updates`` if given, else by the planner or a model, steered by the rest.

        A navigation that has ended stays as it is, unless feedback or updates open it again. If nothing
        changes, and if feedback only asks, no step is taken and the report's answer says the rest.

        ``refresh`` brings the index up to date first; ``asked`` is what ``turn_request`` takes.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            NavigationClosedError: it was cancelled.
            ModelFailedError: no model gave a usable answer; the last good step remains.
        """
        request = turn_request(**asked)
        async with self.store.hold(navigation_id):
            stored = await self.store.load(navigation_id, user)
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
        """Take one turn and return the response that ``build_response`` makes of it, under one lock.

        It is called with the turn's report, what is new against the step that the client has, or the whole
        context if it has none, and what it was sent before; it returns the response and what the client has
        been sent with it. Without a step nothing is new but what others did. While the steps of an earlier
        call go on, a request for nothing else waits for them, and takes no step. It raises what ``step``
        does.
        """
        if (running := self._running.get(navigation_id)) is not None:
            await asyncio.wait({running}, timeout=_RUNNING_WAIT_S)
            if not (request.has_feedback or request.updates) and request.action == "continue":
                stored, client = await self._stored(navigation_id, user)
                is_running = navigation_id in self._running
                return await self._respond(stored, user, build_response, client, is_running=is_running)
        async with self.store.hold(navigation_id):
            stored, client = await self._stored(navigation_id, user)
            report, turn = await self._take(stored, user, request, refresh=True)
            # What others have changed since is new to the client, also if this turn takes no step.
            since = turn.navigation.run.step if turn.answer else None
            answer = await self._respond(
                turn.navigation, user, build_response, client, report=report, since=since
            )
        await _report_progress(on_progress, report, turn.navigation)
        return answer

    async def run(
        self, navigation_id: str, *, user: str = LOCAL_USER, on_progress: OnProgress | None = None
    ) -> NavigatorOutput:
        """Step until the navigation stops, and return its context."""
        before = await self.store.load(navigation_id, user)

        async def respond(latest: Navigation, _is_running: bool) -> NavigatorOutput:
            return await self._reader.context(latest, user)

        return await self._run(before, user, respond, on_progress, is_new=False)

    async def report(
        self, navigation_id: str, *, user: str = LOCAL_USER, step: int | None = None
    ) -> TurnReport:
        """Return the report of ``step``, by default the latest."""
        return await self._reader.report(await self.store.load(navigation_id, user), user, step)

    async def context(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        since_step: int | None = None,
        step: int | None = None,
        held: Sequence[int] = (),
    ) -> NavigatorOutput:
        """Return the context of a step, or what is new against ``since_step`` and the other ``held`` ones."""
        navigation = await self.store.load(navigation_id, user)
        return await self._reader.context(navigation, user, since_step, step=step, held=held)

    async def navigations(
        self, user: str = LOCAL_USER, *, limit: int | None = None
    ) -> list[StoredNavigation]:
        """Return the user's navigations, latest changed first."""
        return await self.store.index.stored(user, limit)

    async def map_text(
        self, navigation_id: str, *, user: str = LOCAL_USER, version: int | None = None
    ) -> str:
        """Return a version of the map, by default the latest."""
        navigation = await self.store.load(navigation_id, user)
        wanted = navigation.run.map_version if version is None else version
        return await self.store.load_artifact(navigation_id, user, MAP_NAME, wanted)

    async def decisions(self, navigation_id: str, *, user: str = LOCAL_USER) -> list[TurnReport]:
        """Return the reports of all steps, oldest first; step 0 is the opening view."""
        return await self._reader.reports(await self.store.load(navigation_id, user), user)

    async def picture(self, navigation_id: str, *, user: str = LOCAL_USER, within: str = "") -> PictureData:
        """Return the data of a picture of the latest step, most of its tree of the folder ``within``."""
        from navigator.picture.data import picture_of_navigation  # noqa: PLC0415 - a stored navigation is read without the engine

        navigation = await self.store.load(navigation_id, user)
        output = await self._reader.context(navigation, user)
        reports = await self._reader.reports(navigation, user)
        workspace, _ = await self._workspaces.open(navigation.state.repo_path, refresh=False)
        return await self._turns.computing.run(
            picture_of_navigation, workspace, navigation, output, reports, within
        )

    async def forget(self, navigation_id: str, *, user: str = LOCAL_USER) -> None:
        """Delete a navigation with its maps and reports."""
        async with self.store.hold(navigation_id):
            await self.store.forget(navigation_id, user)
            if "_turns" in self.__dict__:
                await self._turns.forget(navigation_id, user)

    async def aclose(self) -> None:
        """Cancel running work, then release models, storage and indexes."""
        turns, workspaces = self.__dict__.get("_turns"), self.__dict__.get("_workspaces")
        if workspaces is not None:
            await workspaces.halt()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if turns is not None:
            await turns.aclose()
        await self.store.close()
        if workspaces is not None:
            workspaces.close()

    @cached_property
    def _turns(self) -> Turns:
        from navigator.turns import Turns  # noqa: PLC0415 - a stored navigation is read without the engine

        return Turns(
            self._settings,
            self.store,
            self._reader,
            self._workspaces,
            clock=self._clock,
            models=self._models,
            sample=self._sample,
        )

    @cached_property
    def _workspaces(self) -> Workspaces:
        # Apart from the turns: indexing begins while these are imported.
        from navigator.workspaces.workspace import Workspaces  # noqa: PLC0415 - as above

        return Workspaces(self._settings)

    async def _open(
        self,
        request: NavigationRequest | ValidRequest,
        user: str,
        on_progress: OnProgress | None,
        timeout_s: float | None = None,
    ) -> Navigation:
        if isinstance(request, NavigationRequest):
            # A plan may take a second to parse, and others are served meanwhile.
            request = await asyncio.to_thread(
                validate, request, self._settings, self._further_models, environ=os.environ
            )
        if request.query.since:
            await asyncio.to_thread(_require_history, request)
        loading, task = asyncio.create_task(asyncio.to_thread(load_all)), request.task

        async def report(words: str, tokens: int = 0) -> None:
            if on_progress is not None:
                await on_progress(Progress(0, task.max_steps, words, tokens))

        first_goal = first_look_goal(task.goal, task.names) if task.may_look_first else ""
        indexing = self._begin(self._workspaces.open(task.repo_path, on_words=report, first_goal=first_goal))
        try:
            if not await _is_done(indexing, None if timeout_s is None else monotonic() + timeout_s):
                raise StillIndexingError(
                    f"Indexing `{address_title(str(task.repo_path))}` takes long and goes on in the "
                    "background; call navigate again in a minute, it will find the index done."
                )
        finally:
            await loading
        workspace, seconds = await indexing
        from navigator.planner.changes import resolve_changes  # noqa: PLC0415 - a stored navigation is read without

        goal, changes = await asyncio.to_thread(resolve_changes, workspace.index, task.goal, request.query)
        notes = (*request.notes, *filter(None, [self.store.note]))
        request = request._replace(task=replace(task, goal=goal), notes=notes)
        navigation_id, root = f"nav-{secrets.token_hex(12)}", resolve_address(str(task.repo_path))
        model = task.model or EMBEDDED
        rates = price_of(model, self._settings, self._further_models).rates(model)
        first = initial_state(request, navigation_id, root, rates, seconds, changes=changes)
        opened = await self._turns.open(first, workspace, user)
        words = f"Indexed {plural(len(workspace.index), 'file')} in {seconds:.1f} s."
        await report(words, opened.state.map_metadata.total_tokens)
        return opened

    async def _run(
        self,
        before: Navigation,
        user: str,
        respond: Callable[[Navigation, bool], Awaitable[Answer]],
        on_progress: OnProgress | None,
        *,
        deadline: float | None = None,
        step_limit: int | None = None,
        is_new: bool = True,
    ) -> Answer:
        """Step until the navigation stops, and return what ``respond`` makes of it under its lock.

        At the ``deadline`` it is made of the latest completed step; the running one is the last.
        """
        latest, is_answered = before, False

        async def steps() -> Answer | None:
            nonlocal latest, is_answered
            navigation_id, taken = before.run.navigation_id, 0
            async with self.store.hold(navigation_id):
                latest = before if is_new else await self.store.load(navigation_id, user)
                while not (is_answered or latest.run.stop_reason or taken == step_limit):
                    refresh = taken == 0 and latest.run.step > 0
                    latest = await self._next_step(latest, user, on_progress, refresh=refresh)
                    taken += 1
                    if latest.state.interactive_pause:
                        break
                # Of the two that could respond, one does.
                if is_answered:
                    return None
                is_answered = True
                return await respond(latest, False)

        running = self._begin(steps())
        if not await _is_done(running, deadline) and not is_answered:
            is_answered = True
            navigation_id = before.run.navigation_id
            self._running[navigation_id] = running
            running.add_done_callback(lambda _task: self._running.pop(navigation_id, None))
            return await respond(latest, True)
        found = await running
        assert found is not None, "only a call that has been answered goes without"
        return found

    async def _next_step(
        self, before: Navigation, user: str, on_progress: OnProgress | None, *, refresh: bool
    ) -> Navigation:
        """Return a locked navigation after one more step, or ended if no model takes it."""
        try:
            report, turn = await self._take(before, user, TurnRequest(), refresh=refresh)
        except ModelFailedError as error:
            failed = await self.store.load(before.run.navigation_id, user)
            return await self._turns.fail(failed, user, error)
        await _report_progress(on_progress, report, turn.navigation)
        return turn.navigation

    async def _take(
        self, before: Navigation, user: str, request: TurnRequest, *, refresh: bool
    ) -> tuple[TurnReport, Turn]:
        turn = await self._turns.take(before, user, request, refresh=refresh)
        after = turn.navigation
        if after.run.stop_reason is not None:
            await self._turns.rest(after.run.navigation_id)
        report = await self._reader.report(after, user)
        update = {"answer": turn.answer or report.answer, "not_understood": turn.not_understood}
        return report.model_copy(update=update), turn

    async def _respond(
        self,
        navigation: Navigation,
        user: str,
        build_response: BuildResponse[Answer],
        client: ClientState | None,
        *,
        report: TurnReport | None = None,
        since: int | None = None,
        is_running: bool = False,
    ) -> Answer:
        """Build the response to what a navigation has come to, and store what the client is sent with it.

        The context is whole if the client has none, unless it is to be what is new ``since`` a step.
        """
        if report is None:
            report = await self._reader.report(navigation, user)
            report = report.model_copy(update={"is_running": is_running})
        held: tuple[int, ...] = ()
        if client is not None:
            held = client.held_steps
            since = since if client.held_step is None else client.held_step
        context = await self._reader.context(navigation, user, since, held=held)
        answer, after = build_response(report, context, client)
        await self.store.deliver(report.navigation_id, user, after.model_dump(mode="json"))
        return answer

    async def _stored(self, navigation_id: str, user: str) -> tuple[Navigation, ClientState | None]:
        stored, known = (
            await self.store.load(navigation_id, user),
            await self.store.known(navigation_id, user),
        )
        return stored, None if known is None else known.delivery

    def _begin(self, work: Coroutine[Any, Any, Answer]) -> asyncio.Task[Answer]:
        task = supervise(work, "a call")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _is_done(task: asyncio.Task[Any], deadline: float | None) -> bool:
    """Return True if ``task`` is done before the deadline; cancelling the wait cancels the task."""
    timeout = None if deadline is None else max(0.0, deadline - monotonic())
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout)
    except asyncio.CancelledError:
        task.cancel()
        raise
    return bool(done)


async def _report_progress(on_progress: OnProgress | None, report: TurnReport, after: Navigation) -> None:
    if on_progress is not None:
        await on_progress(Progress.after(report, after.run.max_steps))


def _require_history(request: ValidRequest) -> None:
    """Refuse changes of a folder outside git before its files are read."""
    from navigator.planner.changes import require_history  # noqa: PLC0415 - a stored navigation is read without

    require_history(file_source_of(str(request.task.repo_path)), request.query)
