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
import yaml

from tests.support import console
from tests.support.trees import git, write

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
    assert fields == set(re.findall(r"`(\w+)`(?=[^|]*\|)", _table_of_fields()))


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


@needs_jq
@pytest.mark.slow
def test_the_job_tells_what_a_change_touches_and_fails_where_the_plan_drifted(
    shop: Path, tmp_path: Path
) -> None:
    clone = _clone_with_a_plan(shop, tmp_path)
    steps = yaml.safe_load(_jobs()[0])["jobs"]["review"]["steps"]
    review, replay = [step["run"] for step in steps if "run" in step][-2:]
    done, summary = _run_step(replay, clone)
    assert done.returncode == 0, done.stderr
    assert summary.endswith("no file in the map did.\n")
    _break_the_reminder(clone)
    done, summary = _run_step(review, clone)
    assert done.returncode == 0, done.stderr
    assert "`next_reminder` (orderdesk/billing/dunning.py:" in summary
    assert "def next_reminder" in (clone.parent / "packet.txt").read_text("utf-8")
    done, summary = _run_step(replay, clone)
    assert done.returncode == 6
    assert "- changed: orderdesk/billing/dunning.py\n" in summary


def _clone_with_a_plan(shop: Path, folder: Path) -> Path:
    """A clone of the shop, which keeps a plan as the page says."""
    console.run(_commands("the plan"), shop)
    clone = folder / "clone"
    git(folder, "clone", "-q", str(shop), str(clone))
    return clone


def _break_the_reminder(clone: Path) -> None:
    dunning = clone / "orderdesk/billing/dunning.py"
    dunning.write_text(dunning.read_text("utf-8").replace("claim.due + ", "claim.due - "), "utf-8")
    git(clone, "commit", "-qam", "Break the reminder")


def _commands(name: str) -> str:
    """Return the commands that the page shows below ``<!-- name -->``."""
    (found,) = re.findall(
        rf"^<!-- {name} -->\n```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return f"set -e\n{found}"


def _jobs() -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def _run_step(script: str, folder: Path) -> tuple[subprocess.CompletedProcess[bytes], str]:
    """Run a step as GitHub's runner does, and return the summary too."""
    summary = folder.parent / "summary.md"
    summary.unlink(missing_ok=True)
    given = {
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(summary),
        "RUNNER_TEMP": str(folder.parent),
    }
    done = _run(script, folder, given)
    return done, summary.read_text("utf-8")


def _run(script: str, folder: Path, given: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": PATH} | given,
        check=False,
        capture_output=True,
        timeout=120,
    )


def _table_of_fields() -> str:
    text = PAGE.read_text("utf-8")
    rows = text.partition("| field | what it holds |\n|---|---|\n")[2].partition("\n\n")[0]
    return "\n".join(f"{row.split('|')[1]}|" for row in rows.splitlines())
