"""Kinds of file: what users mean by a word, and that one module alone decides a kind."""

from __future__ import annotations

import pytest

from repo_map.sources.file_kinds import (
    FileFlag,
    FileKind,
    flags_of_path,
    is_run_as_test,
    kinds_of,
    user_file_kind,
)

PATHS = """
    src/app.py src/history.py src/news/feed.py tests/test_app.py docs/conf.py documentation/how.py
    website/index.js book/chapter.py src/README.md CMakeLists.txt requirements.txt notes.txt
    CHANGELOG.md HISTORY .changeset/one.yml demos/first.py playground/app.ts perf/run.py
    src/sort_bench.go src/workbench.py settings.toml vendor/lib.c uv.lock
"""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("tests", ["tests/test_app.py"]),
        ("Unit Tests", ["tests/test_app.py"]),
        (
            "docs",
            [
                *("docs/conf.py", "documentation/how.py", "website/index.js", "src/README.md"),
                *("notes.txt", "CHANGELOG.md"),
            ],
        ),
        ("changelog", ["CHANGELOG.md", "HISTORY", ".changeset/one.yml"]),
        ("examples", ["demos/first.py", "playground/app.ts"]),
        ("benchmarks", ["perf/run.py", "src/sort_bench.go"]),
        ("configuration", [".changeset/one.yml", "settings.toml"]),
        ("vendored", ["vendor/lib.c"]),
        ("generated code", ["uv.lock"]),
    ],
)
def test_users_mean_these_files_by_a_word(words: str, meant: list[str]) -> None:
    kind = user_file_kind(words)
    assert kind is not None
    assert [path for path in PATHS.split() if kind.holds(path, int(flags_of_path(path)))] == meant


def test_the_folder_t_of_tests_counts_as_tests() -> None:
    tests = "t/integration/tasks.py t/smoke/tests/failover/test_a.py t/unit/conftest.py t/lib/My.pm t/basic.t"
    assert all(
        flags_of_path(path) & FileFlag.TEST for path in f"{tests} own/t/unit/x.py t/t0001-init.sh".split()
    )
    others = "t/render.py src/t/index.ts src/unit/t.py src/at/lib/x.py"
    assert not any(flags_of_path(path) & FileFlag.TEST for path in others.split())


def test_files_named_as_tests_are_run_also_in_folders_named_as_helpers() -> None:
    run = "t/unit/utils/test_time.py src/utils/time.test.ts src/util/TimeTest.java spec/support/a_spec.rb"
    assert all(map(is_run_as_test, run.split()))
    helpers = "tests/utils/time.js tests/utils/time.py tests/helpers/setup.rs tests/fixtures/test_time.py"
    assert not any(map(is_run_as_test, helpers.split()))


def test_other_words_name_no_kind() -> None:
    assert user_file_kind("dispatch") is user_file_kind("") is None


def test_a_test_is_told_by_its_flag() -> None:
    assert not kinds_of("tests/test_app.py", 0)
    assert kinds_of("tests/test_benchmarks.py", int(FileFlag.TEST)) == FileKind.TESTS | FileKind.BENCHMARKS
