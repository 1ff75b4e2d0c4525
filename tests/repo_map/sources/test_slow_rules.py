"""Ignore rules that are made to be slow cost a tree its rules, once, and nobody's time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from repo_map.sources import git
from repo_map.sources.files import list_files
from tests.support.trees import commit, write

NAMES = [f"{'a' * 200}{number}.py" for number in range(60)]
FOR_GIT = f"**/{'a*' * 60}b\nout/\n"
FILES = dict.fromkeys(NAMES, "x = 1\n") | {"out/a.py": "y = 2\n"}


@pytest.mark.skipif(sys.platform != "linux", reason="the system bounds no other process elsewhere")
@pytest.mark.parametrize("make", [commit, write], ids=["repository", "plain folder"])
def test_rules_that_are_slow_for_git_are_not_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path, dict[str, str]], Path]
) -> None:
    monkeypatch.setattr(git, "_LISTING_CPU_S", 1)
    root = write(make(tmp_path, {"a.py": "x = 1\n"}), {**FILES, ".gitignore": FOR_GIT})
    found = list_files(root)
    if not found.problems:
        pytest.skip("this git matches such patterns fast")
    assert set(found.paths) == {*FILES, "a.py", ".gitignore"}
    (problem,) = found.problems
    assert problem.what == (
        f"Git took more than 1 s of CPU time in `{root}`, as very slow patterns in a `.gitignore` can "
        "cause; simplify them. The folder was listed without its repository."
    )
    monkeypatch.setenv("PATH", "")  # So that git, if it were asked again, would be missing.
    again = list_files(root)
    assert (again.paths, again.problems) == (found.paths, found.problems)
