"""The command that runs some files of tests and no others, from the repository's own set-up."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.check.script_runners import script_command
from repo_map.check.set_up import SetUp, TestRequest

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_MODULE_OF_PATH: Final = re.compile(r"\.py$")
_CRATE_NAME: Final = re.compile(r"(?ms)^\[package\][^\[]*?^name\s*=\s*[\"']([\w-]+)[\"']")
_LIBRARY: Final = re.compile(r"(?ms)^\[lib\][^\[]*?^path\s*=\s*[\"']([^\"']+\.rs)[\"']")
_TEST_MODULES: Final = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?mod\s+(\w+)")
_PACKAGE: Final = re.compile(r"(?m)^\s*package\s+([\w.]+)")
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f]")


def command_for(index: RepoIndex, tests: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return what runs some tests from the root of the tree.

    Args:
        index: the tree.
        tests: paths of files, each with the qualified names of its tests, none for all of them.

    Returns:
        Commands for a POSIX shell, joined by ``&&``; ``""`` where the set-up does not say how. It is text of
        the repository to some degree: whoever runs it runs the repository's code, as with any of its tests.
    """
    set_up = SetUp(index)
    groups: dict[Callable[[SetUp, str, Sequence[TestRequest]], str], dict[str, list[TestRequest]]] = {}
    for path, names in tests:
        ecosystem = next((each for each in _ECOSYSTEMS if path.endswith(each.suffixes)), None)
        if ecosystem is None or _UNSEEN.search(path):
            continue
        folder = set_up.nearest(path, ecosystem.roots)
        groups.setdefault(ecosystem.command, {}).setdefault(folder, []).append(
            TestRequest(path, tuple(names))
        )
    commands = [
        command(set_up, folder, asked)
        for command, by_folder in groups.items()
        for folder, asked in by_folder.items()
    ]
    return " && ".join(filter(None, dict.fromkeys(commands)))


def _python(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    lead = _python_lead(set_up, folder)
    if set_up.has("tests/runtests.py") and set_up.has("django/__init__.py"):
        labels = dict.fromkeys(
            each.path.removeprefix("tests/").removesuffix(".py").replace("/", ".") for each in tests
        )
        return f"{lead}tests/runtests.py {_joined(labels)}".replace("-m ", "")
    texts = " ".join(set_up.text(f"{each}{name}") for each in {"", folder} for name in _PYTHON_SET_UP)
    is_pytest = "pytest" in texts or any(set_up.names_ending(("conftest.py",)))
    sources = [set_up.text(each.path) for each in tests]
    if not is_pytest and set_up.has(f"{folder}manage.py"):
        labels = dict.fromkeys(
            _below(each.path, folder).removesuffix(".py").replace("/", ".") for each in tests
        )
        return _within(folder, f"{lead}manage.py test {_joined(labels)}".replace("-m ", ""))
    is_pytest = is_pytest or any("import pytest" in each or "from pytest" in each for each in sources)
    if not is_pytest and all("unittest" in each for each in sources):
        return _within(folder, f"{lead}unittest {_joined(_unittest_labels(folder, tests))}")
    return _within(folder, f"{lead}pytest {_joined(_pytest_ids(folder, tests))}")


_PYTHON_SET_UP: Final = (
    *(
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "pytest.ini",
        ".pytest.ini",
        "noxfile.py",
        "setup.py",
        "Pipfile",
    ),
    *(
        "requirements.txt",
        "requirements-dev.txt",
        "requirements-test.txt",
        "test-requirements.txt",
        "Makefile",
    ),
    *("dev-requirements.txt", "requirements/dev.txt", "requirements/test.txt", "requirements/tests.txt"),
)


def _python_lead(set_up: SetUp, folder: str) -> str:
    """Return what Python's modules are run by in a project."""
    for lock, lead in (("uv.lock", "uv run"), ("poetry.lock", "poetry run"), ("pdm.lock", "pdm run")):
        if set_up.has(f"{folder}{lock}") or set_up.has(lock):
            return f"{lead} python -m "
    return "python -m "


def _pytest_ids(folder: str, tests: Sequence[TestRequest]) -> list[str]:
    ids: list[str] = []
    for each in tests:
        path = _below(each.path, folder)
        ids += [f"{path}::{name.replace('.', '::')}" for name in each.names] or [path]
    return ids


def _unittest_labels(folder: str, tests: Sequence[TestRequest]) -> list[str]:
    labels: list[str] = []
    for each in tests:
        path = _below(each.path, folder)
        module = _MODULE_OF_PATH.sub("", path).replace("/", ".")
        labels += [f"{module}.{name}" for name in each.names] or [module]
    return labels


def _go(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    packages = dict.fromkeys(
        f"./{_below(each.path, folder).rpartition('/')[0]}".rstrip("/") for each in tests
    )
    names: list[str] = []
    for each in tests:
        found = [name.partition(".")[0] for name in each.names] or [
            name for name in set_up.functions(each.path) if name.startswith(("Test", "Example", "Fuzz"))
        ]
        # The tests of a suite's methods are run by whatever runs the suite.
        names += [name for name in found if name.startswith(("Test", "Example", "Fuzz"))]
        if not found:
            return _within(folder, f"go test {_joined(packages)}")
    names = list(dict.fromkeys(names))
    only = f" -run '^({'|'.join(names)})$'"
    only = only if names and len(only) <= _MOST_SPELT else ""
    return _within(folder, f"go test {_joined(packages)}{only}")


_MOST_SPELT: Final = 240
"""Characters of the names of tests that are spelt out; where there are more, their packages are run."""


def _rust(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    name = _CRATE_NAME.search(set_up.text(f"{folder}Cargo.toml"))
    lead = f"cargo test -p {name[1]}" if name and folder else "cargo test"
    binaries: list[str] = []
    modules: list[str] = []
    rest: list[str] = []
    library = _LIBRARY.search(set_up.text(f"{folder}Cargo.toml"))
    for each in tests:
        path = _below(each.path, folder)
        path = "src/lib.rs" if library and path == library[1] else path
        parts = path.removesuffix(".rs").split("/")
        if (parts[0] == "tests" and len(parts) == 2) or (parts[0] == "tests" and parts[-1] == "main"):
            binaries.append(parts[1])
        elif parts[0] == "src":
            inner = [part for part in parts[1:] if part not in ("mod", "lib", "main")]
            own = _TEST_MODULES.findall(set_up.text(each.path)) or ["tests"]
            modules += [f"{'::'.join(inner)}::"] if inner else [f"{name}::" for name in own]
        else:
            rest.append(parts[-2] if parts[-1] == "mod" else parts[-1])
    commands = []
    if binaries:
        commands.append(lead + "".join(f" --test {shlex.quote(each)}" for each in dict.fromkeys(binaries)))
    if modules:
        target = "--lib" if library or set_up.has(f"{folder}src/lib.rs") else "--bins"
        commands.append(f"{lead} {target} -- {_joined(dict.fromkeys(modules))}")
    if rest:
        commands.append(f"{lead} --tests -- {_joined(dict.fromkeys(rest))}")
    return " && ".join(commands)


def _jvm(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    if set_up.has(f"{folder}pom.xml"):
        return _maven(set_up, folder, tests)
    if any(set_up.has(f"{folder}{name}") for name in _GRADLE):
        return _gradle(set_up, folder, tests)
    return ""


_GRADLE: Final = ("build.gradle", "build.gradle.kts")


def _maven(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    top = folder if not set_up.has("pom.xml") else ""
    program = "./mvnw" if set_up.has(f"{top}mvnw") else "mvn"
    classes = dict.fromkeys(each.path.rpartition("/")[2].partition(".")[0] for each in tests)
    only = shlex.quote(",".join(classes))
    if folder == top:
        return _within(top, f"{program} test -Dtest={only}")
    # The modules that it rests on are built as well, and have no such tests.
    module = shlex.quote(folder.rstrip("/"))
    return f"{program} test -pl {module} -am -Dtest={only} -Dsurefire.failIfNoSpecifiedTests=false"


def _gradle(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    has_settings = any(set_up.has(f"settings.{each}") for each in ("gradle", "gradle.kts"))
    program = "./gradlew" if set_up.has("gradlew") or not has_settings else "gradle"
    by_task: dict[str, list[str]] = {}
    for each in tests:
        found = re.search(r"src/(\w*[tT]est\w*)/", each.path)
        task = found[1] if found else "test"
        task = {"commonTest": "jvmTest"}.get(task, task)
        package = _PACKAGE.search(set_up.text(each.path))
        name = each.path.rpartition("/")[2].partition(".")[0]
        by_task.setdefault(task, []).append(f"{package[1]}.{name}" if package else name)
    module = "".join(f":{part}" for part in folder.strip("/").split("/") if part) if has_settings else ""
    runs = [
        f"{module}:{task}".removeprefix("" if module else ":")
        + "".join(f" --tests {shlex.quote(name)}" for name in dict.fromkeys(names))
        for task, names in by_task.items()
    ]
    return _within("" if has_settings else folder, f"{program} {' '.join(runs)}")


def _ruby(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    lead = "bundle exec " if set_up.has(f"{folder}Gemfile") else ""
    specs = [_below(each.path, folder) for each in tests if each.path.endswith("_spec.rb")]
    units = [_below(each.path, folder) for each in tests if not each.path.endswith("_spec.rb")]
    commands = []
    if specs:
        commands.append(f"{lead}rspec {_joined(specs)}")
    if units and set_up.has(f"{folder}bin/rails"):
        commands.append(f"bin/rails test {_joined(units)}")
    elif units:
        top = "test" if units[0].startswith("test/") else units[0].partition("/")[0]
        each = "'ARGV.each { |file| require File.expand_path(file) }'"
        commands.append(f"{lead}ruby -Ilib:{shlex.quote(top)} -e {each} {_joined(units)}")
    return _within(folder, " && ".join(commands))


def _php(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    manifest = set_up.text(f"{folder}composer.json")
    is_pest = "pestphp/pest" in manifest
    program = "vendor/bin/pest" if is_pest else "vendor/bin/phpunit"
    paths = [_below(each.path, folder) for each in tests]
    if len(paths) == 1 or is_pest:
        return _within(folder, f"{program} {_joined(paths)}")
    # PHPUnit before 12 takes one path only.
    names = "|".join(path.rpartition("/")[2].partition(".")[0] for path in paths)
    only = shlex.quote(f"\\b({names})::")
    return _within(folder, f"{program} --filter {only}")


def _c(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    stems = list(dict.fromkeys(each.path.rpartition("/")[2].rpartition(".")[0] for each in tests))
    lists = " ".join(set_up.text(path) for path in set_up.names_ending(("CMakeLists.txt", ".cmake")))
    if lists:
        only = f" -R {shlex.quote('|'.join(stems))}" if all(_is_added(lists, stem) for stem in stems) else ""
        build = "cmake -S . -B build && cmake --build build"
        return f"{build} && ctest --test-dir build --output-on-failure{only}" if "test" in lists else ""
    meson = set_up.text("meson.build") + set_up.text("tests/meson.build") + set_up.text("test/meson.build")
    if "test(" in meson:
        return "meson test -C build"
    makefile = set_up.text("Makefile") or set_up.text("GNUmakefile") or set_up.text("Makefile.am")
    for target in ("check", "test"):
        if re.search(rf"(?m)^{target}\s*:", makefile):
            return f"make {target}"
    return ""


def _is_added(lists: str, stem: str) -> bool:
    """Tell whether CMake's lists add a test of a name, by itself or as one of a list."""
    if re.search(rf"(?i)\badd_test\s*\([^)]*\b{re.escape(stem)}\b", lists):
        return True
    listed = rf"(?i)\bset\s*\(\s*(\w+)[^()]*(?<![\w.]){re.escape(stem)}(?![\w.])[^()]*\)"
    looped = r"(?i)\bforeach\s*\(\s*(\w+)\s[^)]*\$\{{{}\}}.*?\badd_test\s*\(\s*(?:NAME\s+)?\"?\$\{{\1\}}\"?\s"
    return any(re.search(looped.format(each[1]), lists, re.S) for each in re.finditer(listed, lists))


def _dotnet(set_up: SetUp, folder: str, tests: Sequence[TestRequest]) -> str:
    names = [each.path.rpartition("/")[2].partition(".")[0] for each in tests]
    return f"dotnet test --filter {shlex.quote('|'.join(f'FullyQualifiedName~{name}' for name in names))}"


class _Ecosystem(NamedTuple):
    """Languages whose tests one kind of set-up runs."""

    suffixes: tuple[str, ...]
    roots: tuple[str, ...]
    """Files that mark the folder that tests are run from."""
    command: Callable[[SetUp, str, Sequence[TestRequest]], str]


_ECOSYSTEMS: Final = (
    _Ecosystem(
        (".py",), ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "manage.py"), _python
    ),
    _Ecosystem(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"), ("package.json",), script_command
    ),
    _Ecosystem((".go",), ("go.mod",), _go),
    _Ecosystem((".rs",), ("Cargo.toml",), _rust),
    _Ecosystem((".java", ".kt", ".kts", ".groovy", ".scala"), ("pom.xml", *_GRADLE), _jvm),
    _Ecosystem((".rb",), ("Gemfile",), _ruby),
    _Ecosystem((".php", ".phpt"), ("composer.json",), _php),
    _Ecosystem((".c", ".cc", ".cpp", ".cxx"), (), _c),
    _Ecosystem((".cs",), (), _dotnet),
)


def _below(path: str, folder: str) -> str:
    return path.removeprefix(folder)


def _within(folder: str, command: str) -> str:
    """Return a command that runs in a folder of the tree."""
    return f"(cd {shlex.quote(folder.rstrip('/'))} && {command})" if folder and command else command


def _joined(words: Iterable[str]) -> str:
    return " ".join(shlex.quote(each) for each in words)
