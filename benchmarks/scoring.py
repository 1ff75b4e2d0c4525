"""How much of a known answer a context holds.

``Acc@k`` all gold files are among the first k; ``R@k`` the share that is. ``mention`` the share of gold files
whose path occurs in the text. ``struct`` the share of gold symbols whose signature is visible. ``body`` the
share of gold functions whose whole source is in the text, as one run of lines; ``reach`` the share that is
or that the menu offers. ``span`` the share of edited lines, two lines around them included, that is. ``full``
the share of gold files that are there whole, or with all of their gold functions and edited lines. ``prec``
gold files among the files shown with content. ``tokens`` the tokens sent, the menu's included; ``complete``
those and the gold functions that had to be picked from the menu, where it offers all that are not shown.
``*_all`` the share of tasks with all of them. Lines compare without indentation, line numbers and blanks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.tasks import GoldSpan, GoldSymbol, Task
from repo_map.text import tokens

CUTS = (1, 3, 5, 10)

GUTTER = re.compile(r"^\s*(?:\d+\s*[│|:\t]\s?|[│⋮|]\s?|\d+→)")
ELISIONS = frozenset({"", "...", "⋮", "…", "⋮..."})
_PATH = re.compile(r"[\w@+\-./\[\]()~$]+\.\w+")
_HEADER_REST = 40
"""A header is a line that holds a path and at most this many characters more."""
_LONGEST_LINE = 400


class Place(NamedTuple):
    """A definition that a menu offers."""

    path: str
    first: int
    last: int
    tokens: int
    """What it would add."""


class Answer(NamedTuple):
    """What was returned for a task."""

    context: str
    ranked: Sequence[str]
    """Paths, best first."""
    menu: Sequence[Place] = ()
    menu_tokens: int = 0
    """What the menu itself takes."""


class Sections(NamedTuple):
    """A context cut at its header lines."""

    lines: list[str]
    by_path: dict[str, list[tuple[int, int]]]
    """Path → header line and end of each of its sections."""
    mentioned: frozenset[str]


def score(task: Task, answer: Answer, paths: frozenset[str], read: Callable[[str], str]) -> dict[str, float]:
    """Score one answer; ``paths`` are the files of the tree, ``read`` gives a file's text.

    A measure that a task has no gold for (``body`` without functions) is left out.
    """
    sections = sections_of(answer.context, paths)
    text = joined(answer.context)
    sources = {path: read(path).split("\n") for path in task.gold_files}
    whole = {
        symbol: joined(_cut(sources, symbol.file, symbol.start, symbol.end)) in text
        for symbol in _functions(task)
    }
    spans = [(span.file, joined(_around(task, span, sources)) in text) for span in task.gold_spans]
    shown = {
        path
        for path, parts in sections.by_path.items()
        if any(_has_content(sections.lines, part) for part in parts)
    }
    offered = {
        symbol: min((place for place in answer.menu if _offers(place, symbol)), key=_price, default=None)
        for symbol, is_shown in whole.items()
        if not is_shown
    }
    full = [_is_full(path, sources, whole, spans, text) for path in task.gold_files]
    gold = task.gold_files
    return {
        **_ranking(gold, _unique(answer.ranked)),
        **_share("mention", [path in sections.mentioned or path in answer.context for path in gold]),
        **_share("body", list(whole.values())),
        **_share("reach", [seen or offered[symbol] is not None for symbol, seen in whole.items()]),
        **_share("struct", _visible_signatures(task, sources, sections)),
        **(_share("span", [seen for _, seen in spans]) or {"span": 0.0, "span_all": 0.0}),
        **_share("full", full),
        "prec": len(shown.intersection(gold)) / max(1, len(shown)),
        "files_shown": float(len(shown)),
        **_sizes(tokens.count(answer.context, "cl100k") + answer.menu_tokens, offered.values()),
    }


def _offers(place: Place, symbol: GoldSymbol) -> bool:
    return place.path == symbol.file and place.first <= symbol.sig_line <= place.last


def _price(place: Place) -> int:
    return place.tokens


def _sizes(sent: int, picked: Iterable[Place | None]) -> dict[str, float]:
    """Return the tokens sent, and those until a perfect choice from the menu has completed the answer."""
    chosen = set(picked)
    if None in chosen:
        return {"tokens": float(sent)}
    return {"tokens": float(sent), "complete": float(sent + sum(place.tokens for place in chosen if place))}


def _ranking(gold: Sequence[str], ranked: Sequence[str]) -> dict[str, float]:
    found = {cut: sum(path in ranked[:cut] for path in gold) for cut in CUTS}
    recall = {f"R@{cut}": hits / len(gold) for cut, hits in found.items()}
    accuracy = {f"Acc@{cut}": float(hits == len(gold)) for cut, hits in found.items()}
    first = [1 / (ranked.index(path) + 1) for path in gold if path in ranked]
    return {**recall, **accuracy, "MRR": max(first, default=0.0)}


def _share(name: str, seen: Sequence[bool]) -> dict[str, float]:
    shares = {} if not seen else {name: sum(seen) / len(seen), f"{name}_all": float(all(seen))}
    return {key: value for key, value in shares.items() if key != "struct_all"}


def _functions(task: Task) -> list[GoldSymbol]:
    return [symbol for symbol in task.gold_symbols if symbol.kind == "function"]


def _visible_signatures(task: Task, sources: dict[str, list[str]], sections: Sections) -> list[bool]:
    dense = _dense("\n".join(GUTTER.sub("", line) for line in sections.lines))

    def is_visible(symbol: GoldSymbol) -> bool:
        signature = _dense(sources[symbol.file][symbol.sig_line - 1]).rstrip("{:(,")
        if len(signature) > 5 and signature in dense:
            return True
        leaf = re.compile(r"(?<!\w)" + re.escape(symbol.leaf.split(".")[-1]) + r"(?!\w)")
        parts = sections.by_path.get(symbol.file, [])
        return any(leaf.search("\n".join(sections.lines[start + 1 : end])) for start, end in parts)

    return [is_visible(symbol) for symbol in task.gold_symbols]


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
    return _cut(sources, span.file, max(first, span.start - 2), min(last, end + 2))


def _is_full(
    path: str,
    sources: dict[str, list[str]],
    whole: dict[GoldSymbol, bool],
    spans: Sequence[tuple[str, bool]],
    text: str,
) -> bool:
    edits = [seen for file, seen in spans if file == path]
    functions = [seen for symbol, seen in whole.items() if symbol.file == path]
    return (bool(edits) and all(edits) and all(functions)) or joined(sources[path]) in text


def sections_of(text: str, paths: frozenset[str]) -> Sections:
    """Find the header lines, which name a file and little else, and every path that is mentioned."""
    lines = text.split("\n")
    heads: list[tuple[str, int]] = []
    mentioned: set[str] = set()
    for at, line in enumerate(lines):
        if len(line) > _LONGEST_LINE:
            mentioned |= {match[0].lstrip("./") for match in _PATH.finditer(line[:20_000])} & paths
            continue
        for match in _PATH.finditer(line):
            spelled = (match[0], match[0].lstrip("./"), match[0].lstrip("./").strip("()[]"))
            path = next((path for path in spelled if path in paths), None)
            if path is not None:
                mentioned.add(path)
                if len(line.strip()) - len(path) <= _HEADER_REST:
                    heads.append((path, at))
    by_path: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    ends = [at for _, at in heads[1:]] + [len(lines)]
    for (path, start), end in zip(heads, ends, strict=False):  # without heads there is an end too many
        by_path[path].append((start, end))
    return Sections(lines, by_path, frozenset(mentioned))


def _has_content(lines: Sequence[str], part: tuple[int, int]) -> bool:
    start, end = part
    return end - start > 1 and any(line.strip() for line in lines[start + 1 : min(end, start + 6)])


def _cut(sources: dict[str, list[str]], path: str, first: int, last: int) -> list[str]:
    return sources[path][first - 1 : last]


def joined(text: str | Iterable[str]) -> str:
    """Return lines as they compare: no gutters, indentation, runs of spaces, elisions and blanks."""
    lines = text.split("\n") if isinstance(text, str) else text
    plain = (" ".join(GUTTER.sub("", line).split()) for line in lines)
    return "\n" + "\n".join(line for line in plain if line not in ELISIONS) + "\n"


def _dense(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))
