"""The folder that a process is started in may be a stranger's: nothing in it is imported, run or read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from navigator.storage.data_folder import default_data_dir
from repo_map.cache import cache_folder
from repo_map.working_folder import find_program, harden_sys_path
from tests.support.hostile import TRAPS, Place, make_place
from tests.support.trees import write

WATCHED = """
import os, sys
folder = os.getcwd() + os.sep
def watch(event, arguments):
    if event in ("open", "os.listdir", "os.scandir", "os.exec", "os.posix_spawn", "subprocess.Popen"):
        name = os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes, os.PathLike)) else ""
        if name and (os.path.abspath(name) + os.sep).startswith(folder):
            os.write(2, f"touched {event} {name}\\n".encode())
sys.addaudithook(watch)
from repo_navigator.main import main
sys.exit(main(["serve"]))
"""
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "initialize",
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    ),
    ("tools/list", {}),
    # It waits until everything is loaded, and looks at no repository.
    ("tools/call", {"name": "get_turn_report", "arguments": {"navigation_id": "none"}}),
)


def served(command: list[str], folder: Path, **variables: str) -> str:
    """Start a server in ``folder``, ask it everything that needs no repository, and return its stderr."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        for number, (method, params) in enumerate(CALLS):
            server.stdin.write(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            )
            server.stdin.write("\n")
            server.stdin.flush()
            line = server.stdout.readline()
            assert line, server.stderr.read()
            assert json.loads(line)["id"] == number
        server.stdin.close()
        return server.stderr.read()


@pytest.fixture
def trap(tmp_path: Path) -> Place:
    place = make_place(tmp_path)
    next(trap for trap in TRAPS if trap.name == "shadows").plant(place)
    place.ran.unlink(missing_ok=True)
    return place


def test_a_server_touches_no_file_of_its_folder_before_a_call_names_a_repository(trap: Place) -> None:
    said = served([sys.executable, "-I", "-c", WATCHED], trap.root)
    touched = [line for line in said.splitlines() if line.startswith("touched")]
    # An editable installation puts a name on the search path that is no folder anywhere.
    assert [line for line in touched if "__editable__" not in line] == []
    assert not trap.ran.exists()


def test_a_search_path_of_the_users_that_names_the_folder_brings_no_package_of_it_in(tmp_path: Path) -> None:
    """Python's own modules and ours come before we can say anything; whoever adds these has lost."""
    ran = tmp_path / "ran"
    own = {"mcp_server", "navigator", "repo_map", "repo_navigator", "benchmarks"}
    # What the environment's own `.pth` files import, Python imports before any program can say anything.
    first = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    names = {name for name in packages_distributions() if name.isidentifier()} - own - {*first.stdout.split()}
    folder = write(
        tmp_path / "opened", {f"{name}.py": f"open({str(ran)!r}, 'a').write(__name__)" for name in names}
    )
    program = str(Path(sys.executable).with_name("repo-navigator"))
    served([program, "serve"], folder, PYTHONPATH=os.pathsep.join(("", ".", "src")))
    assert not ran.exists(), ran.read_text()


def test_programs_are_looked_for_in_absolute_folders_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in ("opened", "installed"):
        program = write(tmp_path / folder, {name: "#!/bin/sh\n"}) / name
        program.chmod(0o755)
    monkeypatch.chdir(tmp_path / "opened")
    installed = str(tmp_path / "installed")
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", installed)))
    assert find_program("git") == str(tmp_path / "installed" / name)
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".")))
    assert find_program("git") is None


def test_what_a_process_hands_on_to_those_it_starts_names_no_relative_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join((".", str(tmp_path), "", "bin")))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(("", "src", str(tmp_path / "lib"))))
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), str(tmp_path / "src"), str(tmp_path / "lib")])
    harden_sys_path()
    assert os.environ["PATH"] == str(tmp_path)
    assert os.environ["PYTHONPATH"] == str(tmp_path / "lib")
    assert sys.path == [str(tmp_path / "lib")]
    monkeypatch.setenv("PATH", ".")
    harden_sys_path()
    assert os.environ["PATH"] == os.defpath


def test_a_relative_or_unknown_home_of_data_and_cache_lies_in_no_opened_folder(tmp_path: Path) -> None:
    relative = {"HOME": str(tmp_path), "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache"}
    assert default_data_dir(relative, "linux") == tmp_path / ".local/share/repo-navigator"
    assert cache_folder(relative, "linux", tmp_path) == tmp_path / ".cache/repo-navigator"


def test_a_cache_in_the_home_of_nobody_is_named_as_it_is_written(tmp_path: Path) -> None:
    unknown = {"REPO_NAVIGATOR_CACHE": "~nobody-of-this-name/cache"}
    assert cache_folder(unknown, "linux", tmp_path) == Path("~nobody-of-this-name/cache")
