"""Files below a repository's root are reached through one module, and git is run by one other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("repo_map", "navigator", "mcp_server", "repo_navigator")

FILES = {
    "repo_map/worktree/disk.py": "the way to the files of a repository",
    "repo_map/worktree/repository.py": "resolves the names of folders, and opens nothing",
    "repo_map/worktree/git.py": "resolves the folder that git names",
    "repo_map/worktree/watching.py": "asks the system to tell of changes, and opens nothing",
    "repo_map/worktree/files.py": "resolves the root that the user names, and looks at nothing below it",
    "repo_map/worktree/fetching.py": "the size of a clone that we make, and what an ended fetch has left",
    "navigator/stores/artifacts.py": "the data folder",
    "repo_map/atomic_files.py": "writes files of our own, and those that the user names for output",
    "repo_navigator/terminal.py": "the null device, and the plan or the goal that the user names",
    "repo_map/history/history.py": "the cache",
    "repo_map/indexing/store.py": "the cache",
    "repo_map/indexing/snapshot.py": "the cache",
    "repo_map/derived_arrays.py": "the cache",
    "repo_map/indexing/spool.py": "a temporary file of our own",
    "repo_map/indexing/extractor_version.py": "our own code",
    "repo_map/graph/pagerank.py": "our own code",
    "repo_map/languages/registry.py": "our own code",
    "repo_map/languages/grammars.py": "queries that come with the package",
    "repo_map/relevance/model.py": "weights that come with the package",
    "navigator/stores/locks.py": "the data folder",
    "navigator/picture/page.py": "the page that comes with the package",
    "navigator/records/pricing.py": "prices that come with the package, or that the user names",
    "navigator/stores/sqlite/database.py": "the database",
    "navigator/stores/opening.py": "the data folder",
    "navigator/stores/sqlite/read_only.py": "the database of a data folder that can't be written",
    "mcp_server/tenancy/audit.py": "the file of the audit",
    "mcp_server/protocol/stored_before.py": "the data folder",
    "mcp_server/transport/stdio.py": "the null device, in place of stdin",
    "mcp_server/settings.py": "resolves the folders that the user allows",
    "navigator/workspaces/clones.py": "the clones that we make in the data folder, and when each was fetched",
    "navigator/workspaces/shared_clones.py": "the bundle of a clone, until it is fetched from or stored",
    "repo_navigator/host_files/hosts.py": "whether a host is used here",
    "repo_navigator/host_files/configuration.py": "the configurations of hosts",
    "repo_navigator/host_files/entries.py": "where this package is installed",
    "repo_map/working_folder.py": "where our own code lies",
    "repo_navigator/navigate_options.py": "whether a text beside --continue is a folder's path",
    "repo_navigator/hooks/program.py": "resolves the folder that a host names; the data folder",
    "repo_navigator/hooks/sessions.py": "the data folder",
    "repo_navigator/hooks/findings.py": "the data folder",
    "repo_navigator/hooks/background.py": "none: it opens names and a navigation",
    "repo_navigator/hooks/names.py": "the cache",
    "repo_navigator/hooks/starting.py": "whether there is a home folder to start in",
    "repo_navigator/commands/doctor.py": "the configurations of hosts, and a repository that it makes itself",
    "mcp_server/protocol/resources.py": "names of folders for somebody who types one",
    "mcp_server/repository.py": "resolves the root that a call names, and looks at nothing below it",
    "repo_navigator/commands/install.py": "resolves the folders that the user allows",
    "repo_navigator/commands/serve.py": "resolves the folders that the user allows",
    "repo_navigator/team_report.py": "the audit that an operator names, and how much disk the clones take",
}
"""Who may open, list or look at files, and which."""
PROGRAMS = {
    "repo_map/worktree/git.py": "git",
    "repo_map/indexing/worker_process.py": "our own interpreter",
    "repo_navigator/detached.py": "our own interpreter",
    "repo_navigator/host_files/entries.py": "none: it writes a command as Windows reads it",
}
"""Who may run a program, and which."""

_OS_FILES = (
    *("open", "stat", "lstat", "listdir", "scandir", "walk", "fwalk", "readlink", "access", "chdir"),
    *("fchdir", "statvfs", "getxattr", "listxattr"),
)
_OS_PATH = (
    *("exists", "lexists", "isfile", "isdir", "islink", "ismount", "isjunction", "getsize", "getmtime"),
    *("getatime", "getctime", "realpath", "samefile"),
)
_OS_PROGRAMS = ("system", "popen", "exec", "spawn", "posix_spawn", "fork", "startfile")
_FILE_METHODS = (
    *("open", "read_text", "read_bytes", "iterdir", "glob", "rglob", "walk", "exists", "is_file", "is_dir"),
    *("is_symlink", "is_fifo", "is_mount", "stat", "lstat", "resolve", "readlink", "samefile"),
)
_FILE_MODULES = (
    *("mmap", "glob", "fileinput", "linecache", "zipfile", "tarfile", "tempfile", "watchdog"),
    *("watchdog.observers", "importlib.resources"),
)
_PROGRAM_MODULES = ("subprocess", "pty", "multiprocessing", "concurrent.futures.process")
_ASYNC_PROGRAMS = ("create_subprocess_exec", "create_subprocess_shell", "open_process", "run_process")
_NUMPY_FILES = ("load", "fromfile", "memmap", "loadtxt", "genfromtxt")
_SHUTIL = ("which", "get_terminal_size")
"""What of it opens nothing of a repository."""
_NAMESAKES = {
    "glob": {"options"},
    "open": {"connections", "navigator", "navigations", "_workspaces", "active", "Names"},
    "resolve": {"navigations", "_navigations"},
    "walk": {"ast"},
}
"""Methods of ours that are called as those of paths are, by what they are called on."""


def uses(source: str) -> Iterator[tuple[str, str]]:
    """Yield each way to a file (``"file"``) or a program (``"program"``) in a source, with what it is."""
    nodes = list(ast.walk(ast.parse(source)))
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
                yield from _of_module(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from _of_module(node.module)
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield from _of_module(f"{node.module}.{alias.name}")
                yield from _of_name(f"{node.module}.{alias.name}")
    for node in nodes:
        yield from _of_expression(node, names)


def _of_expression(node: ast.AST, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Attribute(attr=attr):
            named = _dotted(node, names)
            yield from _of_name(named)
            owner = named.rpartition(".")[0].rpartition(".")[2]
            if attr in _FILE_METHODS and owner not in {"os", "sys"} | _NAMESAKES.get(attr, set()):
                yield "file", f".{attr}"
        case ast.Name(id="open"):
            yield "file", "open"
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(attr)), *_]):
            # What is looked up by a word is a use of it all the same.
            yield from _of_name(f"{_dotted(owner, names)}.{attr}")


def _of_module(name: str) -> Iterator[tuple[str, str]]:
    if name in _FILE_MODULES:
        yield "file", name
    if name in _PROGRAM_MODULES:
        yield "program", name


def _of_name(named: str) -> Iterator[tuple[str, str]]:
    module, _, name = named.rpartition(".")
    if module in ("os", "posix", "nt") and name in _OS_FILES:
        yield "file", named
    if module in ("os.path", "posixpath", "ntpath") and name in _OS_PATH:
        yield "file", named
    if module in ("os", "posix", "nt") and name.startswith(_OS_PROGRAMS):
        yield "program", named
    if module in ("io", "codecs", "builtins") and name == "open":
        yield "file", named
    if named == "sqlite3.connect":
        yield "file", named
    if module == "numpy" and name in _NUMPY_FILES:
        yield "file", named
    if module == "shutil" and name not in _SHUTIL:
        yield "file", named
    if name in _ASYNC_PROGRAMS:
        yield "program", named


def _dotted(node: ast.expr, modules: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, modules)}.{node.attr}"
    return modules.get(node.id, node.id) if isinstance(node, ast.Name) else "?"


def _modules() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("kind", "allowed"), [("file", FILES), ("program", PROGRAMS)])
def test_only_modules_with_a_reason_reach_files_and_programs(kind: str, allowed: dict[str, str]) -> None:
    found = {name: sorted({what for of, what in uses(text) if of == kind}) for name, text in _modules()}
    assert {name: what for name, what in found.items() if what and name not in allowed} == {}
    assert {name for name in allowed if not found.get(name)} == set(), "these no longer need a reason"


@pytest.mark.parametrize(
    "source",
    [
        "open('x')",
        "from pathlib import Path\nPath('x').read_text()",
        "from pathlib import Path\ndef f(root: Path): return root.joinpath('x').open()",
        "def f(root): return [each for each in root.iterdir()]",
        "def f(root): return (root / '.git').exists()",
        "def f(root): return root.resolve()",
        "def f(root): look = root.stat; return look()",
        "import os\nos.scandir('x')",
        "import os as system\nsystem.listdir('x')",
        "import os.path\nos.path.isdir('x')",
        "from os import path\npath.exists('x')",
        "from os import lstat",
        "import os\ngetattr(os, 'open')('x', 0)",
        "import io\nio.open('x')",
        "import mmap",
        "def f():\n    from glob import glob",
        "import numpy as np\nnp.fromfile('x')",
        "import shutil\nshutil.copy('x', 'y')",
    ],
)
def test_a_new_module_that_opens_a_file_is_found(source: str) -> None:
    assert "file" in {kind for kind, _ in uses(source)}


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "def f():\n    from subprocess import run",
        "import os\nos.system('x')",
        "import os as system\nsystem.execv('x', [])",
        "from os import posix_spawn",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
        "from multiprocessing import Process",
    ],
)
def test_a_new_module_that_runs_a_program_is_found(source: str) -> None:
    assert "program" in {kind for kind, _ in uses(source)}


def test_what_only_sounds_like_a_file_is_none() -> None:
    source = (
        "import ast, os\nfor node in ast.walk(tree): self._navigations.resolve(os.path.join('a', os.sep))"
    )
    assert list(uses(source)) == []
