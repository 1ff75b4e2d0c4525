"""What ``--json`` prints of a navigation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from mcp_server.protocol.report_text import further, status_of
from navigator.records.reports import NavigatorOutput
from navigator.steps.menu_text import menu_text
from repo_map.impact.findings import finding_data

if TYPE_CHECKING:
    from repo_navigator.follow_up import FollowUp


def context_data(
    output: NavigatorOutput, seconds: float, status: str, notes: Sequence[str]
) -> dict[str, Any]:
    """Return what ``--json`` prints; ``seconds`` is the time of the whole command."""
    return {
        "navigation_id": output.navigation_id,
        "status": status,
        "context": output.context_string,
        "tokens": output.token_count,
        "token_budget": output.map_token_budget,
        "files": [file.model_dump(mode="json") for file in output.files],
        "menu": [place.model_dump(mode="json") for place in output.menu],
        "outline": menu_text(output.menu, output.tests),
        "flight_plan_yaml": output.flight_plan_yaml,
        "evidence": output.evidence,
        "sufficiency": output.sufficiency,
        "findings": [finding_data(each) for each in output.findings],
        "impact": list(output.impact),
        "reasoning_summary": output.reasoning_summary,
        "total_iterations": output.total_iterations,
        "total_cost_usd": float(output.total_cost),
        "seconds": {
            "index": round(output.seconds.index, 3),
            "navigate": round(output.seconds.navigate, 3),
            "total": round(seconds, 3),
        },
        "notes": list(notes),
        **to_jsonable_python(further(output)),
    }


def follow_up_data(found: FollowUp, seconds: float) -> dict[str, Any]:
    """Return what it prints where words were said: a context, with the answer and what is new."""
    whole, news = found.whole, found.news
    return {
        **context_data(whole, seconds, status_of(whole.stop_reason), whole.notes),
        "answer": found.answer,
        "understood": not found.not_understood,
        "not_understood": [each.model_dump(mode="json") for each in found.not_understood],
        "since_step": news.since_step,
        "context_delta": news.context_string,
        "delta_tokens": news.token_count,
        "removed": list(news.removed),
        "lessened": list(news.lessened),
    }
