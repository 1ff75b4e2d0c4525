"""The index: what it says of a tree, and that how it came about makes no difference."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repo_map.index.build import build_index, refresh_index
from repo_map.index.index import Index, current_symbols
from repo_map.index.store import Store
from repo_map.index.worker_pool import close_idle
from repo_map.limits import Limits
from repo_map.sources.file_kinds import FileFlag
from tests.support.trees import commit, git, tables_digest, write

NO_STORE = Store(None)

ROUTER = '''"""Routes requests."""

import os
from app.errors import NotFound, Missing as M


class Router:
    """Finds handlers."""

    def dispatch(self, path: str) -> None:
        """Call the handler."""
        raise NotFound(path)


def helper():
    return Router().dispatch(os.sep)
'''
FILES: dict[str, str | bytes] = {
    "app/router.py": ROUTER,
    "app/errors.py": "class NotFound(Exception):\n    pass\n",
    "README.md": "# App\n\nText.\n\n## Use\n",
    "logo.png": b"\x89PNG\0\0",
    "notes.txt": "plain\r\ntext\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return commit(tmp_path / "tree", FILES)


def index_of(root: Path) -> Index:
    return build_index(root, store=NO_STORE, workers=1)


def file_id(index: Index, path: str) -> int:
    return index.paths.index(path)


def test_files_are_in_path_order_and_found_by_path(tree: Path) -> None:
    index = index_of(tree)
    assert index.paths == ("README.md", "app/errors.py", "app/router.py", "logo.png", "notes.txt")
    assert [index.file_id(path) for path in index.paths] == [0, 1, 2, 3, 4]
    assert index.file_id("nowhere.py") is None
    assert index.files.lines.tolist() == [5, 2, 16, 0, 2]
    assert index.files.size.tolist() == [len(FILES[path]) for path in index.paths]
    languages = [index.languages[i] for i in index.files.language.tolist()]
    assert languages[:3] == ["markdown", "python", "python"]
    assert FileFlag(int(index.files.flags[3])) == FileFlag.BINARY
    assert index.build.source.parts[0].root == tree.resolve()


def test_definitions_know_their_names_places_and_parents(tree: Path) -> None:
    index = index_of(tree)
    router = file_id(index, "app/router.py")
    definitions = index.definitions(router)
    assert [(d.name, d.kind, d.start, d.end) for d in definitions if d.kind != "constant"] == [
        ("Router", "class", 7, 12),
        ("dispatch", "method", 10, 12),
        ("helper", "function", 15, 16),
    ]
    assert index.qualified_name(router, 1) == "Router.dispatch"
    assert [d.name for d in index.definitions(file_id(index, "README.md"))] == ["App", "Use"]
    assert index.definitions(file_id(index, "logo.png")) == ()


def test_text_has_one_kind_of_line_end_and_survives_any_bytes(tmp_path: Path) -> None:
    tree = commit(tmp_path, {"a.txt": b"\xef\xbb\xbfone\r\ntwo\xff\n", "logo.png": b"\0"})
    index = index_of(tree)
    assert index.sources.text(0) == "one\ntwo�\n"
    assert index.sources.content(1) == b"\0"


def test_an_edit_after_the_build_is_noticed_and_never_mixed_with_old_lines(tree: Path) -> None:
    index = index_of(tree)
    errors, router = file_id(index, "app/errors.py"), file_id(index, "app/router.py")
    write(tree, {"app/errors.py": "\n\nclass Other: ...\n"})
    assert index.sources.content(errors) == b"\n\nclass Other: ...\n"
    assert not index.sources.is_current(errors)
    assert [(d.name, d.start) for d in current_symbols(index, errors).definitions] == [("Other", 3)]
    assert index.sources.is_current(router)
    assert current_symbols(index, router).definitions == index.definitions(router)


def test_a_file_that_is_gone_has_no_source_any_more(tree: Path) -> None:
    index = index_of(tree)
    (tree / "README.md").unlink()
    assert index.sources.content(0) == b""
    assert not index.sources.is_current(0)
    assert current_symbols(index, 0).definitions == ()


def test_a_refresh_that_finds_nothing_new_gives_the_same_index_and_doubts_no_file_again(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, second_ns = time.time_ns(), 1_000_000_000
    for path in tree.rglob("*.py"):
        # As if it had been changed within the step of the clock in which it is listed.
        os.utime(path, ns=(now + 10 * second_ns, now + 10 * second_ns))
    index = build_index(tree, store=Store(tmp_path / "cache"))
    monkeypatch.setattr(time, "time_ns", lambda: now + 20 * second_ns)
    assert refresh_index(index) is index
    # What is found in the cache by the next process is written once, as the bytes were compared once.
    (remembered,) = (tmp_path / "cache" / "snapshots").glob("*.tree")
    remembered.unlink()
    assert refresh_index(index) is index
    assert not remembered.exists()
    write(tree, {"later.py": "def later(): ...\n"})
    after = refresh_index(index)
    assert "later.py" in after.paths
    assert "later.py" not in index.paths


def test_an_empty_repository_has_an_empty_index(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    index = index_of(tmp_path)
    assert (len(index), index.paths, index.problems) == (0, (), ())
    assert len(refresh_index(index)) == 0
    write(tmp_path, {"a.py": "def f(): ...\n"})
    assert refresh_index(index).definitions(0)[0].name == "f"


def test_progress_counts_up_to_the_number_of_files(tree: Path) -> None:
    heard: list[tuple[str, int, int]] = []
    build_index(tree, store=NO_STORE, on_progress=lambda *message: heard.append(message))
    assert heard[0] == ("listing", 0, 1)
    assert heard[-1] == ("parsing", 5, 5)


def test_a_refresh_parses_only_what_changed_and_leaves_the_old_value_alone(tree: Path) -> None:
    index = index_of(tree)
    before = tables_digest(index)
    write(tree, {"app/errors.py": "class Gone(Exception): ...\n", "app/new.py": "def added(): ...\n"})
    (tree / "notes.txt").unlink()
    heard: list[tuple[str, int, int]] = []
    new = refresh_index(index, lambda *message: heard.append(message))
    assert heard[-1] == ("parsing", 2, 2)
    assert new.paths == ("README.md", "app/errors.py", "app/new.py", "app/router.py", "logo.png")
    assert new.fingerprint != index.fingerprint
    assert tables_digest(index) == before
    assert tables_digest(new) == tables_digest(index_of(tree))


def test_the_fingerprint_is_of_paths_and_bytes_alone(tmp_path: Path) -> None:
    one = index_of(commit(tmp_path / "one", FILES)).fingerprint
    plain = index_of(write(tmp_path / "two", FILES)).fingerprint
    moved = index_of(write(tmp_path / "three", {path.replace("app", "lib"): c for path, c in FILES.items()}))
    assert one == plain != moved.fingerprint


def _many_files() -> dict[str, str | bytes]:
    body = "".join(f"def f_{n}(self, value):\n    return value.call_{n}(self)\n\n\n" for n in range(3))
    many: dict[str, str | bytes] = {
        f"pkg{n % 9}/m{n}.py": f"import os\nNAME_{n} = {n}\n{body}" for n in range(420)
    }
    return many | FILES


def test_threads_that_build_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    tree = write(tmp_path, _many_files())
    with ThreadPoolExecutor(4) as threads:
        digests = list(threads.map(lambda _: tables_digest(index_of(tree)), range(4)))
    assert set(digests) == {tables_digest(index_of(tree))}


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Have workers run by an interpreter that behaves in some way before it starts the real program."""

    def use(behave: str) -> None:
        program = f"#!{sys.executable}\nimport os\nfrom repo_map.index import worker\n{behave}worker.main()\n"
        written = write(tmp_path / "stub", {"python": program}) / "python"
        written.chmod(0o755)
        close_idle()
        monkeypatch.setattr("repo_map.index.worker_pool.sys.executable", str(written))

    yield use
    close_idle()


DIE_OF = (
    "read = worker.read_symbols\n"
    "def read_or_die(source, path, limits):\n"
    "    return os._exit(9) if path == '{path}' else read(source, path, limits)\n"
    "worker.read_symbols = read_or_die\n"
)
"""A grammar that one file crashes."""


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_make_the_same_tables_as_one_process(tmp_path: Path, workers: int) -> None:
    tree = write(tmp_path, _many_files())
    alone = index_of(tree)
    together = build_index(tree, store=NO_STORE, workers=workers)
    assert tables_digest(together) == tables_digest(alone)
    assert together.fingerprint == alone.fingerprint
    assert together.problems == alone.problems == ()


def test_hash_seed_workers_and_cache_make_no_difference_to_tables_and_map(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", _many_files())
    program = (
        "import sys; from pathlib import Path\n"
        "from repo_map.outline.draw import draw_map; from repo_map.plan.yaml import parse_plan\n"
        "from repo_map.index.build import build_index; from repo_map.index.store import Store\n"
        "from tests.support.trees import tables_digest\n"
        "tree, workers, cache = sys.argv[1:]\n"
        "store = Store(Path(cache) if cache else None)\n"
        "index = build_index(Path(tree), store=store, workers=int(workers))\n"
        "plan = parse_plan('budget: 3000\\nfocus: {paths: [{pattern: pkg7/**, weight: 3}]}')\n"
        "print(tables_digest(index), draw_map(index, plan).text)"
    )
    cache = str(tmp_path / "cache")
    ways = (("0", "1", ""), ("1", "2", cache), ("4242", "1", cache), ("random", "3", ""))
    message = {
        subprocess.check_output(
            [sys.executable, "-c", program, str(tree), workers, store],
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        for seed, workers, store in ways
    }
    assert len(message) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_crashes_its_grammar_is_told_and_costs_its_symbols_alone(
    tmp_path: Path, stub: Callable[[str], None], workers: int
) -> None:
    tree = write(tmp_path / "tree", _many_files())
    whole = index_of(tree)
    stub(DIE_OF.format(path="pkg3/m93.py"))
    index = build_index(tree, store=NO_STORE, workers=workers)
    (lost,) = index.problems
    assert lost == ("pkg3/m93.py", "the python grammar crashed on it; no symbols were read")
    assert index.paths == whole.paths
    file = file_id(whole, lost.path)
    assert len(index.symbols.name) == len(whole.symbols.name) - len(whole.definitions(file))
    assert index.sources.content(file) == whole.sources.content(file)


def test_a_worker_that_is_killed_from_outside_costs_no_file(
    tmp_path: Path, stub: Callable[[str], None]
) -> None:
    tree = write(tmp_path / "tree", _many_files())
    whole = index_of(tree)
    marker = tmp_path / "died"
    once = f"(open({str(marker)!r}, 'x'), os.kill(os.getpid(), 9)) if not os.path.exists({str(marker)!r})"
    stub(DIE_OF.format(path="pkg3/m93.py").replace("os._exit(9) if", f"{once} and"))
    index = build_index(tree, store=NO_STORE, workers=2)
    assert marker.exists()
    assert (index.problems, tables_digest(index)) == ((), tables_digest(whole))


def test_an_edited_file_that_crashes_its_grammar_is_shown_without_symbols(
    tmp_path: Path, stub: Callable[[str], None]
) -> None:
    tree = write(tmp_path / "tree", FILES)
    index = index_of(tree)
    stub(DIE_OF.format(path="app/router.py"))
    write(tree, {"app/router.py": ROUTER + "\n\ndef more(): ...\n"})
    symbols = current_symbols(index, file_id(index, "app/router.py"))
    assert symbols.definitions == ()
    assert symbols.problems == ("the python grammar crashed on it; no symbols were read",)
    assert refresh_index(index).problems == (("app/router.py", *symbols.problems),)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps the limit on a process's data")
def test_a_parser_that_asks_for_too_much_memory_costs_one_file(
    tmp_path: Path, stub: Callable[[str], None]
) -> None:
    tree = write(tmp_path / "tree", _many_files())
    stub(
        "read = worker.read_symbols\n"
        "def read_or_hoard(source, path, limits):\n"
        "    hoards = path == 'pkg3/m93.py'\n"
        "    return bytearray(2_000_000_000) if hoards else read(source, path, limits)\n"
        "worker.read_symbols = read_or_hoard\n"
    )
    index = build_index(tree, store=NO_STORE, workers=2, limits=Limits(memory_mb=1_000))
    assert index.problems == (("pkg3/m93.py", "the parser failed on it (MemoryError: )"),)


def test_a_file_that_kills_its_process_is_not_tried_again_until_it_changes(
    tmp_path: Path, stub: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, store = write(tmp_path / "tree", FILES), Store(tmp_path / "cache")
    stub(DIE_OF.format(path="app/errors.py"))
    first = build_index(tree, store=store)
    assert [problem.path for problem in first.problems] == ["app/errors.py"]
    monkeypatch.undo()
    close_idle()
    assert tables_digest(build_index(tree, store=store)) == tables_digest(first)
    write(tree, {"app/errors.py": "def tame(): pass\n"})
    assert build_index(tree, store=store).problems == ()


@pytest.mark.parametrize("behave", ["raise SystemExit(1)\n", ""])
def test_where_no_process_can_be_had_files_are_read_without_symbols_and_it_is_told(
    tmp_path: Path, stub: Callable[[str], None], behave: str
) -> None:
    tree, store = write(tmp_path / "tree", FILES), Store(tmp_path / "cache")
    stub(behave)
    if not behave:
        (tmp_path / "stub/python").unlink()
    index = build_index(tree, store=store)
    assert (len(index.symbols.name), index.sources.text(file_id(index, "app/router.py"))) == (0, ROUTER)
    whole = next(problem for problem in index.problems if not problem.path)
    assert whole.what.startswith("no process can be started to parse in (")
    assert whole.what.endswith("; 5 files were read without their symbols")
    assert len([problem for problem in index.problems if problem.path]) == 3


def test_a_process_that_reads_refreshes_and_draws_never_loads_a_grammar(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", FILES)
    program = (
        "import sys; from pathlib import Path\n"
        "from repo_map.outline.draw import draw_map; from repo_map.plan.model import FlightPlan\n"
        "from repo_map.index.build import build_index, refresh_index\n"
        "from repo_map.index.index import current_symbols; from repo_map.index.store import Store\n"
        "query = {'pattern': '**/*.py', 'query': '(function_definition) @f'}\n"
        "plan = FlightPlan.model_validate({'custom_queries': [query]})\n"
        "tree = Path(sys.argv[1])\n"
        "index = build_index(tree, store=Store(None))\n"
        "(tree / 'app/errors.py').write_text('def edited(): ...')\n"
        "assert current_symbols(index, 1).definitions[0].name == 'edited', index.paths\n"
        "assert 'edited' in draw_map(refresh_index(index), plan).text\n"
        "print([name for name in sys.modules if name.startswith('tree_sitter')])"
    )
    message = subprocess.check_output([sys.executable, "-c", program, str(tree)], text=True)
    assert message.strip() == "[]"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_workers_end_with_the_process_that_started_them_however_it_ends(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from repo_map.index.build import build_index; from repo_map.index.store import Store\n"
        "from repo_map.index.worker_pool import _idle\n"
        "build_index(Path(sys.argv[1]), store=Store(None))\n"
        "print(*(worker.pid for worker in _idle), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    (worker,) = map(int, ended.stdout.split())
    deadline = time.monotonic() + 30
    while _is_running(worker) and time.monotonic() < deadline:
        os.sched_yield()
    assert not _is_running(worker)


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_worker_does_not_import_what_lies_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = "import pathlib; pathlib.Path(__file__).with_name('ran').touch()\n"
    traps = dict.fromkeys(("msgspec.py", "gc.py", "repo_map/__init__.py", "repo_map/index/worker.py"), trap)
    tree = write(tmp_path, _many_files() | traps)
    monkeypatch.chdir(tree)
    assert build_index(tree, store=NO_STORE, workers=2).problems == ()
    assert not list(tree.rglob("ran"))


NAMES = st.sampled_from(["a.py", "b.py", "b/c.py", "b.md", "z/y/x.js", "Z.java", "é.py", "b"])
WORDS = st.sampled_from(["alpha", "beta", "gammaDelta", "Ünï", "_x1", "Ω"])
CONTENTS = st.one_of(
    st.builds("def {}():\n    {}()\n\n\nclass {}: ...\n".format, WORDS, WORDS, WORDS),
    st.builds("# {}\n\n{} {}\n".format, WORDS, WORDS, WORDS),
    st.builds("import {}\nfrom {} import {}\n".format, WORDS, WORDS, WORDS),
    st.binary(max_size=40),
)
EDITS = st.lists(st.dictionaries(NAMES, st.none() | CONTENTS, max_size=4), min_size=1, max_size=5)


def _apply(tree: Path, edit: dict[str, str | bytes | None]) -> None:
    for name, content in edit.items():
        path = tree / name
        try:
            if content is None:
                path.unlink()
            else:
                write(tree, {name: content})
        except OSError:
            pass  # `b` as a file and `b/c.py` exclude each other: whichever came first stays.


@given(EDITS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_history_of_edits_leads_to_the_tables_of_a_new_build(
    edits: list[dict[str, str | bytes | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree, store = Path(folder, "tree"), Store(Path(folder, "cache"))
        tree.mkdir()
        live = build_index(tree, store=NO_STORE)
        for edit in edits:
            _apply(tree, edit)
            live = refresh_index(live)
            warm = build_index(tree, store=store)
            cold = index_of(tree)
            assert tables_digest(live) == tables_digest(warm) == tables_digest(cold)
            assert live.paths == warm.paths == cold.paths
            assert live.problems == warm.problems == cold.problems
