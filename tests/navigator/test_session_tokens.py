"""What a task-scoped session saves: the example of the design, and every way of telling a provider once."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from google.adk.models import Gemini
from google.adk.models.cache_metadata import CacheMetadata
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from benchmarks.session_tokens import compare
from navigator.agent.models import gemini
from navigator.agent.models.catalogue import Provider, RetryPolicy
from navigator.agent.models.gemini import ExplicitCache
from navigator.agent.models.provider_cache import ProviderCache
from navigator.agent.models.session import HybridSession
from navigator.state.pricing import Ledger, load_prices
from navigator.state.usage import TokenAccount, TokenUsage
from repo_map.text.tokens import count
from tests.support.providers.gemini import GeminiServer
from tests.support.providers.minds import Say, call

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("gemini_key")]
STEPS, SYSTEM, SCHEMA, TASK, STATE, ANSWER = 10, 500, 300, 200, 500, 200
"""The example of the design document: tokens of each part."""


def text_of(tokens: int, word: str) -> str:
    text = f"{word} " * tokens
    while count(text) > tokens:
        text = text.removesuffix(f"{word} ")
    return text


def request_of(step: int, *, task: bool) -> LlmRequest:
    """Return the request of one step, in the sizes of the example."""
    schema = {"type": "object", "description": text_of(SCHEMA - 34, "schema")}
    decide = types.FunctionDeclaration(name="decide", parameters_json_schema=schema)
    texts = [*([text_of(TASK, "task")] if task else []), text_of(STATE, f"state{step}")]
    request = LlmRequest(
        contents=[types.Content(role="user", parts=[types.Part(text=text)]) for text in texts],
        config=types.GenerateContentConfig(
            system_instruction=text_of(SYSTEM, "system"),
            tools=[types.Tool(function_declarations=[decide])],
            max_output_tokens=ANSWER,
        ),
    )
    request.tools_dict["decide"] = Any  # type: ignore[assignment]
    if task:
        request.cache_metadata = CacheMetadata(fingerprint="task", contents_count=1)
    return request


def answer(request: dict[str, Any], number: int) -> Say:
    said = call("decide", {}, candidates=ANSWER)
    return said._replace(usage=said.usage._replace(prompt=None, cached=None))


async def play(*, task_scoped: bool) -> tuple[int, TokenAccount]:
    """Play the ten steps; return what the server was sent and answered, in tokens, and the account of it."""
    with GeminiServer(answer) as server:
        assert isinstance(server, GeminiServer)
        ledger = Ledger(Decimal(1), Decimal(0), TokenUsage())
        session = new_session(ledger, server, task_scoped)
        for step in range(STEPS):
            await session.invoke(request_of(step, task=task_scoped))
            if not task_scoped:
                await session.destroy()
                session = new_session(ledger, server, task_scoped)
        await session.destroy()
        assert server.caches == {}
        sent = sum(each.uncached for each in server.counted) + STEPS * ANSWER
        return sent, ledger.account


def new_session(ledger: Ledger, server: GeminiServer, task_scoped: bool) -> HybridSession:
    llm = Gemini(model="gemini-2.5-flash", base_url=server.url)
    memory = ExplicitCache(llm, 120.0) if task_scoped else ProviderCache()
    provider = Provider("gemini-2.5-flash", llm, load_prices().price_of("gemini-2.5-flash"), memory)
    return HybridSession("nav-x", ledger, [provider], RetryPolicy(60, 0, 0.0))


async def test_the_designs_own_example_comes_out_at_eight_thousand_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gemini, "LEAST_TOKENS", 900)
    before, _ = await play(task_scoped=False)
    after, account = await play(task_scoped=True)
    assert before == pytest.approx(15_000, rel=0.01)
    assert after <= 8_000
    assert account.sent + account.output == after
    assert account.wasted <= 0.12


async def test_every_way_of_telling_once_finds_the_same_and_sends_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Packets end where more is not worth it: theirs are smaller than what Gemini keeps at least.
    monkeypatch.setattr(gemini, "LEAST_TOKENS", 900)
    for number in range(60):
        names = ("invoice", "customer", "session")
        body = "".join(
            f"def {name}_{number}(value):\n    known = {name}_of(value)\n    return known + {number}\n\n\n"
            for name in names
        )
        (tmp_path / f"module_{number}.py").write_text(body)
    rows = await compare(tmp_path, "customer_7 and session_9 return the wrong value", steps=6, tokens=2_500)
    *task_scoped, without_cache, step_scoped = rows.values()
    assert without_cache.uncached <= 1.01 * step_scoped.uncached
    assert {each.context for each in rows.values()} == {step_scoped.context}
    assert all(each.uncached < 0.65 * step_scoped.uncached for each in task_scoped)
