"""Which folder a call is about, and that nothing gets out of the allow-list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcp_server.repositories import RepositoryAccess, RepositoryNotAllowedError
from navigator.workspaces.address import read_address
from repo_map.errors import RepositoryNotFoundError
from repo_navigator.main import main
from tests.support.trees import commit, write


def choose_repository(
    named: str | None, roots: Sequence[Path], working_folder: Path, allowed: Sequence[Path]
) -> Path:
    (source,) = read_address(RepositoryAccess(None, allowed).choose(named, roots, working_folder))
    return Path(source.folder)


def test_the_named_folder_comes_first(tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.mkdir()
    assert choose_repository(str(named), [tmp_path], tmp_path, ()) == named


def test_a_file_uri_names_a_folder(tmp_path: Path) -> None:
    named = tmp_path / "with space"
    named.mkdir()
    assert choose_repository(named.as_uri(), (), tmp_path, ()) == named


def test_a_relative_path_starts_at_the_root_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert choose_repository("b", [tmp_path / "a"], Path("/"), ()) == tmp_path / "a" / "b"


def test_the_only_root_of_the_host_comes_second(tmp_path: Path) -> None:
    assert choose_repository(None, [tmp_path], Path("/"), ()) == tmp_path


def test_the_work_tree_around_the_working_folder_comes_third(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "deep" / "inside"
    inner.mkdir(parents=True)
    assert choose_repository(None, (), inner, ()) == tmp_path


def test_the_only_allowed_folder_comes_last(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert choose_repository(None, (), Path("/"), (tmp_path,)) == tmp_path


def test_an_allowed_folder_of_repositories_is_none(tmp_path: Path) -> None:
    (tmp_path / "one" / ".git").mkdir(parents=True)
    with pytest.raises(RepositoryNotFoundError):
        choose_repository(None, (), Path("/"), (tmp_path,))


def test_without_any_of_them_no_repository_is_found() -> None:
    with pytest.raises(RepositoryNotFoundError):
        choose_repository(None, (), Path("/"), ())


def test_a_missing_folder_and_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RepositoryNotFoundError):
        choose_repository(str(tmp_path / "missing"), (), tmp_path, ())
    (tmp_path / "file").touch()
    with pytest.raises(RepositoryNotFoundError):
        choose_repository(str(tmp_path / "file"), (), tmp_path, ())


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


def test_a_working_folder_outside_the_allowed_ones_is_not_used(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    allowed = tmp_path / "one", tmp_path / "two"
    with pytest.raises(RepositoryNotFoundError):
        choose_repository(None, (), tmp_path, allowed)


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
