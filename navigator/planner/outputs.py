"""The context as it is handed out: whole, or only what is new since an earlier step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from navigator.planner.news import news_in
from navigator.state.reports import FileReport, NavigatorOutput, TurnReport
from navigator.state.run_state import Navigation, RunState, StepRecord
from repo_map.outline.blocks import MapText
from repo_map.plan.levels import level_word
from repo_map.text.tokens import count

_FOCUS_LEVEL = 3


def report_now(record: StepRecord, run: RunState) -> TurnReport:
    """Return the record's report as it reads now: the latest one also tells how the navigation has ended."""
    if record.report.step_number != run.step:
        return record.report
    return record.report.model_copy(
        update={
            "stop_reason": run.stop_reason,
            "ended": run.ended,
            "notes": tuple(dict.fromkeys((*run.notes, *record.report.notes))),
            "total_cost": run.spent,
            "total_usage": run.usage,
            "account": run.account,
        }
    )


def output_of(navigation: Navigation, record: StepRecord, drawn: MapText) -> NavigatorOutput:
    """Return the output of a step: its report, with its context."""
    run = navigation.run
    now = {"total_cost": run.spent, "map_token_budget": run.map_token_budget}
    report = report_now(record, run).model_copy(update=now)
    return NavigatorOutput(
        **dict(report),
        context_string=drawn.text,
        file_starts=drawn.starts,
        token_count=report.map_size_tokens,
        flight_plan=record.flight_plan,
        reasoning_summary=record.reasoning_summary or summary_of("", record.files),
        files=record.files,
        seconds=run.seconds,
    )


def news_of(
    whole: NavigatorOutput, drawn: MapText, since: StepRecord, earlier: Sequence[MapText]
) -> NavigatorOutput:
    """Return the output with only the parts that are new since an earlier step.

    Args:
        whole: the output of the step that is told of.
        drawn: its map.
        since: the earlier step.
        earlier: that one's map, then others that the reader was given before it.
    """
    before = earlier[0]
    # Who holds the lines without their numbers, or with them, wants to see them the other way now.
    alike = [each for each in earlier if each.is_numbered == drawn.is_numbered or not each.files]
    news = {
        path: news_in(block, [each.files[path] for each in alike if path in each.files])
        for path, block in drawn.files.items()
    }
    parts = [part for part in news.values() if part]
    legend = MapText({path: part for path, part in news.items() if part}).legend
    if legend and not any(each.legend.startswith(legend.rstrip()) for each in alike):
        parts[0] = f"{legend}{parts[0]}"
    only_before = [
        path
        for path, part in news.items()
        if not part and (path not in before.files or news_in(drawn.files[path], [before.files[path]]))
    ]
    return whole.model_copy(
        update={
            "context_string": "\n\n".join(parts),
            "file_starts": _starts([f"{part}\n\n" for part in parts]),
            "token_count": count("\n\n".join(parts)),
            "since_step": since.report.step_number,
            "removed": tuple(path for path in before.files if path not in drawn.files),
            "again": tuple(only_before),
            "truncated": tuple(
                path
                for path, block in drawn.files.items()
                if path in before.files and news_in(before.files[path], [block])
            ),
        }
    )


def changed_blocks(earlier: MapText, drawn: MapText) -> MapText:
    """Return the blocks of a map that are new or read differently, without white space at their ends.

    The closing line is there where it reads differently, and has no line break either.
    """
    fresh = {path: block.rstrip() for path, block in drawn.files.items()}
    changed = {path: block for path, block in fresh.items() if earlier.files.get(path, "").rstrip() != block}
    return MapText(changed, "" if drawn.closing == earlier.closing else drawn.closing.rstrip())


def _starts(parts: Sequence[str]) -> tuple[int, ...]:
    """Return where each part begins in the text that they make up together, in characters."""
    return tuple(accumulate(map(len, parts[:-1]), initial=0)) if parts else ()


def summary_of(reasoning: str, files: Sequence[FileReport]) -> str:
    """Return the latest reasoning with the reasons of the focus areas, where nobody has summed up."""
    lines = [
        f"- {file.path} ({level_word(file.level)}): {'; '.join(file.reasons) or 'chosen by the plan'}"
        for file in files
        if file.level >= _FOCUS_LEVEL
    ]
    return "\n".join([*([reasoning] if reasoning else []), *lines])
