"""What a plan names and the tree does not have: told by every command that takes the plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repo_navigator.main import main as repo_navigator
from repo_navigator.map_main import main as repo_map
from tests.support.trees import write

FILES = {
    "src/router.py": "class Router:\n    def dispatch(self, request):\n        return request\n",
    "src/auth/token.py": "def issue_token(user):\n    return user\n",
    "README.md": "# Shop\n\n## Install\n\npip\n",
}
MISSES = {
    "verbosity: [{pattern: 'src/autth/**', level: 4}]": (
        "No file matches `src/autth/**`. Nearest: `src/auth/**`."
    ),
    "focus: {symbols: [{name: Ruoter}]}": "No file defines `Ruoter`. Nearest: `Router`.",
    "focus: {symbols: [{name: Router.dispach}]}": "No file defines `Router.dispach`. Nearest: `dispatch`.",
    "verbosity: [{pattern: src/router.py, sections: [{pattern: Router.dispath, level: 4}]}]": (
        "No part of `src/router.py` is called `Router.dispath`. Nearest: `Router.dispatch`."
    ),
    "verbosity: [{pattern: README.md, sections: [{lines: 90-99, level: 4}]}]": (
        "No file of `README.md` has lines 90-99."
    ),
    "custom_queries: [{pattern: '**/*.go', query: '(x) @x'}]": "No file matches `**/*.go`.",
    "custom_queries: [{pattern: 'src/**', query: '(while_statement) @x'}]": (
        "`custom_queries[0]` captures nothing in the files of `src/**`."
    ),
}
HITS = (
    "{focus: {symbols: [{name: Router}, {name: dispatch}, {name: 'Router.*'}], paths: [{pattern: src}]}, "
    "verbosity: [{pattern: 'src/**', "
    "sections: [{pattern: dispatch, level: 4}, {pattern: 'issue_*', level: 3}]}, "
    "{pattern: README.md, sections: [{pattern: Install, level: 4}, {lines: 1-2, level: 4}]}], "
    "custom_queries: [{pattern: 'src/**', query: '(return_statement) @x'}]}"
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", FILES)


def planned(repo: Path, plan: str) -> str:
    file = repo.parent / "plan.yaml"
    file.write_text(plan)
    return str(file)


@pytest.mark.parametrize(("plan", "message"), MISSES.items())
def test_a_part_that_names_nothing_is_told_with_the_nearest(
    plan: str, message: str, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert repo_map(["generate", str(repo), "-C", planned(repo, plan), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["notes"] == [message]
    assert f"  {message}\n" in err


def test_a_part_that_names_something_is_not_told(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert repo_map(["generate", str(repo), "-C", planned(repo, HITS), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


def test_pricing_replay_and_navigation_tell_it_too(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(repo.parent / "data"))
    plan, message = next(iter(MISSES.items()))
    file = planned(repo, plan)
    assert repo_map(["costs", str(repo), "-C", file]) == 0
    assert message in capsys.readouterr().err
    assert repo_navigator(["replay", file, str(repo)]) == 0
    assert message in capsys.readouterr().err
    assert repo_navigator(["replay", file, str(repo), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == [message]
    flags = ("--goal", "issue a token", "--tokens", "2000", "--json")
    assert repo_navigator(["navigate", str(repo), "--plan", file, *flags]) == 0
    assert json.loads(capsys.readouterr().out)["notes"].count(message) == 1
