"""An account of a task's input tokens: what models were sent, what came from a cache, what was repeated."""

from __future__ import annotations

from typing import NamedTuple


class TokenAccount(NamedTuple):
    """Input tokens of one task, by our own count; all but ``cached`` are known before a call is made."""

    calls: int = 0
    initial: int = 0
    """Of the part that never changes: role, rules, tools and goal."""
    changing: int = 0
    """Of what each call says anew: budgets, decisions, candidates, the current map."""
    history: int = 0
    """Of the earlier calls' changing parts, had each call carried the whole conversation so far."""
    cached: int = 0
    """Of what was sent, served from the provider's cache, as the provider counts."""

    def after_call(self, initial: int, changing: int, cached: int) -> TokenAccount:
        """Return the account with one more call in it."""
        return TokenAccount(
            calls=self.calls + 1,
            initial=initial,
            changing=self.changing + changing,
            history=self.history + self.changing,
            cached=self.cached + cached,
        )

    @property
    def repeated(self) -> int:
        """Tokens of the stable part that were sent again after the first call and came from no cache."""
        return max(self.initial * (self.calls - 1) - self.cached, 0) if self.calls else 0

    @property
    def sent(self) -> int:
        """Tokens that were sent, cached ones included."""
        return self.initial * self.calls + self.changing

    @property
    def conversation(self) -> int:
        """Tokens that a conversation would have sent which repeats all that was said before."""
        return self.sent + self.history

    @property
    def wasted(self) -> float:
        """Share of the tokens sent that said nothing new and came from no cache, from 0 to 1."""
        return self.repeated / self.sent if self.sent else 0.0


NO_CALLS = TokenAccount()
