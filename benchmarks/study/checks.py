"""Whether a task can be judged on this machine: its tests fail before its fix and pass after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks.agents.checking import check
from benchmarks.kept_rows import KeptRows
from benchmarks.study.registration import StudyTask


class Checked(msgspec.Struct, frozen=True):
    """What the tests of one task say here."""

    id: str
    passes_before: bool
    passes_after: bool

    @property
    def decides(self) -> bool:
        """Tell whether the tests tell the fix from what was before."""
        return self.passes_after and not self.passes_before


def kept_checks(out: Path) -> KeptRows[Checked]:
    """Return the file of all checks."""
    return KeptRows(out / "checks.jsonl", Checked)


async def check_tasks(
    tasks: Sequence[StudyTask], wanted: int, out: Path, on_check: Callable[[Checked], None]
) -> list[Checked]:
    """Check tasks in their order until ``wanted`` of them decide; return what is known of these.

    What was checked before is not checked again.
    """
    kept = kept_checks(out)
    known = {each.id: each for each in kept}
    found: list[Checked] = []
    for each in tasks:
        if sum(one.decides for one in found) == wanted:
            break
        if each.task.id not in known:
            before, after = await check(each.task)
            known[each.task.id] = Checked(each.task.id, before, after)
            kept.append(known[each.task.id])
            on_check(known[each.task.id])
        found.append(known[each.task.id])
    return found
