"""Refuses a plan whose rules ask for more than its budget, and says what asks for most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from repo_map.errors import BudgetError
from repo_map.pricing.estimates import file_level_costs
from repo_map.selection.sections import Shape

if TYPE_CHECKING:
    from repo_map.drawing.sketches import Sketchbook
    from repo_map.flight_plan import FlightPlan
    from repo_map.index import RepoIndex
    from repo_map.selection.select import Selection

_HOPELESS = 1.5
"""Estimates this far above the budget are refused without drawing; they are never that far off."""
_MOST_TOLD = 5


def refuse_overflow(index: RepoIndex, plan: FlightPlan, selection: Selection, book: Sketchbook) -> None:
    """Raise BudgetError when what the rules name does not fit whole; other files may still step down."""
    named = np.flatnonzero(selection.explicit & (selection.levels > 0)).tolist()
    named = sorted({*named, *selection.shapes})
    costs = file_level_costs(index)
    needed = {i: float(costs[i, selection.levels[i]]) for i in named if i not in selection.shapes}
    if sum(needed.values()) <= plan.budget * _HOPELESS:
        shapes = {i: selection.shapes.get(i, Shape(int(selection.levels[i]))) for i in named}
        needed = {i: max(book.draw(i, shape).counts) for i, shape in shapes.items()}
    total = round(sum(needed.values()))
    if total <= plan.budget:
        return
    largest = sorted(needed, key=lambda i: (-needed[i], i))[:_MOST_TOLD]
    told = ", ".join(f"`{index.paths[i]}` {round(needed[i]):,}" for i in largest)
    raise BudgetError(
        f"The plan's rules need {total:,} tokens and its budget is {plan.budget:,}; lower the level of what "
        f"is largest ({told}), raise the budget, or draw without strict."
    )
