"""Kinds of file: what users mean by a word, and that one module alone decides a kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.sources.file_kinds import FileFlag, flags_of_path, is_auxiliary, kinds_of, user_file_kind

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


def test_other_words_name_no_kind() -> None:
    assert user_file_kind("dispatch") is user_file_kind("") is None


def test_whatever_is_meant_by_a_folders_name_is_aside_from_the_code_and_of_that_kind() -> None:
    for words in ("docs", "examples", "benchmarks", "changelog"):
        kind = user_file_kind(words)
        assert kind is not None
        for path in (f"src/{name}/app.py" for name in ("docs", "demo", "bench", "changelog")):
            if kind.holds(path, 0):
                assert is_auxiliary(path)
                assert kinds_of(path, 0) == kind.kind


def test_a_test_is_told_by_its_flag() -> None:
    assert not kinds_of("tests/test_app.py", 0)
    assert kinds_of("tests/test_app.py", int(FileFlag.TEST)).name == "TESTS"


@pytest.mark.parametrize(
    "spelling",
    ["(?:^|/)", "FileFlag.GENERATED | FileFlag.VENDORED", "FileFlag.BINARY | FileFlag.TRUNCATED"],
)
def test_no_other_module_decides_a_kind_of_file(spelling: str) -> None:
    root = Path(__file__).parents[3]
    found = {
        path.relative_to(root).as_posix()
        for package in ("repo_map", "navigator", "mcp_server", "repo_navigator")
        for path in (root / package).rglob("*.py")
        if spelling in path.read_text("utf-8")
    }
    # A rule of its own: which files hold nothing but secrets.
    assert found - {"repo_map/secrets/key_files.py"} == {"repo_map/sources/file_kinds.py"}
