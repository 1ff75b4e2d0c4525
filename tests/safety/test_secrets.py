"""No secret of a repository, a goal or a log line reaches a map, the disk, a model or the terminal."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loopback.gemini import gemini
from benchmarks.loopback.minds import call
from mcp_server.logs import log_to_stderr
from navigator.service import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from repo_map.drawing import draw_map
from repo_map.flight_plan import FlightPlan
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import Store
from repo_map.replay import replay, stamp
from tests.support.secrets import SECRETS
from tests.support.trees import tables_digest, write

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
EVERYTHING = FlightPlan.from_yaml("budget: 9000\nverbosity:\n  - {pattern: '**', level: 4}\n")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write(tmp_path / "shop", FILES)


def index_of(root: Path, cache: Path | None = None, **options: Any) -> RepoIndex:
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
    assert {file.path: file.level for file in drawn.files if file.path in (".env", "deploy/id_rsa")}
    assert "not even a key" not in drawn.text
    for path in (".env", "deploy/id_rsa"):
        file_id = index.file_id(path)
        assert file_id is not None
        assert index.source(file_id) == b""
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


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_log_line_holds_no_secret(form: Any, capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        log_to_stderr("INFO", form)
        try:
            raise ValueError(f"refused {LIVE}")
        except ValueError:
            logging.getLogger("some.library").exception("calling with %s", TOKEN)
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    told = capsys.readouterr().err
    assert "calling with ***" in told
    assert TOKEN not in told
    assert LIVE not in told


def test_importing_the_server_and_drawing_a_clean_tree_loads_no_detector(tmp_path: Path) -> None:
    root = write(tmp_path / "clean", {"a.py": "def a() -> int:\n    return 1\n"})
    code = (
        "import sys, mcp_server.app; from pathlib import Path; from repo_map.index import build_index;"
        "from repo_map.indexing.store import Store; from repo_map.drawing import draw_map;"
        "from repo_map.flight_plan import FlightPlan;"
        f"draw_map(build_index(Path({str(root)!r}), store=Store(None), workers=1), FlightPlan());"
        "print([name for name in sys.modules if name.startswith('detect_secrets')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_this_repository_holds_no_secret_of_a_known_format() -> None:
    from repo_map.secrecy.masking import mask

    root = Path(__file__).parents[2]
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    sources = ((name, root / name) for name in names if re.search(r"\.(py|md|yaml|json|toml)$", name))
    assert [name for name, path in sources if path.exists() and mask(path.read_bytes()).kinds] == []
