"""What a goal spells out of a repository: definitions, files and places that it names, quotes or traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from repo_map.ranking.entities import is_everyday
from repo_map.ranking.goal import GoalPart
from repo_map.text.terms import tokenize

if TYPE_CHECKING:
    from repo_map.ranking.features import Signals

MOST_SPELT: Final = 16
_ONE_OF_THREE: Final = 0.57
"""Strength of a name that three places bear, each by the root of their number."""
_NAMESAKES: Final = 3
_OWN_WORDS: Final = (GoalPart.TITLE, GoalPart.INLINE, GoalPart.PROSE)
_FRAMES: Final = 0.3
_SHORTEST_STEM: Final = 4


def spelt_places(signals: Signals) -> Iterator[tuple[int, int]]:
    """Yield the file and the unit of each place that the goal spells out, -1 for a whole file; surest first.

    Tests, copies and what no past vouches for are no such places, unless the goal asks for them.
    """
    candidates, named = signals.candidates, signals.named
    corpus = candidates.corpus
    main = set(candidates.files[candidates.main].tolist())
    seen: set[tuple[int, int]] = set()
    for file, unit in (*_units(signals), *_files(signals)):
        if file in main and (file, unit) not in seen:
            seen.add((file, unit))
            yield file, unit
    # A path that is written out is meant, whatever its kind.
    for file, strength in sorted(
        named.paths.items(), key=lambda each: (-each[1], corpus.index.paths[each[0]])
    ):
        if strength >= _ONE_OF_THREE and file not in main and named.established[file]:
            yield file, -1


def _units(signals: Signals) -> Iterator[tuple[int, int]]:
    corpus, named = signals.candidates.corpus, signals.named
    identifiers = signals.goal.identifiers.items()
    own = {name for name, source in identifiers if source in _OWN_WORDS} - signals.goal.guesses
    told = [
        (named.dotted_units, _ONE_OF_THREE),
        (named.frame_units, _FRAMES),
        (named.quoted_units, _ONE_OF_THREE),
    ]
    if named.crash is not None:
        yield named.crash.file, named.crash.unit
    for strengths, least in told:
        for unit, strength in sorted(strengths.items(), key=lambda each: (-each[1], each[0])):
            if strength >= least:
                yield int(corpus.file_of_unit[unit]), unit
    bearers: dict[str, list[int]] = {}
    for unit in sorted(named.definitions, key=lambda unit: (-named.definitions[unit], unit)):
        bearers.setdefault(named.evidence["definition", unit], []).append(unit)
    main = set(signals.candidates.files[signals.candidates.main].tolist())
    for name, units in bearers.items():
        inside = [unit for unit in units if int(corpus.file_of_unit[unit]) in main]
        if name in own and len(inside) <= _NAMESAKES and not is_everyday(corpus, name):
            yield from ((int(corpus.file_of_unit[unit]), unit) for unit in inside)


def _files(signals: Signals) -> Iterator[tuple[int, int]]:
    corpus, named = signals.candidates.corpus, signals.named
    for file, strength in sorted(named.paths.items(), key=lambda each: (-each[1], each[0])):
        if strength >= _ONE_OF_THREE:
            yield file, -1
    main = set(signals.candidates.files[signals.candidates.main].tolist())
    for word in dict.fromkeys(word.lower() for word in tokenize(signals.goal.title)):
        files = corpus.files_of_stem.get(word, []) if len(word) >= _SHORTEST_STEM else []
        inside = sorted(main.intersection(files))
        if 0 < len(inside) <= _NAMESAKES and not is_everyday(corpus, word):
            yield from ((file, -1) for file in inside)
