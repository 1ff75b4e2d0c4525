"""Each limit says what it left out or refused, and where it is set."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp_types import TextContent

from mcp_server.app import build_server
from mcp_server.http import http_app
from mcp_server.settings import HttpSettings, Settings, read_settings
from navigator.settings import NavigatorSettings
from navigator.workspace import SMALL_PER_INDEX, Workspaces
from repo_map.cli import main
from repo_map.drawing import draw_map
from repo_map.errors import LimitError
from repo_map.flight_plan import FlightPlan
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import Store
from repo_map.limits import VARIABLES, Limits, read_limits
from tests.support.trees import write

LONG_LINE = {"long.py": f"def near(): ...\nx = '{'y' * 600}'\n"}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
MEGABYTE = {"big.py": b"# One\n" * 170_000}


def told_of(root: Path, **limits: float) -> str:
    environ = {f"REPO_NAVIGATOR_MAX_{name.upper()}": str(value) for name, value in limits.items()}
    problems = build_index(root, store=Store(None), workers=1, limits=read_limits(environ)).problems
    return "\n".join(f"{problem.path}: {problem.what}" for problem in problems)


def test_a_file_over_the_size_limit_is_listed_by_path_and_told(tmp_path: Path) -> None:
    write(tmp_path, {"big.py": b"# One\n" * 260_000, "small.py": "y = 2\n"})
    assert "big.py: 1,560,000 bytes, over the limit of 1,500,000; listed by path only" in told_of(tmp_path)
    assert told_of(tmp_path, file_bytes=1_560_000) == ""
    assert "small.py: 6 bytes, over the limit of 5; listed by path only" in told_of(tmp_path, file_bytes=5)


def test_files_over_the_limit_are_counted_and_told(tmp_path: Path) -> None:
    write(tmp_path, {f"part_{number}.py": "x = 1\n" for number in range(5)})
    assert told_of(tmp_path) == ""
    assert told_of(tmp_path, files=3) == ": 5 files, over the limit of 3; the first by path were indexed"


def test_a_file_with_a_line_over_the_limit_is_not_parsed_and_told(tmp_path: Path) -> None:
    write(tmp_path, LONG_LINE)
    assert told_of(tmp_path) == ""
    told = told_of(tmp_path, line_bytes=500)
    assert told == "long.py: a line of 606 bytes is longer than 500; no symbols were read"


def test_a_file_that_takes_too_long_to_parse_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"deep.py": f"{'f(' * 20_000}\n"})
    told = told_of(tmp_path, parse_seconds=0.000001)
    assert told.startswith("deep.py: the python grammar did not finish within 1e-06 s of CPU time")


def test_a_tree_that_memory_has_no_room_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {**MEGABYTE, "picture.bin": bytes(1_400_000)})
    assert told_of(tmp_path, memory_mb=37) == ""
    monkeypatch.setenv("REPO_NAVIGATOR_MAX_MEMORY_MB", "36")
    assert main(["generate", str(tmp_path), "--no-cache"]) == 2
    assert capsys.readouterr().err == (
        f"repo-map: `{tmp_path}` has 1 MB of source, whose index would take some 37 MB of memory, over the "
        "limit of 36; give a folder of it, or raise REPO_NAVIGATOR_MAX_MEMORY_MB.\n"
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("limits", "others", "stays"),
    [
        (Limits(), 1, True),
        (Limits(indexes=1), SMALL_PER_INDEX - 1, True),
        (Limits(indexes=1), SMALL_PER_INDEX, False),
        (Limits(memory_mb=60), 1, False),
    ],
)
async def test_the_index_used_least_lately_goes_when_there_are_too_many_or_too_large_ones(
    tmp_path: Path, limits: Limits, others: int, stays: bool
) -> None:
    one = write(tmp_path / "one", LONG_LINE)
    spaces = Workspaces(NavigatorSettings(use_cache=False, workers=1, limits=limits))
    first, _ = await spaces.open(one)
    for number in range(others):
        await spaces.open(write(tmp_path / f"other{number}", LONG_LINE))
    again, _ = await spaces.open(one, refresh=False)
    assert (again is first) == stays


def test_indexes_made_under_other_limits_are_never_shared(tmp_path: Path) -> None:
    root = write(tmp_path / "tree", LONG_LINE)

    def symbols(limits: Limits) -> tuple[int, str]:
        index: RepoIndex = build_index(root, store=Store(tmp_path / "cache"), workers=1, limits=limits)
        return len(index.symbols.name), draw_map(index, FlightPlan()).text

    usual, strict = symbols(Limits()), symbols(Limits(line_bytes=500))
    assert (usual[0] > 0, strict[0]) == (True, 0)
    assert symbols(Limits()) == usual
    assert symbols(Limits(line_bytes=500)) == strict
    snapshots = list((tmp_path / "cache/snapshots").iterdir())
    symbols(Limits(indexes=1, memory_mb=100, cache_mb=5))
    assert list((tmp_path / "cache/snapshots").iterdir()) == snapshots


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("value", ["0", "-1", "many", "nan", "1e999"])
def test_a_limit_that_is_no_number_above_zero_is_told(variable: str, value: str) -> None:
    with pytest.raises(
        LimitError, match=rf"^{variable} is `{value}`; set it to a (whole )?number above zero"
    ):
        read_settings({variable: value, "HOME": "/nowhere"})


@pytest.mark.anyio
async def test_a_request_over_the_limit_is_refused(tmp_path: Path) -> None:
    server = build_server(Settings(data_dir=None), working_folder=tmp_path)
    app = http_app(server, HttpSettings(max_body_bytes=5_000))
    transport = httpx2.ASGITransport(app)  # type: ignore[arg-type]
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client,
    ):
        statuses = [
            (await client.post("/mcp", content=b" " * size, headers=JSON)).status_code
            for size in (5_000, 5_001)
        ]
    assert statuses == [400, 413]


def test_a_long_line_is_cut_short_in_an_outline(tmp_path: Path) -> None:
    write(tmp_path, {"long.py": f"def long({', '.join(f'argument_{n}' for n in range(400))}): ...\n"})
    index = build_index(tmp_path, store=Store(None), workers=1)
    drawn = draw_map(index, FlightPlan.from_yaml("budget: 9000\nverbosity: [{pattern: '**', level: 2}]"))
    assert max(map(len, drawn.text.split("\n"))) < 300
    assert "…" in drawn.text


@pytest.mark.anyio
async def test_a_caller_who_opens_without_end_is_refused(tmp_path: Path) -> None:
    repository = write(tmp_path / "shop", {"a.py": "def total(): return 1\n"})
    settings = Settings(data_dir=tmp_path / "data", max_navigations=2)
    async with Client(build_server(settings, working_folder=repository)) as client:
        arguments = {"goal": "total", "repo_path": str(repository)}
        for _ in range(2):
            assert not (await client.call_tool("navigate", arguments)).is_error
        refused = await client.call_tool("navigate", arguments)
    assert refused.is_error
    (block,) = refused.content
    assert isinstance(block, TextContent)
    assert block.text.startswith("You have 2 navigations, the most that are kept for one caller;")


def test_the_limits_of_the_server_can_be_set() -> None:
    named = {"REPO_NAVIGATOR_MAX_NAVIGATIONS": "7", "REPO_NAVIGATOR_HTTP_MAX_BODY": "5000"}
    settings = read_settings({"HOME": "/nowhere", **named})
    assert settings.max_navigations == 7
    assert settings.http.max_body_bytes == 5_000
