"""`make test-oldest` says what it runs on, or why it runs nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("bash", "dirname", "env", "sed")
needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason="a system without " + ", ".join(TOOLS)
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The script beside a promise of a Python that no distribution has, and a PATH with little in it."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/test-oldest", tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.99"\n')
    (tmp_path / "bin").mkdir()
    for name in TOOLS:
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    return tmp_path


def offer(checkout: Path, name: str, script: str) -> None:
    command = checkout / "bin" / name
    command.write_text(f"#!{shutil.which('bash')}\n{script}\n")
    command.chmod(0o755)


def run(checkout: Path) -> str:
    done = subprocess.run(
        [checkout / ".ci/test-oldest"],
        env={**os.environ, "PATH": str(checkout / "bin")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


SKIPPED = "The tests were not run on the distribution's Python 3.99: "
MISSING = "/usr/bin/python3.99 or its ensurepip is missing"


@needs_tools
def test_without_apt_get_one_line_says_what_is_missing(checkout: Path) -> None:
    assert run(checkout) == f"{SKIPPED}{MISSING}, and there is no apt-get to install it.\n"


@needs_tools
def test_who_may_not_install_is_told_the_command(checkout: Path) -> None:
    offer(checkout, "apt-get", "touch ran")
    offer(checkout, "id", "echo 1000")
    assert run(checkout) == f"{SKIPPED}{MISSING}; run: sudo apt-get install python3.99-venv.\n"
    assert not (checkout / "ran").exists()


@needs_tools
def test_root_installs_it_and_is_told_where_that_fails(checkout: Path) -> None:
    offer(checkout, "apt-get", 'echo "$*" >> calls; test "$1" = update')
    offer(checkout, "id", "echo 0")
    assert run(checkout) == f"{SKIPPED}apt-get install python3.99-venv failed.\n"
    install = "install --quiet --quiet --yes --no-install-recommends python3.99-venv"
    assert (checkout / "calls").read_text().splitlines() == [install, "update --quiet --quiet", install]
    offer(checkout, "apt-get", "exit 0")
    assert run(checkout) == f"{SKIPPED}python3.99-venv brought no /usr/bin/python3.99 with ensurepip.\n"
