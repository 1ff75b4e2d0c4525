"""Error texts against the sources: the list lacks none, and what no server call brings about comes here."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from navigator.errors import NavigatorError
from navigator.navigator import Navigator
from navigator.records.pricing import load_prices
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.steps.request import checked, first_state
from navigator.steps.turn import amend, amend_by_model
from navigator.steps.turn_request import turn_request
from repo_map import globs
from repo_map.drawing.draw import draw_map
from repo_map.errors import RepoMapError
from repo_map.impact.git_changes import read_changes
from repo_map.index import build_index
from repo_map.indexing.store import Store
from repo_map.plan.model import FlightPlan
from repo_map.plan.yaml import parse_plan
from repo_map.worktree.files import resolve_root
from repo_map.worktree.git import Git, GitOutput, git_version
from repo_navigator.map_main import main
from tests.support.error_texts import (
    BELOW,
    ROOT,
    constructed,
    documented,
    is_whole_file_run,
    pattern,
    says_the_same,
)
from tests.support.trees import commit, git, write

SEEN: set[str] = set()


@pytest.fixture(scope="module", autouse=True)
def _every_text_below_the_server_is_told(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    untold = {text for text, section in documented().items() if section == BELOW} - SEEN
    assert not (is_whole_file_run(request) and untold), untold


def assert_documented(message: str) -> None:
    matching = [text for text in documented() if pattern(text).fullmatch(message)]
    assert matching, f"tests/support/error_texts.txt lacks: {message}"
    SEEN.update(matching)


def assert_raises_documented(act: Callable[[], object]) -> None:
    with pytest.raises((RepoMapError, NavigatorError)) as caught:
        act()
    assert_documented(str(caught.value))


def test_every_text_of_the_sources_is_in_the_list() -> None:
    known = documented()
    found = constructed()
    assert len(found) > 80
    missing = [
        f"{place}: {text}" for text, place in found if not any(says_the_same(text, row) for row in known)
    ]
    assert missing == []


def test_the_page_quotes_no_error_that_there_is_not() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8").partition("| Text |")[2]
    quoted = re.findall(r"^\| (?!---)(.+?) \| .+? \| .+? \|$", page, re.MULTILINE)
    assert len(quoted) > 15
    known = documented()
    assert [text for text in quoted if not any(says_the_same(text, row) for row in known)] == []


def test_texts_of_globs() -> None:
    for glob in ("", "src/{a", "src/[a", "src/[z-a]", "{a,b}" * 12, "{" * 60, "a/**b" * 20):
        assert_raises_documented(lambda glob=glob: globs.matches(glob, "src/a.py"))  # type: ignore[misc]


def test_texts_of_plans(tmp_path: Path) -> None:
    for plan in ("x" * 2_000_001, "budget: \x07"):
        assert_raises_documented(lambda plan=plan: parse_plan(plan))  # type: ignore[misc]
    rules = [{"pattern": f"{number}.py", "level": 1} for number in range(2_000)]
    assert_raises_documented(lambda: amend(FlightPlan(), {"verbosity": rules}))
    sections = [{"pattern": f"*{number}", "level": 1} for number in range(10_001)]
    rule = {"pattern": "a.py", "sections": sections}
    assert_raises_documented(lambda: amend(FlightPlan(), {"verbosity": [rule]}))
    (tmp_path / "a.py").write_text("def f(): ...\n" * 500)
    index = build_index(tmp_path, store=Store(None))
    plan = FlightPlan.model_validate({"verbosity": [rule | {"sections": sections[:4_001]}]})
    assert_raises_documented(lambda: draw_map(index, plan))
    for request in (
        NavigationRequest(" ", Path()),
        NavigationRequest("x", Path(), mode="fast"),  # type: ignore[arg-type]
        NavigationRequest("x", Path(), flight_plan={"budget": "many"}),
    ):
        assert_raises_documented(lambda request=request: checked(request, NavigatorSettings()))  # type: ignore[misc]


def test_texts_that_a_model_is_told(tmp_path: Path) -> None:
    from navigator.records.pricing import FREE

    index = build_index(write(tmp_path, {"a.py": "x = 1\n"}), workers=1)
    plan = {"verbosity": [{"pattern": "a.py", "level": 0}]}
    task = checked(NavigationRequest("x", tmp_path, flight_plan=plan), NavigatorSettings())
    navigation = first_state(task, "nav-1", "/r", FREE.rates("embedded"), 0.0)
    back = {"verbosity": [{"pattern": "a.py", "level": 4}]}
    choices = ((" ", {}), ("more", {"budget": 10**6}), ("more", {"numbers": [1]}), ("more", back))
    for reasoning, updates in choices:
        assert_raises_documented(lambda r=reasoning, u=updates: amend_by_model(navigation, index, r, u))  # type: ignore[misc]


def test_texts_of_prices_and_actions(tmp_path: Path) -> None:
    broken = tmp_path / "prices.yaml"
    broken.write_text("models: [")
    for path in (tmp_path / "none", broken):
        assert_raises_documented(lambda path=path: load_prices(path))  # type: ignore[misc]
    assert_raises_documented(lambda: turn_request(action="stop"))


@pytest.mark.anyio
async def test_texts_of_the_navigator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("navigator.models.vendors.find_spec", lambda _: None)
    urls = {"openai": "http://127.0.0.1:1/v1"}
    navigator = Navigator(NavigatorSettings(data_dir=None, use_cache=False, workers=1, model_urls=urls))
    (tmp_path / "a.py").write_text("x = 1\n")
    for request in (
        NavigationRequest("x", tmp_path / "none"),
        NavigationRequest("x", tmp_path, model="openai/x"),
    ):
        with pytest.raises((RepoMapError, NavigatorError)) as caught:
            await navigator.open(request)
        assert_documented(str(caught.value))
    with pytest.raises(NavigatorError) as unknown:
        await navigator.step("nav-none")
    assert_documented(str(unknown.value))
    await navigator.aclose()


def test_texts_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("def one():\n    return 1\n" * 20)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"budget: \xe9")
    monkeypatch.setitem(sys.modules, "repo_map.worktree.watching", None)
    generate: list[Any] = ["generate", tmp_path, "--no-cache"]
    for arguments in (
        [*generate, "-v", "src/**"],
        [*generate, "-C", tmp_path / "none.yaml"],
        [*generate, "-C", latin],
        [*generate, "-v", "a.py:4", "--tokens", "30", "--strict"],
        ["watch", tmp_path, "--no-cache"],
    ):
        assert main([str(argument) for argument in arguments]) == 2
        assert_documented(capsys.readouterr().err.strip().removeprefix("repo-map: "))


def test_texts_of_folders_and_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_raises_documented(lambda: resolve_root(tmp_path / "none"))
    assert_raises_documented(lambda: Git(tmp_path))
    claimed, other = tmp_path / "claimed", tmp_path / "other"
    claimed.mkdir()
    subprocess.run(["git", "init", "-q", other], check=True)
    assert_raises_documented(lambda: Git(other).ask("log"))
    with monkeypatch.context() as patch:
        patch.setattr("repo_map.worktree.git.LONGEST_S", 0.0)
        assert_raises_documented(lambda: Git(other).ask("log"))
    (claimed / ".git").write_text(f"gitdir: {other / '.git'}\n")
    assert_raises_documented(lambda: Git(claimed))
    (other / ".git" / "shallow").mkdir()
    (other / ".git" / "index").symlink_to("HEAD")
    assert_raises_documented(lambda: Git(other))
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    assert_raises_documented(lambda: Git(tmp_path))
    git = folder / "git"
    git.write_text("#!/bin/sh\nexit 1\n")
    git.chmod(0o755)
    assert_raises_documented(git_version)
    git.write_text("no program")
    assert_raises_documented(git_version)


def test_texts_of_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("a = 1\n")
    assert_raises_documented(lambda: read_changes(build_index(tmp_path, store=Store(None)), "worktree"))
    commit(tmp_path, {"a.py": "a = 2\n"})
    git(tmp_path, "branch", "other")
    git(tmp_path, "checkout", "-q", "--orphan", "apart")
    commit(tmp_path, {"b.py": "b = 1\n"})
    index = build_index(tmp_path, store=Store(None))
    for named in ("--output=x", "nowhere", "other...HEAD"):
        assert_raises_documented(lambda named=named: read_changes(index, named))  # type: ignore[misc]
    answer = Git.history

    def without_a_tree(self: Git, *arguments: str, **given: Any) -> GitOutput | None:
        output = answer(self, *arguments, **given)
        return output if output is None or arguments[0] != "ls-tree" else output._replace(status=128)

    monkeypatch.setattr(Git, "history", without_a_tree)
    assert_raises_documented(lambda: read_changes(index, "HEAD"))

    def late(self: Git, *arguments: str, **given: Any) -> GitOutput | None:
        return None if arguments[0] == "ls-tree" else answer(self, *arguments, **given)

    monkeypatch.setattr(Git, "history", late)
    assert_raises_documented(lambda: read_changes(index, "HEAD"))


@pytest.mark.skipif(sys.platform != "linux", reason="the system bounds no other process elsewhere")
def test_a_git_that_takes_too_much_time_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path / "slow", {"a.py": ""})
    (tmp_path / "git").write_text("#!/bin/sh\nwhile :; do :; done\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("repo_map.worktree.git._LISTING_CPU_S", 1)
    assert_raises_documented(lambda: Git(tmp_path / "slow").ask("ls-files"))


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for git by a shell script")
def test_a_repository_that_git_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = tmp_path / "git"
    git.write_text(
        "#!/bin/sh\necho \"fatal: detected dubious ownership in repository at '/srv/it'\" >&2\nexit 128\n"
    )
    git.chmod(0o755)
    commit(tmp_path / "owned", {"a.py": ""})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert_raises_documented(lambda: Git(tmp_path / "owned").ask("log"))


def test_a_tree_of_too_many_folders_to_watch_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watching = pytest.importorskip("repo_map.worktree.watching")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    watch = watching.Watch(tmp_path)
    monkeypatch.setattr(watch._observer, "start", refuse)
    assert_raises_documented(watch.__enter__)
