"""Random flights from the front door: prices, counts, limits and faults fall as dice do.

``python -m benchmarks.random_flights --flights 2000`` fails if one flight costs more than its limit, or if a
step that was answered can't be read again by a navigator that is started anew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import NamedTuple

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import errors, types
from pydantic import PrivateAttr

from navigator.errors import ModelFailedError
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.state.pricing import ModelPrice
from navigator.state.usage import TokenUsage
from repo_map.text.tokens import count

SOURCE = "def total(lines):\n    return sum(line.amount for line in lines)\n"


class Flight(NamedTuple):
    """What a random flight came to."""

    limit: Decimal
    billed: Decimal
    """By the models' own count."""
    booked: Decimal
    answered: tuple[str, ...]
    """The map after each step that was answered."""
    kept: tuple[str, ...]
    """The same maps, read by a navigator that was started anew."""

    @property
    def sound(self) -> bool:
        """Whether the limit held and no step was lost."""
        return max(self.billed, self.booked) <= self.limit and self.kept == self.answered


class Moody(BaseLlm):
    """A model with a tokenizer of its own that plans, babbles, refuses, stalls or dies as dice fall."""

    billed: Decimal = Decimal(0)
    _dice: Random = PrivateAttr()
    _price: ModelPrice = PrivateAttr()

    def __init__(self, name: str, dice: Random, price: ModelPrice) -> None:
        super().__init__(model=name)
        self._dice, self._price = dice, price

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer once, or fail."""
        dice, mood = self._dice, self._dice.random()
        if mood < 0.15:
            status = dice.choice([400, 403, 429, 500, 503])
            raise errors.APIError(status, {"error": {"message": "scripted", "code": status}})
        prompt = int(count(llm_request.model_dump_json(include={"contents"})) * dice.uniform(0.5, 1.2))
        if mood < 0.2:
            self.billed += self._price.cost(TokenUsage(input=prompt))
            raise TimeoutError
        limit = llm_request.config.max_output_tokens or 1
        output = dice.randrange(limit)
        thoughts, cached = dice.randrange(limit - output), dice.randrange(prompt + 1)
        self.billed += self._price.cost(TokenUsage(prompt, cached, output, thoughts, 1))
        update = {"verbosity": [{"pattern": "billing.py", "level": dice.randrange(5)}]}
        args = {"reasoning": "dice" if mood < 0.9 else "", "updates": update}
        decides = types.Part.from_function_call(name="update_flight_plan", args=args)
        yield LlmResponse(
            content=types.Content(role="model", parts=[decides if mood > 0.25 else types.Part(text="hm")]),
            usage_metadata=types.GenerateContentResponseUsageMetadata(
                prompt_token_count=prompt,
                cached_content_token_count=cached,
                candidates_token_count=output,
                thoughts_token_count=thoughts,
                total_token_count=prompt + output + thoughts,
            ),
        )


async def fly(seed: int, folder: Path) -> Flight:
    """Fly until the flight stops, then read every step again."""
    dice = Random(seed)
    prices = {f"moody-{number}": _price(dice) for number in range(dice.randrange(1, 3))}
    table = {name: json.loads(price.model_dump_json(exclude_none=True)) for name, price in prices.items()}
    _write(folder, table)
    models = {name: Moody(name, dice, price) for name, price in prices.items()}
    settings = NavigatorSettings(
        data_dir=folder / "data",
        fallback_model=next(iter([*prices][1:]), ""),
        embedded_fallback=dice.random() < 0.5,
        prices=folder / "prices.yaml",
        retries=dice.randrange(3),
        retry_delay_s=0.0,
        workers=1,
        use_cache=False,
    )
    limit = Decimal(str(round(dice.uniform(0.001, 0.5), 6)))
    navigator = Navigator(settings, models=models)
    request = NavigationRequest(
        "the total is wrong", folder, max_cost_usd=limit, model="moody-0", max_steps=6
    )
    navigation_id = await navigator.open(request)
    answered, stopped = [await navigator.map_text(navigation_id)], None
    with suppress(ModelFailedError):
        while stopped is None:
            before = len(answered) - 1
            report = await navigator.step(navigation_id)
            stopped = report.stop_reason
            if report.step_number > before:
                answered.append(await navigator.map_text(navigation_id))
    booked = (await navigator.context(navigation_id)).total_cost
    await navigator.aclose()
    again = Navigator(settings, models=models)
    kept = [
        await again.map_text(navigation_id, version=report.map_version)
        for report in await again.decisions(navigation_id)
    ]
    await again.aclose()
    billed = sum((model.billed for model in models.values()), Decimal(0))
    return Flight(limit, billed, booked, tuple(answered), tuple(kept))


def _write(folder: Path, table: dict[str, object]) -> None:
    folder.mkdir()
    (folder / "billing.py").write_text(SOURCE, "utf-8")
    (folder / "prices.yaml").write_text(json.dumps({"models": table}), "utf-8")


def _price(dice: Random) -> ModelPrice:
    rate = Decimal(str(round(dice.uniform(0.05, 10), 3)))
    return ModelPrice(input=rate, output=rate * dice.randrange(1, 9), cached_input=rate / 4)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fly, and say how many flights were sound; exit status 1 unless all were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flights", type=int, default=2_000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args(arguments)
    unsound, steps = [], 0
    for seed in range(options.first_seed, options.first_seed + options.flights):
        with tempfile.TemporaryDirectory() as folder:
            flight = asyncio.run(fly(seed, Path(folder) / "repo"))
        steps += len(flight.answered) - 1
        if not flight.sound:
            unsound.append(seed)
    print(f"{options.flights} flights, {steps} steps answered, unsound seeds: {unsound or 'none'}")
    return 1 if unsound else 0


if __name__ == "__main__":
    raise SystemExit(main())
