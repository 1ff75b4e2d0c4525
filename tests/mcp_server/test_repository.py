"""Which folder a call is about, and that nothing gets out of the allow-list."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcp_server.repositories import RepositoryAccess, RepositoryNotAllowedError, Root, project_roots
from navigator.workspaces.address import read_address
from repo_map.errors import RepositoryNotFoundError
from repo_navigator.main import main
from tests.support.trees import commit, write


def choose_repository(
    named: str | None, roots: Sequence[Path], working_folder: Path, allowed: Sequence[Path]
) -> Path:
    (source,) = read_address(
        RepositoryAccess(None, allowed).choose(named, [Root(each) for each in roots], working_folder)
    )
    return Path(source.folder)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A work tree beside a folder of repositories."""
    root = tmp_path / "tree"
    for name in (".git", "deep/inside", "with space", "../several/one/.git"):
        (root / name).mkdir(parents=True)
    (root / "file").touch()
    return root


@pytest.mark.parametrize(
    ("named", "root", "working_folder", "allowed", "chosen"),
    [
        pytest.param("{}/deep", "{}", "{}", "", "{}/deep", id="the named folder"),
        pytest.param("file://{}/with%20space", "", "{}", "", "{}/with space", id="a file URI"),
        pytest.param("inside", "{}/deep", "/", "", "{}/deep/inside", id="a path below the root of the host"),
        pytest.param("", "{}/deep", "/", "", "{}/deep", id="the only root of the host"),
        pytest.param("", "", "{}/deep/inside", "", "{}", id="the work tree around the working folder"),
        pytest.param("", "", "/", "{}", "{}", id="the only allowed folder"),
        pytest.param("", "", "/", "{}/../several", "", id="an allowed folder of repositories"),
        pytest.param("", "", "/", "", "", id="nothing"),
        pytest.param("{}/missing", "", "{}", "", "", id="a missing folder"),
        pytest.param("{}/file", "", "{}", "", "", id="a file"),
        pytest.param("", "", "{}", "{0}/deep {0}/../several", "", id="a working folder that is not allowed"),
    ],
)
def test_the_first_of_argument_root_working_and_allowed_folder_is_chosen(
    tree: Path, named: str, root: str, working_folder: str, *, allowed: str, chosen: str
) -> None:
    def paths(text: str) -> list[Path]:
        return [Path(each.format(tree)) for each in text.split()]

    asked = (named.format(tree) or None, paths(root), *paths(working_folder), paths(allowed))
    if chosen:
        assert choose_repository(*asked) == Path(chosen.format(tree))
        return
    with pytest.raises(RepositoryNotFoundError):
        choose_repository(*asked)


@pytest.mark.parametrize("escape", ["{allowed}/../secret", "{allowed}/link", "{allowed}-sibling", "/"])
def test_nothing_gets_out_of_the_allowed_folder(tmp_path: Path, escape: str) -> None:
    allowed, secret = tmp_path / "allowed", tmp_path / "secret"
    for folder in (allowed, secret, tmp_path / "allowed-sibling"):
        folder.mkdir()
    (allowed / "link").symlink_to(secret)
    with pytest.raises(RepositoryNotAllowedError):
        choose_repository(escape.format(allowed=allowed), (), tmp_path, (allowed,))


def test_a_forbidden_folder_is_refused_alike_whether_it_exists_or_not(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (tmp_path / "there").mkdir()
    messages = []
    for name in ("there", "gone!"):
        with pytest.raises(RepositoryNotAllowedError) as caught:
            choose_repository(str(tmp_path / name), (), tmp_path, (allowed,))
        messages.append(str(caught.value).replace(name, "x"))
    assert messages[0] == messages[1]


def test_a_home_folder_and_the_root_of_the_disk_are_no_repositories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for named in ("~", str(tmp_path), tmp_path.anchor):
        with pytest.raises(RepositoryNotFoundError):
            choose_repository(named, (), tmp_path, ())
    (tmp_path / ".git").mkdir()
    assert choose_repository("~", (), tmp_path, ()) == tmp_path
    # The work tree of a home folder's settings is read if it is named, and by no other way.
    below = tmp_path / "Documents"
    below.mkdir()
    for named, roots, working_folder in (
        (None, (), tmp_path),
        (None, (), below),
        (None, (tmp_path,), below),
        (".", (), tmp_path),
        ("..", (below,), tmp_path),
    ):
        with pytest.raises(RepositoryNotFoundError):
            choose_repository(named, roots, working_folder, ())
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    assert choose_repository(None, (tmp_path,), project, ()) == project


@pytest.mark.parametrize(
    ("named", "chosen"),
    [("Billing", "one"), ("two", "two"), ("two@HEAD", "two"), ("'{}/two/'", "two"), ("src", "one/src")],
)
def test_a_root_is_called_by_its_name_or_that_of_its_folder(tmp_path: Path, named: str, chosen: str) -> None:
    for name in ("one/src", "two"):
        (tmp_path / name).mkdir(parents=True)
    roots = [Root(tmp_path / "one", "Billing"), Root(tmp_path / "two")]
    (source,) = read_address(RepositoryAccess(None, ()).choose(named.format(tmp_path), roots, Path("/")))
    assert Path(source.folder) == tmp_path / chosen


@pytest.mark.parametrize("form", ["{0}/a", "{0}/a,{0}/b", '["{0}/a", "{0}/b"]', "{0}/a{1}{0}/gone"])
def test_variables_of_clients_name_the_open_folders_after_roots_and_before_the_working_folder(
    tmp_path: Path, form: str
) -> None:
    for name in ("a", "b", "c/.git"):
        (tmp_path / name).mkdir(parents=True)
    value = form.format(tmp_path, os.pathsep)
    opened = project_roots({"CLAUDE_PROJECT_DIR": str(tmp_path / "gone"), "WORKSPACE_FOLDER_PATHS": value})
    assert {each.folder.name for each in opened} == (
        {"a", "b"} if value.count(str(tmp_path / "b")) else {"a"}
    )
    access = RepositoryAccess(None, (), opened)
    assert str(tmp_path / "a") in access.choose(None, (), tmp_path / "c")
    assert access.choose(None, [Root(tmp_path / "b")], tmp_path / "c") == str(tmp_path / "b")
    assert access.choose("../c", (), tmp_path) == str(tmp_path / "c")


def test_a_large_folder_without_git_is_navigated_and_told_to_be_no_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = []
    many = {f"notes/{number}.txt": "words\n" for number in range(501)}
    for name, files, has_git in (("small", {}, False), ("large", many, False), ("repository", many, True)):
        folder = write(tmp_path / name, {"tax.py": "def tax(amount):\n    return amount * 25\n", **files})
        if has_git:
            commit(folder, {})
        assert main(["navigate", str(folder), "--goal", "`tax` is wrong", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert "return amount * 25" in answer["context"]
        message.append(any("is not a git repository" in note for note in answer["notes"]))
    assert message == [False, True, False]
