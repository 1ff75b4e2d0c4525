"""The commands of the runners that JavaScript and TypeScript have."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final

from repo_map.check.set_up import SetUp, TestRequest

_RUNNERS: Final = ("vitest", "jest", "react-scripts", "mocha", "ava", "tap", "borp", "jasmine", "uvu", "tape")
_NODE: Final = re.compile(r"\bnode\b([^&|;]*?\s--test\b[^&|;]*)")
_BUN: Final = re.compile(r"\bbun\s+test\b")
_NESTED: Final = re.compile(r"\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?([\w:.-]+)")
_FLAG: Final = re.compile(r"--?[\w-]+(?:=[\w./@:-]+)?")
_IMPORTED: Final = re.compile(r"[\w./@-]+")
_TAKES_VALUE: Final = frozenset({"--import", "--require", "-r", "--loader", "--experimental-loader", "--ui"})
_OF_MOCHA: Final = frozenset({*_TAKES_VALUE, "--exit", "--check-leaks", "--recursive"})
"""Flags without which mocha may not run the tests of a package."""
_MODULES: Final = "--experimental-vm-modules"
"""What node has to be started with where jest runs modules."""
_DEEPEST: Final = 3


def script_command(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    """Return what runs some tests of a package."""
    paths = [each.path.removeprefix(folder) for each in tests]
    named = " ".join(shlex.quote(path) for path in paths)
    for place in dict.fromkeys((folder, "")):
        package = set_up.json(f"{place}package.json")
        runner = _runner(package)
        if runner:
            # A workspace may have its runner, and its configuration, at the top.
            is_own = place == folder or _is_configured(set_up, folder, runner.partition(" ")[0])
            base = folder if is_own else place
            files = named if is_own else " ".join(shlex.quote(each.path) for each in tests)
            command = _command(runner, files, _exec(set_up, folder))
            if runner == "jest" and any(_MODULES in text for text in _texts(_scripts(package))):
                command = f"NODE_OPTIONS={_MODULES} {command}"
            return f"(cd {shlex.quote(base.rstrip('/'))} && {command})" if base else command
    if _mapping(set_up.json(f"{folder}package.json"), "scripts").get("test"):
        command = f"npm test -- {named}"
        return f"(cd {shlex.quote(folder.rstrip('/'))} && {command})" if folder else command
    return ""


def _command(runner: str, files: str, program: str) -> str:
    if runner.startswith("node "):
        return f"{runner} {files}"
    if runner == "bun":
        return f"bun test {files}"
    forms = {
        "vitest": f"vitest run {files}",
        "jest": f"jest --runTestsByPath {files}",
        "react-scripts": f"react-scripts test --watchAll=false {files}",
    }
    return f"{program} {forms.get(runner, f'{runner} {files}')}"


def _runner(package: Mapping[str, Any]) -> str:
    """Return the name of the runner that a package's scripts or its dependencies name."""
    for text in _texts(_scripts(package)):
        if found := _NODE.search(text):
            return f"node {_flags(found[1])}"
        if _BUN.search(text):
            return "bun"
        for runner in _RUNNERS:
            found = re.search(rf"(?<![\w@-])(?<!\w/){runner}(?![\w-])([^&|;]*)", text)
            if found and runner == "mocha":
                return " ".join(filter(None, (runner, _flags(found[1], _OF_MOCHA))))
            if found:
                return runner
    known = {**_mapping(package, "dependencies"), **_mapping(package, "devDependencies")}
    return next((runner for runner in _RUNNERS if runner in known), "")


def _texts(scripts: Mapping[str, str]) -> Iterator[str]:
    """Yield the scripts that test, and those that they run."""
    names = [name for name in ("test", "unit", "test:unit", "tests") if name in scripts]
    names += [name for name in scripts if name.startswith(("test:", "unit:")) and name not in names]
    seen: set[str] = set()
    for _ in range(_DEEPEST):
        further: list[str] = []
        for name in names:
            if name not in seen:
                seen.add(name)
                yield scripts[name]
                further += [each for each in _NESTED.findall(scripts[name]) if each in scripts]
        names = further


def _scripts(package: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): text for name, text in _mapping(package, "scripts").items() if isinstance(text, str)}


def _flags(text: str, wanted: Container[str] | None = None) -> str:
    """Return the flags of a script's runner, all or those that are wanted, without the files it names."""
    words = text.split()
    kept: list[str] = []
    for at, word in enumerate(words):
        is_wanted = wanted is None or word.partition("=")[0] in wanted
        if _FLAG.fullmatch(word) and is_wanted and not word.startswith("--watch"):
            kept.append(word)
            if word in _TAKES_VALUE and at + 1 < len(words) and _IMPORTED.fullmatch(words[at + 1]):
                kept.append(words[at + 1])
    return " ".join(kept)


def _exec(set_up: SetUp, folder: str) -> str:
    """Return what runs a program of the package's dependencies."""
    for lock, program in (("pnpm-lock.yaml", "pnpm exec"), ("yarn.lock", "yarn"), ("bun.lock", "bunx")):
        if set_up.has(f"{folder}{lock}") or set_up.has(lock):
            return program
    return "npx"


def _is_configured(set_up: SetUp, folder: str, runner: str) -> bool:
    return any(
        set_up.has(f"{folder}{runner}.config.{end}") for end in ("js", "ts", "mjs", "cjs", "mts", "json")
    )


def _mapping(package: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = package.get(name)
    return found if isinstance(found, dict) else {}
