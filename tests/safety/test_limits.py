"""Each limit says what it left out or refused, and where it is set."""

from __future__ import annotations

import json
import threading
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from mcp import Client
from mcp_types import TextContent

from mcp_server.app import build_server
from mcp_server.settings import Settings, read_settings
from navigator.settings import NavigatorSettings
from navigator.workspaces.workspace import Workspaces
from repo_map.errors import FlightPlanError, LimitError
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.limits import DEFAULT, VARIABLES, Limits
from repo_map.outline.draw import draw_map
from repo_map.plan import yaml as plan_yaml
from repo_map.plan.model import FlightPlan
from repo_map.plan.update import apply_update
from repo_map.plan.yaml import parse_plan
from repo_navigator.map_main import main
from tests.support.trees import write

LONG_LINE = {"long.py": f"def near(): ...\nx = '{'y' * 600}'\n"}
MEGABYTE = {"big.py": b"# One\n" * 170_000}


def told_of(root: Path, **limits: float) -> str:
    problems = build_index(root, store=Store(None), workers=1, limits=DEFAULT._replace(**limits)).problems  # type: ignore[arg-type]
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
    message = told_of(tmp_path, line_bytes=500)
    assert message == "long.py: a line of 606 bytes is longer than 500; no symbols were read"


def test_a_file_that_takes_too_long_to_parse_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"deep.py": f"{'f(' * 20_000}\n"})
    message = told_of(tmp_path, parse_seconds=0.000001)
    assert message.startswith("deep.py: the python grammar did not finish within 8e-08 s of CPU time")


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
        (Limits(indexes=2), 1, True),
        (Limits(indexes=2), 2, False),
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
        index: Index = build_index(root, store=Store(tmp_path / "cache"), workers=1, limits=limits)
        return len(index.symbols.name), draw_map(index, FlightPlan()).text

    usual, strict = symbols(Limits()), symbols(Limits(line_bytes=500))
    assert (usual[0] > 0, strict[0]) == (True, 0)
    assert symbols(Limits()) == usual
    assert symbols(Limits(line_bytes=500)) == strict
    snapshots = list((tmp_path / "cache/snapshots").iterdir())
    symbols(Limits(indexes=1, memory_mb=100, cache_mb=5))
    assert list((tmp_path / "cache/snapshots").iterdir()) == snapshots


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("value", ["0", "many", "nan"])
def test_a_limit_that_is_no_number_above_zero_is_told(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(
        LimitError, match=rf"^{variable} is `{value}`; set it to a (whole )?number above zero"
    ):
        read_settings()


def test_a_file_with_too_many_definitions_is_cut_and_told(tmp_path: Path) -> None:
    functions = "".join(f"def f{number}(): return g{number}\n" for number in range(12))
    imports = "".join(f"import m{number}\n" for number in range(12))
    write(tmp_path, {"many.py": functions, "needy.py": imports, "titles.md": "# One\n" * 12})
    assert told_of(tmp_path, definitions=12) == ""
    assert told_of(tmp_path, definitions=10) == (
        "many.py: more than 10 definitions; the first 10 were read\n"
        "needy.py: more than 10 imports; the first 10 were read\n"
        "titles.md: more than 10 definitions; the first 10 were read"
    )
    limits = Limits(definitions=10)
    index = build_index(tmp_path, store=Store(None), workers=1, limits=limits)
    assert [item.name for item in index.definitions(0)] == [f"f{number}" for number in range(10)]


HARD_SHELL = "a=(\n" * 25_000
"""Its grammar takes the square of its length."""


def test_a_tree_of_slow_files_takes_time_in_proportion_to_its_size(
    tmp_path: Path,
) -> None:
    write(tmp_path, {f"slow{number}.sh": HARD_SHELL for number in range(3)} | {"z.sh": "f() { g; }\n"})
    slow = "the bash grammar did not finish within 0.1 s of CPU time; no symbols were read"
    assert told_of(tmp_path, parse_seconds=0.5) == "\n".join(
        f"slow{number}.sh: {slow}" for number in range(3)
    )


def test_a_file_that_never_ends_counts_as_what_it_takes_until_it_is_ended(tmp_path: Path) -> None:
    write(tmp_path, {f"endless{number}.sh": f"{'(' * 40_000}\n" * 2 for number in range(3)})
    late = "too many files before it are too hard to parse; no symbols were read"
    assert told_of(tmp_path, parse_seconds=0.5, hard_seconds=0.8) == (
        ": 2 files were not parsed: too many others crash their grammars or take them too long\n"
        "endless0.sh: reading it takes far longer than its size explains; no symbols were read\n"
        f"endless1.sh: {late}\n"
        f"endless2.sh: {late}"
    )


def test_hard_files_of_a_tree_take_only_so_much_time_together(tmp_path: Path) -> None:
    write(tmp_path, {f"slow{number}.sh": HARD_SHELL for number in range(4)})
    late = "too many files before it are too hard to parse; no symbols were read"
    message = told_of(tmp_path, parse_seconds=1, hard_seconds=0.1)
    assert message.startswith(": 1 file was not parsed: too many others crash their grammars or")
    assert message.endswith(f"slow3.sh: {late}")
    # Of so large a tree more is tried.
    write(tmp_path, {"x.py": "# One\n" * 100_000})
    assert told_of(tmp_path, parse_seconds=1, hard_seconds=0.1).count("did not finish within 0.2 s") == 4


NO_TIMEOUT = [
    '((identifier) @x (#match? @x "^(a+)+$"))',
    '((identifier) @x (#any-match? @x "(a|a)+$"))',
    "(module (_)* @a (_)* @b (_)* @c (_)* @d)",
]
"""Queries that take exponential time, or that of a high power."""


@pytest.mark.parametrize("query", NO_TIMEOUT)
def test_a_custom_query_that_takes_too_long_is_refused_in_a_sentence(tmp_path: Path, query: str) -> None:
    write(tmp_path, {"a.py": f"{'a' * 40}b = 1\n" + "x = 1\n" * 300})
    index = build_index(tmp_path, store=Store(None), workers=1, limits=Limits(query_seconds=0.2))
    plan = FlightPlan.model_validate({"custom_queries": [{"pattern": "**", "query": query}]})
    with pytest.raises(FlightPlanError) as message:
        draw_map(index, plan)
    assert str(message.value) == (
        "`custom_queries[0].query` can't be run: it did not finish within 0.2 s of CPU time; "
        "make its pattern simpler, or name fewer files."
    )


def test_a_custom_query_for_too_much_source_or_with_too_many_captures_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n" * 21_000})
    plan = FlightPlan.model_validate({"custom_queries": [{"pattern": "**", "query": "(assignment) @x"}]})
    for limits, why in (
        (Limits(query_bytes=1_000), "its files hold 126,000 bytes of source, over the limit of 1,000;"),
        (Limits(), "it captures more than 20,000 parts;"),
    ):
        with pytest.raises(FlightPlanError, match=why):
            draw_map(build_index(tmp_path, store=Store(None), workers=1, limits=limits), plan)


@pytest.mark.anyio
async def test_while_a_custom_query_runs_other_calls_are_answered(
    tmp_path: Path,
) -> None:
    repository = write(tmp_path / "shop", {"a.py": f"{'a' * 40}b = 1\ndef total(): return 1\n"})
    other = write(tmp_path / "other", {"b.py": "def total(): return 2\n"})
    plan = f"custom_queries: [{{pattern: '**', query: '{NO_TIMEOUT[0]}'}}]"
    settings = Settings(data_dir=None, limits=Limits(query_seconds=1.0))
    done: list[str] = []
    async with Client(build_server(settings, working_folder=repository)) as client:
        # What is imported at the first call is no part of the question.
        await client.call_tool("navigate", {"goal": "total", "repo_path": str(other)})

        async def call(name: str, **arguments: str) -> None:
            answer = await client.call_tool("navigate", {"goal": "total", **arguments})
            done.append(name)
            (block, *_) = answer.content
            assert isinstance(block, TextContent)
            assert ("did not finish within 1 s" in block.text) == (name == "endless")

        async with anyio.create_task_group() as group:
            group.start_soon(partial(call, "endless", repo_path=str(repository), flight_plan=plan))
            group.start_soon(partial(call, "ordinary", repo_path=str(other)))
    assert done == ["ordinary", "endless"]


RULE = {"pattern": "a.py", "level": 1}
FLOODS: list[tuple[dict[str, object], str]] = [
    ({"verbosity": [RULE] * 20_000}, "`verbosity` has 20,000 entries, more than "),
    (
        {"verbosity": [{"pattern": "a.py", "sections": [{"pattern": "f", "level": 1}] * 20_000}]},
        "The rules have 20,000 sections together, more than ",
    ),
    ({"focus": {"paths": [{"pattern": "a.py"}] * 20_000}}, "`focus.paths` has 20,000 entries, more than "),
    ({"focus": {"symbols": [{"name": "f"}] * 20_000}}, "`focus.symbols` has 20,000 entries, more than "),
    (
        {"custom_queries": [{"pattern": "a.py", "query": "(identifier) @x"}] * 200},
        "`custom_queries` has 200 entries, more than ",
    ),
    (
        {"custom_queries": [{"pattern": "a.py", "query": "(" * 20_000}]},
        "`custom_queries[0].query` has 20,000 characters, more than 10,000; make it shorter.",
    ),
    (
        {"verbosity": [{"pattern": "a" * 20_000, "level": 1}]},
        "`verbosity[0].pattern` has 20,000 characters, more than 5,000; make it shorter.",
    ),
    ({"verbosity": [{"pattern": "{" * 2_000, "level": 1}]}, "`verbosity[0].pattern`: The glob `{{{"),
    ({"verbosity": [{"pattern": "{a,b}" * 40, "level": 1}]}, "`verbosity[0].pattern`: The glob `aaaa"),
]


@pytest.mark.parametrize(("flood", "why"), FLOODS)
def test_a_partial_plan_that_is_too_large_is_refused_before_it_is_read(
    flood: dict[str, object], why: str
) -> None:
    with pytest.raises(FlightPlanError) as message:
        apply_update(FlightPlan(), flood)
    assert str(message.value).startswith(why)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"verbosity: {json.dumps([RULE] * 501)}", "`verbosity` has 501 entries, more than 500; use globs"),
        (f"verbosity: [{'a,' * 31_000}]", "The plan is not valid YAML at line 1, column"),
        (f"verbosity: {'[' * 5_000}", "The plan is not valid YAML at line 1, column"),
        (
            "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
            "The plan is not valid YAML at line 1",
        ),
    ],
)
def test_the_text_of_a_plan_that_is_too_large_is_refused(text: str, why: str) -> None:
    with pytest.raises(FlightPlanError) as message:
        parse_plan(text)
    assert str(message.value).startswith(why)


def test_updates_that_add_up_to_too_large_a_plan_are_refused() -> None:
    plan = FlightPlan.model_validate({"verbosity": [{"pattern": f"{n}.py", "level": 1} for n in range(500)]})
    assert apply_update(plan, {"verbosity": [RULE | {"pattern": "3.py"}]}).plan == plan
    with pytest.raises(FlightPlanError, match=r"^`verbosity` has 501 entries, more than 500; use globs"):
        apply_update(plan, {"verbosity": [RULE]})


def test_wildcards_of_sections_that_would_be_tried_too_often_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "".join(f"def f{number}(): ...\n" for number in range(1_000))})
    index = build_index(tmp_path, store=Store(None), workers=1)

    def plan(pattern: str) -> FlightPlan:
        sections = [{"pattern": pattern.format(number), "level": 4} for number in range(2_001)]
        return FlightPlan.model_validate({"verbosity": [{"pattern": "**", "sections": sections}]})

    assert "def f999" in draw_map(index, plan("f{}")).text
    with pytest.raises(FlightPlanError, match=r"tried on 2,001,000 names, more than 2,000,000;"):
        draw_map(index, plan("*x{}*"))


@pytest.mark.anyio
async def test_a_plan_is_read_beside_the_loop_that_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = write(tmp_path / "shop", {"a.py": "def total(): return 1\n"})
    threads: list[threading.Thread] = []
    load = plan_yaml._load

    def noted(text: str) -> dict[str, Any] | None:
        threads.append(threading.current_thread())
        return load(text)

    monkeypatch.setattr(plan_yaml, "_load", noted)
    async with Client(build_server(Settings(data_dir=None), working_folder=repository)) as client:
        arguments = {"goal": "total", "repo_path": str(repository), "flight_plan": "budget: 4000"}
        opened = await client.call_tool("navigate", arguments)
    assert not opened.is_error
    assert threads
    assert threading.current_thread() not in threads


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without it")
def test_a_plan_is_read_the_same_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = "".join(
        f'- {{pattern: "a{n}: ä\\u00e4/with-a-long-name/**", level: {n % 5}}}\n' for n in range(490)
    )
    text = f"budget: 0x{4_000:x}\nverbosity:\n{rules}"
    long = parse_plan(text)
    with monkeypatch.context() as patch:
        patch.setattr(plan_yaml, "_LOADER", yaml.SafeLoader)
        assert parse_plan(text) == long
    for refused in (
        "- " * 30,
        "[" * 30,
        "a: &a 1\n",
        "a: 1\na: 2\n",
        "? [b]\n: c\n",
        "!!python/name:os.system x\n",
    ):
        with pytest.raises(FlightPlanError, match=r"^The plan is not valid YAML at line "):
            parse_plan(f"{text}more: [{'x, ' * 10_000}]\nother: \n{refused}")
