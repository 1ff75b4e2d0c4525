"""Every language, and the lookup by path, content and spoken name."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from typing import Final

import repo_map.languages
from repo_map.languages.language import Language, LanguageRole

_SHARED: Final = frozenset(
    {
        "__init__",
        "grammars",
        "kinds",
        "language",
        "macro_words",
        "names",
        "builtin_names",
        "parser",
        "registry",
        "statements",
        "writing",
    }
)
"""The modules beside this one that are no family of languages."""
_HEAD: Final = 20_000
"""Bytes at the start of a file that tell whose a shared suffix is."""


def _records() -> list[str]:
    """Return the modules that hold languages, in the order of their or their folders' names."""
    own = repo_map.languages.__path__[0]
    # `os` is quicker than `pathlib`, in every start.
    stems = {name.removesuffix(".py") for name in os.listdir(own) if name.endswith(".py")}  # noqa: PTH208
    found = {stem: f"repo_map.languages.{stem}" for stem in stems - _SHARED}
    for name in os.listdir(own):  # noqa: PTH208
        if os.path.exists(f"{own}/{name}/__init__.py"):  # noqa: PTH110
            found[name] = f"repo_map.languages.{name}"
    return [found[name] for name in sorted(found)]


def _collected() -> dict[str, Language]:
    languages: dict[str, Language] = {}
    for record in _records():
        module = import_module(record)
        languages.update((language.name, language) for language in module.LANGUAGES)
    return languages


LANGUAGES: Final = _collected()
"""Every language, by its name; in the order of the families' names, and within one as it lists them."""
TEXT: Final = Language(name="", role=LanguageRole.PROSE)
"""What is known of text in no language."""

_BY_SUFFIX: Final = {suffix: each.name for each in LANGUAGES.values() for suffix in each.suffixes}
_BY_FILENAME: Final = {name: each.name for each in LANGUAGES.values() for name in each.filenames}
_BY_INTERPRETER: Final = {name: each.name for each in LANGUAGES.values() for name in each.interpreters}
_BY_SPOKEN: Final = {name: each.name for each in LANGUAGES.values() for name in (each.name, *each.spoken)}


def language_named(name: str) -> Language:
    """Return a language by its name in an index; ``TEXT`` for one that is none."""
    return LANGUAGES.get(name, TEXT)


def kin_of(language: str) -> str:
    """Return what languages have in common whose files may use each other's names."""
    return language_named(language).family or language if language else ""


def language_called(words: str) -> str:
    """Return the name of the language that users call so, ``""`` where none is."""
    return _BY_SPOKEN.get(words.lower(), "")


def language_of(path: str) -> str:
    """Return the language that a path's name says, ``""`` where there is none."""
    name = path.rpartition("/")[2].lower()
    if found := _BY_FILENAME.get(name):
        return found
    return _BY_SUFFIX.get(name[name.rfind(".") :], "") if "." in name else ""


def language_in(source: bytes, path: str) -> str:
    """Return the language of a file's contents: its path's, but for shared suffixes and scripts."""
    language = language_of(path)
    if not language and source.startswith(b"#!"):
        interpreter = _shebang().match(source)
        return _BY_INTERPRETER[interpreter[1].decode()] if interpreter else ""
    for owner, suffix, pattern, name in _claims():
        if language == owner and path.lower().endswith(suffix) and pattern.search(source, 0, _HEAD):
            return name
    return language


@cache
def _shebang() -> re.Pattern[bytes]:
    named = b"|".join(re.escape(name.encode()) for name in sorted(_BY_INTERPRETER))
    return re.compile(rb"#![^\n]{0,60}?\b(" + named + rb")[\d.]*\b")


@cache
def _claims() -> list[tuple[str, str, re.Pattern[bytes], str]]:
    """Return (owner, suffix, pattern, language where the pattern is found) of each shared suffix."""
    return [
        (_BY_SUFFIX[shared.suffix], shared.suffix, re.compile(shared.pattern, re.MULTILINE), each.name)
        for each in LANGUAGES.values()
        for shared in each.shared_suffixes
    ]
