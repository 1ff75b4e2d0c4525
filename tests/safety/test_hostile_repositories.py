"""A hostile repository runs nothing, leads nowhere, and breaks out of nothing."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from repo_map.errors import RepositoryNotFoundError
from repo_map.history import HistoryError, file_commits
from repo_map.index.build import build_index, refresh_index
from repo_map.index.store import Store
from repo_map.outline.draw import RepoMap, draw_map
from repo_map.outline.rendering import path_in_header, render_path
from repo_map.plan.yaml import parse_plan
from repo_map.sources.disk import escapes_root, open_inside
from repo_map.sources.source import FolderSource
from repo_navigator.main import main
from tests.support.hostile import CODE, OUTSIDE, TRAPS, Trap, make_place
from tests.support.trees import commit, git, write

EVERYTHING = parse_plan("budget: 20000\nverbosity:\n  - {pattern: '**', level: 4}\n")
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="traps are shell scripts and links")


def navigated(root: Path) -> tuple[RepoMap, str]:
    index = build_index(root, store=Store(None), workers=1)
    with suppress(HistoryError):
        found = [file_commits(index.build.source, path, 8) for path in index.paths[:3]]
        assert OUTSIDE not in repr(found)
    message = "\n".join(f"{problem.path}: {problem.what}" for problem in index.problems)
    return draw_map(refresh_index(index), EVERYTHING), message


@needs_posix
@pytest.mark.parametrize("trap", TRAPS, ids=[trap.name for trap in TRAPS])
def test_a_hostile_repository_gets_what_it_must(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repo_map.sources.git.TIMEOUT_S", 0.4 if trap.message == "did not answer" else 60.0)
    place = make_place(tmp_path)
    trap.plant(place)
    place.ran.unlink(missing_ok=True)
    drawn, message = navigated(place.root)
    assert not place.ran.exists(), place.ran.read_text()
    assert OUTSIDE not in drawn.text
    assert OUTSIDE not in message
    assert trap.message in message
    assert ("did not answer" in message) == (trap.message == "did not answer")
    assert ('return "started"' in drawn.text) == trap.shows_app
    # Every line that begins a file is the path of one of its files, and no other line is.
    told = {render_path(file.path): file.path for file in drawn.blocks}
    lines = [path_in_header(line) or line for line in drawn.text.split("\n")]
    headers = [told[line] for line in lines if line in told]
    assert sorted(headers) == sorted(file.path for file in drawn.blocks)
    assert not any(ord(each) < 32 and each not in "\n\t" for each in drawn.text)
    assert not any(each in drawn.text for each in "\u202e\u2066\U000e0041\x7f\x9b")


@needs_posix
def test_the_command_line_runs_nothing_of_a_hostile_repository(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = make_place(tmp_path)
    next(trap for trap in TRAPS if trap.name == "config").plant(place)
    place.ran.unlink(missing_ok=True)
    assert main(["navigate", str(place.root), "--goal", "start the app"]) == 0
    assert 'return "started"' in capfd.readouterr().out
    assert not place.ran.exists(), place.ran.read_text()


@needs_posix
def test_a_folder_that_becomes_a_link_under_the_walk_is_not_followed(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    write(place.root, {**CODE, "lib/code.py": "y = 2\n"})
    index = build_index(place.root, store=Store(None), workers=1)
    (place.root / "lib").rename(tmp_path / "moved")
    (place.root / "lib").symlink_to(place.outside)
    assert OUTSIDE not in draw_map(index, EVERYTHING).text
    assert OUTSIDE not in draw_map(refresh_index(index), EVERYTHING).text
    with pytest.raises(OSError, match=r"link|directory"):
        os.close(open_inside(place.root, "lib/code.py"))


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../x", "/etc/passwd", "a//b", "./a", ".git/config", "a/.GIT/config", "..", "", "a/."],
)
def test_a_path_that_leads_out_of_the_tree_is_no_path_of_it(path: str, tmp_path: Path) -> None:
    assert escapes_root(path)
    with pytest.raises(OSError, match="leads out"):
        open_inside(tmp_path, path)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
@pytest.mark.parametrize("folder", ["/proc/self", "/proc", "/sys", "/dev"])
def test_folders_of_the_kernel_are_no_repositories(folder: str) -> None:
    with pytest.raises(RepositoryNotFoundError, match="processes or devices"):
        build_index(Path(folder), store=Store(None))


@needs_posix
def test_a_linked_work_tree_and_a_submodule_are_believed(tmp_path: Path) -> None:
    main = commit(tmp_path / "main", CODE)
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    git(main, "submodule", "--quiet", "add", str(main), "sub")
    for root in (tmp_path / "linked", main / "sub"):
        assert file_commits(FolderSource(root), next(iter(CODE)), 8)
        drawn, message = navigated(root)
        assert 'return "started"' in drawn.text
        assert "names the repository" not in message
