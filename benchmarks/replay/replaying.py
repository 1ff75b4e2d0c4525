"""A run replayed with what is added to it: what of the reading that holds, which look-ups it replaces.

Both rules were written down before the first figure was seen. A packet stands in the first prompt, what a
hook says behind the call that it is said of. A look-up is a call that only shows files or searches them. One
that touches a file that the agent had edited before looks at its own work, and is never replaced; nor is one
before what is added. Of the others,

- **strict** replaces a look-up when it shows lines of the tree, the packet holds every one of them, and all
  that it shows could be placed;
- **generous** replaces, beyond those, a look-up of whose lines the packet holds more than half, and a search
  whose found file the packet shows lines of, or whose place a hook named. The found file is the first that
  the search names and that the agent opens or edits later on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from benchmarks.replay.looking import Kind, Step
from benchmarks.replay.patch import Edited
from benchmarks.replay.placing import Spot
from benchmarks.replay.pricing import Prices, cost, grown
from benchmarks.replay.runs import Run

NOTHING = "nothing"
"""The system that adds nothing: the run as it was."""


IDEAL = "all it read"
"""The system that holds whatever the agent read before its first edit."""


class Facts(msgspec.Struct, frozen=True):
    """What is known of a run without any packet."""

    calls: int
    commands: int
    """Calls that held one command; others broke the agent's own rules."""
    read: int
    """Those whose command could be taken apart."""
    look_ups: int
    placed: int
    """Lines that look-ups showed and that were found in the tree."""
    unplaced: int
    """Lines that they showed of named files and that were not."""
    before_first_edit: int
    """Calls before it."""
    files_before_first_edit: int
    """Files of which lines were shown before it."""
    tokens_before_first_edit: int
    """What look-ups before it added to the prompt."""
    cost_before_first_edit: float
    """Its share of the whole."""
    edits_seen: bool
    """Whether an edit of every file that the run handed in was recognised."""
    usd_billed: float
    usd: float
    """By the model with a perfect cache."""
    usd_recorded: float
    """By the model with the recorded share of cached tokens."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run with a packet, as a line of the results file."""

    id: str
    repo: str
    system: str
    budget: int
    tokens: int
    """Of the packet, what it offers beside it included."""
    first_lines: int
    """Lines that the agent read before its first edit."""
    first_held: int
    """Those that the packet holds."""
    all_lines: int
    """Lines that it read before its last edit."""
    all_held: int
    edited_files: int
    edited_files_held: int
    """Those of which the packet shows a line."""
    edited_lines: int
    """Lines in the hunks that it handed in, as they were before."""
    edited_lines_held: int
    strict_dropped: int
    """Look-ups that are replaced."""
    generous_dropped: int
    strict_usd: float
    generous_usd: float
    strict_recorded_usd: float
    look_ups: int
    """Of the run as it was."""
    usd: float
    """Of the run as it was, with a perfect cache."""
    usd_recorded: float
    """Of the run as it was, with the recorded share of cached tokens."""
    facts: Facts | None = None
    """Of the run, in the row without a packet alone."""
    agent: str = ""
    """Whose run it is, where a task has several."""

    def change(self, *, generous: bool = False) -> float:
        """Return by which share the cost of the run changes."""
        return (self.generous_usd if generous else self.strict_usd) / self.usd - 1

    def recorded_change(self) -> float:
        """Return the same, strict, with the recorded cache."""
        return self.strict_recorded_usd / self.usd_recorded - 1


class Added(NamedTuple):
    """What is added to a run at one place."""

    behind: int
    """The call that it stands behind; -1 for the first prompt."""
    tokens: int
    held: frozenset[Spot] = frozenset()
    """Lines that it shows."""
    named: frozenset[str] = frozenset()
    """Files that it says where to look in."""


class Packet(NamedTuple):
    """What one system adds."""

    system: str
    budget: int
    added: tuple[Added, ...] = ()

    @property
    def tokens(self) -> int:
        """All that it adds."""
        return sum(each.tokens for each in self.added)

    @property
    def held(self) -> frozenset[Spot]:
        """All lines that it shows, whenever that is."""
        return frozenset(spot for each in self.added for spot in each.held)


class Replay(NamedTuple):
    """One run as it was understood."""

    run: Run
    repo: str
    steps: Sequence[Step]
    edited: Edited
    prices: Prices


def replay(past: Replay, packet: Packet) -> Row:
    """Return what a packet would have changed in a run."""
    strict, generous = (replaced(past.steps, packet.added, generous=each) for each in (False, True))
    return _row(past, packet, strict, generous)


def ideal(past: Replay, budget: int) -> Row:
    """Return what a packet would change that replaced every look-up before the first edit.

    No packet is known that does: it is the most that one can save, by either rule.
    """
    first = first_edit(past.steps)
    early = frozenset(at for at in range(first) if past.steps[at].kind is Kind.LOOK)
    everything = Added(-1, budget, _lines(past.steps[:first]))
    return _row(past, Packet(IDEAL, budget, (everything,)), early, early)


def _row(past: Replay, packet: Packet, strict: frozenset[int], generous: frozenset[int]) -> Row:
    run, repo, steps, edited, prices = past
    before_first, before_last = _lines(steps[: first_edit(steps)]), _lines(steps[: last_edit(steps)])
    files = {spot.path for spot in packet.held}
    # What was handed in holds changes that were there before the agent came, to a setup.py for one.
    edited = edited.within({path for step in steps for path in step.edited})
    added = {each.behind: each.tokens for each in packet.added}
    strictly, whole = cost(run, prices, added, strict), cost(run, prices)
    return Row(
        id=run.id,
        repo=repo,
        system=packet.system,
        budget=packet.budget,
        tokens=packet.tokens,
        first_lines=len(before_first),
        first_held=len(before_first & packet.held),
        all_lines=len(before_last),
        all_held=len(before_last & packet.held),
        edited_files=len(edited.files),
        edited_files_held=len(edited.files & files),
        edited_lines=len(edited.lines),
        edited_lines_held=len(edited.lines & packet.held),
        strict_dropped=len(strict),
        generous_dropped=len(generous),
        strict_usd=strictly.perfect,
        generous_usd=cost(run, prices, added, generous).perfect,
        strict_recorded_usd=strictly.recorded,
        look_ups=sum(step.kind is Kind.LOOK for step in steps),
        usd=whole.perfect,
        usd_recorded=whole.recorded,
        facts=facts_of(past) if packet.system == NOTHING else None,
        agent=run.agent if run.keeps else "",
    )


def facts_of(past: Replay) -> Facts:
    """Return what is known of a run without any packet."""
    run, _, steps, edited, prices = past
    first, whole = first_edit(steps), cost(run, prices)
    early = [at for at in range(first) if steps[at].kind is Kind.LOOK]
    seen = {path for step in steps for path in step.edited}
    return Facts(
        calls=len(steps),
        commands=sum(bool(call.command) for call in run.calls),
        read=sum(step.kind is not Kind.UNREAD for step in steps),
        look_ups=sum(step.kind is Kind.LOOK for step in steps),
        placed=sum(len(step.shown) for step in steps),
        unplaced=sum(step.unplaced for step in steps),
        before_first_edit=first,
        files_before_first_edit=len({spot.path for spot in _lines(steps[:first])}),
        tokens_before_first_edit=sum(grown(run, at) for at in early),
        cost_before_first_edit=cost(run, prices, until=first).perfect / whole.perfect,
        edits_seen=edited.files <= seen,
        usd_billed=run.usd,
        usd=whole.perfect,
        usd_recorded=whole.recorded,
    )


def replaced(steps: Sequence[Step], added: Iterable[Added], *, generous: bool) -> frozenset[int]:
    """Return which look-ups are replaced by what is added before them, by the rules above."""
    waiting = sorted(added, key=lambda each: each.behind)
    held: set[Spot] = set()
    files: set[str] = set()
    changed: set[str] = set()
    dropped: set[int] = set()
    for at, step in enumerate(steps):
        while waiting and waiting[0].behind < at:
            told = waiting.pop(0)
            # What would be said of a look-up that is not made is not said.
            if told.behind not in dropped:
                held |= told.held
                files |= {*told.named, *(spot.path for spot in told.held)}
        own_work = changed.intersection(step.named) or changed.intersection(each.path for each in step.shown)
        if step.kind is Kind.LOOK and not own_work:
            share = sum(spot in held for spot in step.shown) / len(step.shown) if step.shown else 0.0
            whole = share == 1 and not step.unplaced
            found = step.searches and _found(step, steps[at + 1 :]) in files
            if whole or (generous and (share > 0.5 or found)):
                dropped.add(at)
        changed.update(step.edited)
    return frozenset(dropped)


def first_edit(steps: Sequence[Step]) -> int:
    """Return the place of the first edit of the tree; the end where there is none."""
    return next((at for at, step in enumerate(steps) if step.edited), len(steps))


def last_edit(steps: Sequence[Step]) -> int:
    """Return the place of the last edit of the tree; the end where there is none."""
    return next((at for at in range(len(steps) - 1, -1, -1) if steps[at].edited), len(steps))


def _found(search: Step, later: Iterable[Step]) -> str:
    opened = {path for step in later for path in (*step.edited, *(spot.path for spot in step.shown))}
    return next((path for path in search.named if path in opened), "")


def _lines(steps: Iterable[Step]) -> frozenset[Spot]:
    return frozenset(spot for step in steps for spot in step.shown)
