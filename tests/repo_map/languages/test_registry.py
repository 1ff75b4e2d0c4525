"""The records of languages hold together, and nothing else in the engine says what one of them says."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

from repo_map.graph.references import KIND_PRIORS
from repo_map.languages import kinds
from repo_map.languages.grammars import query_files, query_named
from repo_map.languages.language import Language, Structure
from repo_map.languages.registry import LANGUAGES, language_called
from repo_map.parsing.definitions import _WEIGHTS
from repo_map.parsing.queries import ROLES

ROOT = Path(__file__).parents[3]
PARSED = [each for each in LANGUAGES.values() if each.structure is Structure.GRAMMAR]


def kinds_of(language: Language) -> set[str]:
    """Return the kinds that a language's query gives its definitions."""
    query = query_named(language.name, "symbols")
    return {query.capture_name(at) for at in range(query.capture_count)} - ROLES


def test_nothing_is_two_languages() -> None:
    records = list(LANGUAGES.values())
    for named in (
        [each.name for each in records],
        [suffix for each in records for suffix in each.suffixes],
        [name for each in records for name in each.filenames],
        [name for each in records for name in each.interpreters],
        [name for each in records for name in (each.name, *each.spoken)],
    ):
        assert [name for name, count in Counter(named).items() if count > 1] == []


def test_the_queries_find_the_kinds_that_are_known_and_no_others() -> None:
    assert all(map(kinds_of, PARSED))
    produced = {kind for language in PARSED for kind in kinds_of(language)}
    assert produced == kinds.KINDS
    assert set(KIND_PRIORS) | set(_WEIGHTS) <= kinds.KINDS


def test_every_query_is_read_for_some_language() -> None:
    written = set((ROOT / "repo_map" / "languages").rglob("symbols*.scm"))
    assert written == {Path(str(file)) for each in PARSED for file in query_files(each.name, "symbols")}


def test_the_wheels_that_are_required_are_those_of_the_grammars() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    base, extra = (
        {re.split(r"[<>=]", each)[0] for each in requirements}
        for requirements in (project["dependencies"], project["optional-dependencies"]["languages"])
    )
    shipped = {(each.is_extra, each.grammar_module.replace("_", "-")) for each in PARSED}
    assert {name for is_extra, name in shipped if is_extra} == extra
    assert {name for _, name in shipped} - extra == {each for each in base if each.startswith("tree-sitter-")}


def test_the_docs_list_every_language() -> None:
    section = (
        (ROOT / "docs/flight-plan.md").read_text("utf-8").partition("## Languages")[2].partition("##")[0]
    )
    listed = re.search(r"read in (\d+) languages: ([^.]+)\. (\d+) of them", section)
    assert listed is not None
    names = re.split(r"[,;] | and ", listed[2].replace("\n", " "))
    with_grammar = sum(each.has_grammar for each in LANGUAGES.values())
    assert (int(listed[1]), len(names), int(listed[3])) == (len(LANGUAGES), len(LANGUAGES), with_grammar)
    assert f"[{len(LANGUAGES)} languages]" in (ROOT / "README.md").read_text("utf-8")


def test_a_language_is_called_by_its_name_and_as_users_say_it() -> None:
    called = {words: language_called(words) for words in ("C++", "c#", "JS", "ts", "rust", "fortran", "")}
    assert called == {
        "C++": "cpp",
        "c#": "csharp",
        "JS": "javascript",
        "ts": "typescript",
        "rust": "rust",
        "fortran": "",
        "": "",
    }
