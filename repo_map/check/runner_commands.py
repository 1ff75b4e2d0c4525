"""The command that runs some test files and no others, from the repository's own configuration."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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
_PYTHON_CONFIG: Final = re.compile(
    r"pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|\.?pytest\.ini|noxfile\.py|Makefile|Pipfile"
    r"|(?:[\w-]*requirements[\w-]*|requirements/\w+)\.txt"
)
_PYTHON_LAUNCHERS: Final = {"uv.lock": "uv run ", "poetry.lock": "poetry run ", "pdm.lock": "pdm run "}
_SCRIPT_LAUNCHERS: Final = {"pnpm-lock.yaml": "pnpm exec", "yarn.lock": "yarn", "bun.lock": "bunx"}
_SCRIPT_RUNNERS: Final = {
    "vitest": "vitest run",
    "jest": "jest --runTestsByPath",
    "react-scripts": "react-scripts test --watchAll=false",
    **{name: name for name in ("mocha", "ava", "tap", "borp", "jasmine", "uvu", "tape")},
}
"""Test runners of JavaScript, each with the command that takes paths."""
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
_GRADLE: Final = ("build.gradle", "build.gradle.kts")
_SETTINGS: Final = ("settings.gradle", "settings.gradle.kts")
"""Mark the root of a build of Gradle with several modules."""


class _Package(msgspec.Struct, rename="camel"):
    """What is read of a ``package.json``."""

    scripts: dict[str, Any] = {}
    dependencies: dict[str, Any] = {}
    dev_dependencies: dict[str, Any] = {}


class _Test(NamedTuple):
    """A test file to run."""

    path: str
    names: tuple[str, ...]
    """Qualified names of its tests, none for all of them."""
    below: str
    """The path below the folder that the command runs in."""

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].partition(".")[0]


class _Project:
    """The configuration files of a tree."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def has(self, path: str) -> bool:
        return self.index.file_id(path) is not None

    def text(self, path: str) -> str:
        """Return a file's text, ``""`` without one."""
        file = self.index.file_id(path)
        return "" if file is None else self.index.sources.text(file)[:_MAX_CONFIG_CHARS]

    def package(self, folder: str) -> _Package:
        """Return ``package.json`` of a folder, empty without one."""
        try:
            return msgspec.json.decode(self.text(f"{folder}package.json") or "{}", type=_Package)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return _Package()

    def launcher(self, folder: str, launchers: Mapping[str, str], default: str) -> str:
        """Return the launcher whose lock file is in a folder, or at the top."""
        found = (each for lock, each in launchers.items() if self.has(f"{folder}{lock}") or self.has(lock))
        return next(found, default)

    def root_of(self, path: str, names: Sequence[str]) -> str:
        """Return the nearest folder above a file that has one of some files, ``""`` or ending in a slash."""
        folders = (f"{each}/" for each in map(str, PurePosixPath(path).parents) if each != ".")
        return next((folder for folder in folders if any(self.has(f"{folder}{name}") for name in names)), "")


_Builder = Callable[[_Project, str, Sequence[_Test]], str]
"""Returns the command that runs some tests in a folder, from that folder."""


def build_test_command(index: Index, tests: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return what runs some tests from the root of the tree.

    Args:
        index: The tree.
        tests: Paths of files, each with the qualified names of its tests, none for all of them.

    Returns:
        Commands for a POSIX shell, joined by ``&&``; ``""`` if the configuration doesn't tell how. Running
        them runs the repository's code.
    """
    project = _Project(index)
    groups: dict[tuple[tuple[str, ...], _Builder, str], list[_Test]] = {}
    for path, names in tests:
        found = (each for each in _ECOSYSTEMS if path.endswith(each[0]))
        suffixes, roots, build = next(found, ((), (), None))
        if build is not None and not _CONTROL.search(path):
            folder = project.root_of(path, roots)
            test = _Test(path, tuple(names), path.removeprefix(folder))
            groups.setdefault((suffixes, build, folder), []).append(test)
    commands = (build(project, folder, group) for (_, build, folder), group in groups.items())
    return " && ".join(filter(None, dict.fromkeys(commands)))


def _python(project: _Project, folder: str, tests: Sequence[_Test]) -> str:
    run = f"{project.launcher(folder, _PYTHON_LAUNCHERS, '')}python "
    modules = [each.below.removesuffix(".py").replace("/", ".") for each in tests]
    configs = [path for path in project.index.paths if _PYTHON_CONFIG.fullmatch(path.removeprefix(folder))]
    sources = [project.text(each.path) for each in tests]
    uses_pytest = any("pytest" in text for text in (*map(project.text, configs), *sources))
    uses_pytest = uses_pytest or any(path.endswith("conftest.py") for path in project.index.paths)
    if not uses_pytest and project.has(f"{folder}manage.py"):
        return _within(folder, f"{run}manage.py test {_join(modules)}")
    is_unittest = not uses_pytest and all("unittest" in each for each in sources)
    labels = [
        label
        for module, (_, names, below) in zip(modules, tests, strict=True)
        for label in (
            [f"{module}.{name}" if is_unittest else f"{below}::{name.replace('.', '::')}" for name in names]
            or [module if is_unittest else below]
        )
    ]
    return _within(folder, f"{run}-m {'unittest' if is_unittest else 'pytest'} {_join(labels)}")


def _script(project: _Project, folder: str, tests: Sequence[_Test]) -> str:
    for place in dict.fromkeys((folder, "")):
        package = project.package(place)
        runner, flags = _script_runner(package)
        if not runner:
            continue
        # A workspace may have its runner, and its configuration, at the top.
        configs = (f"{folder}{runner}.config.{end}" for end in ("js", "ts", "mjs", "cjs", "mts", "json"))
        is_own = place == folder or any(map(project.has, configs))
        files = _join(each.below if is_own else each.path for each in tests)
        command = " ".join(filter(None, (_SCRIPT_RUNNERS.get(runner, runner), flags, files)))
        if runner in _SCRIPT_RUNNERS:
            command = f"{project.launcher(folder, _SCRIPT_LAUNCHERS, 'npx')} {command}"
        if runner == "jest" and any(_JEST_MODULES in each for each in _test_scripts(package)):
            command = f"NODE_OPTIONS={_JEST_MODULES} {command}"
        return _within(folder if is_own else place, command)
    if isinstance(project.package(folder).scripts.get("test"), str):
        return _within(folder, f"npm test -- {_join(each.below for each in tests)}")
    return ""


def _script_runner(package: _Package) -> tuple[str, str]:
    """Return the runner that a package's scripts or dependencies name, and the flags that it needs."""
    for text in _test_scripts(package):
        if found := _RUN_BY_SCRIPT.search(text):
            runner = "node" if found["node"] else "bun test" if found["bun"] else found["runner"]
            needed = found["node"] or (found["flags"] if runner == "mocha" else "")
            return runner, _flags(needed or "")
    known = {**package.dependencies, **package.dev_dependencies}
    return next((runner for runner in _SCRIPT_RUNNERS if runner in known), ""), ""


def _test_scripts(package: _Package) -> list[str]:
    """Return the scripts that test, the main one first."""
    names = [
        name for name, text in package.scripts.items() if _TEST_SCRIPT.match(name) and isinstance(text, str)
    ]
    return [package.scripts[name] for name in sorted(names, key=lambda name: (":" in name, name != "test"))]


def _flags(text: str) -> str:
    """Return the flags of a runner in a script, without its files."""
    return " ".join(
        word
        for before, word in pairwise(("", *text.split()))
        if _FLAG.fullmatch(word) or (before in _FLAGS_WITH_VALUE and _VALUE.fullmatch(word))
    )


def _go(project: _Project, folder: str, tests: Sequence[_Test]) -> str:
    packages = _join(f"./{each.below.rpartition('/')[0]}".rstrip("/") for each in tests)
    names: dict[str, None] = {}
    for each in tests:
        file = project.index.file_id(each.path)
        definitions = project.index.definitions(file) if file is not None else ()
        own = [name.partition(".")[0] for name in each.names]
        own = own or [each.name for each in definitions if each.kind in FUNCTIONS]
        # The methods of a suite are run by what runs the suite.
        own = [name for name in own if name.startswith(("Test", "Example", "Fuzz"))]
        if not own and not each.names:
            return _within(folder, f"go test {packages}")
        names |= dict.fromkeys(own)
    only = f" -run '^({'|'.join(names)})$'" if names else ""
    return _within(folder, f"go test {packages}{only if len(only) <= _MAX_FILTER_CHARS else ''}")


def _rust(project: _Project, folder: str, tests: Sequence[_Test]) -> str:
    name = _CRATE_NAME.search(project.text(f"{folder}Cargo.toml"))
    run = f"cargo test -p {name[1]}" if name and folder else "cargo test"
    binaries: list[str] = []
    modules: list[str] = []
    others: list[str] = []
    for each in tests:
        steps = each.below.removesuffix(".rs").split("/")
        if steps[0] == "tests" and (len(steps) == 2 or steps[-1] == "main"):
            binaries.append(f"--test {shlex.quote(steps[1])}")
        elif steps[0] in ("tests", "benches"):
            others.append(steps[-2] if steps[-1] == "mod" else steps[-1])
        else:
            inner = [step for step in steps[steps[0] == "src" :] if step not in ("mod", "lib", "main")]
            modules.append(f"{'::'.join(inner)}::" if inner else "")
    target = "--lib" if project.has(f"{folder}src/lib.rs") or project.has(f"{folder}lib.rs") else "--bins"
    commands = [
        f"{run} {' '.join(binaries)}" if binaries else "",
        # The tests of the crate's root are in a module of any name.
        f"{run} {target}{f' -- {_join(modules)}' if all(modules) else ''}" if modules else "",
        f"{run} --tests -- {_join(others)}" if others else "",
    ]
    return " && ".join(filter(None, commands))


def _jvm(project: _Project, folder: str, tests: Sequence[_Test]) -> str:
    """Return the command of Maven or Gradle, from the root of the build that a module belongs to."""
    parts = folder.split("/")[:-1]
    around = ["".join(f"{part}/" for part in parts[:depth]) for depth in range(len(parts) + 1)]
    if project.has(f"{folder}pom.xml"):
        top = next(each for each in around if project.has(f"{each}pom.xml"))
        program = "./mvnw" if project.has(f"{top}mvnw") else "mvn"
        only = shlex.quote(",".join(dict.fromkeys(each.stem for each in tests)))
        if folder == top:
            return _within(top, f"{program} test -Dtest={only}")
        # The modules that it depends on are built as well, and have no such tests.
        module = shlex.quote(folder.removeprefix(top).rstrip("/"))
        command = f"{program} test -pl {module} -am -Dtest={only} -Dsurefire.failIfNoSpecifiedTests=false"
        return _within(top, command)
    if not any(project.has(f"{folder}{name}") for name in _GRADLE):
        return ""
    settings = (each for each in reversed(around) if any(project.has(f"{each}{name}") for name in _SETTINGS))
    top = next(settings, folder)
    program = "./gradlew" if project.has(f"{top}gradlew") else "gradle"
    module = "".join(f":{step}" for step in folder.removeprefix(top).split("/") if step)
    runs = [program]
    for each in tests:
        source_set = re.search(r"src/(\w*[tT]est\w*)/", each.path)
        name = source_set[1] if source_set else "test"
        task = f"{module}:{name}" if module else name
        runs += [task] if task not in runs else []
        package = _PACKAGE.search(project.text(each.path))
        runs += ["--tests", shlex.quote(f"{package[1]}.{each.stem}" if package else each.stem)]
    return _within(top, " ".join(runs))


def _from_template(project: _Project, folder: str, tests: Sequence[_Test]) -> str:
    """Return the command of the first template that fits."""
    stems = list(dict.fromkeys(each.stem for each in tests))
    for suffixes, config, pattern, command in _TEMPLATES:
        path = f"{folder}{config}"
        is_configured = not config or (
            project.has(path) and re.search(pattern, project.text(path)) is not None
        )
        if tests[0].path.endswith(suffixes) and is_configured:
            files, names = _join(test.below for test in tests), shlex.quote("|".join(stems))
            classes = shlex.quote("|".join(f"FullyQualifiedName~{stem}" for stem in stems))
            return _within(folder, command.format(files=files, names=names, classes=classes))
    return ""


_C: Final = (".c", ".cc", ".cpp", ".cxx")
_PHP: Final = (".php", ".phpt")
_RUBY: Final = "ruby -Ilib:test -e 'ARGV.each {{ |file| require File.expand_path(file) }}' {files}"
_CTEST: Final = "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"
_TEMPLATES: Final[tuple[tuple[str | tuple[str, ...], str, str, str], ...]] = (
    ("_spec.rb", "Gemfile", "", "bundle exec rspec {files}"),
    ("_spec.rb", "", "", "rspec {files}"),
    (".rb", "bin/rails", "", "bin/rails test {files}"),
    (".rb", "Gemfile", "", f"bundle exec {_RUBY}"),
    (".rb", "", "", _RUBY),
    (_PHP, "composer.json", "pestphp/pest", "vendor/bin/pest {files}"),
    # PHPUnit before 12 takes one path only.
    (_PHP, "", "", "vendor/bin/phpunit --filter {names}"),
    (_C, "CMakeLists.txt", "test", _CTEST),
    (_C, "meson.build", "", "meson test -C build"),
    (_C, "Makefile", r"(?m)^check\s*:", "make check"),
    (_C, "Makefile", r"(?m)^test\s*:", "make test"),
    (".cs", "", "", "dotnet test --filter {classes}"),
)
"""Suffixes of test files, a configuration file, a pattern of its text, and the command."""
_ECOSYSTEMS: Final[tuple[tuple[tuple[str, ...], tuple[str, ...], _Builder], ...]] = (
    ((".py",), ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "manage.py"), _python),
    ((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"), ("package.json",), _script),
    ((".go",), ("go.mod",), _go),
    ((".rs",), ("Cargo.toml",), _rust),
    ((".java", ".kt", ".kts", ".groovy", ".scala"), ("pom.xml", *_GRADLE), _jvm),
    (("_spec.rb",), ("Gemfile",), _from_template),
    ((".rb",), ("Gemfile",), _from_template),
    (_PHP, ("composer.json",), _from_template),
    (_C, (), _from_template),
    ((".cs",), (), _from_template),
)
"""Suffixes of test files, files that mark the folder to run tests from, and what builds the command."""


def _within(folder: str, command: str) -> str:
    """Return a command that runs in a folder of the tree."""
    return f"(cd {shlex.quote(folder.rstrip('/'))} && {command})" if folder and command else command


def _join(words: Iterable[str]) -> str:
    """Return arguments of a command, each once."""
    return " ".join(map(shlex.quote, dict.fromkeys(words)))
