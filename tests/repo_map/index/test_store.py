"""The cache on disk: what survives in it, and that losing any of it costs only time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repo_map.cache import cache_folder
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.limits import Limits
from repo_map.ranking.score import score_goal
from tests.support.trees import commit, git, tables_digest, write

FILES: dict[str, str | bytes] = {
    "app/router.py": "class Router:\n    def dispatch(self, path):\n        return self.find(path)\n",
    "app/main.py": "from app.router import Router\n\nrouter = Router()\nrouter.dispatch('/')\n",
    "README.md": "# App\n\nA small app.\n\n## Use\n\nRun it.\n",
    "logo.png": b"\x89PNG\0\0",
}


def build(root: Path, cache: Path | None) -> tuple[Index, int]:
    """Build an index and return it with the number of files parsed for it."""
    index = build_index(root, store=Store(cache))
    return index, index.build.state.parsed


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return commit(tmp_path / "tree", FILES)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_a_second_start_parses_nothing_and_gives_the_same_tables(tree: Path, cache: Path) -> None:
    cold, parsed = build(tree, cache)
    warm, parsed_again = build(tree, cache)
    assert (parsed, parsed_again) == (4, 0)
    assert tables_digest(warm) == tables_digest(cold) == tables_digest(build(tree, None)[0])
    assert warm.fingerprint == cold.fingerprint
    assert warm.problems == cold.problems == ()


def test_a_touched_file_is_read_again_but_not_parsed(tree: Path, cache: Path) -> None:
    build(tree, cache)
    os.utime(tree / "README.md", ns=(1, 1))
    assert build(tree, cache)[1] == 0


def test_an_edit_that_leaves_size_and_time_alone_is_seen(tree: Path, cache: Path) -> None:
    build(tree, cache)
    path = tree / "app/main.py"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"'/'", b"'x'"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    again, parsed = build(tree, cache)
    assert parsed == 1
    assert b"'x'" in again.sources.content(again.file_id("app/main.py") or 0)


def _branch(at: int) -> dict[str, str | bytes]:
    """Return the files of one of four branches: all share one, two share another."""
    names = {"all.py": "all", "two.py": f"two_{at // 2}", "own.py": f"own_{at}"}
    told = "Some words that nobody reads.\n" * 3500
    return {path: f'def {name}():\n    """{told}"""\n    return own(two)\n' for path, name in names.items()}


@given(st.lists(st.integers(0, 3), min_size=3, max_size=8))
@settings(max_examples=8, deadline=None)
def test_a_file_that_any_branch_had_is_not_parsed_again_when_one_goes_back_and_forth(
    visits: list[int],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree, cache = Path(folder, "tree"), Path(folder, "cache")
        known: set[tuple[str, str | bytes]] = set()
        for at in visits:
            index, parsed = build(write(tree, _branch(at)), cache)
            assert parsed == len(_branch(at).items() - known)
            assert tables_digest(index) == tables_digest(build(tree, None)[0])
            known |= _branch(at).items()


def test_a_linked_work_tree_parses_nothing_that_another_has_parsed(tmp_path: Path, cache: Path) -> None:
    body = "some words\n" * 4000
    tree = commit(tmp_path / "tree", {f"m{n}.txt": f"# {n}\n{body}" for n in range(40)})
    first, _ = build(tree, cache)
    git(tree, "worktree", "add", "-q", "../linked", "-b", "other")
    write(tmp_path / "linked", {"new.py": "def new(): ...\n"})
    linked, parsed = build(tmp_path / "linked", cache)
    assert parsed == 1
    assert build(tmp_path / "linked", cache)[1] == 0
    assert tables_digest(linked) == tables_digest(build(tmp_path / "linked", None)[0])
    assert linked.build.source.name != first.build.source.name


@pytest.mark.parametrize("part", ["*.index", "*.tree"])
@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "noise", "gone"])
def test_a_damaged_cache_is_rebuilt(tree: Path, cache: Path, part: str, harm: str) -> None:
    whole, _ = build(tree, cache)
    (path,) = (cache / "snapshots").glob(part)
    content = bytearray(path.read_bytes())
    flipped = bytearray(content)
    flipped[len(content) // 3 : len(content) // 3 + 70] = bytes(70)  # Longer than any padding.
    harmed: dict[str, bytes | bytearray] = {
        "flip": flipped,
        "cut": content[:-9],
        "empty": b"",
        "noise": os.urandom(4096),
    }
    path.unlink()
    if harm != "gone":
        path.write_bytes(harmed[harm])
    again, parsed = build(tree, cache)
    assert parsed == 4
    assert tables_digest(again) == tables_digest(whole)
    noted = [problem for problem in again.problems if "cached index could not be used" in problem.what]
    assert len(noted) == (harm != "gone")
    assert build(tree, cache)[1] == 0


def test_every_flipped_bit_of_a_snapshot_is_noticed(tmp_path: Path, cache: Path) -> None:
    tree = commit(tmp_path / "tree", {"a.py": "def f(x):\n    return x\n"})
    build(tree, cache)
    (path,) = (cache / "snapshots").glob("*.index")
    content = path.read_bytes()
    whole = tables_digest(build(tree, None)[0])
    for position in range(0, len(content), 97):
        path.write_bytes(content[:position] + bytes([content[position] ^ 4]) + content[position + 1 :])
        assert tables_digest(build(tree, cache)[0]) == whole


def test_a_snapshot_of_another_version_is_left_alone_and_not_read(
    tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tree, cache)
    with monkeypatch.context() as other:
        other.setattr("repo_map.index.store.extractor_version", lambda: "0" * 16)
        store = Store(cache)
    assert [build_index(tree, store=store).build.state.parsed for _ in range(2)] == [4, 0]
    assert build(tree, cache)[1] == 0


def test_a_cache_that_can_not_be_written_is_told_and_does_no_harm(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    index, parsed = build(tree, tmp_path / "cache")
    assert parsed == 4
    (problem,) = index.problems
    assert problem.what.startswith(f"the cache `{tmp_path}/cache` can't be written (")
    assert index.definitions(index.file_id("README.md") or 0)[0].name == "App"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device there")
def test_a_full_disk_is_told_and_leaves_no_half_file(
    tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repo_map.cache.os.fdopen", lambda descriptor, mode: open("/dev/full", mode))  # noqa: PTH123, SIM115
    index, parsed = build(tree, cache)
    assert parsed == 4
    assert ["No space left on device" in problem.what for problem in index.problems] == [True]
    assert list((cache / "snapshots").iterdir()) == []


def test_the_snapshots_used_least_recently_go_when_the_limit_is_reached(tmp_path: Path, cache: Path) -> None:
    trees = [commit(tmp_path / name, {f"{name}.py": f"def {name}(): ...\n"}) for name in "abc"]
    build(trees[0], cache)
    (first,) = (cache / "snapshots").glob("*.index")
    size = first.stat().st_size
    build(trees[1], cache)
    for age, path in enumerate(sorted((cache / "snapshots").glob("*.index"), key=lambda path: path != first)):
        os.utime(path, (age, age))  # The first tree's is the older one.
    build(trees[0], cache)  # Now it is the newer one.
    build_index(trees[2], store=Store(cache, Limits(cache_mb=size * 2.5 / 1_000_000)))
    assert [build(tree, cache)[1] for tree in (trees[0], trees[2], trees[1])] == [0, 0, 1]


def test_states_of_removed_trees_are_pruned_with_their_snapshots(tmp_path: Path, cache: Path) -> None:
    for name in "abcdef":
        root = commit(tmp_path / name, {f"{name}.py": f"def {name}(): ...\n"})
        build_index(root, store=Store(cache, Limits(cache_mb=0.000001)))
    assert len(list((cache / "snapshots").iterdir())) == 2


def test_many_processes_that_build_at_once_all_get_the_same(tree: Path, cache: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from repo_map.index.build import build_index; from repo_map.index.store import Store\n"
        "index = build_index(Path(sys.argv[1]), store=Store(Path(sys.argv[2])))\n"
        "print(index.fingerprint, len(index), len(index.problems))"
    )
    command = [sys.executable, "-c", program, str(tree), str(cache)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    answers = {process.communicate()[0] for process in running}
    assert len(answers) == 1
    assert build(tree, cache)[1] == 0
    assert not list(cache.rglob("*.part"))


def test_the_cache_folder_is_the_platforms_unless_the_variable_names_one() -> None:
    home = Path("/home/ann")
    assert cache_folder({}, "linux", home) == home / ".cache/repo-navigator"
    assert cache_folder({"XDG_CACHE_HOME": "/var/c"}, "linux", home) == Path("/var/c/repo-navigator")
    assert cache_folder({"XDG_CACHE_HOME": "relative"}, "linux", home) == home / ".cache/repo-navigator"
    assert cache_folder({}, "darwin", home) == home / "Library/Caches/repo-navigator"
    assert cache_folder({"LOCALAPPDATA": "/L"}, "win32", home) == Path("/L/repo-navigator/Cache")
    assert cache_folder({"REPO_NAVIGATOR_CACHE": "/here"}, "darwin", home) == Path("/here")
    assert cache_folder({"REPO_NAVIGATOR_CACHE": "off"}, "linux", home) is None


def put_holes(path: Path) -> None:
    path.write_bytes(b"")
    os.truncate(path, 1 << 36)


OBSTACLES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "holes": put_holes,
}


@pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and holes")
@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_stands_in_the_place_of_a_cached_file_is_not_waited_for(tmp_path: Path, obstacle: str) -> None:
    root = commit(tmp_path / "root", FILES)
    cache = tmp_path / "cache"

    def found() -> tuple[str, str]:
        index = build_index(root, store=Store(cache), workers=1)
        relevance = score_goal(index, "dispatch a path")
        return tables_digest(index), repr(relevance.files)

    whole = found()
    files = [path for path in sorted(cache.rglob("*")) if path.is_file()]
    assert {path.parent.name for path in files} >= {"snapshots"}
    for path in files:
        path.unlink()
        OBSTACLES[obstacle](path)
        assert found() == whole


def test_a_snapshot_that_was_copied_over_another_one_is_not_believed(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    roots = [write(tmp_path / name, {f"{name}.py": f"def {name}(): ...\n"}) for name in ("one", "two")]
    whole = [tables_digest(build_index(root, store=store, workers=1)) for root in roots]
    one, two = sorted((tmp_path / "cache/snapshots").glob("*.index"))
    stored = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(stored)
    assert [tables_digest(build_index(root, store=store, workers=1)) for root in roots] == whole
