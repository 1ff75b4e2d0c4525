"""Which files a tree has, and how they are read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path

import pytest

from repo_map.check.git_diff import read_changes
from repo_map.errors import RepositoryNotFoundError
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.sources.file_kinds import FileFlag, flags_of_content, flags_of_path
from repo_map.sources.files import SUBMODULES, list_files, read_file, resolve_root
from repo_map.sources.source import folder_reader
from tests.support.trees import commit, git, write

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
not_as_root = pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() == 0, reason="root may read everything")


def test_a_work_tree_lists_tracked_and_new_files_but_no_ignored_ones(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "a", "src/b.py": "b", ".gitignore": "*.log\n", "src/.gitignore": "made.py\n"})
    write(tmp_path, {"new.py": "", "x.log": "", "src/made.py": "", "src/kept.py": "", "out.py": ""})
    write(tmp_path, {".git/info/exclude": "out.py\n"})
    listed = list_files(tmp_path)
    assert listed.paths == (".gitignore", "a.py", "new.py", "src/.gitignore", "src/b.py", "src/kept.py")
    assert listed.problems == ()


def test_a_subfolder_of_a_work_tree_is_a_root_of_its_own(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "", "src/b.py": "", "src/c/d.py": "", ".gitignore": "/src/c/e.py\n"})
    write(tmp_path, {"src/c/e.py": ""})
    assert list_files(tmp_path / "src").paths == ("b.py", "c/d.py")


def test_a_folder_that_the_surrounding_repository_ignores_is_walked_as_a_plain_one(tmp_path: Path) -> None:
    commit(tmp_path, {".gitignore": "build/\n"})
    write(tmp_path, {"build/a.py": "", "build/.gitignore": "b.py", "build/b.py": ""})
    assert list_files(tmp_path / "build").paths == (".gitignore", "a.py")


def test_a_submodule_is_read_unless_it_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = commit(tmp_path / "part", {"inside.py": "def add(a): ...\n"})
    whole = commit(tmp_path / "whole", {"a.py": ""})
    git(whole, "submodule", "--quiet", "add", str(part), "lib/part")
    git(whole, "commit", "--quiet", "--message", "submodule")
    commit(whole / "other", {"untracked.py": ""})
    listed = list_files(whole)
    assert listed.paths == (".gitmodules", "a.py", "lib/part/inside.py")
    assert [problem.path for problem in listed.problems] == ["other"]
    write(whole, {"lib/part/inside.py": "def add(a, b): ...\n", "lib/part/new.py": ""})
    index = build_index(whole, store=Store(None), workers=1)
    assert [(each.old, each.new) for each in read_changes(index, "worktree")[1].files] == [
        ("lib/part/inside.py", "lib/part/inside.py"),
        ("", "lib/part/new.py"),
    ]
    monkeypatch.setenv(SUBMODULES, "off")
    assert list_files(whole).paths == (".gitmodules", "a.py")


def test_a_plain_folder_honours_nested_ignore_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "*.log\n/top.py\nbuilt/\n!keep.log\n# comment\ndeep/**/gone.py\n",
            "a.log": "",
            "keep.log": "",
            "top.py": "",
            "src/top.py": "",
            "src/built/x.py": "",
            "src/.gitignore": "!b.log\nlocal*.py\n",
            "src/b.log": "",
            "src/local_settings.py": "",
            "local_settings.py": "",
            "deep/er/still/gone.py": "",
            "node_modules/m/index.js": "",
        },
    )
    expected = (".gitignore", "keep.log", "local_settings.py", "src/.gitignore", "src/b.log", "src/top.py")
    assert list_files(tmp_path).paths == expected


def test_repositories_in_a_plain_folder_are_listed_each_by_its_own_rules(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "node_modules/m/index.js": "", "y.log": "", ".gitignore": "y.*\nmade.py\n"})
    one = commit(tmp_path / "one", {"b.py": "", ".gitignore": "*.log\n"})
    write(one, {"x.log": "", "made.py": ""})
    git(tmp_path / "one", "add", "-f", "x.log")
    os.mkfifo(commit(tmp_path / "two", {"c.py": ""}) / ".git/pipe")
    listed = list_files(tmp_path)
    assert listed.paths == (
        *(".gitignore", "a.py", "one/.gitignore", "one/b.py", "one/made.py", "one/x.log"),
        "two/c.py",
    )
    assert [problem.path for problem in listed.problems] == ["two"]
    assert "Git is not run in" in listed.problems[0].what


def test_without_git_all_names_of_a_work_tree_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path, {"a.py": "", ".gitignore": "*.log"})
    write(tmp_path, {"a.log": "", "sub/b.py": "", "sub/node_modules/c.js": ""})
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert list_files(tmp_path).paths == (".gitignore", "a.log", "a.py", "sub/b.py")


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root may give files away")
def test_a_repository_of_another_user_is_walked_without_git_and_says_how_to_trust_it(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "", ".gitignore": "*.log"})
    write(tmp_path, {"a.log": ""})
    os.chown(tmp_path / ".git", 12345, 12345)
    os.chown(tmp_path, 12345, 12345)
    listed = list_files(tmp_path)
    assert listed.paths == (".gitignore", "a.py")
    assert listed.problems == (
        (
            "",
            f"Git refuses `{tmp_path}` because another user owns it; run `git config --global --add"
            f" safe.directory {tmp_path}` to trust it. The folder was listed without its repository.",
        ),
    )


def test_git_variables_of_the_caller_do_not_lead_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path / "here", {"a.py": ""})
    other = commit(tmp_path / "other", {"b.py": ""})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert list_files(tmp_path / "here").paths == ("a.py",)


@needs_links
def test_a_symlink_that_leaves_the_tree_is_refused_and_told(tmp_path: Path) -> None:
    write(tmp_path, {"secret.py": "password"})
    root = commit(tmp_path / "tree", {"a.py": ""})
    (root / "out.py").symlink_to("../secret.py")
    (root / "outer").symlink_to("..")
    listed = list_files(root)
    assert listed.paths == ("a.py",)
    assert [problem.path for problem in listed.problems] == ["out.py", "outer"]
    assert "leaves the tree" in listed.problems[0].what


@needs_links
def test_a_symlink_inside_the_tree_is_listed_but_not_read(tmp_path: Path) -> None:
    root = commit(tmp_path, {"src/a.py": "x = 1\n"})
    (root / "same.py").symlink_to("src/a.py")
    (root / "src/loop").symlink_to(".")
    assert list_files(root).paths == ("same.py", "src/a.py", "src/loop")
    read = read_file(root, "same.py")
    assert (read.source, read.unread, read.problem) == (None, FileFlag.LINK, "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes there")
def test_a_pipe_in_a_plain_folder_is_left_out_and_never_waited_for(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    os.mkfifo(tmp_path / "pipe.py")
    assert list_files(tmp_path).paths == ("a.py",)
    assert "no regular file" in read_file(tmp_path, "pipe.py").problem


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_could_forge_a_map_are_left_out_and_told(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "ünïcode 日本.py": "", "b\nsrc/c.py": "", "d\x1b[31m.py": ""})
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.py"))).write_text("")
    git(tmp_path, "init", "-q")
    listed = list_files(tmp_path)
    assert listed.paths == ("a.py", "ünïcode 日本.py")
    assert [problem.path for problem in listed.problems] == [
        "\\udcff\\udcfe.py",
        "b\\nsrc/c.py",
        "d\\x1b[31m.py",
    ]


@pytest.mark.parametrize("make", [commit, write], ids=["repository", "plain folder"])
def test_a_known_listing_gives_the_same_answer_as_a_new_one(
    tmp_path: Path, make: Callable[[Path, dict[str, str]], object]
) -> None:
    make(tmp_path, {"a.py": "a", "b.py": "b", "c/d.py": "d", "c/e.log": "e"})
    (tmp_path / "b.py").unlink()
    known = list_files(tmp_path)
    for change in ({}, {"a.py": "more"}, {"b.py": "is back"}, {"new.py": ""}, {"c/new.py": ""}):
        write(tmp_path, change)
        again, anew = list_files(tmp_path, known), list_files(tmp_path)
        assert again.paths == anew.paths
        assert (again.states == anew.states).all()
        known = again
    (tmp_path / "c/d.py").unlink()
    (tmp_path / "c/d.py").mkdir()
    assert list_files(tmp_path, known).paths == ("a.py", "b.py", "c/e.log", "c/new.py", "new.py")


def test_names_of_a_plain_folder_get_one_look_while_they_stay(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "a", "b/c.py": "c", "b/d.log": "d"})
    known = list_files(tmp_path)
    write(tmp_path, {"a.py": "longer"})
    again = list_files(tmp_path, known)
    assert again.paths is known.paths
    assert again.states[0, 0] == 6
    write(tmp_path, {"b/.gitignore": "*.log\n"})
    assert list_files(tmp_path, again).paths == ("a.py", "b/.gitignore", "b/c.py")


@needs_links
def test_a_link_that_leaves_a_plain_folder_is_told_at_every_look(tmp_path: Path) -> None:
    write(tmp_path, {"tree/a.py": "", "secret.py": ""})
    root = tmp_path / "tree"
    (root / "out.py").symlink_to("../secret.py")
    known = list_files(root)
    assert list_files(root, known).problems == known.problems != ()
    (root / "out.py").unlink()
    (root / "out.py").symlink_to("a.py")
    again = list_files(root, known)
    assert (again.paths, again.problems) == (("a.py", "out.py"), ())


def test_a_large_picture_is_binary_like_a_small_one_and_no_problem(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0" + b"x" * 2000)
    read = read_file(tmp_path, "logo.png", limit=1999)
    assert (read.source, read.size, read.unread, read.problem) == (None, 2010, FileFlag.BINARY, "")


def test_a_file_that_vanished_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    read = read_file(tmp_path, "gone.py")
    assert (read.source, read.problem) == (
        None,
        "can't be read (No such file or directory); listed by path only",
    )


@not_as_root
def test_an_unreadable_file_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x"})
    (tmp_path / "a.py").chmod(0)
    assert "Permission denied" in read_file(tmp_path, "a.py").problem


def test_a_root_that_is_no_folder_is_one_clear_sentence(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    with pytest.raises(RepositoryNotFoundError) as missing:
        resolve_root(tmp_path / "nowhere")
    assert str(missing.value) == (
        f"`{tmp_path}/nowhere` is not a folder that can be read (it doesn't exist); "
        "give the path of a repository."
    )
    with pytest.raises(RepositoryNotFoundError):
        resolve_root(tmp_path / "a.py")
    with pytest.raises(RepositoryNotFoundError):
        resolve_root(Path("a\0b"))


@pytest.mark.parametrize(
    ("path", "flag"),
    [
        ("node_modules/x/index.js", FileFlag.VENDORED),
        ("a/third_party/b.c", FileFlag.VENDORED),
        ("static/js/vendor/jquery.js", FileFlag.VENDORED),
        ("package-lock.json", FileFlag.GENERATED),
        ("api/v1_pb2.py", FileFlag.GENERATED),
        ("js/app.min.js", FileFlag.GENERATED),
        ("tests/test_a.py", FileFlag.TEST),
        ("src/test/java/FooTests.java", FileFlag.TEST),
        ("src/app.spec.ts", FileFlag.TEST),
        ("pkg/server_test.go", FileFlag.TEST),
        ("src/attestation.py", FileFlag(0)),
        ("src/latest/contest.py", FileFlag(0)),
        ("src/vendors.py", FileFlag(0)),
        ("src/minimum.js", FileFlag(0)),
        ("src/OrderIT.java", FileFlag.TEST),
        ("src/AUDIT.java", FileFlag(0)),
    ],
)
def test_a_path_says_what_kind_of_file_it_is(path: str, flag: FileFlag) -> None:
    assert flags_of_path(path) == flag


@pytest.mark.parametrize(
    ("content", "flag"),
    [
        (b"PNG\0\0\0", FileFlag.BINARY),
        (b"// Code generated by protoc-gen-go. DO NOT EDIT.\npackage x", FileFlag.GENERATED),
        (b"# @generated\n", FileFlag.GENERATED),
        (b"# DO NOT EDIT\nx = 1\n", FileFlag.GENERATED),
        (b"__version__ = '1'  # DO NOT EDIT THIS LINE MANUALLY\n", FileFlag(0)),
        (b'"""Read.\n\nDo not modify the returned mapping; copy it.\n"""\n', FileFlag(0)),
        (b"/* This file is auto-generated from spec.yaml */", FileFlag.GENERATED),
        (b"# Generated by Django 4.2 on 2024-01-01\n", FileFlag.GENERATED),
        (b"/* This file was automatically generated. */", FileFlag.GENERATED),
        (b"<!-- DO NOT EDIT: made by make -->", FileFlag.GENERATED),
        (b'"""Checks tokens\ngenerated by the server, or code generated from it."""', FileFlag(0)),
        (b"var a=1;" * 1000, FileFlag.GENERATED),
        (b"def generate():\n    '''Return code that is generated.'''\n", FileFlag(0)),
        (b"x = 1\n" * 1000, FileFlag(0)),
        (b"", FileFlag(0)),
    ],
)
def test_content_says_what_kind_of_file_it_is(content: bytes, flag: FileFlag) -> None:
    assert flags_of_content(content, "a.js") == flag


@pytest.mark.parametrize("after", ["x = 1\n", "def longer():\n    return 'than before'\n", ""])
def test_a_file_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    root = write(tmp_path, {"a.py": "def before(): pass\n"})
    changes = iter([lambda: write(root, {"a.py": after})])
    _change_after_each_read(changes, monkeypatch)
    read = read_file(root, "a.py")
    assert (read.source, read.problem) == (after.encode(), "")


def test_a_file_that_is_replaced_while_it_is_read_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, {"a.py": "old = 1\n", "b": "new = 1\n"})
    _change_after_each_read(iter([lambda: (root / "b").replace(root / "a.py")]), monkeypatch)
    assert read_file(root, "a.py").source in (b"old = 1\n", b"new = 1\n")
    assert read_file(root, "a.py").source == b"new = 1\n"


def test_a_file_that_never_holds_still_is_indexed_as_it_was_read_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, {"log.txt": "line\n"})

    def append() -> None:
        with (root / "log.txt").open("ab") as file:
            file.write(b"line\n")

    _change_after_each_read(repeat(append), monkeypatch)
    read = folder_reader(root).read("log.txt")
    assert read.source
    assert read.problem == "it changed while it was read; what was read is indexed"
    monkeypatch.undo()
    assert folder_reader(root).read("log.txt").problem == ""


def _change_after_each_read(changes: Iterator[Callable[[], object]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the next change made as soon as bytes were read, before anybody can look at the file again."""
    really_read = os.read

    def read_and_change(descriptor: int, size: int) -> bytes:
        found = really_read(descriptor, size)
        if change := next(changes, None):
            change()
        return found

    monkeypatch.setattr("repo_map.sources.files.os.read", read_and_change)
