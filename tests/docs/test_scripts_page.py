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

from tests.docs.steering_page import make
from tests.support import console
from tests.support.trees import commit, git, write

PAGE = Path(__file__).parents[2] / "docs/scripts.md"
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A work tree of the shop."""
    return make(tmp_path / "shop")


@needs_jq
@pytest.mark.slow
def test_the_guide_prints_what_it_shows(shop: Path) -> None:
    for entry in console.entries(PAGE.read_text("utf-8")):
        assert console.run(entry.command, shop) == entry.printed, entry.command
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
    assert "`interest` in orderdesk/billing/dunning.py" in printed


@pytest.mark.slow
def test_the_client_says_why_where_no_repository_is_named(tmp_path: Path) -> None:
    write(tmp_path, console.files(PAGE.read_text("utf-8")))
    done = subprocess.run(
        [sys.executable, "client.py", "anything"],
        cwd=tmp_path,
        env=os.environ | {"PATH": PATH},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert "No repository is named" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


@needs_jq
@pytest.mark.slow
def test_the_job_tells_what_a_change_touches_and_fails_where_the_plan_drifted(
    shop: Path, tmp_path: Path
) -> None:
    plan = console.run(
        'repo-navigator navigate . "When is the next reminder of a claim sent?" --tokens 300 -q '
        "--save-plan ../plan.yaml > /dev/null; cat ../plan.yaml",
        shop,
    )
    commit(shop, {"docs/plan.yaml": plan}, message="Keep a plan")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(shop), str(clone))
    review, replay = _steps()[-2:]
    assert _run(replay, clone).endswith("no file that the map shows did.\n")
    dunning = clone / "orderdesk/billing/dunning.py"
    dunning.write_text(dunning.read_text("utf-8").replace("claim.due + ", "claim.due - "), "utf-8")
    git(clone, "commit", "-qam", "Break the reminder")
    assert "`next_reminder` (orderdesk/billing/dunning.py:" in _run(review, clone)
    assert "def next_reminder" in (clone.parent / "packet.txt").read_text("utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        _run(replay, clone)
    assert "- changed: orderdesk/billing/dunning.py\n" in (clone / "summary.md").read_text("utf-8")


def _steps() -> list[str]:
    job, other = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert yaml.safe_load(other)["navigator"]["script"]
    return [step["run"] for step in yaml.safe_load(job)["jobs"]["review"]["steps"] if "run" in step]


def _run(script: str, folder: Path) -> str:
    """Run a step as GitHub's runner does, and return the summary."""
    summary = folder / "summary.md"
    summary.unlink(missing_ok=True)
    given = {"PATH": PATH, "GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary)}
    given["RUNNER_TEMP"] = str(folder.parent)
    subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=os.environ | given,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return summary.read_text("utf-8")


def _table_of_fields() -> str:
    text = PAGE.read_text("utf-8")
    rows = text.partition("| field | what it holds |\n|---|---|\n")[2].partition("\n\n")[0]
    return "\n".join(f"{row.split('|')[1]}|" for row in rows.splitlines())
