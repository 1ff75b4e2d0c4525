"""What the user leaves out stays out, whoever changes the plan: every way in, and the one way back."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from navigator.navigator import Navigator
from navigator.settings import NavigationRequest
from navigator.state.reports import TurnReport
from tests.navigator.conftest import FILES, MakeNavigator
from tests.navigator.flights import DONE, fly
from tests.support.providers.minds import Say, call

pytestmark = pytest.mark.anyio

GOAL = "login: token_expired compares the wrong way, and issue_token is wrong in src/auth/tokens.py"
AUTH = frozenset({"src/auth/login.py", "src/auth/tokens.py"})
OUT = {"verbosity": [{"pattern": "src/auth/**", "level": 0}]}
ONLY_BILLING = {"verbosity": [{"pattern": "**", "level": 0}, {"pattern": "src/billing.py", "level": 3}]}
YAML = "verbosity:\n- pattern: src/auth/**\n  level: 0\n"
BESIDE = frozenset(FILES) - {"src/billing.py"}

Open = Callable[[Navigator, Path], Awaitable[str]]


def opening(plan: Any = None, **parts: Any) -> Open:
    async def opened(navigator: Navigator, repository: Path) -> str:
        return await navigator.open(NavigationRequest(GOAL, repository, flight_plan=plan, **parts))

    return opened


def stepping(plan: Any = None, **asked: Any) -> Open:
    """Open a navigation, let it find the code, then leave it out."""

    async def opened(navigator: Navigator, repository: Path) -> str:
        navigation_id = await opening(plan)(navigator, repository)
        await navigator.run(navigation_id)
        await navigator.step(navigation_id, **asked)
        return navigation_id

    return opened


WIDER_BEFORE = {"verbosity": [{"pattern": "src/**", "level": 4}, {"pattern": "src/auth/**", "level": 0}]}
NAMED_BEFORE = {
    "verbosity": [{"pattern": "src/auth/**", "level": 2}, {"pattern": "src/auth/*.py", "level": 4}]
}
WAYS: dict[str, tuple[Open, frozenset[str]]] = {
    "a plan as text": (opening(YAML), AUTH),
    "a plan with little room": (opening(OUT, token_budget=150), AUTH),
    "a plan with a wider rule before": (opening(WIDER_BEFORE), AUTH),
    "a rule for everything beside one for a file": (opening(ONLY_BILLING), BESIDE),
    "updates of a rule that stood before another": (stepping(NAMED_BEFORE, updates=OUT), AUTH),
    "updates for everything": (stepping(updates=ONLY_BILLING), BESIDE),
    "feedback": (stepping(feedback="drop src/auth"), AUTH),
    "feedback that names a kind": (stepping(feedback="drop the tests"), frozenset({"tests/test_login.py"})),
}


async def told_of(navigator: Navigator, navigation_id: str) -> tuple[set[str], str]:
    """Return the files that a navigation shows or offers, and all words in which it speaks of files."""
    output = await navigator.context(navigation_id)
    report: TurnReport = await navigator.report(navigation_id)
    shown = {each.path for each in (*output.files, *report.outline)}
    # Of the user's own change the report tells every rule, those at level 0 among them.
    words = (output.context_string, *([] if report.model == "user" else [report.reasoning]))
    return shown | set(report.focus_areas), "\n".join(words)


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_left_out_is_neither_shown_nor_offered_nor_spoken_of_again(
    way: str, make_navigator: MakeNavigator, repository: Path
) -> None:
    leave_out, files = WAYS[way]
    navigator = make_navigator()
    navigation_id = await leave_out(navigator, repository)
    turns: list[dict[str, Any]] = [
        {},
        {"ask": {"callers": "login"}},
        {"updates": {"verbosity": [{"pattern": "**/*", "level": 3}, {"pattern": "**/*.py", "level": 4}]}},
        {"updates": {"focus": {"paths": [{"pattern": "src/auth/**", "weight": 50}]}}},
        {"show": ["total"]},
        {"updates": {"budget": 9_000}},
        {},
    ]
    for turn in turns:
        await navigator.step(navigation_id, **turn)
        shown, words = await told_of(navigator, navigation_id)
        assert not shown & files, turn
        assert not [path for path in files if path in words], turn
    again = await navigator.open(
        NavigationRequest(
            GOAL, repository, flight_plan=(await navigator.context(navigation_id)).flight_plan_yaml
        )
    )
    await navigator.run(again)
    assert not (await told_of(navigator, again))[0] & files


BRINGS_BACK = (
    {"verbosity": [{"pattern": "src/auth/tokens.py", "level": 4}, {"pattern": "README.md", "level": 1}]},
    {"verbosity": [{"pattern": "src/auth/*.py", "level": 3}, {"pattern": "README.md", "level": 1}]},
    {"verbosity": None, "focus": {"paths": [{"pattern": "src/auth/**", "weight": 9}]}},
)
LETS_REST = (
    {"verbosity": [{"pattern": "src/auth/**", "level": None}, {"pattern": "README.md", "level": 1}]},
    {"verbosity": [{"pattern": "**", "level": 4}]},
)
"""Where the rules that leave files out stand behind those that show files, these bring nothing back."""


ALONE = {"verbosity": [{"pattern": "src/auth/tokens.py", "level": 4}]}
"""A model that asks for nothing else is told before its step ends."""


@pytest.mark.parametrize("updates", [*BRINGS_BACK, *LETS_REST, ALONE])
async def test_a_model_cannot_bring_back_what_the_user_leaves_out_and_is_told(
    updates: dict[str, Any],
    make_navigator: MakeNavigator,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "test-key")
    message: list[str] = []

    def mind(request: dict[str, Any], number: int) -> Say:
        message.append(json.dumps(request))
        if number == 0:
            return call("update_flight_plan", {"reasoning": "The task names tokens.py.", "updates": updates})
        return call("finalize_context", DONE)

    flown = await fly(make_navigator, repository, mind, goal=GOAL, flight_plan=OUT)
    assert not {file.path for file in flown.output.files} & AUTH
    said = re.search(r"`src/auth/\w+\.py`", flown.notes)
    assert bool(said) == (updates in BRINGS_BACK)
    assert "`src/auth/**`" in message[0]
    assert updates is not ALONE or "`src/auth/tokens.py`" in message[1]


@pytest.mark.parametrize(
    "asked",
    [
        {"updates": {"verbosity": [{"pattern": "src/auth/tokens.py", "level": 4}]}},
        {"feedback": "show src/auth/tokens.py"},
        {"feedback": "bring back src/auth/tokens.py"},
        {"show": ["src/auth/tokens.py"]},
    ],
)
async def test_a_file_that_the_user_names_later_comes_back_alone_and_is_told(
    asked: dict[str, Any], make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await stepping(feedback="drop src/auth")(navigator, repository)
    report = await navigator.step(navigation_id, **asked)
    assert "`src/auth/tokens.py`" in report.answer
    for _ in range(3):
        shown = {file.path for file in (await navigator.context(navigation_id)).files}
        assert "src/auth/tokens.py" in shown
        assert "src/auth/login.py" not in shown
        await navigator.step(navigation_id)


async def test_a_wider_wish_leaves_out_what_was_left_out_and_says_so(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await stepping(feedback="drop src/auth")(navigator, repository)
    report = await navigator.step(navigation_id, updates={"verbosity": [{"pattern": "src/**", "level": 4}]})
    assert "`src/auth/login.py`" in report.answer
    assert "src/router.py" in report.focus_areas


async def test_words_that_name_no_file_bring_nothing_back(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await stepping(feedback="drop src/auth")(navigator, repository)
    await navigator.step(navigation_id, feedback="show the sessions and logins")
    await navigator.step(navigation_id, ask={"callers": ["login", "check_password"]})
    assert not {file.path for file in (await navigator.context(navigation_id)).files} & AUTH


async def test_a_function_that_is_left_out_stays_out_of_its_file(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    plan = {
        "verbosity": [
            {"pattern": "src/auth/tokens.py", "sections": [{"pattern": "token_expired", "level": 0}]}
        ]
    }
    navigation_id = await opening(plan)(navigator, repository)
    for _ in range(4):
        await navigator.step(navigation_id)
        context = (await navigator.context(navigation_id)).context_string
        assert "def token_expired" not in context
    assert "def issue_token" in context
