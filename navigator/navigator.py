"""Navigator: open, step, read, close."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from navigator.errors import ModelFailedError
from navigator.execution.running_steps import RunningSteps, finished_by
from navigator.execution.step_reader import StepReader
from navigator.execution.turn_executor import TurnExecutor, TurnOutcome
from navigator.loading import load_all
from navigator.models.model_names import require_key
from navigator.models.sampling_port import HOST, AskHost
from navigator.records.decisions import EMBEDDED
from navigator.records.delivery import Delivery, KnownNavigation, NavigationUse
from navigator.records.reports import NavigationSummary, NavigatorOutput, OnProgress, Progress, TurnReport
from navigator.settings import NavigationRequest, NavigatorSettings, StepAction
from navigator.steps.changes import look_at_changes
from navigator.steps.outputs import summary_of
from navigator.steps.request import NewTerms, checked, first_state, may_look_first, new_terms
from navigator.steps.turn_request import TurnRequest, turn_request
from navigator.stores.usage import NOTHING_USED, Load, OnUsage, Today, Usage, UsageEntry, unnoted
from navigator.workspaces.places import resolved
from navigator.workspaces.workspace import Workspaces, progress_messages
from repo_map.messages import counted

if TYPE_CHECKING:
    from navigator.adk.runner import RunnerPool
    from navigator.picture.text import PictureData
    from navigator.records.bookkeeping import Navigation


Answer = TypeVar("Answer")
HandOut = Callable[[TurnReport, NavigatorOutput, Delivery | None], tuple[Answer, Delivery]]
"""Makes an answer of a step, given what was delivered before; with it, what has been delivered then."""

LOCAL_USER = "local"
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
        on_usage: OnUsage = unnoted,
    ) -> None:
        """Build a navigator.

        Args:
            settings: where it keeps its data, which models it may use.
            clock: tells when a decision was made.
            models: ADK models by name, beside those of the catalogue; free unless a price file names them.
            ask_host: asks the model of the assistant whose call is served; nothing is booked for it.
            on_usage: is told of what work took, in the context of the task that asked for it.
        """
        self._models = dict(models or {})
        self._ask_host = ask_host
        self._settings = settings
        self._clock = clock
        self._on_usage = on_usage
        self._workspaces = Workspaces(settings, on_usage)
        self._running_steps = RunningSteps()
        self._opened: RunnerPool | None = None

    async def open(
        self,
        request: NavigationRequest,
        *,
        user: str = LOCAL_USER,
        delivery: Delivery | None = None,
        on_progress: OnProgress | None = None,
    ) -> str:
        """Index the repository, draw the opening view and return the new navigation's id.

        A server gives the ``delivery`` that it begins with.

        Raises:
            InvalidRequestError: the request, or a model's name, can't be used.
            RepositoryNotFoundError: its path is no readable folder.
            FlightPlanError: its flight plan is not well-formed.
        """
        # A plan may take a second to read, and others are served meanwhile.
        task = await asyncio.to_thread(checked, request, self._settings, self._handed_in)
        if request.model is not None:
            self._require_key(request.model)
        loading = asyncio.create_task(asyncio.to_thread(load_all))
        try:
            workspace, seconds = await self._workspaces.open(
                request.repo_path,
                on_words=progress_messages(on_progress, task.max_steps),
                first_goal=task.goal if may_look_first(request, task) else "",
            )
        finally:
            await loading
        navigation_id = f"nav-{secrets.token_hex(12)}"
        rates, root = self._pool.price_of(task.model).rates(task.model), resolved(str(request.repo_path))
        goal, changes = await asyncio.to_thread(look_at_changes, workspace.index, task.goal, task.asked)
        task = task._replace(goal=goal, changes=changes).noting(self._pool.note)
        first = first_state(task, navigation_id, root, rates, seconds)
        live = await self._pool.live(first, workspace, user)
        async with self._running_steps.computing_slot(task.model, user):
            opened = await live.active.open()
        await self._pool.store.create(opened, user, delivery)
        live.active.finish_step()
        if on_progress is not None:
            words, size = (
                f"Indexed {counted(len(workspace.index), 'file')} in {seconds:.1f} s.",
                opened.state.map_metadata,
            )
            await on_progress(Progress(0, task.max_steps, words, size.total_tokens))
        return navigation_id

    async def read_repository(self, repository: str) -> None:
        """Read a repository whole, so that the cache holds its index and its history.

        Raises:
            RepositoryNotFoundError: it is no readable folder.
        """
        await self._workspaces.open(repository)

    def being_read(self) -> tuple[str, ...]:
        """Return the addresses of the repositories that are being read behind a first look at them."""
        return self._workspaces.being_read()

    async def step(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        feedback: str | None = None,
        updates: Mapping[str, Any] | None = None,
        action: StepAction = "continue",
        menu_step: int | None = None,
        refresh: bool = True,
        on_progress: OnProgress | None = None,
        show: object = None,
        drop: object = None,
        ask: object = None,
    ) -> TurnReport:
        """Take one step: by ``updates`` where given, else by the model, steered by ``feedback``.

        ``show``, ``drop`` and ``ask`` steer it in fields, as ``arguments.typed_wishes`` reads them.

        ``updates`` are a partial flight plan, and may hold new ``max_cost_usd``, ``max_steps`` and ``model``.
        Numbers mean the menu of ``menu_step``, by default the latest. Without ``refresh`` the repository is
        as the step before saw it, if only by a first look.
        A navigation that has ended stays as it is, unless feedback or updates open it again; where nothing
        changes, and where feedback only asks, no step is taken and the report's answer says the rest.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            NavigationClosedError: it was cancelled.
            ModelFailedError: no model gave a usable answer; the last good step stands.
        """
        turn = turn_request(feedback, updates, action, menu_step, show=show, drop=drop, ask=ask)
        return (await self._turn(navigation_id, user, turn, on_progress, refresh=refresh))[0]

    async def step_and_deliver(
        self,
        navigation_id: str,
        ask: TurnRequest,
        hand_out: HandOut[Answer],
        *,
        user: str = LOCAL_USER,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        """Take one step and return the answer that ``hand_out`` makes of it.

        It is called with the step's report, what is new against the step that the host holds, or the whole
        context where it holds none, and what was delivered before; it returns the answer and what has been
        delivered with it. Nobody else steps the navigation meanwhile. Without a step nothing is new but what
        others did.

        Raises:
            NavigatorError: as ``step`` does.
        """
        answers: list[Answer] = []

        async def deliver(report: TurnReport, turn: TurnOutcome) -> None:
            known = await self._pool.store.known(navigation_id, user)
            before = None if known is None else known.delivery
            held = None if before is None else before.held_step
            at = turn.navigation.run.step
            # What others have changed since is new to the host, also where this turn takes no step.
            since = at if turn.answer and held is None else held
            steps = () if before is None else before.held_steps
            news = await self._step_reader.context(turn.navigation, user, since, held=steps)
            answer, delivered = hand_out(report, news, before)
            await self._pool.store.deliver(navigation_id, user, delivered.model_dump(mode="json"))
            answers.append(answer)

        await self._turn(navigation_id, user, ask, on_progress, refresh=True, before_release=deliver)
        return answers[0]

    async def deliver(
        self,
        navigation_id: str,
        *,
        used_at: float,
        token_budget: int | None = None,
        held_step: int | None = None,
        held_steps: Sequence[int] | None = None,
        unread: Sequence[str] | None = None,
        menu_step: int | None = None,
        user: str = LOCAL_USER,
    ) -> None:
        """Note what was delivered of a navigation; what is None stays as it was.

        A step that is under way is not waited for. Where it can't be kept, that is logged, and nothing else.
        """
        given: dict[str, Any] = {
            "token_budget": token_budget,
            "held_step": held_step,
            "held_steps": None if held_steps is None else list(held_steps),
            "unread": None if unread is None else list(unread),
            "menu_step": menu_step,
            "used_at": used_at,
        }
        fields = {name: value for name, value in given.items() if value is not None}
        await self._pool.store.deliver(navigation_id, user, fields)

    async def known(self, navigation_id: str, *, user: str = LOCAL_USER) -> KnownNavigation | None:
        """Return what a server has to know of a navigation, None where the user has none of that id.

        Raises:
            StorageError: it can't be read.
        """
        return await self._pool.store.known(navigation_id, user)

    async def uses(self, user: str | None = None) -> Sequence[NavigationUse]:
        """Return what the store tells of each navigation of a user, or of all users, by id.

        Raises:
            StorageError: they can't be read.
        """
        return await self._pool.store.uses(user)

    async def latest_use(self) -> float | None:
        """Return when something of any navigation was handed out last, None where nothing was.

        Raises:
            StorageError: it can't be read.
        """
        return await self._pool.store.latest_use()

    async def unused_since(
        self, before: float, most: int, after: NavigationUse | None = None
    ) -> Sequence[NavigationUse]:
        """Return navigations of which something was handed out, and nothing since ``before``.

        Args:
            before: in seconds since the epoch.
            most: how many are returned at most, those used least lately first.
            after: the last one of an earlier answer, which this one goes on from.

        Raises:
            StorageError: they can't be read.
        """
        return await self._pool.store.unused_since(before, most, after)

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
        before = await self._pool.store.load(navigation_id, user)
        stopped, refresh, taken = before.run.stop_reason, before.run.step > 0, 0
        while stopped is None and taken != most_steps:
            taken += 1
            step = self._running_steps.start(
                self._turn(navigation_id, user, TurnRequest(), on_progress, refresh=refresh)
            )
            if not await finished_by(step, ends):
                break
            try:
                report, turn = await step
            except ModelFailedError as error:
                async with self._pool.hold(navigation_id):
                    failed = await self._pool.store.load_to_change(navigation_id, user)
                    await self._executor.fail(failed, user, error)
                break
            stopped, refresh = report.stop_reason, False
            if turn.navigation.state.interactive_pause:
                break
        return await self.context(navigation_id, user=user)

    async def report(
        self, navigation_id: str, *, user: str = LOCAL_USER, step: int | None = None
    ) -> TurnReport:
        """Return the report of ``step``, by default the latest.

        Raises:
            InvalidRequestError: the navigation has not come to that step.
        """
        navigation = await self._pool.store.load(navigation_id, user)
        return await self._step_reader.report(navigation, user, step)

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
        navigation = await self._pool.store.load(navigation_id, user)
        return await self._step_reader.context(navigation, user, since_step, step=step, held=held)

    async def navigations(
        self, user: str = LOCAL_USER, *, most: int | None = None, among: Sequence[str] | None = None
    ) -> list[NavigationSummary]:
        """Return the user's navigations, latest first, ``most`` at most.

        Of those ``among`` which the user has, in that order, where ids are given.
        """
        found = await self._pool.store.list(user, most=most, among=among)
        return [summary_of(*each) for each in found]

    async def map_text(
        self, navigation_id: str, *, user: str = LOCAL_USER, version: int | None = None
    ) -> str:
        """Return a version of the map, by default the latest."""
        navigation = await self._pool.store.load(navigation_id, user)
        wanted = navigation.run.map_version if version is None else version
        return await self._pool.artifacts(navigation_id, user).load_map(wanted)

    async def decisions(self, navigation_id: str, *, user: str = LOCAL_USER) -> list[TurnReport]:
        """Return the reports of all steps, oldest first; step 0 is the opening view."""
        navigation = await self._pool.store.load(navigation_id, user)
        return await self._step_reader.reports(navigation, user)

    async def picture(self, navigation_id: str, *, user: str = LOCAL_USER, within: str = "") -> PictureData:
        """Return what a picture shows of the latest step, most of its tree of the folder ``within``.

        What was delivered stays as it is.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            RepositoryNotFoundError: its repository is gone.
        """
        from navigator.picture.subjects import picture_of_navigation  # noqa: PLC0415 - a stored navigation is read without the engine

        navigation = await self._pool.store.load(navigation_id, user)
        output = await self._step_reader.context(navigation, user)
        reports = await self._step_reader.reports(navigation, user)
        workspace, _ = await self._workspaces.open(navigation.state.repo_path, refresh=False)
        async with self._running_steps.computing_slot(EMBEDDED, user):
            return await asyncio.to_thread(
                picture_of_navigation, workspace, navigation, output, reports, within
            )

    async def forget(self, navigation_id: str, *, user: str = LOCAL_USER) -> None:
        """Delete a navigation with its maps and reports.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            NavigationBusyError: it is being stepped.
            StorageError: it can't be deleted.
        """
        async with self._pool.hold(navigation_id):
            await self._pool.forget(navigation_id, user)

    async def delete_forgotten(self) -> None:
        """Go on with deletions that were cut short, and remove what killed processes held.

        Raises:
            StorageError: a store does not answer.
        """
        await self._pool.delete_forgotten()

    async def reach_stores(self) -> None:
        """Ask the stores of navigations something.

        Raises:
            StorageError: one does not answer.
        """
        await self._pool.reach()

    async def count_usage(self, entry: UsageEntry) -> None:
        """Count what a principal used.

        Raises:
            StorageError: it can't be kept.
        """
        await self._pool.usage.add(entry)

    async def used_today(self, principal: str) -> Today:
        """Return what a principal has used since the day began, in UTC.

        Raises:
            StorageError: it can't be read.
        """
        return await self._pool.usage.today(principal)

    async def count_open(self) -> int:
        """Return how many navigations are open, of all principals and servers of this store.

        Raises:
            StorageError: they can't be counted.
        """
        return await self._pool.store.count_open()

    async def model_of(self, navigation_id: str, *, user: str = LOCAL_USER) -> str:
        """Return the model that takes a navigation's steps."""
        return (await self._pool.store.load(navigation_id, user)).run.model

    def charges(self, model: str) -> bool:
        """Tell whether calls of a model cost money."""
        return self._pool.price_of(model).charges

    def load(self) -> Load:
        """Return what this process is doing."""
        steps, waiting = self._running_steps.counts()
        return self._pool.load()._replace(steps=steps, waiting=waiting)

    async def aclose(self) -> None:
        """Stop what is under way, then release models, stores and indexes."""
        await self._workspaces.halt()
        await self._running_steps.aclose()
        if self._opened is not None:
            await self._opened.aclose()
        self._workspaces.close()

    @property
    def _pool(self) -> RunnerPool:
        if self._opened is None:
            from navigator.adk.runner import RunnerPool  # noqa: PLC0415 - ADK takes a second

            self._opened = RunnerPool(self._settings, self._clock, self._models, self._ask_host)
        return self._opened

    @property
    def _executor(self) -> TurnExecutor:
        return TurnExecutor(self._pool, self._workspaces, self._running_steps.computing_slot, self._terms_of)

    def _note_usage(self, before: Navigation, after: Navigation) -> None:
        sent = after.run.account.minus(before.run.account)
        used = Usage(sent.sent + sent.output, after.run.spent - before.run.spent)
        if used != NOTHING_USED:
            self._on_usage(used)

    def _terms_of(self, updates: Mapping[str, Any]) -> tuple[NewTerms, dict[str, Any]]:
        terms, plan = new_terms(updates, self._settings, self._handed_in)
        if terms.model is not None:
            self._require_key(terms.model)
        return terms, plan

    def _require_key(self, model: str) -> None:
        """Refuse a model that a call names and whose key is missing, before any work."""
        if model not in self._handed_in:
            require_key(model, self._settings, os.environ)

    @property
    def _handed_in(self) -> set[str]:
        """Models beside those of the catalogue."""
        return {*self._models, *([HOST] if self._ask_host else [])}

    @property
    def _step_reader(self) -> StepReader:
        return StepReader(self._pool)

    async def _turn(
        self,
        navigation_id: str,
        user: str,
        ask: TurnRequest,
        on_progress: OnProgress | None,
        *,
        refresh: bool,
        before_release: Callable[[TurnReport, TurnOutcome], Awaitable[None]] | None = None,
    ) -> tuple[TurnReport, TurnOutcome]:
        """Do what is asked, one turn at a time in each navigation, and report it."""
        store = self._pool.store
        async with self._pool.hold(navigation_id):
            try:
                before = await store.load_to_change(navigation_id, user)
                try:
                    turn = await self._executor.take(before, user, ask, refresh=refresh)
                except ModelFailedError:
                    # What the attempts cost is booked all the same.
                    self._note_usage(before, await store.load(navigation_id, user))
                    raise
            finally:
                store.release(navigation_id, user)
            after = turn.navigation
            self._note_usage(before, after)
            if after.run.stop_reason is not None:
                await self._pool.rest(navigation_id)
            report = await self._step_reader.report(after, user)
            if turn.answer:
                report = report.model_copy(update={"answer": turn.answer})
            report = report.model_copy(update={"not_understood": turn.not_understood})
            if before_release is not None:
                await before_release(report, turn)
        if on_progress is not None:
            await on_progress(Progress.after(report, after.run.max_steps))
        return report, turn
