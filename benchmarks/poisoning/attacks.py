"""The kinds of stuffing: each puts files or commits into a tree whose goal it knows."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.git import run_git
from benchmarks.poisoning.stuffing import comments, function, snake, whole
from repo_map.index import RepoIndex
from repo_map.relevance.goal import GoalPart, ParsedGoal
from repo_map.text.terms import terms_of, words

_MOST_WORDS: Final = 60
_MANY: Final = 40
_IDENTITY: Final = ("-c", "user.name=someone", "-c", "user.email=someone@localhost")


class Victim(NamedTuple):
    """A tree, a goal, and what stands first for it."""

    tree: Path
    goal: ParsedGoal
    before: RepoIndex
    """As it was before it was stuffed."""
    first: tuple[str, ...]
    """The first three files, best first."""
    decoy: str
    """A file of code that has little to do with the goal."""

    @property
    def said(self) -> list[str]:
        """The goal's telling words, those of the title first, each once."""
        parts = (GoalPart.TITLE, GoalPart.INLINE, GoalPart.PROSE, GoalPart.ERROR, GoalPart.CODE)
        found = [
            self.goal.surface.get(term, term).split()[0]
            for part in parts
            for term in self.goal.terms.get(part, ())
        ]
        return list(dict.fromkeys(found))[:_MOST_WORDS]

    @property
    def title(self) -> list[str]:
        """The telling words of the title, in their order."""
        return list(dict.fromkeys(word for word in words(self.goal.title) if terms_of(word)))[:8]

    @property
    def suffix(self) -> str:
        """The best file's suffix."""
        return Path(self.first[0]).suffix

    @property
    def folder(self) -> str:
        """The best file's folder, with a slash behind it where there is one."""
        folder = self.first[0].rpartition("/")[0]
        return f"{folder}/" if folder else ""

    def source(self, path: str) -> str:
        """Return the text of a file."""
        return (self.tree / path).read_text("utf-8", "replace")

    def put(self, path: str, text: str, *, tracked: bool = True) -> str:
        """Write a file, commit it unless told not to, and return its path."""
        file = self.tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if tracked:
            run_git(self.tree, "add", "-f", "--", path)
            self.commit("Add what was missing")
        return path

    def commit(self, message: str) -> None:
        """Commit what was added."""
        run_git(self.tree, *_IDENTITY, "commit", "-q", "--no-verify", "--allow-empty", "-m", message)

    def beside(self, name: str, text: str, *, tracked: bool = True) -> str:
        """Write a file in the folder of the best one."""
        return self.put(f"{self.folder}{name}{self.suffix}", text, tracked=tracked)

    def names_in(self, paths: Sequence[str], most: int = _MANY) -> list[str]:
        """Return the names of the functions and classes of files, each once."""
        found: list[str] = []
        for path in paths:
            file = self.before.file_id(path)
            found += [each.name for each in self.before.definitions(file)] if file is not None else []
        return [name for name in dict.fromkeys(found) if name.isidentifier()][:most]


def _shuffled(victim: Victim, turn: int) -> list[str]:
    said = victim.said
    random.Random(turn).shuffle(said)
    return said


def _many(victim: Victim, count: int = _MANY) -> str:
    said = victim.said
    parts = []
    for turn in range(count):
        pair = [said[turn % len(said)], said[(turn * 7 + 1) % len(said)]]
        parts.append(function(victim.suffix, snake([*pair, f"part{turn}"]), _shuffled(victim, turn)))
    return whole(victim.suffix, parts)


def _harmless(victim: Victim) -> str:
    return victim.beside("extra", whole(victim.suffix, [function(victim.suffix, "run", ["value"])]))


def _comment(victim: Victim) -> str:
    plain = function(victim.suffix, "run", ["value"])
    return victim.beside(
        "extra", comments(victim.suffix, [" ".join(victim.said)] * _MANY) + whole(victim.suffix, [plain])
    )


def _docstring(victim: Victim) -> str:
    return victim.beside(
        "extra",
        whole(victim.suffix, [function(victim.suffix, "run", ["value"], doc=" ".join(victim.said * _MANY))]),
    )


def _strings(victim: Victim) -> str:
    lines = [f'    "{word} {other}",' for word in victim.said for other in victim.said[:9]]
    if victim.suffix == ".py":
        return victim.beside("extra", "TABLE = [\n" + "\n".join(lines) + "\n]\n")
    body = "\n".join(lines)
    return victim.beside("extra", whole(victim.suffix, [f"const TABLE = [\n{body}\n];\n"]))


def _identifiers(victim: Victim) -> str:
    said = victim.said
    lines = [f"    {snake([a, b])} = {snake([b, a])}" for a in said for b in said[:4]]
    first, _, rest = function(victim.suffix, "run", said).partition("message")
    return victim.beside("extra", whole(victim.suffix, [first + "message" + rest, "\n".join(lines)]))


def _file_name(victim: Victim) -> str:
    return victim.beside(
        snake(victim.title), whole(victim.suffix, [function(victim.suffix, "run", ["value"])])
    )


def _folder_name(victim: Victim) -> str:
    folders = "/".join(word for word in victim.title if word.isascii() and word.isidentifier())
    return victim.put(
        f"{folders or 'extra'}/extra{victim.suffix}",
        whole(victim.suffix, [function(victim.suffix, "run", ["value"])]),
    )


def _spelled(victim: Victim) -> str:
    return victim.beside(
        "extra", whole(victim.suffix, [function(victim.suffix, snake(victim.title), victim.title)])
    )


def _many_functions(victim: Victim) -> str:
    return victim.beside("extra", _many(victim))


def _title_functions(victim: Victim) -> str:
    title = victim.title
    parts = [
        function(
            victim.suffix, snake([*title[turn % len(title) :], *title[: turn % len(title)]]), victim.said
        )
        for turn in range(_MANY)
    ]
    return victim.beside("extra", whole(victim.suffix, parts))


def _test_file(victim: Victim) -> str:
    return victim.put(f"tests/test_extra{victim.suffix}", _many(victim))


def _markdown(victim: Victim) -> str:
    said = " ".join(victim.said)
    return victim.put(
        "docs/EXTRA.md", "".join(f"# {' '.join(victim.title)}\n\n{said}\n\n" for _ in range(_MANY))
    )


def _with_words(victim: Victim) -> str:
    return victim.source(victim.first[0]) + "\n" + comments(victim.suffix, [" ".join(victim.said)] * 5)


def _vendored(victim: Victim) -> str:
    return victim.put(f"vendor/{victim.first[0]}", _with_words(victim) + _many(victim))


def _copy(victim: Victim) -> str:
    return victim.put(f"extra/{victim.first[0]}", _with_words(victim))


def _untracked(victim: Victim) -> str:
    return victim.beside("extra", _many(victim), tracked=False)


def _untracked_copy(victim: Victim) -> str:
    return victim.put(f"extra/{victim.first[0]}", _with_words(victim), tracked=False)


def _generated(victim: Victim) -> str:
    return victim.beside(
        "extra", comments(victim.suffix, ["Code generated by extra; DO NOT EDIT."]) + _many(victim)
    )


def _commit_messages(victim: Victim) -> str:
    said = " ".join(victim.said)
    for turn in range(_MANY):
        victim.put(victim.decoy, victim.source(victim.decoy) + "\n", tracked=False)
        run_git(victim.tree, "add", "--", victim.decoy)
        victim.commit(f"{victim.goal.title} ({turn})\n\n{said}")
    return victim.decoy


def _co_change(victim: Victim) -> str:
    for _ in range(_MANY):
        for path in (victim.decoy, victim.first[0]):
            victim.put(path, victim.source(path) + "\n", tracked=False)
            run_git(victim.tree, "add", "--", path)
        victim.commit("Tidy")
    return victim.decoy


def _named_numbers(victim: Victim) -> str:
    """Commit messages that name every number and issue of the goal."""
    numbers = list(dict.fromkeys(re.findall(r"#(\d{1,7})\b", victim.goal.text)))
    if not numbers:
        return ""
    victim.put(victim.decoy, victim.source(victim.decoy) + "\n", tracked=False)
    run_git(victim.tree, "add", "--", victim.decoy)
    victim.commit("Tidy\n\n" + "\n".join(f"Fixes #{number}" for number in numbers))
    return victim.decoy


def _traceback(victim: Victim) -> str:
    names = victim.names_in(victim.first) or ["run"]
    frames = [
        f'File "{path}", line {turn}, in {name}'
        for turn, name in enumerate(names, 1)
        for path in victim.first
    ]
    plain = function(victim.suffix, "run", ["value"])
    return victim.beside(
        "extra",
        comments(victim.suffix, ["Traceback (most recent call last):", *frames, " ".join(victim.said)])
        + whole(victim.suffix, [plain]),
    )


def _quotation(victim: Victim) -> str:
    text = re.sub(r"[\"\\*{}]", "", victim.goal.title)
    return victim.beside("extra", whole(victim.suffix, [function(victim.suffix, "run", ["value"], doc=text)]))


def _quoted_sentences(victim: Victim) -> str:
    said = [re.sub(r"[\"\\*{}\n]", " ", each.text) for each in victim.goal.passages[:30]]
    return victim.beside(
        "extra",
        comments(victim.suffix, said) + whole(victim.suffix, [function(victim.suffix, "run", ["value"])]),
    )


def _namesake(victim: Victim) -> str:
    named = [*victim.goal.paths, *(frame.path for frame in victim.goal.frames), victim.first[0]]
    name = re.sub(r"[^\w.-]", "", Path(named[0].replace("\\", "/")).name) or "extra.py"
    return victim.put(f"extra/{name}", _many(victim))


def _definitions(victim: Victim) -> str:
    names = [name for name in victim.goal.identifiers if name.isascii() and name.isidentifier()]
    names += [part for name in victim.goal.dotted for part in name.split(".") if part.isidentifier()]
    parts = [function(victim.suffix, name, [name]) for name in list(dict.fromkeys(names))[:_MANY]]
    return victim.beside("extra", whole(victim.suffix, parts)) if parts else ""


def _imports(victim: Victim) -> str:
    paths = [path for path in victim.before.paths if path.endswith(victim.suffix)][:200]
    if victim.suffix == ".py":
        lines = [f"import {path[:-3].replace('/', '.')}" for path in paths]
    elif victim.suffix in (".js", ".ts"):
        lines = [f"import * as n{turn} from './{path}'" for turn, path in enumerate(paths)]
    elif victim.suffix in (".c", ".h", ".cpp", ".hpp"):
        lines = [f'#include "{path}"' for path in paths]
    else:
        lines = [f"use {path.rpartition('.')[0].replace('/', '::')};" for path in paths]
    return victim.beside(
        "extra", "\n".join(lines) + "\n" + whole(victim.suffix, [function(victim.suffix, "run", victim.said)])
    )


def _hub(victim: Victim) -> str:
    names = victim.names_in(victim.first)
    parts = [function(victim.suffix, f"run{turn}", victim.title, calls=names) for turn in range(_MANY)]
    return victim.beside("extra", whole(victim.suffix, parts))


def _shadow(victim: Victim) -> str:
    names = victim.names_in(victim.first)
    parts = [function(victim.suffix, name, victim.said, calls=names) for name in names]
    return victim.beside("extra", whole(victim.suffix, parts)) if parts else ""


def _huge(victim: Victim) -> str:
    return victim.beside("extra", _many(victim, 600))


def _minified(victim: Victim) -> str:
    said = victim.said
    line = ";".join(
        f"function {snake([word, other])}({snake([other])}){{return {snake([word])}}}"
        for word in said
        for other in said
    )
    return victim.put(f"{victim.folder}extra.js", line * 8)


def _data(victim: Victim) -> str:
    said = victim.said
    return victim.put("extra/extra.json", json.dumps([dict.fromkeys(said, said)] * 3, indent=1))


def _translations(victim: Victim) -> str:
    said = victim.said
    lines = [f'msgid "{word} {other}"\nmsgstr "{other} {word}"\n' for word in said for other in said[:20]]
    return victim.put("locale/xx/extra.po", "\n".join(lines))


def _appended(victim: Victim) -> str:
    text = (
        victim.source(victim.decoy)
        + "\n"
        + comments(Path(victim.decoy).suffix, [" ".join(victim.said)] * _MANY)
    )
    return victim.put(victim.decoy, text)


def _appended_functions(victim: Victim) -> str:
    return victim.put(victim.decoy, victim.source(victim.decoy) + "\n" + _many(victim))


def _everything(victim: Victim) -> str:
    names = victim.names_in(victim.first)
    title = re.sub(r"[\"\\*{}]", "", victim.goal.title)
    parts = [
        function(victim.suffix, name, _shuffled(victim, turn), doc=title, calls=names)
        for turn, name in enumerate(dict.fromkeys([snake(victim.title), *names, *victim.goal.identifiers]))
        if name.isascii() and name.isidentifier()
    ]
    path = victim.beside(snake(victim.title), whole(victim.suffix, parts[:_MANY]) + _many(victim))
    for turn in range(_MANY):
        victim.put(path, victim.source(path) + "\n", tracked=False)
        run_git(victim.tree, "add", "--", path)
        victim.commit(f"{victim.goal.title} ({turn})")
    return path


ATTACKS: Final = {
    "no stuffing": _harmless,
    "comment": _comment,
    "docstring": _docstring,
    "string table": _strings,
    "identifiers": _identifiers,
    "file name": _file_name,
    "folder name": _folder_name,
    "function that spells the title": _spelled,
    "functions that hold every word": _many_functions,
    "functions that spell the title": _title_functions,
    "test file": _test_file,
    "Markdown": _markdown,
    "vendored copy": _vendored,
    "copy": _copy,
    "untracked functions": _untracked,
    "untracked copy": _untracked_copy,
    "generated file": _generated,
    "commit messages": _commit_messages,
    "changes forged together": _co_change,
    "issue numbers": _named_numbers,
    "traceback": _traceback,
    "title quoted": _quotation,
    "sentences quoted": _quoted_sentences,
    "namesake": _namesake,
    "definitions of what is named": _definitions,
    "imports of everything": _imports,
    "hub": _hub,
    "names of the best": _shadow,
    "huge file": _huge,
    "minified line": _minified,
    "data": _data,
    "translations": _translations,
    "comments appended": _appended,
    "functions appended": _appended_functions,
    "everything": _everything,
}
"""Each returns the path of the file that it wants first, ``""`` where the goal offers it nothing."""
