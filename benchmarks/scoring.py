"""How much of a known answer a context holds.

``Acc@k``: all gold files are among the first k. ``body``: the share of gold functions whose whole source is
in the text, as one run of lines; ``reach``: the share that is or that the outline offers. ``span``: the share
of edited lines, two lines around them included, that is. ``*_all``: the share of tasks with all of them.
``tokens``: the tokens sent, the outline's included. Lines compare without indentation, line numbers and
blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.tasks import GoldSpan, GoldSymbol, Task
from repo_map.text import tokens

CUTS = (1, 3, 5, 10)
GUTTER = re.compile(r"^\s*(?:\d+\s*[│|:\t]\s?|[│⋮|]\s?|\d+→)")
ELISIONS = frozenset({"", "...", "⋮", "…", "⋮..."})


class Place(NamedTuple):
    """A definition that an outline offers."""

    path: str
    first: int
    last: int


class Answer(NamedTuple):
    """What was returned for a task."""

    context: str
    ranked: Sequence[str]
    """Paths, best first."""
    menu: Sequence[Place] = ()
    menu_tokens: int = 0
    """Tokens of the outline itself."""


def score(task: Task, answer: Answer, read: Callable[[str], str]) -> dict[str, float]:
    """Score one answer; ``read`` returns the text of a file of the tree.

    A measure that a task has no gold for (``body`` without functions) is left out.
    """
    text, ranked = joined(answer.context), list(dict.fromkeys(answer.ranked))
    sources = {path: read(path).split("\n") for path in task.gold_files}
    functions = [symbol for symbol in task.gold_symbols if symbol.kind == "function"]
    shown = [joined(sources[each.file][each.start - 1 : each.end]) in text for each in functions]
    reached = [
        seen or any(_offers(place, each) for place in answer.menu)
        for each, seen in zip(functions, shown, strict=True)
    ]
    spans = [joined(_around(task, span, sources)) in text for span in task.gold_spans]
    return {
        **{f"Acc@{cut}": float(all(path in ranked[:cut] for path in task.gold_files)) for cut in CUTS},
        **share("body", shown),
        **share("reach", reached),
        **(share("span", spans) or {"span": 0.0, "span_all": 0.0}),
        "tokens": float(tokens.count(answer.context, "cl100k") + answer.menu_tokens),
    }


def share(name: str, seen: Sequence[bool]) -> dict[str, float]:
    """Return the share that was seen, and whether all was; nothing without any."""
    return {name: sum(seen) / len(seen), f"{name}_all": float(all(seen))} if seen else {}


def joined(text: str | Iterable[str]) -> str:
    """Return lines as they compare: no gutters, indentation, runs of spaces, elisions and blanks."""
    lines = text.split("\n") if isinstance(text, str) else text
    plain = (" ".join(GUTTER.sub("", line).split()) for line in lines)
    return "\n" + "\n".join(line for line in plain if line not in ELISIONS) + "\n"


def _offers(place: Place, symbol: GoldSymbol) -> bool:
    return place.path == symbol.file and place.first <= symbol.sig_line <= place.last


def _around(task: Task, span: GoldSpan, sources: dict[str, list[str]]) -> list[str]:
    """Return the edited lines and two around them, within the function that holds them."""
    first, last = 1, len(sources[span.file])
    end = span.end + span.insert
    holders = [
        symbol
        for symbol in task.gold_symbols
        if symbol.file == span.file and symbol.start <= span.start and symbol.end >= span.end
    ]
    if holders:
        if holders[0].kind == "function":
            first, last = holders[0].start, holders[0].end
        if not (first <= span.start and end <= last):
            end = span.end
    return sources[span.file][max(first, span.start - 2) - 1 : min(last, end + 2)]
