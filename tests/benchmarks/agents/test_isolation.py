"""Candidates that misbehave: each ends as a failed run with its log, and leaves nothing behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.agents.isolation.sandbox import MEBIBYTE, Ended, EndReason, Limits, Room, run_isolated

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs namespaces and Landlock"),
]

LIMITS = Limits(
    seconds=20, memory_bytes=256 * MEBIBYTE, file_bytes=4 * MEBIBYTE, folder_bytes=8 * MEBIBYTE, processes=30
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def run_python(folder: Path, program: str, limits: Limits = LIMITS) -> Ended:
    return await run_isolated(("python", "-c", program), Room(folder / "room"), limits)


async def test_a_candidate_that_loops_for_ever_is_stopped_by_the_clock(tmp_path: Path) -> None:
    ended = await run_python(
        tmp_path, "print('begun', flush=True)\nwhile True: pass", LIMITS._replace(seconds=1)
    )
    assert ended.reason is EndReason.TIME
    assert not ended.passed
    assert ended.log() == "begun\n[stopped: time limit]"


async def test_a_candidate_that_fills_the_disk_with_files_is_stopped(tmp_path: Path) -> None:
    program = "import itertools\nfor n in itertools.count(): open(f'f{n}', 'wb').write(b'x' * 1_000_000)"
    ended = await run_python(tmp_path, program)
    assert ended.reason is EndReason.DISK
    assert "disk limit" in ended.log()


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("f = open('f', 'wb')\nwhile True: f.write(b'x' * 1_000_000)", "File too large"),
        ("open('/etc/shadow')", "PermissionError"),
        ("x = bytearray(1_000_000_000)", "Memory"),
    ],
)
async def test_a_candidate_that_takes_what_it_may_not_fails(tmp_path: Path, program: str, told: str) -> None:
    ended = await run_python(tmp_path, program)
    assert not ended.passed
    assert told in ended.log() or (told, ended.reason) == ("Memory", EndReason.MEMORY)


async def test_a_candidate_that_forks_without_end_is_stopped_with_all_its_children(tmp_path: Path) -> None:
    program = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
"""
    ended = await run_python(tmp_path, program)
    assert not ended.passed
    assert ended.reason in {EndReason.PROCESSES, EndReason.EXITED}
    assert not _processes_with(str(tmp_path))


async def test_no_child_outlives_its_candidate(tmp_path: Path) -> None:
    program = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
print('left')
"""
    ended = await run_python(tmp_path, program)
    assert ended.passed
    assert ended.seconds < 30
    assert not _processes_with(str(tmp_path))


async def test_a_candidate_sees_nothing_of_the_users_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "secret-of-the-user")
    program = f"""
import os
print(sorted(os.environ), 'secret' in str(os.environ))
try:
    print(open('/proc/{os.getpid()}/environ', 'rb').read(10))
except OSError as error:
    print(type(error).__name__)
"""
    ended = await run_python(tmp_path, program)
    assert "'HOME', 'LANG', 'PATH'" in ended.output
    assert "False" in ended.output
    # Of a process that it can't see, or that it may not look into.
    assert "PermissionError" in ended.output or "FileNotFoundError" in ended.output


async def test_a_candidate_sees_no_process_of_the_machine(tmp_path: Path) -> None:
    program = """
import os, subprocess
try:
    print('seen', [name for name in os.listdir('/proc') if name.isdigit()])
except OSError as error:
    print('seen', type(error).__name__)
print(subprocess.run(('ps', '-e', '-o', 'args='), capture_output=True, text=True, check=False).stdout)
"""
    ended = await run_python(tmp_path, program)
    assert str(os.getpid()) not in ended.output.split("'")
    assert "pytest" not in ended.output


async def test_a_candidate_reads_and_writes_no_files_of_the_user(tmp_path: Path) -> None:
    private = tmp_path / "private.txt"
    private.write_text("mine")
    program = f"""
for mode in 'ra':
    try:
        open({str(private)!r}, mode)
        print('opened')
    except PermissionError:
        print('refused')
"""
    ended = await run_python(tmp_path, program)
    assert ended.output == "refused\nrefused\n"
    assert private.read_text() == "mine"


async def test_a_candidate_has_no_network(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        ended = await run_python(tmp_path, f"import socket; socket.create_connection({address!r}, 5)")
    assert not ended.passed
    assert "Error" in ended.log()


async def test_a_candidate_that_fails_ends_with_its_status_and_its_log(tmp_path: Path) -> None:
    ended = await run_python(tmp_path, "print('so far'); raise SystemExit(3)")
    assert ended == (EndReason.EXITED, 3, "so far\n", ended.seconds)
    assert ended.log() == "so far\n[exit status 3]"


async def test_a_candidate_that_prints_without_end_keeps_first_and_last_lines(tmp_path: Path) -> None:
    program = "print('first')\nfor n in range(100_000): print('x' * 50)\nprint('last')"
    ended = await run_python(tmp_path, program, LIMITS._replace(output_bytes=2_000))
    assert ended.passed
    assert ended.output.startswith("first\n")
    assert ended.output.endswith("last\n")
    assert "bytes left out" in ended.output
    assert len(ended.output) < 2_100


async def test_a_program_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    ended = await run_isolated(("no-such-program",), Room(tmp_path / "room"), LIMITS)
    assert ended.log() == "no-such-program could not be started: No such file or directory\n[exit status 127]"


def _processes_with(words: str) -> list[str]:
    """Return the command lines of living processes that name ``words``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if words in line:
            found.append(line)
    return found
