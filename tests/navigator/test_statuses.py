"""In every mix of questions, wishes, updates, undo, finish and cancel a report is true."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from navigator.errors import NavigationClosedError
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest
from navigator.state.reports import StopReason, TurnReport
from tests.navigator.conftest import MakeNavigator

pytestmark = pytest.mark.anyio
GOAL = "token_expired is wrong for old tokens"
QUESTIONS = ("where is login defined?", "who calls issue_token?", "what did you leave out?", "Was soll das?")
WISHES = (
    "show src/billing.py",
    "drop the tests",
    "less of src/router.py",
    "show check_password",
    "only src/auth",
)
MOVES = ("ask", "ask", "wish", "wish", "undo", "update", "continue", "finish")


class Oracle:
    """What must hold of a navigation, told only what was done to it."""

    def __init__(self, report: TurnReport) -> None:
        self.status = report.stop_reason
        self.step = report.step_number
        self.model = report.model
        self.wishes = 0
        """Changes that can be undone."""

    def check(self, move: str, words: str, report: TurnReport) -> None:
        """Hold a report against what was done."""
        told = (move, words, report.stop_reason, report.model, report.answer)
        taken = report.step_number - self.step
        assert taken in (0, 1), told
        if move == "ask":
            assert (taken, report.stop_reason, report.model) == (0, self.status, self.model), told
            assert report.answer, told
        elif move == "wish" and not taken:
            # What would change nothing says so, and nothing else happens.
            assert (report.stop_reason, report.model) == (self.status, self.model), told
            assert report.answer, told
        elif move == "wish":
            assert (taken, report.stop_reason) == (1, StopReason.FINISHED), told
            assert report.model in ("user", "embedded"), told
        elif move == "undo":
            undoes = bool(taken)
            assert report.answer, told
            assert report.stop_reason == (StopReason.FINISHED if undoes else self.status), told
            assert not undoes or report.model == "user", told
        elif move == "update":
            assert not taken or (report.model, report.stop_reason) == ("user", None), told
        elif move == "continue":
            assert taken == (self.status is None), told
            assert report.stop_reason is not None or taken, told
            assert not taken or report.model == "embedded", told
        elif move == "finish":
            assert (taken, report.stop_reason) == (0, StopReason.USER), told
        self.status, self.step, self.model = report.stop_reason, report.step_number, report.model


async def moved(navigator: Navigator, key: str, move: str, words: str, dice: Random) -> TurnReport:
    """Do one thing."""
    if move in ("ask", "wish", "undo"):
        return await navigator.step(key, feedback=words)
    if move == "update":
        rule = {"pattern": dice.choice(["src/billing.py", "src/router.py"]), "level": dice.randrange(5)}
        return await navigator.step(key, updates={"verbosity": [rule]})
    return await navigator.step(key, action="finish" if move == "finish" else "continue")


@pytest.mark.parametrize("seed", range(3))
async def test_status_reason_and_who_acted_are_true_in_every_mix(
    seed: int, make_navigator: MakeNavigator, repository: Path
) -> None:
    dice, navigator = Random(seed), make_navigator()
    key = await navigator.open(NavigationRequest(GOAL, repository, token_budget=1_500, max_steps=200))
    await navigator.run(key)
    oracle = Oracle(await navigator.report(key))
    assert oracle.status is StopReason.FINISHED
    for _ in range(12):
        move = dice.choice(MOVES)
        words = {"ask": dice.choice(QUESTIONS), "wish": dice.choice(WISHES), "undo": "undo"}.get(move, "")
        report = await moved(navigator, key, move, words, dice)
        oracle.check(move, words, report)
        stored = await navigator.report(key)
        assert (stored.stop_reason, stored.step_number) == (report.stop_reason, report.step_number)
        assert (await navigator.context(key)).stop_reason == report.stop_reason
    given_up = await navigator.step(key, action="cancel")
    assert (given_up.stop_reason, given_up.step_number) == (StopReason.CANCELLED, oracle.step)
    with pytest.raises(NavigationClosedError):
        await navigator.step(key, feedback="drop the tests")
    assert (await navigator.report(key)).stop_reason is StopReason.CANCELLED
