"""The context as it is handed out: whole, or only what is new since an earlier step."""

from __future__ import annotations

from collections.abc import Sequence

from navigator.bookkeeping import StepRecord
from navigator.reports import NavigationSummary, NavigatorOutput
from navigator.turn import Navigation, report_now
from repo_map.text.tokens import count


def output_of(navigation: Navigation, record: StepRecord, context: str) -> NavigatorOutput:
    """Return the output of the latest step."""
    report = report_now(record, navigation.run)
    return NavigatorOutput(
        navigation_id=report.navigation_id,
        context_string=context,
        flight_plan=record.flight_plan,
        reasoning_summary=record.reasoning_summary or _summary(navigation, record),
        total_iterations=navigation.run.step,
        total_cost=navigation.run.spent,
        token_count=report.map_size_tokens,
        token_budget=navigation.run.token_budget,
        files=record.files,
        focus_areas=report.focus_areas,
        excluded_count=report.excluded_count,
        left_out=report.left_out,
        cuts=report.cuts,
        candidates=report.candidates,
        sufficiency=report.sufficiency,
        stop_reason=report.stop_reason,
        ended=report.ended,
        model=report.model,
        total_usage=report.total_usage,
        seconds=navigation.run.seconds,
        notes=report.notes,
    )


def news_of(whole: NavigatorOutput, since: StepRecord, earlier_context: str) -> NavigatorOutput:
    """Return the output with only the files that are new, or shown differently, since an earlier step."""
    before = blocks(earlier_context, [file.path for file in since.files])
    now = blocks(whole.context_string, [file.path for file in whole.files])
    fresh = [block for path, block in now.items() if before.get(path) != block]
    context = "\n".join(fresh)
    return whole.model_copy(
        update={
            "context_string": context,
            "token_count": count(context),
            "since_step": since.report.step_number,
            "removed": tuple(path for path in before if path not in now),
        }
    )


def summary_of(navigation: Navigation, updated_at: float) -> NavigationSummary:
    """Return a navigation's line in a list."""
    return NavigationSummary(
        navigation_id=navigation.run.navigation_id,
        goal=navigation.state.user_task,
        repo_path=navigation.state.repo_path,
        steps=navigation.run.step,
        stop_reason=navigation.run.stop_reason,
        updated_at=updated_at,
    )


def blocks(context: str, paths: Sequence[str]) -> dict[str, str]:
    """Cut a map into its files, given their paths in map order, without what stands before the first.

    A header is a line that is the path, perhaps with a suffix; each path is looked for once and in order, so
    a line of source that looks like the header of another file does not mislead.
    """
    lines = context.split("\n")
    starts: list[tuple[int, str]] = []
    at = 0
    for path in paths:
        found = next((row for row in range(at, len(lines)) if _is_header(lines[row], path)), None)
        if found is None:
            continue
        starts.append((found, path))
        at = found + 1
    ends = [*(row for row, _ in starts), len(lines)][1:]
    return {
        path: "\n".join(lines[start:end]).rstrip() for (start, path), end in zip(starts, ends, strict=True)
    }


def _is_header(line: str, path: str) -> bool:
    return line == path or line.startswith((f"{path} ", f"{path}:"))


def _summary(navigation: Navigation, record: StepRecord) -> str:
    """Return the reasons of the focus areas, for a navigation that its model did not sum up."""
    lines = [
        f"- {file.path} (level {file.level}): {'; '.join(file.reasons) or 'chosen by the plan'}"
        for file in record.report.focus
    ]
    said = [entry.reasoning for entry in navigation.state.decision_log[-1:]]
    return "\n".join([*said, *lines])
