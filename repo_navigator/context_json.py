"""What ``--json`` prints of a navigation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_core import to_jsonable_python

from mcp_server.report_text import further
from navigator.planner.outline_text import outline_text
from navigator.state.reports import NavigatorOutput
from repo_map.check.model import finding_data


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
        "menu": [place.model_dump(mode="json") for place in output.outline],
        "outline": outline_text(output.outline, output.tests),
        "flight_plan_yaml": output.flight_plan_yaml,
        "evidence": output.confidence,
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
