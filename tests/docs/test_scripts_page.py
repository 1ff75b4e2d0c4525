"""The guide for scripts and CI is run: its commands, its job and its program, on the benchmarks' shop."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import console
from tests.support.trees import write

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/scripts.md"
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shop as a reader copies it, by the commands of the page."""
    settings = "[user]\nname = A reader\nemail = reader@example.com\n[init]\ndefaultBranch = main\n"
    # Tests of the shop itself may have left caches beside its files.
    ignored = f"[core]\nexcludesFile = {write(tmp_path, {'ignored': '__pycache__/'}) / 'ignored'}\n"
    write(tmp_path, {"gitconfig": settings + ignored})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    with monkeypatch.context() as patch:
        patch.setenv("HOME", str(tmp_path))
        console.run(_commands("the shop"), ROOT)
    return tmp_path / "navigator-try/shop"


@needs_jq
@pytest.mark.slow
def test_the_guides_commands_run(shop: Path) -> None:
    for command, printed in console.entries(PAGE.read_text("utf-8")):
        assert bool(console.run(command, shop)) == bool(printed), command
    fields = set(json.loads((shop.parent / "packet.json").read_text("utf-8")))
    assert fields == _listed_fields()


@pytest.mark.slow
def test_the_client_of_a_few_lines_gets_code_and_an_answer(shop: Path, tmp_path: Path) -> None:
    write(tmp_path, console.files(PAGE.read_text("utf-8")))
    command = [sys.executable, str(tmp_path / "client.py"), "When is the next reminder of a claim sent?"]
    done = subprocess.run(
        command, cwd=shop, env=os.environ | {"PATH": PATH}, capture_output=True, check=True, timeout=120
    )
    printed = done.stdout.decode()
    assert "def next_reminder(claim: Claim) -> date:" in printed
    assert "orderdesk/billing/dunning.py" in printed


@pytest.mark.slow
def test_the_job_fails_once_the_code_of_the_plan_changes(shop: Path) -> None:
    console.run(_commands("the plan"), shop)
    assert _run(_commands("the job"), shop).returncode == 0
    dunning = shop / "orderdesk/billing/dunning.py"
    dunning.write_text(dunning.read_text("utf-8").replace("claim.due + ", "claim.due - "), "utf-8")
    assert _run(_commands("the job"), shop).returncode == 6


def _commands(name: str) -> str:
    """Return the commands that the page shows below ``<!-- name -->``."""
    (found,) = re.findall(
        rf"^<!-- {name} -->\n```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return f"set -e\n{found}"


def _run(script: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": PATH},
        check=False,
        capture_output=True,
        timeout=120,
    )


def _listed_fields() -> set[str]:
    """Return the fields that the section of the JSON object lists, before the colon of each entry."""
    section = PAGE.read_text("utf-8").partition("## The JSON object\n")[2].partition("\n## ")[0]
    entries = re.findall(r"^- ([^:\n]+):", section, re.MULTILINE)
    return {field for entry in entries for field in re.findall(r"`(\w+)`", entry)}
