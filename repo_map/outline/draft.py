"""The plan under construction and its cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from repo_map import globs
from repo_map.graph.pagerank import files_defining
from repo_map.outline.costs import file_level_costs
from repo_map.outline.exclusions import excluded_by
from repo_map.outline.pieces import Piece, PieceReader
from repo_map.outline.render_cache import RenderCache
from repo_map.outline.rendering import joint_legend
from repo_map.outline.sections import Section, Shape, captured_spans
from repo_map.outline.select import files_named
from repo_map.outline.source import SourceFile, joined
from repo_map.plan.model import FlightPlan, SectionRule, VerbosityRule
from repo_map.ranking.score import ScoredUnit
from repo_map.text import tokens

if TYPE_CHECKING:
    from repo_map.index.index import Index


_NEARLY_WHOLE = 0.85
"""Share of a file's lines from which on the rest is shown too."""
_SMALL_REST = 6
"""Lines of a rest that costs less than its elisions and line ranges confuse."""
_SMALL_GAP = 3
"""Lines between two shown parts that are shown as well,"""
_GAP_CHARACTERS = 120
"""and their characters, at most."""


def file_rule(file: SourceFile, chosen: Sequence[Piece]) -> VerbosityRule:
    """Return the rule that shows pieces of a file, the best first, and the imports that they need.

    The file is there for what its best piece is there for; of the others those tell that have another reason.
    """
    why = next((piece.why for piece in chosen if piece.why), None)
    pieces = sorted(chosen, key=lambda piece: piece.first)
    pattern = globs.escape(file.path)
    shown, lines = sum(piece.last - piece.first + 1 for piece in pieces), len(file.lines)
    if pieces and (shown >= _NEARLY_WHOLE * lines or lines - shown <= _SMALL_REST):
        return VerbosityRule(pattern=pattern, level=4, why=why)
    names = [file.section_name(piece.unit) if piece.is_whole else "" for piece in pieces]
    unnamed = [piece for piece, name in zip(pieces, names, strict=True) if not name]
    imports = file.imports_of([(piece.first, piece.last) for piece in pieces])
    lines_shown = [*imports, *((piece.first, piece.last) for piece in unnamed)]
    lines_shown += _small_gaps(file, [(piece.first, piece.last) for piece in pieces])
    reasons = _other_reasons(file, pieces, lines_shown, why)
    sections = [
        *(
            SectionRule(pattern=globs.escape(name), level=4, why=reasons.get(piece.first))
            for name, piece in zip(names, pieces, strict=True)
            if name
        ),
        *(
            SectionRule(lines=f"{first}-{last}", level=4, why=reasons.get(first))
            for first, last in joined(sorted(lines_shown))
        ),
    ]
    return VerbosityRule(pattern=pattern, level=1, sections=tuple(sections), why=why)


def _small_gaps(file: SourceFile, shown: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the lines between shown parts that cost hardly more than to say that they are left out.

    Imports and lone comments, which are left out because they say nothing, stay out.
    """
    for (_, last), (first, _) in pairwise(joined(sorted(shown))):
        lines = [line for line in file.lines[last : first - 1] if line.strip()]
        if not 0 < len(lines) <= _SMALL_GAP or sum(map(len, lines)) > _GAP_CHARACTERS:
            continue
        between = file.statements.outermost(last + 1, first - 1)
        says_nothing = (each.is_comment or each.start >= first for each in between)
        if not any(says_nothing) and not any(each.start in file.import_lines for each in between):
            yield last + 1, first - 1


def _other_reasons(
    file: SourceFile, pieces: Sequence[Piece], more: Sequence[tuple[int, int]], told: str | None
) -> dict[int, str]:
    """Return why pieces are shown, by their first lines, of those that stand below a gap.

    ``more`` are other lines that are shown. What is told already, of the file or of the part above, is left
    out.
    """
    found: dict[int, str] = {}
    shown = [*more, *((piece.first, piece.last) for piece in pieces)]
    top, lasts = min(shown, default=(0, 0))[0], {last for _, last in shown}
    for piece in pieces:
        before = piece.first - 1
        while before > 0 and not file.lines[before - 1].strip():
            before -= 1
        if piece.first > top and before not in lasts and piece.why and piece.why != told:
            found[piece.first] = told = piece.why
    return found


def shape_of(rule: VerbosityRule) -> Shape:
    """Return the shape that a rule gives its file."""
    sections = tuple(map(Section.of, rule.sections))
    return Shape(1 if rule.level is None else rule.level, sections, why=rule.why or "")


_MOST_CAPTURED = 40
"""Files that are let in one by one for what a query captures; of more, all that the query is for."""
_EVERYTHING = frozenset({"**", "**/*", "*"})


class Base:
    """The rules and boosts of the plan that packing starts from."""

    def __init__(self, index: Index, plan: FlightPlan | None) -> None:
        self._index = index
        self.plan = plan or FlightPlan()
        self.rules = tuple(rule for rule in self.plan.verbosity if rule.pattern not in _EVERYTHING)
        """Rules that say something of particular files; those for every file are what packing replaces."""
        self._boosts = self.plan.focus.paths if self.plan.focus else ()
        self._symbols = self.plan.focus.symbols if self.plan.focus else ()
        self._weights: dict[str, float] = {}
        for symbol in self._symbols:
            for file_id in files_defining(index, symbol.name).tolist():
                path = index.paths[file_id]
                self._weights[path] = max(self._weights.get(path, 0.0), symbol.weight)

    def rule_of(self, path: str) -> VerbosityRule | None:
        """Return the rule that decides a file."""
        return next((rule for rule in reversed(self.rules) if globs.matches(rule.pattern, path)), None)

    @property
    def others(self) -> int | None:
        """0 where the plan leaves out what no other rule names, which packing does not replace."""
        rules = [rule for rule in self.plan.verbosity if rule.pattern in _EVERYTHING]
        return 0 if rules and rules[-1].level == 0 else None

    def settles(self, path: str) -> bool:
        """Say whether the plan gives a file, named alone, one level in all: packing adds nothing to it."""
        rule = self.rule_of(path)
        return rule is not None and not rule.sections and globs.plain(rule.pattern) == path

    def weight(self, path: str, name: str = "") -> float:
        """Return the boost of a file, by its path and its symbols, or of one symbol; else 1."""
        weights = [boost.weight for boost in self._boosts if globs.matches(boost.pattern, path)]
        symbols = [self._weights.get(path, 1.0)] if not name else self._symbol_weights(name)
        return max(weights, default=1.0) * max(symbols, default=1.0)

    def _symbol_weights(self, name: str) -> list[float]:
        leaf = name.rpartition(".")[2]
        matches = ((globs.compile_name(boost.name).fullmatch, boost.weight) for boost in self._symbols)
        return [weight for match, weight in matches if match(name) or match(leaf)]

    def files(self) -> list[str]:
        """Return the files that rules name one by one and show, in the order of the rules."""
        ids = {
            path: self._index.file_id(path)
            for path in map(globs.plain, (rule.pattern for rule in self.rules))
        }
        return [
            path for path, file_id in ids.items() if file_id is not None and not excluded_by(self.plan, path)
        ]

    def price(self) -> int:
        """Return the estimated tokens of the files that rules for several files show by their level."""
        levels = np.zeros(len(self._index.paths), np.int64)
        for rule in self.rules:
            single = self._index.file_id(globs.plain(rule.pattern)) is not None
            levels[files_named(self._index, rule.pattern)] = (
                0 if single else 1 if rule.level is None else rule.level
            )
        return int(file_level_costs(self._index)[np.arange(len(levels)), levels].sum())

    def captured(self) -> dict[int, Shape]:
        """Return the files in which custom queries capture something, as the captures alone show them."""
        spans = captured_spans(self._index, self.plan.custom_queries).items()
        return {
            file: Shape(1, (), own)
            for file, own in spans
            if not excluded_by(self.plan, self._index.paths[file])
        }

    def captured_rules(self, paths: Sequence[str]) -> tuple[VerbosityRule, ...]:
        """Return the rules that let in the files ``paths``, in which custom queries capture something."""
        patterns = list(map(globs.escape, paths))
        if len(patterns) > _MOST_CAPTURED:
            patterns = list(dict.fromkeys(query.pattern for query in self.plan.custom_queries))
        return tuple(VerbosityRule(pattern=pattern, level=1) for pattern in patterns)

    def general_rules(self, packed: Iterable[str]) -> list[VerbosityRule]:
        """Return the rules that packing does not take over into its own, in their order."""
        own = {globs.escape(path) for path in packed} | set(packed)
        return [rule for rule in self.rules if rule.pattern not in own]

    def merged(self, path: str, rule: VerbosityRule) -> VerbosityRule:
        """Return a packed rule with what the plan asks of the same file."""
        wanted = self.rule_of(path)
        if wanted is not None and self.settles(path):
            return wanted
        if wanted is None or rule.level == 4:
            return rule
        if wanted.pattern not in (path, rule.pattern):
            return rule.model_copy(update={"level": max(rule.level or 1, wanted.level or 1)})
        level = max(1 if wanted.level is None else wanted.level, rule.level or 1)
        return rule.model_copy(update={"level": level, "sections": _joined(rule.sections, wanted.sections)})


def _joined(packed: Iterable[SectionRule], wanted: Iterable[SectionRule]) -> tuple[SectionRule, ...]:
    """Return both; of two sections of one name or range the wanted one holds."""
    by_part = {(section.pattern, section.lines): section for section in (*packed, *wanted)}
    return tuple(by_part.values())


_ELISION_TOKENS = 5
"""Of the line that says what was left out between two pieces."""
_LEAST_CHARACTERS_PER_TOKEN = 7
_FULL = 0.985
"""Share of the budget from which on a packing counts as full."""
_NEARLY_FULL = 0.9
"""Share of the budget below which the rest of the repository gets what is left."""
_LEAST_LEFT = 60
"""Tokens that the rest needs to tell anything: the line that counts what is left out takes some of them."""
_LEAST_COPIED = 4
"""Lines from which on a part can be told to be a copy,"""
_NEARLY_COPIED = 0.85
"""and the share of them that stand in the other."""
_ROUNDS = 6
_MOST_WISHED = 0.85
"""Share of the budget that files which the plan wants may take whole; above it,"""
_WISHED_IN_PART = 0.5
"""the share in which as much of them has to fit as can be shown."""


class Draft:
    """Chosen pieces by file; prices are estimates while choosing and exact once settled."""

    def __init__(
        self, reader: PieceReader, book: RenderCache, wishes: Base, budget: int, *, fills: bool
    ) -> None:
        self.budget = budget
        self._fills = fills
        self._reader = reader
        self._book = book
        self._wishes = wishes
        self._spent = 0
        self._pieces: dict[str, list[Piece]] = {}
        self._taken: list[Piece] = []
        self._texts: set[str] = set()
        self._exact: dict[str, int] = {}
        self._legends: dict[str, str] = {}
        self._by_name: dict[str, list[tuple[str, frozenset[str]]]] = {}
        self._listed: set[str] = set()
        """The files that are told by their paths, be anything of them shown or not."""

    @property
    def paths(self) -> list[str]:
        """The files of the packing."""
        return list(self._pieces)

    @property
    def others(self) -> int:
        """The level of the files that the packing does not name."""
        # What is left over goes to the rest, in the order of its rank.
        left = self.budget - self._spent if self._fills else 0
        is_left = left > max((1 - _NEARLY_FULL) * self.budget, _LEAST_LEFT)
        # What a first look has not read could be drawn once the plan is replayed.
        return (1 if self._reader.is_first_look else 2) if is_left else 0

    def rule(self, path: str) -> VerbosityRule:
        """Return the rule that shows what was chosen of a file."""
        rule = file_rule(self._reader.file(path), self._pieces[path])
        return self._wishes.merged(path, rule)

    def list_paths(self, paths: Sequence[str]) -> None:
        """Take files by path alone for now."""
        self._listed.update(paths)
        for path in paths:
            self._open(path)

    def fill(self, pieces: Sequence[Piece], limit: int) -> list[Piece]:
        """Take pieces in order while they fit into ``limit`` tokens; return those left out."""
        left_out: list[Piece] = []
        for piece in pieces:
            if piece.is_beside and not self._shows(piece.unit):
                left_out.append(piece)
                continue
            file = self._reader.file(piece.path)
            room = limit - self._spent - self._opening(piece.path) - _ELISION_TOKENS
            if len(file.cut(piece.first, piece.last)) > room * _LEAST_CHARACTERS_PER_TOKEN:
                left_out.append(piece)
                continue
            parts = self._reader.parts(piece)
            text = "".join(file.cut(part.first, part.last) for part in parts)
            room -= _ELISION_TOKENS * (len(parts) - 1)
            dense = "".join(text.split())
            lines = (
                frozenset(filter(None, map(str.strip, text.split("\n")))) if piece.unit.name else frozenset()
            )
            if dense in self._texts:
                # The same lines again, in a copy of the file: to read them once is enough.
                self.list_paths([piece.path])
            elif not dense or self._is_copy(piece, lines):
                continue
            elif (price := tokens.count(text)) > room:
                left_out.append(piece)
            else:
                self._open(piece.path)
                self._texts.add(dense)
                self._by_name.setdefault(piece.unit.name, []).append((piece.path, lines))
                for part in parts:
                    self._take(part, price // len(parts) + _ELISION_TOKENS)
        return left_out

    def fill_exactly(self, pieces: Sequence[Piece], usual: int) -> None:
        """Take pieces in order, each that fits as it is drawn: of little room none is to be lost.

        All have ``usual`` tokens, one alone the whole budget.
        """
        for piece in pieces:
            self._take_exactly(piece, usual if self._taken else self.budget)

    def _take_exactly(self, piece: Piece, room: int) -> None:
        before = len(self._taken)
        self.fill([piece], room)
        while len(self._taken) > before and self.measure() > room:
            self._give_back()
        # What was given back leaves its room to the pieces behind it.
        self.measure()

    @property
    def taken(self) -> Sequence[Piece]:
        """What is chosen, in the order in which it was."""
        return self._taken

    @property
    def spent(self) -> int:
        """Tokens of what is chosen, estimated since it was measured last."""
        return self._spent

    def take_first(self, pieces: Sequence[Piece], room: int) -> None:
        """Take what fits into ``room`` tokens, and give it back last."""
        for piece in pieces:
            file = self._reader.file(piece.path)
            if any(each.first <= piece.last and piece.first <= each.last for each in self._shown(piece.path)):
                continue
            price = tokens.count(file.cut(piece.first, piece.last)) + _ELISION_TOKENS
            if price + self._opening(piece.path) <= room:
                room -= price + self._opening(piece.path)
                self._open(piece.path)
                self._take(piece, price)
                self._taken.insert(0, self._taken.pop())

    def _shown(self, path: str) -> Sequence[Piece]:
        return self._pieces.get(path, ())

    def settle(self, rest: Sequence[Piece]) -> None:
        """Replace estimates by exact prices, and give back or use up with ``rest`` the difference."""
        for _ in range(_ROUNDS):
            self.measure()
            if self._spent > self.budget:
                self._shrink()
                continue
            before = self._spent
            if before < _FULL * self.budget:
                rest = self.fill(rest, self.budget)
            if self._spent == before:
                return
        self._shrink()

    def measure(self) -> int:
        """Return the exact tokens of what is chosen, and go on from them."""
        for path in self._pieces:
            if path not in self._exact:
                shape = shape_of(self.rule(path))
                self._exact[path] = (
                    self._wished(path, shape) if self._wishes.settles(path) else self._price(path, shape)
                )
        legend = joint_legend(self._legends.get(path, "") for path in self._pieces)
        self._spent = sum(self._exact.values()) + tokens.count(legend)
        return self._spent

    def _wished(self, path: str, shape: Shape) -> int:
        """Return what a file that the plan wants will take; one that leaves no room is drawn in part."""
        others = sum(price for other, price in self._exact.items() if self._wishes.settles(other))
        price = self._price(path, shape)
        most = _MOST_WISHED * self.budget - others
        while price > most and shape.level > 1:
            shape = Shape(shape.level - 1)
            price, most = self._price(path, shape), _WISHED_IN_PART * self.budget - others
        return price

    def _price(self, path: str, shape: Shape) -> int:
        drawn = self._book.draw(self._reader.file(path).id, shape)
        self._legends[path] = drawn.legend
        return max(drawn.counts)

    def _shrink(self) -> None:
        """Give back what was taken last until the rest fits: a part costs its imports and headers as well."""
        while self._taken and self.measure() > self.budget:
            self._give_back()

    def _give_back(self) -> None:
        piece = self._taken.pop()
        self._pieces[piece.path].remove(piece)
        self._exact.pop(piece.path, None)
        if not self._pieces[piece.path] and piece.path not in self._listed:
            del self._pieces[piece.path]

    def _shows(self, unit: ScoredUnit) -> bool:
        return any(piece.unit is unit for piece in self._pieces.get(unit.path, ()))

    def _is_copy(self, piece: Piece, lines: frozenset[str]) -> bool:
        """Say whether nearly all lines stand in a part of the same name of another file that is shown."""
        return len(lines) >= _LEAST_COPIED and any(
            path != piece.path and len(lines & other) >= _NEARLY_COPIED * len(lines)
            for path, other in self._by_name.get(piece.unit.name, ())
        )

    def _opening(self, path: str) -> int:
        return 0 if path in self._pieces else tokens.count(f"{path}\n")

    def _open(self, path: str) -> None:
        self._spent += self._opening(path)
        self._pieces.setdefault(path, [])

    def _take(self, piece: Piece, price: int) -> None:
        self._pieces[piece.path].append(piece)
        self._taken.append(piece)
        self._exact.pop(piece.path, None)
        self._spent += price
