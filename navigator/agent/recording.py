"""How a decision becomes a step: its map and its record are saved, and its state is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from navigator.planner.context import StepResult
from navigator.planner.record import apply_decision, finish_after_step
from navigator.state.run_state import Navigation
from navigator.storage import state
from navigator.storage.storage import MAP_NAME, record_name

if TYPE_CHECKING:
    from google.adk.agents.context import Context

    from navigator.agent.step_context import StepContext
    from navigator.planner.record import Decision


async def record(step: StepContext, context: Context, decision: Decision) -> dict[str, Any]:
    """Save the map and the record of a decision, write its state, and return what a tool answers.

    Until the event of ``context`` is stored, the step has not happened.

    Raises:
        RepoMapError: the plan can't be drawn.
        StorageError: the map or the record can't be saved.
    """
    before, view = step.navigation, await step.view(decision.plan, decision.selection)
    with step.storage.faults.raised(before.run.navigation_id, writes=True):
        if step.drawn.saved_map is None or step.drawn.saved_map[0] != view.map.text:
            version = await context.save_artifact(MAP_NAME, types.Part(text=view.map.text))
            step.drawn.saved_map = view.map.text, version
        timed = step.timed(step.booked(before))
        after, found = apply_decision(timed, decision, step.clock(), view, step.drawn.saved_map[1])
        number = after.run.step
        version = await context.save_artifact(record_name(number), types.Part(text=found.model_dump_json()))
    after = Navigation(after.state, after.run.recorded(number, version))
    if step.gave_up:
        after = finish_after_step(after, f"{step.gave_up}.")
    elif step.settles and not step.asks_models:
        after = finish_after_step(after)
    state.write(context.state, after)
    step.navigation, step.result = after, StepResult(found, view.map.map_text)
    return {
        "status": "success",
        "selected": [f"{each.path}:{each.first}-{each.last}" for each in after.run.selection],
        "map_tokens": after.state.map_metadata.total_tokens,
        "tokens_left": max(after.run.map_token_budget - after.state.map_metadata.total_tokens, 0),
        "files_included": after.state.map_metadata.file_count,
        "map_version": after.run.map_version,
        "cost_usd": float(after.run.spent),
    }
