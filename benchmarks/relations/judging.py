"""What a judge says of the sampled definitions, beside what the index says."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.relations.client import LanguageServer, ServerError, Spot
from benchmarks.relations.sampling import Sample, enclosing, lines_of
from benchmarks.relations.servers import Judge, language_id
from benchmarks.relations.sites import SiteKind, SourceSites
from repo_map.graph.references import SymbolRef
from repo_map.index.index import Index
from repo_map.languages.grammars import ParseError
from repo_map.languages.kinds import FUNCTIONS
from repo_map.relations.model import Confidence
from repo_map.relations.resolve import relations_of


class Site(NamedTuple):
    """A place where a definition is used."""

    file: int
    line: int
    """From 1."""


def sites_stated(index: Index, place: SymbolRef, least: Confidence = Confidence.RESOLVED) -> Iterator[Site]:
    """Yield each place where a definition is used: as facts, or what is at least so sure."""
    for use in relations_of(index).uses_of(place, least):
        yield Site(use.source[0], use.line)


class Verdict(NamedTuple):
    """One definition: what the judge found, and what was stated of it.

    An edge is the place of a definition that uses this one, row -1 for what lies outside all definitions; a
    definition that uses itself is left out everywhere, and so are imports.
    """

    sample: Sample
    used: frozenset[Site]
    """By the judge."""
    called: frozenset[Site]
    """Those of them that are calls."""
    stated: frozenset[Site]
    """Sites that are stated as facts."""
    likely: frozenset[Site]
    """Sites that are stated as facts or as likely."""
    unseen: frozenset[Site]
    """Stated and likely sites of which the judge knows nothing at all, such as code for another system."""


_FAILED = "failed"


class Answers:
    """What a judge said of one tree, kept in a file between runs; the server is started when it is needed."""

    def __init__(self, file: Path | None, start: Callable[[], LanguageServer]) -> None:
        """Read ``file`` if there is one; ``start`` gives the server when an answer is missing."""
        self._file = file
        self._start = start
        self._server: LanguageServer | None = None
        self._known: dict[str, Any] = {}
        self.seconds = 0.0
        """All that the server took, this time or when it was asked."""
        if file is not None and file.is_file():
            message = json.loads(file.read_text())
            self._known, self.seconds = message["answers"], message["seconds"]

    def get(self, key: str, ask: Callable[[LanguageServer], Any]) -> Any:
        """Return a JSON value: the one that is kept, or what ``ask`` gets from the server.

        Raises ServerError where the server failed on it; one that ended is started anew for the next.
        """
        if key not in self._known:
            started = time.perf_counter()
            if self._server is None:
                self._server = self._start()
            try:
                self._known[key] = ask(self._server)
            except ServerError as error:
                self._known[key] = {_FAILED: str(error)}
                if self._server.has_ended:
                    self._server = None
            self.seconds += time.perf_counter() - started
        answer = self._known[key]
        if isinstance(answer, dict) and _FAILED in answer:
            raise ServerError(answer[_FAILED])
        return answer

    def save(self) -> None:
        """Write what is known."""
        if self._file is not None:
            message = {"seconds": self.seconds, "answers": self._known}
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(json.dumps(message))


Lines = set[tuple[str, int]]
"""Path, and row from 0."""


class Jury:
    """Asks one server about definitions of one index."""

    def __init__(self, index: Index, judge: Judge, answers: Answers) -> None:
        self._index = index
        self._judge = judge
        self._answers = answers
        self._sites: dict[int, SourceSites | None] = {}

    def judge(self, sample: Sample) -> Verdict:
        """Ask who uses a definition; raises ServerError where the server does not answer."""
        spot = Spot(self._index.paths[sample.place[0]], sample.row, sample.column)
        key = f"{spot.path}:{spot.row}:{spot.column}"
        answer = self._answers.get(key, lambda server: self._ask(server, spot, sample))
        own = {(path, row) for path, row in answer["own"]}
        used, called = (self._read(answer[key], sample) for key in ("used", "called"))
        index, place = self._index, sample.place
        stated = {site for site in sites_stated(index, place) if self._edge(site) != place}
        likely = {
            site
            for site in sites_stated(index, place, Confidence.LIKELY)
            if self._edge(site) != place and self._judges(site.file)
        } | stated
        said = {
            site: self._answers.get(
                f"{key}<-{index.paths[site.file]}:{site.line}",
                partial(self._meant_at, site=site, name=sample.name, own=own),
            )
            for site in sorted(likely - used)
            if self._judges(site.file)
        }
        confirmed = {site for site, answer in said.items() if answer}
        return Verdict(
            sample,
            frozenset(site for site in used | confirmed if self._counts(site, place)),
            frozenset(site for site in called if self._counts(site, place)),
            frozenset(stated),
            frozenset(likely),
            frozenset(site for site in likely if not self._judges(site.file))
            | {site for site, answer in said.items() if answer is None},
        )

    def edges(self, sites: Iterable[Site]) -> set[SymbolRef]:
        """Return the definitions that hold the sites."""
        return {self._edge(site) for site in sites}

    def _ask(self, server: LanguageServer, spot: Spot, sample: Sample) -> dict[str, Any]:
        own = self._own_lines(server, spot, sample)
        found: dict[str, list[tuple[str, int]]] = {"own": sorted(own), "used": [], "called": []}
        for each in server.references(spot):
            file = self._index.file_id(each.path)
            kind = self._kind_of(file, each)
            if file is None or kind in (SiteKind.IMPORT, SiteKind.TEXT) or (each.path, each.row) in own:
                continue
            if self._judge.widens and sample.kind == "method" and not _means(server, each, own):
                continue
            found["used"].append((each.path, each.row + 1))
            if kind is SiteKind.CALL:
                found["called"].append((each.path, each.row + 1))
        return found

    def _read(self, lines: Iterable[tuple[str, int]], sample: Sample) -> set[Site]:
        files = ((self._index.file_id(path), line) for path, line in lines)
        sites = (Site(file, line) for file, line in files if file is not None)
        return {site for site in sites if not self._judge.announces or self._names(site, sample)}

    def _names(self, site: Site, sample: Sample) -> bool:
        """Tell whether a line uses a name: what C++ does without a word, no reader is told to look for.

        The head of a constructor or a destructor is no use of its class.
        """
        lines = lines_of(self._index, site.file)
        text = lines[site.line - 1] if site.line <= len(lines) else ""
        if not re.search(rf"(?<!\w){re.escape(sample.name)}(?!\w)", text):
            return False
        row = enclosing(self._index, site.file, site.line)
        around = self._index.definitions(site.file)[row] if row >= 0 else None
        return (
            around is None
            or (site.file, around.parent) != sample.place
            or around.name.lstrip("~") != sample.name
            or around.sig_start != site.line
        )

    def _edge(self, site: Site) -> SymbolRef:
        return site.file, enclosing(self._index, site.file, site.line)

    def _counts(self, site: Site, place: SymbolRef) -> bool:
        """Tell whether a use counts: from elsewhere, in a language that the judge knows whole."""
        return self._edge(site) != place and self._judges(site.file)

    def _judges(self, file: int) -> bool:
        return self._index.language(file) in self._judge.languages

    def _own_lines(self, server: LanguageServer, spot: Spot, sample: Sample) -> Lines:
        """Return the lines where a definition is written and declared: C announces what it defines.

        A constructor is written where its class is named, too: some servers lead there.
        """
        _show(server, spot.path)
        file, row = sample.place
        definitions = self._index.definitions(file)
        parent = definitions[row].parent
        is_constructor = parent >= 0 and sample.name in ("__init__", "constructor", definitions[parent].name)
        found = [spot, *(server.definition(spot) or ())]
        if self._judge.announces:
            found += server.declaration(spot)
        lines = {(each.path, each.row) for each in found}
        return lines | ({(spot.path, definitions[parent].sig_start - 1)} if is_constructor else set())

    def _meant_at(self, server: LanguageServer, site: Site, name: str, own: Lines) -> bool | None:
        """Ask what a name on a line means: whether it is the definition, None where nothing is known."""
        path, lines = self._index.paths[site.file], lines_of(self._index, site.file)
        text = lines[site.line - 1] if site.line <= len(lines) else ""
        _show(server, path)
        is_known, at = False, text.find(name)
        while at >= 0:
            spot = Spot(path, site.line - 1, len(text[:at].encode("utf-16-le")) // 2)
            found = server.definition(spot)
            if found is not None:
                if any((each.path, each.row) in own for each in found):
                    return True
                is_known = True
            at = text.find(name, at + 1)
        return False if is_known else None

    def _kind_of(self, file: int | None, spot: Spot) -> SiteKind:
        if file is None:
            return SiteKind.USE
        if file not in self._sites:
            language = self._index.language(file)
            try:
                self._sites[file] = SourceSites(self._index.sources.content(file), language)
            except ParseError:
                self._sites[file] = None
        sites = self._sites[file]
        return SiteKind.USE if sites is None else sites.kind_at(spot.row, spot.column)


def _show(server: LanguageServer, path: str) -> None:
    server.open(path, language_id(path))


def _means(server: LanguageServer, spot: Spot, own: Lines) -> bool:
    """Ask whether the name at a spot is that very definition, no relative of it."""
    _show(server, spot.path)
    return any((each.path, each.row) in own for each in server.definition(spot) or ())


class Count(NamedTuple):
    """What was stated, and how much of it holds; what there is, and how much of it was stated."""

    stated: int = 0
    true: int = 0
    known: int = 0
    found: int = 0

    def plus(self, other: Count) -> Count:
        """Return the sum of both."""
        return Count(*(one + more for one, more in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        """Share of what was stated that holds; nan where nothing was."""
        return self.true / self.stated if self.stated else float("nan")

    @property
    def recall(self) -> float:
        """Share of what there is that was stated; nan where there is nothing."""
        return self.found / self.known if self.known else float("nan")


class Counts(NamedTuple):
    """The figures of one tree."""

    definitions: int
    """Judged."""
    used: int
    """Of them, those that something uses, by the judge."""
    edges: Count
    """Callers of functions and methods, users of types, stated as facts."""
    likely: Count
    """The same, with what is told as likely."""
    unseen: int
    """Stated sites that the judge knows nothing of; in no other figure."""


def count(verdicts: Collection[Verdict], edges: Callable[[Iterable[Site]], set[SymbolRef]]) -> Counts:
    """Add up verdicts.

    What holds is any use that the judge finds; what should be found are calls where the definition is one
    that is called, and every use of a type.
    """
    by_edge = by_likely = Count()
    for verdict in verdicts:
        wanted = verdict.called if verdict.sample.kind in FUNCTIONS else verdict.used
        true, known = edges(verdict.used), edges(wanted)
        by_edge = by_edge.plus(_count(edges(verdict.stated - verdict.unseen), true, known))
        by_likely = by_likely.plus(_count(edges(verdict.likely - verdict.unseen), true, known))
    used = sum(bool(verdict.used) for verdict in verdicts)
    unseen = sum(len(verdict.unseen & verdict.stated) for verdict in verdicts)
    return Counts(len(verdicts), used, by_edge, by_likely, unseen)


def _count(stated: Collection[object], true: Collection[object], known: Collection[object]) -> Count:
    said = set(stated)
    return Count(len(said), len(said & set(true)), len(set(known)), len(said & set(known)))
