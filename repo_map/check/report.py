"""The report of a check or a change: text within a token budget, JSON, SARIF, annotations, and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from repo_map.check.changes import shorten
from repo_map.check.impact import Dependent, Impact, Role
from repo_map.check.model import BREAKING, Changes, CheckReport, Finding, FindingKind, finding_data
from repo_map.messages import first_three, one_line, plural
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Confidence, Place
from repo_map.text import tokens
from repo_map.text.token_estimates import estimate

if TYPE_CHECKING:
    from repo_map.index.index import Index

MAX_TOKENS: Final = 300
"""Of the text."""
_MAX_REASONS: Final = 3
_MAX_COMMAND_CHARS: Final = 400
_MAX_LIMITATION_CHARS: Final = 240
_ESTIMATE_MARGIN: Final = 1.4
"""An estimate times this is taken for the limit: loading a tokenizer takes a fifth of a second."""
_MAX_SHOWN: Final = 20
_MIN_SHOWN: Final = 4
"""Places, of one file each, that precede everything else."""
_MAX_LINES: Final = 4
"""Of one file and one message that are listed."""
_MAX_LISTED: Final = 6
_MAX_LISTED_TESTS: Final = 4
_MAX_LIMITATIONS: Final = 3
_DESCRIPTIONS: Final[Mapping[FindingKind, str]] = {
    FindingKind.REMOVED_NAME: "A name is used that the change removed, renamed or moved.",
    FindingKind.UNDEFINED_NAME: "A name is used that nothing defines.",
    FindingKind.ARGUMENTS: "A call does not match the parameters of its function.",
    FindingKind.OVERRIDE: "A method overrides or implements one whose signature changed.",
    FindingKind.UNPARSED: "A file does not parse.",
    FindingKind.TEXT: "A string names a removed file.",
}
_HEADS: Final = {
    Role.CALLER: "Called from outside the change",
    Role.OVERRIDE: "Overridden, implemented or extended",
    Role.BASE_METHOD: "Overrides or implements",
    Role.TEST: "Reached by tests",
    Role.OWN_TEST: "Reached by tests of the change itself",
}


# Findings.


def group_findings(findings: Sequence[Finding]) -> list[tuple[Finding, list[int]]]:
    """Return findings of one file with one message together, with their lines."""
    found: dict[tuple[str, str, str], tuple[Finding, list[int]]] = {}
    for each in findings:
        found.setdefault((each.path, each.message, each.action), (each, []))[1].append(each.line)
    return list(found.values())


def describe(finding: Finding, lines: Sequence[int]) -> str:
    """Return what is wrong in some lines of a file, and what to do, without a full stop."""
    return f"{describe_fault(finding, lines)}; {finding.action}"


def describe_fault(finding: Finding, lines: Sequence[int]) -> str:
    """Return what is wrong in some lines of a file, without a full stop."""
    within = f" in `{one_line(finding.within)}`" if finding.within and len(lines) == 1 else ""
    further = ""
    if len(lines) > 1:
        more = f" and {len(lines) - _MAX_LINES} more" if len(lines) > _MAX_LINES else ""
        noun = "lines" if len(lines) > 2 else "line"
        further = f" (also {noun} {', '.join(map(str, lines[1:_MAX_LINES]))}{more})"
    return f"{_printed(finding.path)}:{lines[0]}{within}: {finding.message}{further}"


def _printed(path: str) -> str:
    """Return a path that begins no command of a runner of GitHub."""
    return f"./{path}" if path.startswith(("::", "##[")) else one_line(path)


# Checks.


def format_text(report: CheckReport) -> str:
    """Return a report as text of at most ``MAX_TOKENS``.

    Places come before the list of what is not resolved and before reasons, but what the check could not tell
    and which tests to run is always said.
    """
    groups = group_findings(report.findings)
    head, text = _head(report), ""
    firsts = {each.kind: at for at, (each, _) in reversed(list(enumerate(groups)))}
    # Of each kind one is shown before others are.
    ranked = sorted(range(len(groups)), key=lambda at: at not in firsts.values())
    command, reasons = _tests(report)
    brief = list(_brief(report))
    feet = [[*_limitations(report, 2), *command, *reasons], [*_limitations(report, 1), *command], brief]
    for foot in feet:
        for shown in range(min(len(groups), _MAX_SHOWN), -1, -1):
            rest = sum(len(groups[at][1]) for at in ranked[shown:])
            listed = (groups[at] for at in sorted(ranked[:shown]))
            more = [f"and {plural(rest, 'place')} more: --json lists all"] if rest else []
            lines = [head, *(describe(each, at) for each, at in listed), *more, *foot]
            text = "\n".join(lines) + "\n"
            fits = _ESTIMATE_MARGIN * estimate(text) <= MAX_TOKENS or tokens.count(text) <= MAX_TOKENS
            if fits and shown >= min(len(groups), 0 if foot is brief else _MIN_SHOWN):
                return text
    return text


def format_json(report: CheckReport) -> dict[str, object]:
    tests = [
        {**each._asdict(), "names": list(each.names), "tier": each.tier.name.lower().replace("_", "-")}
        for each in report.tests
    ]
    return {
        "complete": report.complete,
        "left_open": [*report.limitations, *report.unresolved.sentences],
        "unresolved": {
            "total": report.unresolved.total,
            "likeliest": [each._asdict() for each in report.unresolved.likeliest],
        },
        "changed": list(report.changed),
        "findings": [finding_data(each) for each in report.findings],
        "tests": tests,
        "command": report.command,
    }


def format_sarif(report: CheckReport, version: str) -> dict[str, object]:
    """Return a report in SARIF 2.1.0, for code scanning and editors."""
    kinds = [kind for kind in FindingKind if any(each.kind is kind for each in report.findings)]
    rules = [{"id": str(kind), "shortDescription": {"text": _DESCRIPTIONS[kind]}} for kind in kinds]
    # A result needs a place in a file, and a limitation has none.
    notes = [{"level": "note", "message": {"text": each}} for each in _limitation_lines(report)]
    results = []
    for each in report.findings:
        file, region = {"uri": quote(each.path)}, {"startLine": max(1, each.line)}
        result = {
            "ruleId": str(each.kind),
            "level": _level(each),
            "message": {"text": f"{each.message}; {each.action}."},
            "locations": [{"physicalLocation": {"artifactLocation": file, "region": region}}],
        }
        results.append(result)
    run = {
        "tool": {"driver": {"name": "repo-navigator check", "version": version, "rules": rules}},
        "results": results,
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return {"$schema": schema, "version": "2.1.0", "runs": [run]}


def format_annotations(report: CheckReport) -> str:
    """Return a report as commands of GitHub's runners, which annotate a pull request."""
    lines = [
        f"::{_level(each)} file={_property(each.path)},line={max(1, each.line)},"
        f"title={_property(str(each.kind))}::{_escape(f'{each.message}; {each.action}.')}"
        for each in report.findings
    ]
    lines += [f"::warning title=not complete::{_escape(each)}" for each in _limitation_lines(report)]
    return "".join(f"{line}\n" for line in lines)


def _level(finding: Finding) -> str:
    return "error" if finding.is_sure and finding.kind in BREAKING else "warning"


def _limitation_lines(report: CheckReport) -> list[str]:
    return [f"Not complete: {one_line(each)}" for each in (*report.limitations, *report.unresolved.sentences)]


def _head(report: CheckReport) -> str:
    if report.findings:
        return f"{plural(len(report.findings), 'place')} to look at:"
    if not report.changed and report.complete:
        return "Nothing was changed."
    rest = "." if report.complete else "; the analysis is incomplete."
    return f"Nothing found in {plural(len(report.changed), 'changed file')}{rest}"


def _limitations(report: CheckReport, limit: int) -> Iterator[str]:
    unresolved = report.unresolved
    shown = [one_line(each) for each in (*report.limitations, *unresolved.notes)[:limit]]
    if shown:
        yield f"Not complete: {' '.join(shorten(each, _MAX_LIMITATION_CHARS) for each in shown)}"
    if unresolved.total:
        listed = unresolved.likeliest[: None if limit > 1 else _MIN_SHOWN]
        count = f", {len(listed)} likeliest" if unresolved.total > len(listed) else ""
        yield f"Not resolved ({plural(unresolved.total, 'occurrence')} of changed names{count}):"
        for name, path, line, reason in listed:
            yield f"  {_printed(path)}:{line} `{one_line(name)}`, {reason}"


def _brief(report: CheckReport) -> Iterator[str]:
    """Yield the least that is said of what is not complete, and of the tests."""
    if report.limitations:
        yield f"Not complete: {shorten(one_line(report.limitations[0]), _MAX_LIMITATION_CHARS)}"
    if report.unresolved.total:
        first = report.unresolved.likeliest[0]
        number = plural(report.unresolved.total, "occurrence")
        where = f"{_printed(first.path)}:{first.line}"
        yield f"Not resolved: {number} of changed names, first {where}; --json lists all."
    if report.tests and report.command:
        yield _test_files(report)


def _test_files(report: CheckReport) -> str:
    first, files = report.tests[0], plural(len(report.tests), "file")
    return f"Tests: {files}, first {first.path} ({first.reason}); --json has the command."


def _tests(report: CheckReport) -> tuple[list[str], list[str]]:
    """Return the line with the command, and the line with the reasons."""
    if not report.tests or not report.command:
        return [], []
    if len(report.command) > _MAX_COMMAND_CHARS:
        return [_test_files(report)], []
    same = grouped((each.reason, each.path) for each in report.tests)
    reasons = [
        f"{paths[0]} {reason}{f' (also {first_three(paths[1:])})' if paths[1:] else ''}"
        for reason, paths in same.items()
    ]
    return [f"Tests: {report.command}"], [f"  as {one_line('; '.join(reasons[:_MAX_REASONS]))}"]


def _escape(text: str) -> str:
    return one_line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


# Changes.


def describe_changes(index: Index, impact: Impact, changes: Changes) -> tuple[str, ...]:
    """Return what a change breaks, edits and puts at risk, then what could not be followed."""
    limitations = (*changes.limitations[:_MAX_LIMITATIONS], *filter(None, (impact.limitation,)))
    found = [f"{describe(each, lines)}." for each, lines in group_findings(changes.findings)]
    if len(found) > _MAX_LISTED:
        more = plural(len(found) - _MAX_LISTED, "further place")
        found[_MAX_LISTED:] = [f"And {more}, listed in `findings`."]
    dependents = list(_describe_impact(index, impact))
    is_used = any(impact.dependents.get(role) for role in (Role.CALLER, Role.OVERRIDE))
    if impact.changed and not (found or limitations or is_used):
        dependents.append("No code outside the change was found to use it.")
    paths = dict.fromkeys(f"`{one_line(part.path)}`" for part in changes.parts if not part.name)
    if paths and not impact:
        dependents.append(f"No function or class was changed, but lines of {_list(list(paths))}.")
    tests = [f"Tests to run: {changes.tests}"] if changes.tests else []
    return (*found, *dependents, *tests, *dict.fromkeys(limitations), *changes.notes)


def _describe_impact(index: Index, impact: Impact) -> Iterator[str]:
    """Yield what changed and what depends on it, a sentence each."""
    if impact.removed:
        now = ((each, f", now {each.replacement}" if each.replacement else "") for each in impact.removed)
        yield f"Removed: {_list([f'`{each.name}` ({each.path}{to})' for each, to in now])}."
    if impact.changed:
        yield f"Changed: {_list([_definition(index, place) for place in impact.changed])}."
    for role, head in _HEADS.items():
        verb = "by" if role is Role.BASE_METHOD else "for"
        limit = _MAX_LISTED_TESTS if role in (Role.TEST, Role.OWN_TEST) else _MAX_LISTED
        dependents = impact.dependents.get(role, ())
        for is_sure, shown in ((True, head), (False, f"Likely {head[0].lower()}{head[1:]}")):
            found = [each for each in dependents if (each.confidence is Confidence.RESOLVED) is is_sure]
            if found:
                yield f"{shown}: {_list([_dependent(index, each, verb) for each in found], limit)}."
    if impact.untested:
        names = _list([_definition(index, place) for place in impact.untested])
        why = "calls whose target is known only at run time are not found"
        yield f"No test was found that reaches {names}; {why}."


def _dependent(index: Index, dependent: Dependent, verb: str) -> str:
    at = f"{index.paths[dependent.place[0]]}:{dependent.line}"
    name = one_line(index.qualified_name(*dependent.place)) if dependent.place[1] >= 0 else ""
    where = f"`{name}` ({at})" if name else f"the top of {at}"
    return f"{where} {verb} `{one_line(dependent.target)}`"


def _definition(index: Index, place: Place) -> str:
    line = index.definitions(place[0])[place[1]].sig_start
    return f"`{one_line(index.qualified_name(*place))}` ({index.paths[place[0]]}:{line})"


def _list(names: Sequence[str], limit: int = _MAX_LISTED) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"
