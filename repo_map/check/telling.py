"""What a check found, as text within a few hundred tokens, and as data for other programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from repo_map.check.values import Checked
from repo_map.impact.findings import BROKEN, Finding, FindingKind, describe, finding_data, grouped
from repo_map.messages import first_three, one_line, plural
from repo_map.text import tokens
from repo_map.text.costs import estimate

MOST_TOKENS: Final = 300
"""Of the text, its last lines on tests included."""
_MOST_TESTS: Final = 3
"""Tests whose reasons are told in text."""
_LONGEST_COMMAND: Final = 400
"""Characters of a command that is told beside findings."""
_LONGEST_REASON: Final = 240
_SAFELY: Final = 1.4
"""How much more than estimated a text may have, and is still taken to fit."""
_MOST_SHOWN: Final = 20
_LEAST_SHOWN: Final = 4
"""Places, of one file each, that are told before anything else has room."""


def tell(checked: Checked, most: int = MOST_TOKENS, whole: str = "--json") -> str:
    """Return it as text of at most so many tokens; what does not fit is counted.

    Places come first: what is left open and why a test is chosen give way to them. ``whole`` is where its
    reader finds all of it.
    """
    groups = list(grouped(checked.findings))
    head, text = _head(checked), ""
    command, reasons = _tests(checked, whole)
    for foot in ((*_left_open(checked, 2), *command, *reasons), (*_left_open(checked, 1), *command), ()):
        for shown in range(min(len(groups), _MOST_SHOWN), -1, -1):
            rest = sum(len(lines) for _, lines in groups[shown:])
            more = [f"and {plural(rest, 'place')} more: {whole} lists all"] if rest else []
            lines = [head, *(describe(each, at) for each, at in groups[:shown]), *more, *foot]
            text = "\n".join(lines) + "\n"
            # To load a tokenizer takes a fifth of a second, and most texts are far from the limit.
            fits = _SAFELY * estimate(text) <= most or tokens.count(text) <= most
            if fits and shown >= min(len(groups), _LEAST_SHOWN if foot else 0):
                return text
    return text


def as_data(checked: Checked) -> dict[str, object]:
    """Return it as JSON has it."""
    return {
        "complete": checked.complete,
        "left_open": [*checked.left_open, *checked.unclear],
        "changed": list(checked.changed),
        "findings": [finding_data(each) for each in checked.findings],
        "tests": [
            {
                "path": each.path,
                "names": list(each.names),
                "line": each.line,
                "tier": each.tier.name.lower().replace("_", "-"),
                "reason": each.reason,
            }
            for each in checked.tests
        ],
        "command": checked.command,
    }


def as_sarif(checked: Checked, version: str) -> dict[str, object]:
    """Return it as SARIF 2.1.0, as GitHub's code scanning and editors read it."""
    kinds = [kind for kind in FindingKind if any(each.kind is kind for each in checked.findings)]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "repo-navigator check",
                        "version": version,
                        "rules": [
                            {"id": str(kind), "shortDescription": {"text": _RULES[kind]}} for kind in kinds
                        ],
                    }
                },
                "results": [
                    {
                        "ruleId": str(each.kind),
                        "level": "error" if each.is_sure and each.kind in BROKEN else "warning",
                        "message": {"text": _sentence(each)},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": _uri(each.path)},
                                    "region": {"startLine": max(1, each.line)},
                                }
                            }
                        ],
                    }
                    for each in checked.findings
                ],
                # A result needs a place in a file, and a reason may have none.
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": f"Not complete: {one_line(why)}"}}
                            for why in (*checked.left_open, *checked.unclear)
                        ],
                    }
                ],
            }
        ],
    }


def as_annotations(checked: Checked) -> str:
    """Return it as lines that GitHub's runners turn into annotations of a pull request."""
    lines = [
        f"::{'error' if each.is_sure and each.kind in BROKEN else 'warning'} "
        f"file={_property(each.path)},line={max(1, each.line)},title={_property(str(each.kind))}"
        f"::{_escaped(_sentence(each))}"
        for each in checked.findings
    ]
    reasons = (*checked.left_open, *checked.unclear)
    lines += [f"::warning title=not complete::{_escaped(f'Not complete: {each}')}" for each in reasons]
    return "".join(f"{line}\n" for line in lines)


_RULES: Final[Mapping[FindingKind, str]] = {
    FindingKind.GONE: "A name is used that the change removed, renamed or moved.",
    FindingKind.UNDEFINED: "A name is used that nothing defines.",
    FindingKind.ARGUMENTS: "A call gives values that the function does not take.",
    FindingKind.OVERRIDE: "A method overrides or implements one whose parameters changed.",
    FindingKind.UNPARSED: "A file does not parse.",
    FindingKind.TEXT: "A text names something that is gone.",
    FindingKind.COPY: "Only one of two copies of a definition was edited.",
}


def _head(checked: Checked) -> str:
    if checked.findings:
        return f"{plural(len(checked.findings), 'place')} to look at:"
    if not checked.changed and checked.complete:
        return "Nothing was changed."
    files = plural(len(checked.changed), "changed file")
    return (
        f"Nothing found in {files}."
        if checked.complete
        else f"Nothing found in {files}, but not all is known."
    )


def _left_open(checked: Checked, most: int) -> Iterator[str]:
    if not checked.complete:
        why = (*checked.left_open, *checked.unclear)[:most]
        yield f"Not complete: {' '.join(_clipped(one_line(each)) for each in why)}"


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 1]}…"


def _tests(checked: Checked, whole: str) -> tuple[list[str], list[str]]:
    """Return the line of the command, and that of the reasons."""
    if not checked.tests or not checked.command:
        return [], []
    if len(checked.command) > _LONGEST_COMMAND:
        first, files = checked.tests[0], plural(len(checked.tests), "file")
        return [f"Tests: {files}, first {first.path} ({first.reason}); {whole} has the command."], []
    alike: dict[str, list[str]] = {}
    for each in checked.tests:
        alike.setdefault(each.reason, []).append(each.path)
    reasons = [
        f"{paths[0]} {why}{f' (also {first_three(paths[1:])})' if paths[1:] else ''}"
        for why, paths in alike.items()
    ]
    return [f"Tests: {checked.command}"], [f"  as {one_line('; '.join(reasons[:_MOST_TESTS]))}"]


def _sentence(finding: Finding) -> str:
    likely = "" if finding.is_sure else "Likely, by its name: "
    return f"{likely}{finding.message}; {finding.action}."


def _uri(path: str) -> str:
    return re.sub(
        r"[^\w./~-]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), path, flags=re.A
    )


def _escaped(text: str) -> str:
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
