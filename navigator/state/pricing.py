"""Prices, token usage, money budget."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from navigator.errors import InvalidRequestError, UnpricedModelError
from navigator.state.state import ModelPricingRates, Usd
from navigator.state.usage import TokenUsage

MILLION = Decimal(1_000_000)
_SMALLEST_RATE = Decimal("0.000001")


class ModelPrice(BaseModel):
    """US dollars per million tokens of one model."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    input: Usd = Field(ge=0)
    output: Usd = Field(ge=0)
    cached_input: Usd | None = Field(default=None, ge=0)
    """Input read from a provider's cache; the full input price where none is given."""
    window: int | None = Field(default=None, gt=0)

    def cost(self, usage: TokenUsage) -> Decimal:
        """Return what ``usage`` costs in US dollars; thinking counts as output, as providers bill it."""
        cached_rate = self.input if self.cached_input is None else self.cached_input
        fresh = max(usage.input - usage.cached, 0)
        total = (
            fresh * self.input + usage.cached * cached_rate + (usage.output + usage.thinking) * self.output
        )
        return total / MILLION

    @property
    def charges(self) -> bool:
        """Whether calls cost money at all."""
        return bool(self.input or self.output)

    def rates(self, model: str) -> ModelPricingRates:
        """Return the price in the state's shape, whose contract has no word for free: there it is tiny."""
        return ModelPricingRates(
            model_name=model,
            input_per_million=max(self.input, _SMALLEST_RATE),
            output_per_million=max(self.output, _SMALLEST_RATE),
        )


FREE = ModelPrice(input=Decimal(0), output=Decimal(0))


class PriceTable(BaseModel):
    """The known prices and the day they were looked up."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    as_of: str
    models: Mapping[str, ModelPrice]

    def price_of(self, model: str) -> ModelPrice:
        """Return the price of ``model``; a numbered release (``…-001``) costs what its family does."""
        family, _, release = model.rpartition("-")
        for name in (model, family if release.isdigit() else model):
            if name in self.models:
                return self.models[name]
        raise UnpricedModelError(
            f"The price of model `{model}` is unknown, so its spend can't be limited; give it in a file "
            f"named by REPO_NAVIGATOR_PRICES, in US dollars per million tokens: "
            f"`models: {{{model}: {{input: 0.10, output: 0.40}}}}`."
        )


@cache
def load_prices(extra: Path | None = None) -> PriceTable:
    """Read the table that ships with the package, and a user's own prices over it."""
    import yaml  # noqa: PLC0415 - the embedded planner needs no prices

    shipped = resources.files("navigator.state").joinpath("prices.yaml").read_text("utf-8")
    table = PriceTable.model_validate(yaml.safe_load(shipped))
    if extra is None:
        return table
    try:
        data: Any = yaml.safe_load(extra.read_text("utf-8"))
        own = PriceTable.model_validate({"as_of": "", **data}).models
    except OSError as error:
        fault = f"can't be read ({error.strerror}); correct or unset REPO_NAVIGATOR_PRICES."
    except (yaml.YAMLError, ValidationError, TypeError):
        fault = (
            "is not well-formed; it needs `models:` with `NAME: {input: …, output: …}`, in US dollars per "
            "million tokens."
        )
    else:
        return table.model_copy(update={"models": {**table.models, **own}})
    raise InvalidRequestError(
        f"The price file {extra} {fault}", code="invalid_setting", argument="REPO_NAVIGATOR_PRICES"
    )


FIRST_MARGIN = Decimal("1.6")
"""Another tokenizer counts up to this many times our tokens, until a call has reported its own count."""
LATER_MARGIN = Decimal("1.1")


class Ledger:
    """What a navigation may still spend; every call is checked before and booked after."""

    def __init__(self, limit: Decimal, spent: Decimal, usage: TokenUsage) -> None:
        self.limit = limit
        self.spent = spent
        self.usage = usage
        self._ratios: dict[str, Decimal] = {}

    @property
    def remaining(self) -> Decimal:
        """US dollars that are left, never below 0."""
        return max(self.limit - self.spent, Decimal(0))

    def catch_up(self, spent: Decimal, usage: TokenUsage) -> None:
        """Take over totals that were stored elsewhere; what was spent here and not stored stays."""
        if spent > self.spent or usage.calls > self.usage.calls:
            self.spent, self.usage = max(spent, self.spent), usage

    def expected(self, model: str, input_tokens: int, output_limit: int) -> TokenUsage:
        """Return the most tokens that a call should be billed for."""
        margin = self._ratios.get(model, FIRST_MARGIN / LATER_MARGIN) * LATER_MARGIN
        read = int((input_tokens * margin).to_integral_value(ROUND_CEILING))
        return TokenUsage(input=read, output=output_limit, calls=1)

    def affords(self, projected: Decimal) -> bool:
        """Return True if a call of that cost would stay within the limit."""
        return not projected or self.spent + projected <= self.limit

    def book(self, model: str, price: ModelPrice, usage: TokenUsage, estimated_input: int) -> Decimal:
        """Add a call's real usage and return its cost; its count of input corrects the next projection."""
        cost = price.cost(usage)
        self.spent += cost
        self.usage = self.usage.plus(usage)
        if estimated_input > 0 and usage.input > 0:
            ratio = Decimal(usage.input) / Decimal(estimated_input)
            self._ratios[model] = max(ratio, self._ratios.get(model, Decimal(0)))
        return cost
