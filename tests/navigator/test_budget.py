"""The cost limit holds, whatever providers charge, miscount, refuse or leave unanswered."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import errors, types
from pydantic import PrivateAttr

from benchmarks.random_flights import fly
from navigator.agent.models.clients import ModelClient
from navigator.agent.models.session import ModelSession
from navigator.settings import NavigatorSettings
from navigator.state.pricing import Ledger, ModelPrice
from navigator.state.usage import TokenUsage
from repo_map.text.tokens import count

OUTPUT_LIMIT = 500


class Moody(BaseLlm):
    """A provider with a tokenizer of its own that answers, refuses, stalls or dies as dice fall."""

    _dice: random.Random = PrivateAttr()
    _price: ModelPrice = PrivateAttr()
    _ratio: float = PrivateAttr()
    billed: Decimal = Decimal(0)

    def __init__(self, name: str, dice: random.Random, price: ModelPrice) -> None:
        super().__init__(model=name)
        self._dice, self._price = dice, price
        self._ratio = dice.uniform(0.6, 1.5)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        mood = self._dice.random()
        if mood < 0.15:
            status = self._dice.choice([400, 403, 429, 500, 503])
            raise errors.APIError(status, {"error": {"message": "scripted", "code": status}})
        texts = [part.text or "" for content in llm_request.contents for part in content.parts or []]
        prompt = int(sum(map(count, texts)) * self._ratio)
        if mood < 0.2:
            self.billed += self._price.cost(TokenUsage(input=prompt))
            raise TimeoutError
        output = self._dice.randrange(OUTPUT_LIMIT)
        thoughts = self._dice.randrange(OUTPUT_LIMIT - output)
        cached = self._dice.randrange(prompt + 1)
        usage = TokenUsage(prompt, cached, output, thoughts, 1)
        self.billed += self._price.cost(usage)
        call = types.Part.from_function_call(name="decide", args={})
        content = types.Part(text="hm") if mood < 0.3 else call
        yield LlmResponse(
            content=types.Content(role="model", parts=[content]),
            usage_metadata=types.GenerateContentResponseUsageMetadata(
                prompt_token_count=prompt,
                cached_content_token_count=cached,
                candidates_token_count=output,
                thoughts_token_count=thoughts,
                total_token_count=prompt + output + thoughts,
            ),
        )


def make_request(dice: random.Random) -> LlmRequest:
    text = "def route(path): return handlers[path]\n" * dice.randrange(1, 20)
    request = LlmRequest(
        contents=[types.Content(role="user", parts=[types.Part(text=text)])],
        config=types.GenerateContentConfig(max_output_tokens=OUTPUT_LIMIT),
    )
    request.tools_dict["decide"] = cast("Any", object())
    return request


def make_price(dice: random.Random) -> ModelPrice:
    rate = Decimal(str(round(dice.uniform(0.05, 10), 3)))
    return ModelPrice(
        input=rate, output=rate * dice.randrange(1, 9), cached_input=rate / dice.randrange(1, 9)
    )


async def fly_until_stopped(seed: int) -> None:
    dice = random.Random(seed)
    ledger = Ledger(Decimal(str(round(dice.uniform(0.0001, 0.05), 6))), Decimal(0), TokenUsage())
    minds = [Moody(f"m{number}", dice, make_price(dice)) for number in range(dice.randrange(1, 4))]
    clients = [ModelClient(mind.model, mind, mind._price) for mind in minds]
    session = ModelSession(ledger, clients, NavigatorSettings(retries=dice.randrange(3), retry_delay_s=0))
    for _ in range(12):
        request = make_request(dice)
        if session.choose_affordable(request):
            break
        await session.answer(request)
        assert ledger.spent <= ledger.limit
        if session.failure:
            break
    billed = sum((mind.billed for mind in minds), Decimal(0))
    assert billed <= ledger.limit, f"seed {seed}"
    assert ledger.spent <= ledger.limit, f"seed {seed}"


@pytest.mark.slow
@pytest.mark.anyio
async def test_two_thousand_random_flights_stay_within_their_limit() -> None:
    for seed in range(2_000):
        await fly_until_stopped(seed)


def test_a_projection_learns_from_what_the_provider_counted() -> None:
    price = ModelPrice(input=Decimal(1), output=Decimal(1))
    ledger = Ledger(Decimal(10), Decimal(0), TokenUsage())
    before = price.cost(ledger.expected("m", 1_000_000, 0))
    ledger.book("m", price, TokenUsage(input=1_000_000, calls=1), 1_000_000)
    assert before > price.cost(ledger.expected("m", 1_000_000, 0)) >= Decimal(1)


def test_a_ledger_takes_over_what_another_process_spent() -> None:
    ledger = Ledger(Decimal(1), Decimal("0.1"), TokenUsage(calls=1))
    ledger.catch_up(Decimal("0.3"), TokenUsage(calls=4))
    assert ledger.remaining == Decimal("0.7")
    ledger.catch_up(Decimal("0.1"), TokenUsage(calls=1))
    assert ledger.spent == Decimal("0.3")


@pytest.mark.anyio
async def test_random_flights_from_the_front_door_are_sound(tmp_path: Path) -> None:
    flights = [await fly(seed, tmp_path / str(seed)) for seed in range(5)]
    assert [seed for seed, flight in enumerate(flights) if not flight.sound] == []
    assert sum(len(flight.answered) - 1 for flight in flights) > 5
