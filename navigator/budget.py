"""The cost limit: what a model call may cost is known before it is made, what it did cost is booked after."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from navigator.account import NO_CALLS, TokenAccount
from navigator.pricing import ModelPrice, TokenUsage, Written

FIRST_MARGIN = Decimal("1.6")
"""Another tokenizer counts up to this many times our tokens, until a call has told its own count."""
LATER_MARGIN = Decimal("1.1")


class Ledger:
    """What a navigation may still spend; every attempt at a call asks it first and tells it after."""

    def __init__(
        self, limit: Decimal, spent: Decimal, usage: TokenUsage, account: TokenAccount = NO_CALLS
    ) -> None:
        self.limit = limit
        self.spent = spent
        self.usage = usage
        self.account = account
        self._ratios: dict[str, Decimal] = {}

    @property
    def remaining(self) -> Decimal:
        """US dollars that are left, never below 0."""
        return max(self.limit - self.spent, Decimal(0))

    def catch_up(self, spent: Decimal, usage: TokenUsage, account: TokenAccount) -> None:
        """Take over totals that were stored elsewhere; what was spent here and not stored stays."""
        if spent > self.spent or usage.calls > self.usage.calls:
            self.spent, self.usage, self.account = max(spent, self.spent), usage, account

    def projected(
        self, model: str, price: ModelPrice, input_tokens: int, output_limit: int, cached: int = 0
    ) -> Decimal:
        """Return the most that a call should cost, given our count of its input and its output limit.

        Args:
            cached: of the input, what the provider itself has counted and will serve from its memory.
        """
        return price.cost(self.expected(model, input_tokens, output_limit, cached))

    def expected(self, model: str, input_tokens: int, output_limit: int, cached: int = 0) -> TokenUsage:
        """Return the most tokens that a call should be billed for."""
        margin = self._ratios.get(model, FIRST_MARGIN / LATER_MARGIN) * LATER_MARGIN
        read = int((input_tokens * margin).to_integral_value(ROUND_CEILING))
        return TokenUsage(input=max(read, cached), cached=cached, output=output_limit, calls=1)

    def affords(self, projected: Decimal) -> bool:
        """Tell whether a call of that cost would stay within the limit."""
        return self.spent + projected <= self.limit

    def book_writing(self, price: ModelPrice, written: Written) -> None:
        """Add the input that a provider was given to keep, and the price of keeping it all the time."""
        sent = TokenUsage(input=written.sent)
        self.spent += price.cost(sent) + price.storage(written.kept, written.seconds)
        self.usage = self.usage.plus(sent)
        self.account = self.account.after_write(written.sent)

    def book(self, model: str, price: ModelPrice, usage: TokenUsage, estimated_input: int) -> Decimal:
        """Add a call's real usage and return its cost; its count of input corrects the next projection."""
        cost = price.cost(usage)
        self.spent += cost
        self.usage = self.usage.plus(usage)
        if estimated_input > 0 and usage.input > 0:
            ratio = Decimal(usage.input) / Decimal(estimated_input)
            self._ratios[model] = max(ratio, self._ratios.get(model, Decimal(0)))
        return cost
