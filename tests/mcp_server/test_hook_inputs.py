"""Whatever a host tells a hook, and wherever it runs: it ends with 0 within its time."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from repo_map.indexing.store import user_store
from repo_navigator.hooks import sessions
from repo_navigator.hooks.names import names_file
from repo_navigator.hooks.program import EVENTS, heard
from repo_navigator.hooks.run import run_hook
from repo_navigator.main import main
from tests.support.hooks import TASK, grepped, make_shop, message, ran


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository whose names are written down."""
    return make_shop(tmp_path / "shop-repository")


VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1.5,
        10**400,
        "",
        " ",
        "\0",
        "\ud800",
        "\x1b[2J",
        "x" * 100_000,
        [],
        {},
        [[]],
        [None],
        {"": {}},
    ),
    *(
        ["a", 1, {"b": [2]}],
        {"command": 1},
        {"command": ["grep", 7]},
        {"stdout": {"stdout": {"stdout": {"stdout": {}}}}},
    ),
)
FIELDS = (
    "hook_event_name",
    "session_id",
    "cwd",
    "prompt",
    "tool_name",
    "tool_input",
    "tool_response",
    "workspace_roots",
)
RAW = (
    *(
        b"",
        b" \n\t ",
        b"where is it",
        b"\xef\xbb\xbf",
        b'{"prompt": "\xff\xfe"}',
        b'{"cwd": "/tmp',
        b"{}{}",
        b"null",
        b"true",
    ),
    *(
        b"17",
        b'"x"',
        b"[]",
        b"{}",
        bytes(100_000),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
    ),
    *(
        b"9" * 100_000,
        b'{"cwd": NaN}',
        b'{"cwd": 1e999999999}',
        b'{"tool_response": "' + b"a " * 5_000_000 + b'"}',
    ),
    *(b'{"prompt": "\\x00"}', b'{"prompt": "\\u12', json.dumps({str(n): n for n in range(10_000)}).encode()),
)
FOLDERS = (
    *(
        "\0",
        "{}\0",
        "{}\ud800",
        "{}\x1b[2J",
        "{}\n",
        "",
        "  ",
        "/nowhere",
        "/dev/null",
        "/dev/null/x",
        "/" + "x" * 5_000,
    ),
    *(
        "/x" * 50_000,
        "../" * 50_000,
        "//evil.example/share",
        "\\\\evil.example\\share",
        "file://evil/etc",
        "file://[",
        "/",
    ),
    *(
        "https://evil.example",
        "~nobody-of-this-name/x",
        "/dev/fd/0",
        "/proc/self/fd",
        "relative/folder",
        "{}/missing/below",
    ),
)
LINES = (
    *(
        "grep",
        "grep -",
        "grep --",
        "grep -e",
        "grep -A",
        "rg -g",
        "grep ''",
        'grep "" .',
        "grep -rn '(' .",
        "grep -rn '[' .",
    ),
    *(
        "grep -rn '*' .",
        "grep -rn '\\' .",
        "grep -rn '\\\\' .",
        "find",
        "find .",
        "find . -name",
        "find -name '' .",
        "find . -exec",
    ),
    *(
        "find . -name '[' ",
        "find . -name '***'",
        "git grep",
        "git",
        "git grep -e",
        "cd",
        "cd && grep x",
        "cd '' ; grep x .",
        "|",
    ),
    *(
        "|| grep x",
        "; ; ;",
        "grep x <<EOF\nfoo",
        "grep x <<EOF\nfoo\nEOF",
        "cat <<'E'\n$(grep x)\nE",
        "$(grep -rn foo .)",
        "`grep`",
    ),
    *(
        "grep 'foo",
        'grep "foo',
        "grep foo\\",
        "grep \ud800 .",
        "grep foo\0 .",
        "grep " + "a" * 50_000,
        "grep " + "a|" * 5_000,
    ),
    *(
        "grep -rn " + "(" * 3_000 + " .",
        "sed -n",
        "sed -i",
        "cat",
        "cat /dev/zero",
        "xargs grep",
        "env grep",
        "timeout grep foo",
    ),
    *(
        "bash -c",
        "bash -c 'bash -c \"bash -c grep\"'",
        "sh -c ''",
        "tee",
        "patch",
        "> /etc/passwd",
        ">",
        "<",
        "2>&1",
        "&",
        "grep x >",
    ),
    *(
        "FOO=bar",
        "FOO=bar grep thing_here .",
        "grep -rn 'a{1,99999999}' .",
        "grep -rnE '(a+)+$' .",
        "grep -f patterns .",
        "grep -v foo .",
    ),
    *(
        "rg --files",
        "rg -e foo -e bar",
        "rg foo ~",
        "rg foo ~nobody",
        "rg foo ../../../../..",
        "rg foo //server/share",
        "fd",
        "fd -e py",
    ),
    *(
        "ag thing",
        "ack thing",
        "zgrep thing x.gz",
        "ls | grep foo | wc -l",
        "grep -c foo x",
        "awk '/foo/' x",
        "\n\n\n",
        "#comment",
        "! grep x",
    ),
    *(
        "grep discount_total " + "shop " * 3_000,
        "grep -rn '" + "\\|".join(f"name_{n}" for n in range(500)) + "' .",
        "time",
        "nice -n",
    ),
)


def _odd_messages(root: Path) -> Iterator[bytes]:
    """Yield 200 messages and more that no host should send, but might."""
    yield from RAW
    usual = message(root, "Bash", {"command": "grep -rn discount_total ."}, prompt=TASK)
    for field in FIELDS:
        for value in VALUES:
            yield json.dumps({**usual, field: value}).encode()
    for folder in FOLDERS:
        yield json.dumps({**usual, "cwd": folder.replace("{}", str(root))}).encode()
    for line in LINES:
        yield json.dumps({**usual, "tool_input": {"command": line}}).encode()
    for line in LINES[:20]:
        yield json.dumps(
            {**usual, "tool_name": "Grep", "tool_input": {"pattern": line, "path": line}}
        ).encode()
        yield json.dumps({**usual, "tool_name": "Glob", "tool_input": {"pattern": line}}).encode()


@pytest.mark.parametrize("event", [*EVENTS, "odd", ""])
def test_no_message_is_a_failure(event: str, shop: Path, no_background: list[str]) -> None:
    messages = list(_odd_messages(shop))
    assert len(messages) >= 200
    for number, told in enumerate(messages):
        begins = time.process_time()
        printed = heard(event, told, os.environ)
        assert time.process_time() - begins < 2, (number, told[:200])
        if printed:
            assert json.loads(printed)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.slow
def test_no_message_ends_a_process_with_a_failure(shop: Path) -> None:
    messages = list(_odd_messages(shop))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda told: ran("tool", told), messages))


# Where it runs.


def _without(*names: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in names}


def _with_broken_git(root: Path) -> dict[str, Any]:
    shutil.rmtree(root / ".git")
    (root / ".git").write_text("gitdir: /nowhere/at/all\n")
    return {}


def _while_written(root: Path) -> dict[str, Any]:
    cache = user_store().folder
    assert cache is not None
    file = names_file(cache, root)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return {}


def _of_another_version(root: Path) -> dict[str, Any]:
    cache = user_store().folder
    assert cache is not None
    file = names_file(cache, root)
    file.write_bytes(b"RNNAMES0" + file.read_bytes()[8:])
    return {}


def _folder_that_nobody_may_read(root: Path) -> dict[str, Any]:
    root.chmod(0)
    return {}


def _deleted_folder(root: Path) -> dict[str, Any]:
    shutil.rmtree(root)
    return {}


SURROUNDINGS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "no home": lambda root: {"env": _without("HOME", "USERPROFILE")},
    "no home, nor folders of ours": lambda root: {
        "env": _without("HOME", "USERPROFILE", "REPO_NAVIGATOR_CACHE", "REPO_NAVIGATOR_DATA")
    },
    "a home that can't be written": lambda root: {
        "env": {**_without("REPO_NAVIGATOR_CACHE", "REPO_NAVIGATOR_DATA"), "HOME": "/proc/self"}
    },
    "a home with spaces": lambda root: {
        "env": {
            **_without("REPO_NAVIGATOR_CACHE", "REPO_NAVIGATOR_DATA"),
            "HOME": str(root.parent / "a home  of 'mine'"),
        }
    },
    "a locale of bytes": lambda root: {"env": {**_without("LANG"), "LC_ALL": "C", "PYTHONUTF8": "0"}},
    "an empty environment": lambda root: {"env": {"REPO_NAVIGATOR_CACHE": "off"}},
    "a broken git folder": _with_broken_git,
    "names that are half written": _while_written,
    "names of another version": _of_another_version,
    "a folder that nobody may read": _folder_that_nobody_may_read,
    "a deleted folder": _deleted_folder,
}


@pytest.mark.parametrize("surroundings", SURROUNDINGS.values(), ids=SURROUNDINGS)
def test_no_surroundings_are_a_failure(surroundings: Callable[[Path], dict[str, Any]], shop: Path) -> None:
    options = surroundings(shop)
    try:
        for event in EVENTS:
            told = message(shop, "Bash", {"command": "grep -rn discount_total ."}, prompt=TASK)
            printed = ran(event, told, **options)
            assert not printed or json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    finally:
        if shop.exists():
            shop.chmod(0o700)


@pytest.mark.skipif(os.name != "posix", reason="a shell closes what a hook writes to")
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "line",
    [
        '"$@" >&-',
        '"$@" <&-',
        '"$@" 2>&-',
        '"$@" <&- >&- 2>&-',
        'mkdir gone && cd gone && rmdir "$PWD" && "$@"',
        '{ "$@"; echo $? >&3; } 3>status | true; read -r status <status; exit "$status"',
    ],
    ids=["no output", "no input", "no errors", "nothing open", "a deleted working folder", "nobody reads"],
)
def test_a_host_that_closes_what_it_opened_is_no_failure(
    line: str, event: str, shop: Path, tmp_path: Path
) -> None:
    told = json.dumps(message(shop, "Bash", {"command": "grep -rn discount_total ."}))
    hook = [sys.executable, "-m", "repo_navigator.main", "hook", event]
    run = subprocess.run(
        ["/bin/sh", "-c", line, "sh", *hook],
        check=False,
        input=told.encode(),
        cwd=tmp_path,
        timeout=60,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [[], ["--verbose"], ["tool", "more"], ["nothing"]])
def test_a_wrong_command_line_ends_with_0(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    assert main(["hook", *arguments]) == 0


def test_a_stdin_that_never_ends_is_left_in_time() -> None:
    reading, writing = os.pipe()
    command = (
        "import sys; from repo_navigator.hooks.run import run_hook; run_hook('tool', ends=True, seconds=0.5)"
    )
    try:
        run = subprocess.run(
            [sys.executable, "-c", command], check=False, stdin=reading, timeout=60, capture_output=True
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert (run.returncode, run.stdout) == (0, b"")


@pytest.mark.parametrize("folder", ["cache", "data"])
def test_folders_that_can_not_be_written_are_no_failure(
    folder: str,
    shop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(f"REPO_NAVIGATOR_{folder.upper()}", str(tmp_path / "file"))
    told = json.dumps(message(shop, "Bash", {"command": "grep -rn discount_total ."}))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(told.encode())))
    assert run_hook("tool", ends=False) == 0
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "kept", [b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"looks": "x", "said": 3, "reads": [1]}']
)
def test_what_is_remembered_may_be_damaged(kept: bytes, shop: Path) -> None:
    file = sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "s", shop)
    file.parent.mkdir(parents=True)
    file.write_bytes(kept)
    assert grepped(shop, "grep -rn discount_total .")
