"""A turn report in the two forms that hosts read, as an object and as text, in the detail that has room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from navigator.planner.outline_text import STAR, SUREST, first_entries, outline_text
from navigator.state import reports
from navigator.state.labels import EMBEDDED, USER, action_word, decider_to_model, dollars
from repo_map.check.model import finding_data
from repo_map.messages import plural, printable, quoted
from repo_map.plan.levels import level_label

Status = Literal["open", "running", "finished", "budget", "max_steps", "user", "cancelled", "error"]
"""``open`` takes another step, ``running`` is taking one; the rest say why a navigation stopped."""

NAVIGATIONS: Final = "navigator://navigations"
Part = Literal["context", "plan", "report", "decisions", "maps/{version}"]


def address(navigation_id: str, part: Part) -> str:
    """Return the address of a part of a navigation; ``{navigation_id}`` gives the template of all."""
    return f"navigator://{navigation_id}/{part}"


def as_object(**fields: Any) -> dict[str, Any]:
    """Return the object of an answer, without the fields that say nothing."""
    return {name: value for name, value in fields.items() if value is not None and value != []}


class TurnReportJson(BaseModel):
    """What one step did, what it cost, and what a next step could do."""

    model_config = ConfigDict(frozen=True)

    navigation_id: str
    status: Annotated[Status, WithJsonSchema({"type": "string"})]
    step_number: int
    last_action: str
    reasoning: str
    answer: str | None = None
    """What was understood of the feedback, and the answers to what it asked."""
    understood: SkipJsonSchema[bool | None] = None
    """Whether all words of a step were, None without words; the report of no other tool has it."""
    model: str | None = None
    """What decided; None where the user did."""
    cost_this_turn: float | None = None
    """US dollars, as the other amounts; with the answer of a step only where a model was asked."""
    total_cost: float | None = None
    budget_remaining: float | None = None
    map_size_tokens: int
    token_budget: int
    """Most tokens of a whole answer: its report, its map and all that stands around them."""
    file_count: int
    left_out: int | None = None
    focus_areas: list[str]
    cuts: list[reports.CutReport] = []
    outline: str | None = None
    """Places that are not shown, by number, for a next step to ask for."""
    sufficiency: str | None = None
    usage: dict[str, int] | None = None
    """Tokens of all model calls so far; ``cached`` is a part of ``input``."""
    findings: list[dict[str, Any]] = []
    impact: list[str] = []
    notes: list[str] = []
    next: str
    # Not in the schema, for which hosts pay.
    repository: SkipJsonSchema[str | None] = None
    also_listed: SkipJsonSchema[str | None] = None

    def on_the_wire(self, *, is_nested: bool = False) -> dict[str, Any]:
        """Return the JSON object; one within an answer leaves out what the answer itself has."""
        outer = {"navigation_id", "status"} if is_nested else None
        fields = self.model_dump(mode="json", exclude_none=True, exclude=outer)
        return {"focus_areas": [], **as_object(**fields)}


_ANSWER_SHARE: Final = 20
"""Characters of the answer to a question by those of one sentence: it holds source."""


class DetailLevel(NamedTuple):
    """How much of a report is sent."""

    focus_areas: int
    cuts: int
    outline: int
    impact: int
    characters: int


DETAILS: Final = (
    DetailLevel(3, 0, 0, 3, 160),
    DetailLevel(8, 3, 12, 6, 300),
    DetailLevel(12, 5, 25, 10, 600),
    DetailLevel(12, 5, 80, 10, 600),
    DetailLevel(40, 20, 80, 20, 2_000),
)
"""From the barest to the fullest."""
SHORT_OUTLINES: Final = (DETAILS[0]._replace(outline=10), DETAILS[0]._replace(outline=5))
"""The barest with an outline all the same: a short one is worth more than none."""

STATUS_WORDS: Final[dict[Status, str]] = {
    "open": "open",
    "running": "a model still explores",
    "finished": "finished",
    "user": "accepted by the user",
    "max_steps": "stopped at its step limit",
    "budget": "stopped at its cost limit",
    "cancelled": "cancelled",
    "error": "stopped, as no model answered",
}
_PLAN: Final = "get_context with cursor `plan` gives the flight plan."
_BY_NUMBER: Final = "step with show [3, 7] sends source"
_EXPLORE: Final = 'step with ask {"search": REGEX, "read": [NAME, "path:3-90"]} explores; '
_REFINE: Final = f"step with show, drop or ask refines it; {_PLAN}"
_NEXT: Final[dict[Status, str]] = {
    "running": "this is the answer without a model; call step for the model's, in some seconds",
    "finished": _REFINE,
    "user": _REFINE,
    "max_steps": "Use the context; step goes on with show, drop or ask, or a higher max_steps in updates; "
    f"{_PLAN}",
    "budget": "Use the context, the best within the cost limit; step goes on with a higher max_cost_usd or "
    f"another model in updates; {_PLAN}",
    "cancelled": f"It takes no more steps; call navigate for a new one. What was done can be read, {_PLAN}",
    "error": "Use the context, the best so far; step tries again, with another model in updates if you like; "
    f"{_PLAN}",
}
_OPEN_INTERACTIVE: Final = (
    "Call step: show and drop change what is shown, ask answers, updates changes the flight plan itself, "
    f"action `finish` accepts the context; {_PLAN}"
)
_OPEN_CHANGED: Final = (
    f"The plan is as the user changed it: step lets the planner go on, action `finish` accepts it; {_PLAN}"
)
_OPEN_AUTONOMOUS: Final = f"The work is not done: step goes on; the context is the best so far; {_PLAN}"


def status_of(stop_reason: reports.StopReason | None) -> Status:
    """Return the status that a stop reason, or its absence, means."""
    return "open" if stop_reason is None else stop_reason.value


def wire_report(
    report: reports.TurnReport,
    response_token_budget: int,
    detail: DetailLevel = DETAILS[-1],
    *,
    with_costs: bool = True,
) -> TurnReportJson:
    """Return ``report`` as clients see it; ``with_costs`` keeps the costs of one that spends nothing."""
    status: Status = "running" if report.is_running else status_of(report.stop_reason)
    open_next = _OPEN_INTERACTIVE if report.mode == "interactive" else _OPEN_AUTONOMOUS
    if report.model == USER and report.mode != "interactive":
        open_next = _OPEN_CHANGED
    max_findings = None if detail.cuts else detail.impact
    sufficiency = clip(report.sufficiency, detail.characters)
    costs = ("cost_this_turn", "total_cost", "budget_remaining")
    is_free = not (with_costs or report.total_cost) and report.model in (EMBEDDED, USER)
    shared = {name: value for name, value in report if name in TurnReportJson.model_fields}
    fields: dict[str, Any] = {
        **shared,
        **(dict.fromkeys(costs) if is_free else {}),
        "model": None if report.model == USER else report.model,
        "left_out": report.left_out or None,
        "status": status,
        "last_action": clip(report.last_action, detail.characters),
        "reasoning": clip(report.reasoning, detail.characters),
        "answer": "\n".join(clip_source(report.answer, _ANSWER_SHARE * detail.characters)) or None,
        "understood": None if report.not_understood is None else not report.not_understood,
        "token_budget": response_token_budget,
        "focus_areas": report.focus_areas[: detail.focus_areas],
        "cuts": report.cuts[: detail.cuts],
        "usage": report.total_usage._asdict() if report.total_usage.calls and detail.cuts else None,
        "outline": _outline(report, detail.outline) or None,
        "sufficiency": None if report.sufficiency in report.reasoning else sufficiency,
        "findings": [finding_data(each) for each in report.findings[:max_findings]],
        "impact": [clip(each, detail.characters) for each in report.impact[: detail.impact]],
        "notes": _notes(report, detail),
        "next": _NEXT.get(status, open_next),
        "repository": report.repository or None,
        "also_listed": report.also_listed or None,
    }
    return TurnReportJson(**fields)


def _outline(report: reports.TurnReport, limit: int) -> str:
    """Return the first places of the outline, and how many there are beyond them; ``""`` for none."""
    rest = len(report.outline) - limit
    if rest <= 0:
        return outline_text(report.outline, report.tests)
    if not limit:
        return f"{plural(rest, 'place')} in get_turn_report"
    return f"{outline_text(first_entries(report.outline, limit))}\nand {rest} more: get_turn_report"


def without_repeated_fields(report: reports.TurnReport) -> reports.TurnReport:
    """Return the report of an answer whose context says itself, file by file, what is shown and why.

    The embedded planner sums up that list and the outline: only its confidence remains.
    """
    if report.model != EMBEDDED:
        # The outline is the model's selection, with its reasons.
        return report.model_copy(update={"ended": ""}) if report.stop_reason == "finished" else report
    update: dict[str, object] = {"reasoning": report.sufficiency}
    if report.outline and status_of(report.stop_reason) == "finished":
        update["ended"] = ""
    return report.model_copy(update=update)


def step_text(report: TurnReportJson) -> str:
    """Return a report as lines for a client that had one before; the first is ours."""
    size = f"; {plural(report.file_count, 'file')}, {plural(report.map_size_tokens, 'token')} of code"
    if not report.next:
        size = ""  # No step was taken.
    spent = f"; {dollars(report.total_cost)} spent" if report.total_cost else ""
    # A navigation whose context is done goes on with every further question.
    status = "" if report.status == "finished" else f"{STATUS_WORDS[report.status]}, "
    head = f"navigation {report.navigation_id}: {status}step {report.step_number}"
    ours = [f"{head}{size}{spent}"]
    if report.status not in ("finished", "user") and report.next:
        ours.append(f"next: {report.next}")
    lines = [report.answer] if report.answer else []
    if report.reasoning:
        lines.append(_reasoning_line(report))
    lines += [*_outline_lines(report.outline), *(f"note: {note}" for note in report.notes)]
    return "\n".join((*ours, quoted("\n".join(lines)) if lines else "")).rstrip("\n")


def report_text(report: TurnReportJson) -> str:
    """Return ``report`` as lines: the first two are ours, the others are fenced as the repository's."""
    ours, lines = report_lines(report)
    return "\n".join((*ours, quoted("\n".join(lines))))


def report_lines(
    report: TurnReportJson, *, is_first_answer: bool = False, explores: bool = False
) -> tuple[list[str], list[str]]:
    """Return the lines of ``report`` that are ours, and those that tell of the repository.

    In a first answer code stands below, with its own headers: what these say, and how the work went, is left
    out. To one who ``explores`` the questions of ``step`` are offered first.
    """
    sizes = f"{plural(report.file_count, 'file')}, {plural(report.map_size_tokens, 'token')} of code"
    ours = [
        f"navigation {report.navigation_id}: {STATUS_WORDS[report.status]} at step {report.step_number}; "
        f"{sizes}{_spent(report)}",
        f"next: {report.next}",
    ]
    outline = _outline_lines(report.outline)
    if is_first_answer and report.status == "finished" and len(outline) > 1:
        offer = _EXPLORE if explores else ""
        head = f"navigation {report.navigation_id}: {offer}{_by_number(outline[1])}{_spent(report)}"
        ours, outline = [head], outline[1:]
    # What is at risk is what a change is looked at for.
    lines = [
        *([report.repository] if report.repository else []),
        *report.impact,
        *([_reasoning_line(report)] if report.reasoning else []),
        *([report.sufficiency] if report.sufficiency else []),
    ]
    if report.answer:
        lines.append(f"answer: {report.answer}")
    if not is_first_answer and report.focus_areas:
        lines.append(f"focus: {', '.join(report.focus_areas)}")
    lines += [
        f"cut: {cut.path} as {level_label(cut.drawn)} instead of {level_label(cut.wanted)} "
        f"(about +{plural(cut.tokens_to_add, 'token')})"
        for cut in report.cuts
    ]
    lines += outline
    if report.also_listed:
        lines.append(f"also listed: {report.also_listed}")
    if report.left_out:
        lines.append(f"left out for lack of budget: {plural(report.left_out, 'file')}")
    if (usage := report.usage) and not is_first_answer:
        lines.append(
            f"model tokens so far: {usage['input']:,} read, of them {usage['cached']:,} from a cache; "
            f"{usage['output'] + usage['thinking']:,} answered"
        )
    lines += [f"note: {note}" for note in report.notes]
    return ours, lines


def _spent(report: TurnReportJson) -> str:
    """Return who chose the code, and what is spent; nothing where the planner alone did, which is free."""
    decider = decider_to_model(report.model or USER)
    if report.total_cost is None or report.budget_remaining is None:
        return "" if report.model == EMBEDDED else f"; {decider}"
    if report.model == EMBEDDED and not report.total_cost:
        return ""
    spent = f"{dollars(report.total_cost)} spent, {dollars(report.budget_remaining)} left"
    return f"; {spent}; {decider}"


def _reasoning_line(report: TurnReportJson) -> str:
    """Return why a step did what it did; a summary speaks for itself."""
    if report.last_action == "finalize_context":
        return report.reasoning
    return f"{action_word(report.last_action)}: {report.reasoning}"


def _by_number(outline: str) -> str:
    return f"{_BY_NUMBER}; {SUREST}" if STAR.search(outline) else _BY_NUMBER


def _outline_lines(outline: str | None) -> list[str]:
    """Return the outline below what its numbers are for; one line alone counts the entries."""
    if not outline:
        return []
    return (
        [f"outline ({_by_number(outline)}):", outline]
        if "\n" in outline
        else [f"outline, no room for it here: {outline}"]
    )


def clip(text: str, characters: int) -> str:
    """Return ``text`` on one line and at most ``characters`` long, cut between words."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    cut = line[: characters - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[characters // 2 :] else cut}…"


def clip_source(text: str, characters: int) -> Iterator[str]:
    """Yield the lines of ``text`` with their indentation, of all together so many characters."""
    for line in text.split("\n"):
        characters -= len(line) + 1
        if characters < 0:
            yield "…"
            return
        yield printable(line.rstrip())


def _notes(report: reports.TurnReport, detail: DetailLevel) -> list[str]:
    notes = [*([report.ended] if report.ended else []), *report.notes]
    limit = max(detail.focus_areas, 3)
    message = [clip(note, detail.characters) for note in notes[:limit]]
    if len(notes) > limit:
        whole = address(report.navigation_id, "report")
        message.append(f"{plural(len(notes) - limit, 'more note')}: call get_turn_report, or read {whole}")
    return message
