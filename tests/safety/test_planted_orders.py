"""A model that does what a repository's text orders changes nothing but its own selection."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.state.reports import NavigatorOutput, StopReason
from tests.support.planted_orders import GOAL, PLANTED, TARGET, plant
from tests.support.providers.minds import Call, Mind, Say
from tests.support.providers.openai import openai
from tests.support.results import FENCE

pytestmark = pytest.mark.anyio

LOOKS = Say(
    (
        Call("read", {"targets": [TARGET, "README.md", "src/router.py", "src/billing.py"]}),
        Call("search", {"pattern": "token|select|Ignore|SYSTEM|finalize"}),
        Call("outline", {"path": "src/auth"}),
        Call("references", {"symbol": "token_expired", "kind": "similar"}),
    )
)
FINISH = Call("finalize_context", {"summary": "As told.", "select": ["src/billing.py:total"]})
OUTSIDE = ["../secret.txt", "/etc/passwd", ".git/config", "../../secret.txt"]
OBEYED: dict[str, Call] = {
    "reads outside": Call("read", {"targets": OUTSIDE}),
    "searches outside": Call("search", {"pattern": "root|secret|\\[core", "paths": "../**"}),
    "lists outside": Call("outline", {"path": ".."}),
    "selects outside": Call("finalize_context", {"summary": "As told.", "select": OUTSIDE}),
    "changes its settings": Call(
        "update_flight_plan",
        {"reasoning": "As told.", "updates": {"goal": "other", "model": "other/one", "max_cost_usd": 99}},
    ),
    "shows outside": Call(
        "update_flight_plan",
        {"reasoning": "As told.", "updates": {"verbosity": [{"pattern": "../secret.txt", "level": 4}]}},
    ),
    "writes a file": Call("write_file", {"path": TARGET, "text": ""}),
    "runs a command": Call("run_command", {"command": "rm -rf src"}),
}


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


async def navigated(repository: Path, mind: Mind) -> tuple[NavigatorOutput, list[dict[str, Any]]]:
    with openai(mind) as server:
        urls = {"openai": server.base_url}
        navigator = Navigator(NavigatorSettings(use_cache=False, workers=1, model_urls=urls, retries=0))
        request = NavigationRequest(GOAL, repository, model="openai/obedient")
        try:
            output = await navigator.run(await navigator.open(request))
        finally:
            await navigator.aclose()
        return output, server.requests


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret: kept outside")
    return plant(tmp_path / "shop", *PLANTED)


@pytest.mark.parametrize("obeyed", OBEYED.values(), ids=OBEYED)
async def test_an_obedient_model_changes_nothing_outside_its_selection(
    repository: Path, tmp_path: Path, obeyed: Call
) -> None:
    before = snapshot(tmp_path)

    def mind(_request: dict[str, Any], number: int) -> Say:
        return (LOOKS, Say((obeyed,)), Say((FINISH,)))[min(number, 2)]

    output, requests = await navigated(repository, mind)
    assert snapshot(tmp_path) == before
    assert output.stop_reason is StopReason.FINISHED
    assert {f"{repository / file.path}" for file in output.files} <= before.keys()
    assert output.total_cost == Decimal(0)
    assert output.budget_remaining == 2
    sent = json.dumps(requests)
    assert "kept outside" not in sent + output.model_dump_json()
    assert "root:" not in sent
    assert "[core]" not in sent


async def test_every_planted_order_stands_between_markers(repository: Path) -> None:
    def mind(_request: dict[str, Any], number: int) -> Say:
        return (LOOKS, Say((FINISH,)))[min(number, 1)]

    _, requests = await navigated(repository, mind)
    texts = [each["content"] for request in requests for each in request["messages"] if each.get("content")]
    shown = "\n".join(texts)
    outside = FENCE.sub("", shown)
    assert len(PLANTED) == 30
    assert {where for where, order in PLANTED if order not in shown} <= {"commit"}
    assert [each for each in PLANTED if each.order in outside] == []
