"""Names of commits, by every door that takes one: no commit out of reach is read, and none is learned of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.check.git_diff import ChangesError, read_changes
from repo_map.errors import RepositoryNotFoundError
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.sources.commit_names import CommitNameError, find_commit, read_name
from repo_map.sources.commits import CommitSource
from repo_map.sources.git import Deadline, Git
from repo_navigator.main import main
from tests.support.trees import commit, git

pytestmark = pytest.mark.anyio

GOAL = "the discount on an apple"
FOREIGN: Final = ("forced_away", "left_out", "kept_in_stash")
NOT_THERE: Final = "feedc0de" * 5


class Shop(NamedTuple):
    """A listed repository that holds commits which no branch or tag has any more."""

    settings: Settings
    clone: Path
    hidden: Mapping[str, str]
    """Ids of objects that are in the clone and out of reach, by what they are."""
    head: str


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    origin = tmp_path / "origin"
    origin.mkdir()
    commit(origin, {"prices.py": "def discount(): ...\n"}, message="first")
    commit(origin, {"prices.py": "def discount():\n    return 1\n"}, message="second")
    git(origin, "checkout", "-q", "-b", "secret")
    commit(origin, {"left_out.py": "def left_out(): ...\n"}, message="left_out")
    git(origin, "tag", "-a", "-m", "left_out", "hidden")
    git(origin, "checkout", "-q", "-b", "feature", "main")
    commit(origin, {"forced_away.py": "def forced_away(): ...\n"}, message="forced_away")
    hidden = {
        name: git(origin, "rev-parse", asked).strip()
        for name, asked in {
            "a commit of a deleted branch": "secret",
            "a tag of it": "hidden",
            "its tree": "secret^{tree}",
            "its file": "secret:left_out.py",
            "a commit that was forced away": "feature",
            "its file of before": "feature:forced_away.py",
        }.items()
    }
    git(origin, "checkout", "-q", "main")
    git(origin, "branch", "-q", "-f", "feature", "main")
    git(origin, "branch", "-q", "-D", "secret")
    git(origin, "tag", "-d", "hidden")
    clone, file = origin, tmp_path / "repositories.yaml"
    file.write_text(f"- name: api\n  path: {origin}\n")
    for each in hidden.values():
        git(clone, "cat-file", "-e", each)
    # As git leaves what no branch has any more.
    git(clone, "update-ref", "refs/stash", hidden["a commit that was forced away"])
    git(clone, "update-ref", "refs/notes/x", hidden["a commit of a deleted branch"])
    (clone / ".git/ORIG_HEAD").write_text(hidden["a commit that was forced away"] + "\n")
    (clone / ".git/FETCH_HEAD").write_text(hidden["a commit that was forced away"] + "\t\tbranch 'x'\n")
    settings = Settings(repositories=file, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    return Shop(settings, clone, hidden, git(clone, "rev-parse", "main").strip())


FORMS: Final = (
    *("{id}", "{short}", "{four}", "{upper}", "{id}~0", "{id}^0", "{id}^{{commit}}", "{id}^{{}}", "{id}~1"),
    *("{id}^", "{id}^1", "{id}~", "{id}^{{tree}}", "{id}^{{object}}", "{id}^{{/left}}", "{id}^@", "{id}^!"),
    *("{id}^-", "{id}:", "{id}:left_out.py", "^{id}", "main {id}", "main\n{id}", "{id}\n", " {id}"),
    *("x-g{id}", "x-g{short}", "v1-3-g{short}", "main-g{short}", "HEAD-1-g{short}", "x-g{short}~1"),
    *("refs/heads/x-g{short}", "heads/{id}", "tags/{short}", "refs/tags/{id}", "remotes/{id}", "refs/{id}"),
    *("main..{id}", "{id}..main", "main...{id}", "{id}...main", "..{id}", "{id}..", "...{id}", "{id}..."),
    *("main..x-g{short}", "HEAD@{{0}}...{id}", "main....{id}", "main..{id}..main", "HEAD~1..{id}~1"),
    *("{short}..HEAD", "HEAD..{four}", "{id}..{id}", "main..{id}^0", "main..{id}^{{commit}}"),
)
"""With the id of what may not be read in them."""
SEARCHES: Final = (
    *("@", "@~1", "@{{0}}", "@{{-1}}", "@{{upstream}}", "@{{push}}", "@{{u}}", "HEAD@{{0}}", "HEAD@{{1}}"),
    *("HEAD@{{yesterday}}", "main@{{1}}", "stash@{{0}}", "refs/stash", "stash", "ORIG_HEAD", "FETCH_HEAD"),
    *("MERGE_HEAD", "refs/notes/x", "notes/x", "secret", "heads/secret", "refs/heads/secret", "hidden"),
    *("tags/hidden", "refs/tags/hidden", "hidden~0", "secret~0", "hidden^{{commit}}", ":/left", ":/forced"),
    *("HEAD^{{/left}}", "HEAD^{{/x{{1,32767}}}}", "HEAD^{{/.+.+.+.+.+.+.+y}}", "main^{{/forced_away}}"),
    *(":left_out.py", ":0:left_out.py", "HEAD:prices.py", "--all", "--branches", "--glob=*", "--reflog"),
    *("--output=/tmp/x", "--upload-pack=id", "-x", "--not", "--stdin", "--exec=id", "-O/tmp/x", "--"),
    *("main..secret", "main..hidden", "secret..main", "main...stash", "HEAD..ORIG_HEAD", "..secret"),
    *("main..HEAD^{{/left}}", "main..:/left", "HEAD@{{0}}..main", "main..@", "--all..main", "main..--all"),
    *("refs/heads/*", "*", "ma?n", "[m]ain", "HEAD~99999999999", "HEAD^99999999", "HEAD" + "^" * 17),
    *("HEAD" + "~1" * 200, "m" * 300, "HEAD\0", "main\u2028x", "main;id", "$(id)", "`id`", "../origin"),
    *("../../origin/.git/HEAD", "refs/../HEAD", "heads/../../HEAD", "main.lock", "main/", "/main"),
)
"""Without an id: what git would look for, and what is no name at all."""


@pytest.mark.slow
async def test_no_commit_out_of_reach_is_read_by_any_name_of_it(shop: Shop) -> None:
    asked = list(dict.fromkeys(form.format(id="", short="", four="", upper="") for form in SEARCHES))
    for at, each in enumerate(shop.hidden.values()):
        # Every form of one, and some of the others.
        asked += [_with(form, each) for form in (FORMS[at::9] if at else FORMS)]
    read: list[str] = []
    async with Client(build_server(shop.settings)) as client:
        for name in asked:
            for arguments in (
                {"repo_path": f"api@{name}"},
                {"repo_path": "api", "changes": name},
            ):
                answer = await client.call_tool("navigate", {"goal": GOAL, **arguments})
                told = str(answer.content).replace(name, "").replace(ascii(name)[1:-1], "")
                if any(each in told for each in FOREIGN):
                    read.append(name)
        listed = await client.call_tool("navigate", {"goal": GOAL, "repo_path": "api@main~1"})
        assert not listed.is_error
    assert read == []
    assert len(asked) > 140


def _with(form: str, identity: str) -> str:
    return form.format(id=identity, short=identity[:9], four=identity[:4], upper=identity.upper())


async def test_what_is_out_of_reach_and_what_is_not_there_are_told_in_the_same_words(shop: Shop) -> None:
    async def told(client: Client, form: str, identity: str, **arguments: Any) -> str:
        name = _with(form, identity)
        given = {key: value.format(name=name) for key, value in arguments.items()}
        answer = await client.call_tool("navigate", {"goal": GOAL, **given})
        for each in (name, identity, identity[:9], identity[:4], identity.upper()):
            answer_text = str(answer.content).replace(each, "ID")
            answer = answer.model_copy(update={"content": answer_text})
        return f"{answer.is_error} {answer.content}"

    async with Client(build_server(shop.settings)) as client:
        for form in ("{id}", "{short}", "{upper}", "{id}~1", "{short}^", "{short}..main", "main...{id}"):
            doors: tuple[dict[str, str], ...] = (
                {"repo_path": "api@{name}"},
                {"repo_path": "api", "changes": "{name}"},
            )
            for door in doors:
                answers = {await told(client, form, each, **door) for each in shop.hidden.values()}
                assert answers == {await told(client, form, NOT_THERE, **door)}, form


def test_branches_and_ids_with_steps_are_names(shop: Shop) -> None:
    for steps in ("", "~1", "^", "^1", "~", "^{commit}", "~1^0"):
        meant = git(shop.clone, "rev-parse", f"main{steps}").strip()
        for name in ("HEAD", "main", "heads/main", "refs/heads/main", "feature", shop.head[:8]):
            assert find_commit(Git(shop.clone), read_name(name + steps), Deadline()) == meant, name + steps


def test_a_short_id_is_not_made_ambiguous_by_what_may_not_be_read(tmp_path: Path) -> None:
    """Commits are made until two ids begin alike; the one that no branch has is as good as not there."""
    root = commit(tmp_path, {"a.py": "a = 1\n"})
    tree = git(root, "rev-parse", "HEAD^{tree}").strip()
    seen: dict[str, str] = {}
    for number in range(20_000):
        text = f"tree {tree}\nauthor t <t> {number} +0000\ncommitter t <t> {number} +0000\n\nx\n"
        identity = _commit_id(text)
        if other := seen.get(identity[:4]):
            break
        seen[identity[:4]] = text
    else:
        pytest.fail("no two ids began alike")
    readable, foreign = (_write_object(root, each) for each in (other, text))
    git(root, "branch", "mine", readable)
    assert readable[:4] == foreign[:4]
    assert find_commit(Git(root), read_name(readable[:4]), Deadline()) == readable
    assert find_commit(Git(root), read_name(foreign), Deadline()) == ""
    git(root, "branch", "theirs", foreign)
    with pytest.raises(CommitNameError):
        find_commit(Git(root), read_name(readable[:4]), Deadline())


def _commit_id(text: str) -> str:
    return hashlib.sha1(b"commit %d\0" % len(text) + text.encode(), usedforsecurity=False).hexdigest()


def _write_object(root: Path, text: str) -> str:
    (root / "object").write_text(text)
    return git(root, "hash-object", "-t", "commit", "-w", "object").strip()


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder whose author named refs like options, ids and one another."""
    root = tmp_path / "odd"
    root.mkdir()
    commit(root, {"a.py": "def first(): ...\n"})
    commit(root, {"a.py": "def second(): ...\n"})
    first, second = (git(root, "rev-parse", name).strip() for name in ("HEAD~1", "HEAD"))
    for name in (
        "refs/heads/--upload-pack=touch ran".replace(" ", "-"),
        "refs/heads/-x",
        "refs/heads/--output=ran",
        "refs/tags/--exec=touch",
        "refs/heads/HEAD",
        "refs/tags/HEAD",
        "refs/heads/twice",
        f"refs/heads/{second}",
        f"refs/heads/{second[:7]}",
        "refs/heads/refs/heads/main",
        "refs/tags/x-g" + second[:8],
    ):
        git(root, "update-ref", name, first)
    git(root, "update-ref", "refs/tags/twice", second)
    git(root, "commit", "-q", "--allow-empty", "-m", "lost")
    git(root, "reset", "-q", "--hard", "HEAD~1")
    return root


def test_refs_that_are_called_like_options_ids_or_one_another_take_nobodys_place(odd: Path) -> None:
    second = git(odd, "rev-parse", "refs/heads/main").strip()
    first = git(odd, "rev-parse", "refs/heads/main~1").strip()

    def found(name: str) -> str:
        return find_commit(Git(odd), read_name(name), Deadline())

    assert found("HEAD") == found(second) == found("main") == second
    assert found("x-g" + second[:8]) == found("heads/HEAD") == first
    for name in ("--upload-pack=touch-ran", "-x", "--output=ran", "--exec=touch"):
        with pytest.raises(CommitNameError):
            found(name)
        assert found(f"{'tags' if 'exec' in name else 'heads'}/{name}") == first
    for name in ("twice", second[:7]):
        with pytest.raises(CommitNameError):
            found(name)
    assert (found("tags/twice"), found("heads/twice")) == (second, first)
    assert not (odd / "ran").exists()


def test_in_a_folder_that_one_opens_a_commit_that_only_the_log_of_head_has_is_not_read(odd: Path) -> None:
    lost = git(odd, "rev-parse", "HEAD@{1}").strip()
    index = build_index(odd, store=Store(None), workers=1)
    for name in (lost, lost[:8], f"{lost}~1", "HEAD@{1}", "ORIG_HEAD", "stash"):
        with pytest.raises(RepositoryNotFoundError):
            build_index(CommitSource(odd, name), store=Store(None), workers=1)
        for changes in (name, f"{name}..HEAD", f"HEAD...{name}"):
            with pytest.raises(ChangesError):
                read_changes(index, changes)
    # Who wants it read gives it a name.
    git(odd, "branch", "kept", lost)
    assert read_changes(index, f"{lost}..HEAD")
    git(odd, "update-ref", "refs/remotes/origin/theirs", lost)
    git(odd, "branch", "-q", "-D", "kept")
    assert read_changes(index, "origin/theirs..HEAD")


def test_the_command_line_reads_names_in_the_same_way(
    odd: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("REPO_NAVIGATOR_CACHE", str(tmp_path / "cache"))
    for name in ("HEAD^{/first}", "HEAD@{1}", "x-gdeadbeef", "--output=ran", "HEAD^{/x{1,32767}}"):
        assert main(["navigate", str(odd), GOAL, f"--since={name}"]) == 2
        assert main(["navigate", f"{odd}@{name}", GOAL]) == 3
        told = capfd.readouterr().err
        assert "Traceback" not in told
        assert told.count("a branch, a tag or an id") == 2, told
