"""The command that runs some test files and no others, from the repository's own configuration."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

import msgspec

from repo_map.languages.kinds import FUNCTIONS

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_CONFIG_CHARS: Final = 200_000
_MAX_FILTER_CHARS: Final = 240
"""Of test names in a Go command; with more of them whole packages are run."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_CRATE_NAME: Final = re.compile(r"(?ms)^\[package\][^\[]*?^name\s*=\s*[\"']([\w-]+)[\"']")
_PACKAGE: Final = re.compile(r"(?m)^\s*package\s+([\w.]+)")
_SOURCE_SET: Final = re.compile(r"src/(\w*[tT]est\w*)/")
_PYTHON_CONFIG: Final = re.compile(
    r"pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|\.?pytest\.ini|noxfile\.py|Makefile|Pipfile"
    r"|(?:[\w-]*requirements[\w-]*|requirements/\w+)\.txt"
)
_TABLES: Final = tomllib.loads((files(__package__) / "runners.toml").read_text("utf-8"))
_SCRIPT_RUNNERS: Final[dict[str, str]] = _TABLES["script_runners"]
_RUN_BY_SCRIPT: Final = re.compile(
    rf"\bnode\b(?P<node>[^&|;]*?\s--test\b[^&|;]*)|\b(?P<bun>bun\s+test)\b"
    rf"|(?<![\w@-])(?<!\w/)(?P<runner>{'|'.join(_SCRIPT_RUNNERS)})(?![\w-])(?P<flags>[^&|;]*)"
)
_TEST_SCRIPT: Final = re.compile(r"(?:unit|tests?)(?::|$)")
_FLAG: Final = re.compile(r"--?(?!watch)[\w-]+(?:=[\w./@:-]+)?")
_VALUE: Final = re.compile(r"[\w./@-]+")
_FLAGS_WITH_VALUE: Final = frozenset(
    {"--import", "--require", "-r", "--loader", "--experimental-loader", "--ui", "--reporter"}
)
_JEST_MODULES: Final = "--experimental-vm-modules"
"""The flag of node that jest needs for modules."""


class _Package(msgspec.Struct, rename="camel"):
    """What is read of a ``package.json``."""

    scripts: dict[str, Any] = {}
    dependencies: dict[str, Any] = {}
    dev_dependencies: dict[str, Any] = {}

    @property
    def test_scripts(self) -> list[str]:
        """The scripts that test, the main one first."""
        found = [
            name for name, each in self.scripts.items() if _TEST_SCRIPT.match(name) and type(each) is str
        ]
        return [self.scripts[name] for name in sorted(found, key=lambda name: (":" in name, name != "test"))]

    @property
    def runner(self) -> tuple[str, str]:
        """The runner that the scripts or dependencies name, and the flags that it needs."""
        for text in self.test_scripts:
            if found := _RUN_BY_SCRIPT.search(text):
                runner = "node" if found["node"] else "bun test" if found["bun"] else found["runner"]
                words = (found["node"] or (found["flags"] if runner == "mocha" else "")).split()
                flags = (
                    word
                    for before, word in pairwise(("", *words))
                    if _FLAG.fullmatch(word) or (before in _FLAGS_WITH_VALUE and _VALUE.fullmatch(word))
                )
                return runner, " ".join(flags)
        known = self.dependencies | self.dev_dependencies
        return next((runner for runner in _SCRIPT_RUNNERS if runner in known), ""), ""


class _Tests:
    """Some test files of one kind, in the folder that their command runs in."""

    def __init__(self, index: Index, folder: str, tests: Sequence[tuple[str, Sequence[str]]]) -> None:
        self.index = index
        self.folder = folder
        """``""`` or ending in a slash."""
        self.paths = [path for path, _ in tests]
        self.below = [path.removeprefix(folder) for path in self.paths]
        self.names = [names for _, names in tests]
        self.stems = list(dict.fromkeys(path.rpartition("/")[2].partition(".")[0] for path in self.paths))
        self.around = list(accumulate((f"{part}/" for part in folder.split("/")[:-1]), initial=""))
        """The folders from the top to this one."""

    def text(self, path: str) -> str:
        """Return a file's text, ``""`` without one."""
        file = self.index.file_id(path)
        return "" if file is None else self.index.sources.text(file)[:_MAX_CONFIG_CHARS]

    def first(self, folders: Iterable[str], *names: str) -> str | None:
        """Return the first folder that has one of some files."""
        has = self.index.file_id
        return next((each for each in folders if any(has(each + name) is not None for name in names)), None)

    def launcher(self, kind: str) -> str:
        """Return the launcher whose lock file is in the folder, or at the top."""
        launchers: dict[str, str] = _TABLES["launchers"][kind]
        found = (lock for lock in launchers if lock and self.first((self.folder, ""), lock) is not None)
        return launchers[next(found, "")]


def build_test_command(index: Index, tests: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return what runs some tests from the root of the tree.

    Args:
        index: The tree.
        tests: Paths of files, each with the qualified names of its tests, none for all of them.

    Returns:
        Commands for a POSIX shell, joined by ``&&``; ``""`` if the configuration doesn't tell how. Running
        them runs the repository's code.
    """
    groups: dict[tuple[int, str], list[tuple[str, Sequence[str]]]] = {}
    rows = _TABLES["ecosystem"]
    for path, names in tests:
        kind = next((at for at, row in enumerate(rows) if path.endswith(tuple(row["suffixes"]))), None)
        if kind is not None and not _CONTROL.search(path):
            one = _Tests(index, path.rpartition("/")[0] + "/", ())
            folder = one.first(reversed(one.around), *rows[kind]["roots"]) or ""
            groups.setdefault((kind, folder), []).append((path, names))
    found = (_command(rows[kind], _Tests(index, folder, group)) for (kind, folder), group in groups.items())
    return " && ".join(filter(None, dict.fromkeys(found)))


def _command(row: dict[str, Any], tests: _Tests) -> str:
    """Return the first command that fits, ``""`` without one."""
    for config, pattern, command in row["commands"]:
        if config and tests.first((tests.folder,), config) is None:
            continue
        if build := _BUILDERS.get(command):
            return build(tests)
        if re.search(pattern, tests.text(tests.folder + config)):
            stems, paths = shlex.quote("|".join(tests.stems)), _join(tests.below)
            classes = shlex.quote("|".join(f"FullyQualifiedName~{stem}" for stem in tests.stems))
            return _within(tests.folder, command.format(files=paths, stems=stems, classes=classes))
    return ""


def _python(tests: _Tests) -> str:
    run = f"{tests.launcher('python')}python "
    modules = [path.removesuffix(".py").replace("/", ".") for path in tests.below]
    paths = tests.index.paths
    configs = [path for path in paths if _PYTHON_CONFIG.fullmatch(path.removeprefix(tests.folder))]
    sources = list(map(tests.text, tests.paths))
    uses_pytest = any("pytest" in text for text in (*map(tests.text, configs), *sources))
    uses_pytest = uses_pytest or any(path.endswith("conftest.py") for path in paths)
    if not uses_pytest and tests.first((tests.folder,), "manage.py") is not None:
        return _within(tests.folder, f"{run}manage.py test {_join(modules)}")
    is_unittest = not uses_pytest and all("unittest" in each for each in sources)
    program, places, sign = ("unittest", modules, ".") if is_unittest else ("pytest", tests.below, "::")
    labels = (
        sign.join((file, *name.split("."))) if name else file
        for file, names in zip(places, tests.names, strict=True)
        for name in names or ("",)
    )
    return _within(tests.folder, f"{run}-m {program} {_join(labels)}")


def _script(tests: _Tests) -> str:
    folder, packages = tests.folder, dict[str, _Package]()
    for place in (folder, ""):
        packages[place] = _Package()
        with suppress(msgspec.DecodeError, ValueError, RecursionError):
            packages[place] = msgspec.json.decode(tests.text(f"{place}package.json"), type=_Package)
        runner, flags = packages[place].runner
        if not runner:
            continue
        # A workspace may have its runner, and its configuration, at the top.
        configs = (f"{runner}.config.{end}" for end in ("js", "ts", "mjs", "cjs", "mts", "json"))
        is_own = place == folder or tests.first((folder,), *configs) is not None
        paths = _join(tests.below if is_own else tests.paths)
        command = " ".join(filter(None, (_SCRIPT_RUNNERS.get(runner, runner), flags, paths)))
        if runner in _SCRIPT_RUNNERS:
            command = tests.launcher("script") + command
        if runner == "jest" and any(_JEST_MODULES in each for each in packages[place].test_scripts):
            command = f"NODE_OPTIONS={_JEST_MODULES} {command}"
        return _within(folder if is_own else place, command)
    has_script = isinstance(packages[folder].scripts.get("test"), str)
    return _within(folder, f"npm test -- {_join(tests.below)}") if has_script else ""


def _go(tests: _Tests) -> str:
    packages = (f"./{path.rpartition('/')[0]}".rstrip("/") for path in tests.below)
    command = f"go test {_join(packages)}"
    names: dict[str, None] = {}
    for path, given in zip(tests.paths, tests.names, strict=True):
        file = tests.index.file_id(path)
        definitions = tests.index.definitions(file) if file is not None else ()
        own = [name.partition(".")[0] for name in given]
        own = own or [each.name for each in definitions if each.kind in FUNCTIONS]
        # The methods of a suite are run by what runs the suite.
        own = [name for name in own if name.startswith(("Test", "Example", "Fuzz"))]
        if not own and not given:
            return _within(tests.folder, command)
        names |= dict.fromkeys(own)
    only = f" -run '^({'|'.join(names)})$'" if names else ""
    return _within(tests.folder, command + (only if len(only) <= _MAX_FILTER_CHARS else ""))


def _rust(tests: _Tests) -> str:
    folder = tests.folder
    name = _CRATE_NAME.search(tests.text(f"{folder}Cargo.toml"))
    run = f"cargo test -p {name[1]}" if name and folder else "cargo test"
    binaries, modules, others = list[str](), list[str](), list[str]()
    for path in tests.below:
        top, *steps = path.removesuffix(".rs").split("/")
        if top == "tests" and steps and (len(steps) == 1 or steps[-1] == "main"):
            binaries.append(f"--test {shlex.quote(steps[0])}")
        elif top in ("tests", "benches"):
            others.append(steps[-2] if steps[-1] == "mod" else steps[-1])
        else:
            steps = steps if top == "src" else [top, *steps]
            inner = [step for step in steps if step not in ("mod", "lib", "main")]
            modules.append(f"{'::'.join(inner)}::" if inner else "")
    target = "--bins" if tests.first((folder,), "src/lib.rs", "lib.rs") is None else "--lib"
    commands = [
        f"{run} {' '.join(binaries)}" if binaries else "",
        # The tests of the crate's root are in a module of any name.
        f"{run} {target}{f' -- {_join(modules)}' if all(modules) else ''}" if modules else "",
        f"{run} --tests -- {_join(others)}" if others else "",
    ]
    return " && ".join(filter(None, commands))


def _maven(tests: _Tests) -> str:
    """Return the command from the root of the build that a module belongs to."""
    top = tests.first(tests.around, "pom.xml") or ""
    program = "mvn" if tests.first((top,), "mvnw") is None else "./mvnw"
    only = f"-Dtest={shlex.quote(','.join(tests.stems))}"
    if tests.folder != top:
        # The modules that it depends on are built as well, and have no such tests.
        module = shlex.quote(tests.folder.removeprefix(top).rstrip("/"))
        only = f"-pl {module} -am {only} -Dsurefire.failIfNoSpecifiedTests=false"
    return _within(top, f"{program} test {only}")


def _gradle(tests: _Tests) -> str:
    """Return the command from the root of the build that a module belongs to."""
    top = tests.first(reversed(tests.around), "settings.gradle", "settings.gradle.kts")
    top = tests.folder if top is None else top
    runs = ["gradle" if tests.first((top,), "gradlew") is None else "./gradlew"]
    module = "".join(f":{step}" for step in tests.folder.removeprefix(top).split("/") if step)
    for path in tests.paths:
        source_set, package = _SOURCE_SET.search(path), _PACKAGE.search(tests.text(path))
        task = f"{module and f'{module}:'}{source_set[1] if source_set else 'test'}"
        stem = path.rpartition("/")[2].partition(".")[0]
        runs += [task] if task not in runs else []
        runs += ["--tests", shlex.quote(f"{package[1]}.{stem}" if package else stem)]
    return _within(top, " ".join(runs))


def _within(folder: str, command: str) -> str:
    """Return a command that runs in a folder of the tree."""
    return f"(cd {shlex.quote(folder.rstrip('/'))} && {command})" if folder else command


def _join(words: Iterable[str]) -> str:
    """Return arguments of a command, each once."""
    return " ".join(map(shlex.quote, dict.fromkeys(words)))


_BUILDERS: Final[dict[str, Callable[[_Tests], str]]] = {
    "{python}": _python,
    "{script}": _script,
    "{go}": _go,
    "{rust}": _rust,
    "{maven}": _maven,
    "{gradle}": _gradle,
}
