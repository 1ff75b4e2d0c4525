"""Every language, and the lookup by path, content and spoken name."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from typing import Final

import repo_map.languages
from repo_map.languages.language import Language, LanguageRole

_HEAD: Final = 20_000
"""Bytes at the start of a file that tell whose a shared suffix is."""


def _collected() -> dict[str, Language]:
    own = repo_map.languages.__path__[0]
    # `os` is quicker than `pathlib`, in every start.
    folders = sorted(name for name in os.listdir(own) if os.path.exists(f"{own}/{name}/__init__.py"))  # noqa: PTH110, PTH208
    modules = ((folder, import_module(f"repo_map.languages.{folder}")) for folder in folders)
    records = (each._replace(folder=folder) for folder, module in modules for each in module.LANGUAGES)
    languages: dict[str, Language] = {}
    for each in records:
        if each.name in languages:
            raise ValueError(f"two records of languages are called {each.name}")
        languages[each.name] = each
    return languages


LANGUAGES: Final = _collected()
"""Every language by name, in the order of the folders and, within one, of its records."""
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
    if path.endswith(".ipynb") and (kernel := re.match(rb"(?:#|//) Notebook in (\S+)", source)):
        return language_called(kernel[1].decode("utf-8", "replace"))
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
