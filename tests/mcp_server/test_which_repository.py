"""A goal for which nobody names a repository: the likeliest ones, of those that the caller may read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from mcp_server.tenancy.principal import Principal
from mcp_server.tenancy.repository_access import Chosen, RepositoryAccess
from navigator.workspaces.catalogue import Catalogue, RepositoryEntry
from navigator.workspaces.clones import sync
from navigator.workspaces.repository_address import read_address
from repo_map.errors import RepositoryNotFoundError
from repo_map.repository_choice.summary import digest_of, read_summary
from repo_navigator.main import main
from tests.mcp_server.test_http import answer
from tests.support.trees import commit, git

pytestmark = pytest.mark.anyio

GOAL = "The discount on an apple is wrong in the receipt"
ALICE, EVE, LOCAL = Principal("alice"), Principal("eve"), Principal()
PRICES = "def discount(item: str) -> int:\n    return 5 if item == 'apple' else 0\n"
WEB = {"receipt.ts": "export function receipt(discount: number): string {\n  return `minus ${discount}`\n}\n"}
OTHERS: Mapping[str, Mapping[str, str]] = {
    "engine": {"engine.go": "package engine\n\nfunc Ignite(rpm int) bool { return rpm > 900 }\n"},
    "mail": {"mail.py": "def deliver(envelope): ...\n", "README.md": "Delivers letters at night.\n"},
}


class Team:
    """A catalogue of fetched repositories, by name with their files and readers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.catalogue = Catalogue(folder / "repositories.yaml", folder / "data")

    def add(self, name: str, files: Mapping[str, str], *readers: str) -> None:
        origin = self.folder / "origins" / name
        origin.mkdir(parents=True)
        commit(origin, files)
        self.catalogue.add(name, RepositoryEntry(address=origin.as_uri(), readers=readers))
        self.sync()

    def sync(self) -> None:
        assert sync(self.catalogue, (), lambda _done: None)

    @property
    def settings(self) -> Settings:
        data, cache = self.folder / "data", self.folder / "cache"
        return Settings(repositories=self.catalogue.file, data_dir=data, cache_dir=cache)

    def chosen(self, goal: str, principal: Principal, roots: Sequence[Path] = ()) -> Chosen:
        access = RepositoryAccess(self.settings, ())
        return access.choose_for(goal, None, roots, self.folder, principal)

    def names(self, goal: str, principal: Principal) -> list[str]:
        return [each.name for each in read_address(self.chosen(goal, principal).address)]


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """`api` for alice, `web`, `engine` and `mail` for everybody who is admitted."""
    made = Team(tmp_path)
    made.add("api", {"prices.py": PRICES}, "user:alice")
    made.add("web", WEB, "*")
    for name, files in OTHERS.items():
        made.add(name, files, "*")
    return made


def test_the_goals_words_choose_and_a_sentence_says_why(team: Team) -> None:
    assert team.names(GOAL, ALICE) == ["web", "api"]
    assert team.names("How does Ignite decide?", ALICE) == ["engine"]
    assert team.names("when are letters delivered", ALICE) == ["mail"]
    assert team.names("something in web", ALICE) == ["web"]
    assert team.chosen("How does Ignite decide?", ALICE).why == (
        "No repository was named: of 4 that you may read, `engine` (Ignite) were looked at, for these "
        "words of the goal; name others as `repo_path`."
    )


def test_what_one_may_not_read_is_neither_chosen_nor_counted_nor_hinted_at(team: Team) -> None:
    assert team.names(GOAL, EVE) == ["web"]
    before = [team.chosen(goal, EVE) for goal in (GOAL, "Ignite a receipt and deliver", "letters")]
    assert all("of 3 that" in each.why for each in before)
    # Whatever comes that is not hers, words of her own repositories in it, changes nothing that she is told.
    team.add("vault", {"vault.py": "def ignite_receipt_deliver(letters, xyzzy): ...\n" * 9}, "user:alice")
    assert [team.chosen(goal, EVE) for goal in (GOAL, "Ignite a receipt and deliver", "letters")] == before
    refused = []
    for goal in ("xyzzy", "frobnicate"):
        with pytest.raises(RepositoryNotFoundError) as error:
            team.chosen(goal, EVE)
        refused.append(str(error.value))
    assert set(refused) == {"No repository is named; name one of `web`, `engine`, `mail` as `repo_path`."}


def test_an_edit_is_known_after_a_sync_and_branches_that_were_changed_only_then(team: Team) -> None:
    commit(team.folder / "origins/mail", {"stamps.py": "def frank_envelopes(): ...\n"})
    with pytest.raises(RepositoryNotFoundError):
        team.chosen("frank", ALICE)
    team.sync()
    assert team.names("frank", ALICE) == ["mail"]
    # A branch that may not be read any more says nothing from the edit of the list on.
    git(team.folder / "origins/mail", "branch", "quiet", "HEAD~1")
    text = team.catalogue.file.read_text()
    team.catalogue.file.write_text(text.replace("mail\n    ", "mail\n    branches: [quiet]\n    "))
    with pytest.raises(RepositoryNotFoundError):
        team.chosen("frank", ALICE)
    team.sync()
    with pytest.raises(RepositoryNotFoundError):
        team.chosen("frank", ALICE)
    assert team.names("letters", ALICE) == ["mail"]


def test_a_summary_is_the_same_bytes_each_time_and_knows_no_secret(team: Team) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5"
    commit(team.folder / "origins/mail", {"login.py": f'TOKEN = "{secret}"\n\ndef signing(): ...\n'})
    team.sync()
    path = team.catalogue.clones / "mail" / "summary"
    first, stamp = path.read_bytes(), path.stat().st_mtime_ns
    team.sync()
    assert path.stat().st_mtime_ns == stamp
    path.write_bytes(b"damaged")
    team.sync()
    assert path.read_bytes() == first
    summary = read_summary(path)
    assert summary is not None
    terms = set(summary.rows["term"].tolist())
    assert digest_of("sign") in terms
    assert digest_of(secret.replace("_", "").lower()) not in terms


async def test_a_call_that_names_none_is_answered_over_the_likeliest(team: Team, era: str) -> None:
    folder = team.folder / "nowhere"
    folder.mkdir()
    async with Client(build_server(team.settings, working_folder=folder), mode=era) as client:
        found = answer(await client.call_tool("navigate", {"goal": GOAL}))
        assert "api/prices.py" in found["context"]
        assert "web/receipt.ts" in found["context"]
        assert found["turn_report"]["notes"][0].startswith(
            "No repository was named: of 4 that you may read, `web`"
        )
        # What the host has open is meant before any of them.
        commit(folder, {"own.py": "def discount(): ...\n"})
        own = answer(await client.call_tool("navigate", {"goal": GOAL}))
        assert "own.py" in own["context"]
        assert "prices.py" not in own["context"]


def test_the_command_line_chooses_too(
    team: Team, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = team.folder / "nowhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("REPO_NAVIGATOR_REPOSITORIES", str(team.catalogue.file))
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(team.folder / "data"))
    assert main(["navigate", GOAL]) == 0
    assert "api/prices.py" in capsys.readouterr().out
