"""Every language, and the lookup by path, content and spoken name."""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import repo_map.languages
from repo_map.languages import syntax
from repo_map.languages.language import Language, LanguageRole, SharedSuffix, Structure, words

_HEAD: Final = 20_000
"""Bytes at the start of a file that tell whose a shared suffix is."""

_FOLDER: Final = repo_map.languages.__path__[0]
_FUNCTIONS: Final = frozenset({"namer", "imports", "docs", "refusal", "readable", "scripts"})


def _read_tables() -> dict[str, dict[str, Any]]:
    """Return what the ``languages.toml`` of each folder says, by the folder's name."""
    tables = {}
    # `os` is quicker than `pathlib`, in every start.
    for name in sorted(os.listdir(_FOLDER)):  # noqa: PTH208
        if os.path.exists(path := f"{_FOLDER}/{name}/languages.toml"):  # noqa: PTH110
            with open(path, "rb") as file:  # noqa: PTH123
                tables[name] = tomllib.load(file)
    return tables


_TABLES: Final = _read_tables()


def vocabulary(folder: str, *names: str) -> frozenset[str]:
    """Return the words that the ``languages.toml`` of a folder lists under some names."""
    return words(*(_TABLES[folder]["words"][name] for name in names))


def container_methods(folder: str) -> dict[str, str]:
    """Return what methods of containers that are not ours give, by their names."""
    listed = _TABLES[folder].get("container_methods", {})
    return {name: given for given, names in listed.items() for name in names.split()}


def _languages() -> dict[str, Language]:
    languages: dict[str, Language] = {}
    for folder, table in _TABLES.items():
        package = import_module(f"repo_map.languages.{folder}")
        for row in table["language"]:
            if row["name"] in languages:
                raise ValueError(f"two records of languages are called {row['name']}")
            fields = {field: _value(folder, package, field, value) for field, value in row.items()}
            languages[row["name"]] = Language(folder=folder, **fields)
    return languages


def _value(folder: str, package: ModuleType, field: str, value: Any) -> Any:
    """Return the value of a field of a record, as it is written in a folder's table."""
    if field in _FUNCTIONS:
        return getattr(package, value, None) or getattr(syntax, value)
    match field:
        case "keywords":
            return vocabulary(folder, *value) if isinstance(value, list) else words(value)
        case "writing":
            return syntax.writing(**{key: _frozen(each) for key, each in value.items()})
        case "literals":
            return syntax.LITERALS[value]
        case "doc_comments":
            return tuple(each.encode() for each in value)
        case "shared_suffixes":
            return tuple(SharedSuffix(suffix, pattern.encode()) for suffix, pattern in value.items())
        case "role":
            return LanguageRole(value)
        case "structure":
            return Structure(value)
    return _frozen(value)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


LANGUAGES: Final = _languages()
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
