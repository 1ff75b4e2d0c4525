"""A place that an edit breaks, or forgot; light, so that a stored one is read without the engine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from repo_map.messages import one_line

_MOST_LINES: Final = 4
"""Of one file and one fault that are told together."""


class FindingKind(StrEnum):
    """What is wrong at a place."""

    GONE = "gone-name"
    """It uses a name that the change removed, renamed or moved."""
    UNDEFINED = "undefined-name"
    """It uses a name, new in the change, that nothing defines."""
    ARGUMENTS = "arguments"
    """It calls a function with values that do not fit what it takes."""
    OVERRIDE = "override"
    """It overrides or implements a method that is another now."""
    UNPARSED = "unparsed"
    """It is no source that its grammar reads, and was one before."""
    TEXT = "text"
    """Its text names what is gone."""
    COPY = "copy"
    """It is the copy of a definition that was edited, and still as that was."""


BROKEN: Final = frozenset(
    {
        FindingKind.GONE,
        FindingKind.UNDEFINED,
        FindingKind.ARGUMENTS,
        FindingKind.OVERRIDE,
        FindingKind.UNPARSED,
    }
)
"""What does not work as it is; the others are to be looked at."""


class Finding(NamedTuple):
    """A place that the change breaks, or forgot."""

    kind: FindingKind
    path: str
    line: int
    """1-based, in the tree after the change."""
    within: str
    """The definition that holds the place, qualified; ``""`` for the file's top."""
    name: str
    """What it is about, qualified."""
    message: str
    """What is wrong, without a full stop."""
    action: str
    """What to do about it, in the same way."""
    is_sure: bool
    """Whether what is written leads there; else a name that nothing else bears does."""
    cause: str = ""
    """Path and line, ``price.py:9``, of what was changed."""


def finding_data(finding: Finding) -> dict[str, str | int | bool]:
    """Return a finding as JSON has it."""
    return {**finding._asdict(), "kind": str(finding.kind)}


def grouped(findings: Sequence[Finding]) -> list[tuple[Finding, list[int]]]:
    """Return findings that say the same of one file together, with their lines."""
    found: dict[tuple[str, str, str, bool], tuple[Finding, list[int]]] = {}
    for each in findings:
        key = (each.path, each.message, each.action, each.is_sure)
        found.setdefault(key, (each, []))[1].append(each.line)
    return list(found.values())


def describe(finding: Finding, lines: Sequence[int]) -> str:
    """Return what is wrong in some lines of a file, and what to do, without a full stop."""
    return f"{describe_fault(finding, lines)}; {finding.action}"


def describe_fault(finding: Finding, lines: Sequence[int]) -> str:
    """Return what is wrong in some lines of a file, without a full stop."""
    within = f" in `{one_line(finding.within)}`" if finding.within and len(lines) == 1 else ""
    further = ""
    if len(lines) > 1:
        shown = ", ".join(map(str, lines[1:_MOST_LINES]))
        more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
        further = f" (also {'lines' if len(lines) > 2 else 'line'} {shown}{more})"
    likely = "" if finding.is_sure else "likely, by its name: "
    return f"{finding.path}:{lines[0]}{within}: {likely}{finding.message}{further}"
