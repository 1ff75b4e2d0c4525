"""No secret of a repository, a goal or a log line reaches a map, the disk, a model or the terminal."""

from __future__ import annotations

import json
import logging
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_server.app import build_server
from mcp_server.logs import log_to_stderr
from mcp_server.settings import Settings
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from repo_map.history import file_commits
from repo_map.index.build import build_index, refresh_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.outline.replay import replay, stamp
from repo_map.plan.yaml import format_plan, parse_plan
from repo_map.sources.source import FolderSource
from repo_navigator.main import main
from repo_navigator.map_main import main as map_main
from tests.support.providers.gemini import gemini
from tests.support.providers.minds import call
from tests.support.secrets import SECRETS, invented
from tests.support.trees import commit, tables_digest, write

WORD = invented("{A4}7{A3}harbour!{d3}")
TOKEN, LIVE = SECRETS["GitHub token"], SECRETS["Stripe key"]
FILES = {
    "src/pay.py": f'"""Payments."""\n\nKEY = "{LIVE}"\n\n\ndef pay(amount: int) -> str:\n'
    f'    """Pay with {LIVE}."""\n'
    f'    return "{LIVE}" if amount else ""\n',
    "docs/guide.md": f"# Use {TOKEN}\n\nPay with it.\n",
    ".env": f"TOKEN={TOKEN}\n",
    "deploy/id_rsa": "not even a key\n",
    "src/other.py": "def other() -> int:\n    return 1\n",
}
EVERYTHING = parse_plan("budget: 9000\nverbosity:\n  - {pattern: '**', level: 4}\n")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write(tmp_path / "shop", FILES)


def index_of(root: Path, cache: Path | None = None, **options: Any) -> Index:
    return build_index(root, store=Store(cache), workers=1, **options)


def holds_secret(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in found if any(secret.encode() in path.read_bytes() for secret in (TOKEN, LIVE))]


def test_a_map_shows_no_secret_and_counts_them(repository: Path) -> None:
    drawn = draw_map(index_of(repository), EVERYTHING)
    assert TOKEN not in drawn.text
    assert LIVE not in drawn.text
    assert f'KEY = "{"*" * len(LIVE)}"' in drawn.text
    (note,) = drawn.notes
    assert note.startswith(
        "4 secrets masked in `docs/guide.md`, `src/pay.py` (1 GitHub token, 3 Stripe key); "
    )


def test_key_files_are_listed_by_path_and_never_opened(repository: Path) -> None:
    index = index_of(repository)
    drawn = draw_map(index, EVERYTHING)
    assert {file.path: file.level for file in drawn.blocks if file.path in (".env", "deploy/id_rsa")}
    assert "not even a key" not in drawn.text
    for path in (".env", "deploy/id_rsa"):
        file_id = index.paths.index(path)
        assert index.sources.content(file_id) == b""
    assert {problem.path for problem in index.problems if "holds keys" in problem.what} == {
        ".env",
        "deploy/id_rsa",
    }


def test_a_masked_map_replays_to_the_same_bytes_warm_or_cold(repository: Path, tmp_path: Path) -> None:
    index = index_of(repository, tmp_path / "cache")
    first = draw_map(index, EVERYTHING)
    plan = stamp(index, EVERYTHING, first)
    for again in (index_of(repository, tmp_path / "cache"), index_of(repository)):
        drawn, drift = replay(again, plan)
        assert drawn.text == first.text
        assert drift.same_tree
    assert first.tokens <= EVERYTHING.budget


def test_an_edit_after_indexing_brings_no_secret_in(repository: Path) -> None:
    index = index_of(repository)
    (repository / "src/other.py").write_text(f'def other() -> str:\n    return "{TOKEN}"\n')
    drawn = draw_map(index, EVERYTHING)
    assert TOKEN not in drawn.text
    assert "src/other.py" in "".join(drawn.notes)


def test_the_user_can_have_a_path_shown_as_it_is(repository: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shown = draw_map(index_of(repository, cache, unmasked=["src/**", ".env"]), EVERYTHING)
    assert LIVE in shown.text
    assert f"TOKEN={TOKEN}" not in shown.text.replace(f"TOKEN={TOKEN}", "", 1)
    assert "# Use *" in shown.text
    # What one setting shows, the cache does not show to another.
    hidden = draw_map(index_of(repository, cache), EVERYTHING)
    assert hidden.text == draw_map(index_of(repository), EVERYTHING).text
    assert LIVE not in hidden.text


def test_the_cache_holds_no_secret_even_of_a_path_that_is_shown(repository: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    index = index_of(repository, cache, unmasked=["src/**", "docs/**"])
    draw_map(index, EVERYTHING)
    assert holds_secret(cache) == []
    assert tables_digest(index)


@pytest.mark.anyio
async def test_neither_a_model_nor_an_artifact_nor_the_state_gets_a_secret(
    repository: Path, tmp_path: Path
) -> None:
    updates = {"verbosity": [{"pattern": "**", "level": 4}]}

    def mind(_: dict[str, Any], number: int) -> Any:
        if number:
            return call("finalize_context", {"summary": "all of it"})
        return call("update_flight_plan", {"reasoning": "show all", "updates": updates})

    with gemini(mind) as server:
        settings = NavigatorSettings(
            data_dir=tmp_path / "data",
            cache_dir=tmp_path / "cache",
            workers=1,
            model="gemini-2.0-flash",
            model_urls={"gemini": server.url},
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GOOGLE_API_KEY", "a-key-for-loopback")
            navigator = Navigator(settings)
            request = NavigationRequest(f"pay() fails with {TOKEN}", repository, token_budget=9_000)
            navigation_id = await navigator.open(request)
            output = await navigator.run(navigation_id)
            report = await navigator.step(navigation_id, feedback=f"more of {LIVE}")
            await navigator.aclose()
        sent = json.dumps(server.requests)
    assert len(server.requests) >= 2
    assert "pay" in sent
    for secret in (TOKEN, LIVE):
        assert secret not in sent
        assert secret not in output.model_dump_json()
        assert secret not in report.model_dump_json()
    assert holds_secret(tmp_path / "data") == []
    assert any("The goal held secrets" in note for note in output.notes)
    assert any("secrets masked" in note for note in output.notes)


@pytest.fixture
def root_logger() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)


@pytest.mark.usefixtures("root_logger")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_log_line_holds_no_secret(form: Any, capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("INFO", form)
    try:
        raise ValueError(f"refused {LIVE}")
    except ValueError:
        logging.getLogger("some.library").exception("calling with %s", TOKEN)
    message = capsys.readouterr().err
    assert "calling with ***" in message
    assert TOKEN not in message
    assert LIVE not in message


@pytest.mark.usefixtures("root_logger")
def test_a_log_line_that_is_cut_holds_no_half_of_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("DEBUG", "json")
    for blanks in range(15_950, 16_000, 5):
        logging.getLogger("some.library").warning("%s%s", " " * blanks, TOKEN)
    message = capsys.readouterr().err
    assert "…" in message
    assert TOKEN[:8] not in message


def test_what_commits_say_is_masked_and_not_stored(tmp_path: Path) -> None:
    files = {"src/pay.py": "def pay(): ...\n", f"old/{TOKEN}.py": "x = 1\n"}
    root = commit(tmp_path / "shop", files, message=f"Pay with {LIVE}\n\nIts password: {WORD}")
    (root / f"old/{TOKEN}.py").rename(root / "src/new.py")
    commit(root, {}, message=f"Move what was called {TOKEN}")
    build_index(root, store=Store(tmp_path / "cache"), workers=1)
    moved, paid = (each.subject for each in file_commits(FolderSource(root), "src/new.py", 8))
    assert TOKEN not in moved
    assert paid.startswith("Pay with ***")
    kept = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert not [secret for secret in (TOKEN, LIVE, "harbour") if secret.encode() in kept]


def test_what_an_older_version_kept_of_commits_is_deleted(tmp_path: Path) -> None:
    root = commit(tmp_path / "shop", {"a.py": "x = 1\n"})
    stale = tmp_path / "cache" / "history" / "0123.v2"
    write(tmp_path / "cache", {"history/0123.v2": TOKEN})
    build_index(root, store=Store(tmp_path / "cache"), workers=1)
    assert not stale.exists()


def test_a_file_whose_name_is_a_secret_is_listed_under_a_masked_name_and_asked_for_by_it(
    tmp_path: Path,
) -> None:
    root = write(
        tmp_path / "shop", {f"keys/{TOKEN}.txt": "inside\n", f"{LIVE}/a.py": "a = 1\n", "b.py": "b = 1\n"}
    )
    index = index_of(root, tmp_path / "cache")
    masked = f"keys/{'*' * len(TOKEN)}.txt"
    assert masked in index.paths
    plan = parse_plan(f"budget: 900\nverbosity:\n  - {{pattern: 'keys/{TOKEN}.txt', level: 4}}\n")
    assert TOKEN not in format_plan(plan)
    drawn = draw_map(index, plan)
    assert masked in drawn.text
    for message in (drawn.text, "".join(drawn.notes), repr(index.paths), repr(index.problems)):
        assert TOKEN not in message
        assert LIVE not in message
    assert any(
        problem.path == masked and "its name holds a secret" in problem.what for problem in index.problems
    )
    assert holds_secret(tmp_path / "cache") == []
    assert refresh_index(index).paths == index.paths


@pytest.mark.anyio
async def test_no_tool_repeats_a_secret_that_it_was_given(repository: Path, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("navigate", {"goal": "pay", "repo_path": f"/nowhere/{TOKEN}"}),
        ("navigate", {"goal": "pay", "model": TOKEN}),
        ("navigate", {"goal": "pay", "mode": TOKEN}),
        ("navigate", {"goal": "pay", TOKEN: 1}),
        ("navigate", {"goal": "pay", "flight_plan": f"verbosity: {TOKEN}"}),
        ("step", {"navigation_id": TOKEN}),
        ("get_context", {"cursor": TOKEN}),
        (TOKEN, {}),
    )
    async with Client(build_server(settings, repository)) as client:
        for tool, arguments in refused:
            result = await client.call_tool(tool, arguments)
            assert result.is_error, (tool, arguments)
            assert TOKEN not in result.model_dump_json(), (tool, arguments)
        plan = {"verbosity": [{"pattern": f"src/{TOKEN}.py", "level": 4}]}
        done = await client.call_tool(
            "navigate",
            {"goal": "pay", "repo_path": str(repository), "flight_plan": plan, "mode": "interactive"},
        )
        asked = await client.call_tool("step", {"feedback": f"show `{LIVE}`"})
        plan = {"verbosity": [{"pattern": f"src/{LIVE}.py", "level": 4}]}
        updated = await client.call_tool("step", {"updates": plan})
        for result in (done, asked, updated):
            assert not result.is_error, result.content
            assert TOKEN not in result.model_dump_json()
            assert LIVE not in result.model_dump_json()
        with pytest.raises(MCPError) as error:
            await client.get_prompt(TOKEN, {})
        assert TOKEN not in error.value.message
    assert holds_secret(tmp_path / "data") == []


def test_no_command_line_repeats_a_secret_that_it_was_given(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = (
        (map_main, ["generate", f"/nowhere/{TOKEN}"]),
        (map_main, ["generate", str(repository), "--tokens", TOKEN]),
        (map_main, ["generate", str(repository), f"--{TOKEN}"]),
        (map_main, ["generate", str(repository), "-v", f"{LIVE}:4"]),
        (main, ["navigate", str(repository), "--goal", "pay", "--model", TOKEN]),
        (main, [TOKEN]),
    )
    for command, arguments in wrong:
        command(arguments)
        said = "".join(capfd.readouterr())
        assert "***" in said, arguments
        assert TOKEN not in said
        assert LIVE not in said


def test_this_repository_holds_no_secret_of_a_known_format() -> None:
    from repo_map.secrets.masking import mask

    root = Path(__file__).parents[2]
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    sources = ((name, root / name) for name in names if re.search(r"\.(py|md|yaml|json|toml)$", name))
    assert [name for name, path in sources if path.exists() and mask(path.read_bytes()).kinds] == []
