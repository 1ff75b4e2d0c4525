"""What one principal may use, and the sentence that says so, with when it is over.

What is counted by the day is counted when a call has ended. A call that is under way is not cut short, so
calls that begin together may each take what was left.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from mcp_server.settings import PrincipalLimits
from navigator.errors import NavigatorError
from repo_map.messages import counted

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.stores.usage import Today


class LimitReachedError(NavigatorError):
    """A principal has used what it may."""

    code = "limit_reached"


class CallerLimits:
    """The limits of each principal; without a setting nothing is asked of any store."""

    def __init__(self, limits: PrincipalLimits) -> None:
        self._limits = limits

    @property
    def by_day(self) -> bool:
        """Whether anything is counted by the day."""
        return self._limits.by_day

    @property
    def by_money(self) -> bool:
        """Whether money is limited."""
        return self._limits.cost_usd_a_day is not None

    async def require_tokens(self, navigator: Navigator, principal: str) -> None:
        """Refuse a call of a principal that was sent all tokens of the day.

        Raises:
            LimitReachedError: It was.
        """
        most = self._limits.tokens_a_day
        if most is not None and (today := await navigator.store.usage.today(principal)).usage.tokens >= most:
            raise LimitReachedError(
                f"You received {counted(today.usage.tokens, 'token')} today, and the daily limit is "
                f"{most:,}; "
                f"{_anew(today)}."
            )

    async def require_index(self, navigator: Navigator, principal: str) -> None:
        """Refuse to open a navigation for a principal that has waited for indexes as long as it may.

        Raises:
            LimitReachedError: It has.
        """
        most = self._limits.index_seconds_a_day
        if (
            most is not None
            and (today := await navigator.store.usage.today(principal)).usage.index_seconds >= most
        ):
            seconds = today.usage.index_seconds
            raise LimitReachedError(
                f"Indexing took {seconds:,.0f} s for you today, and the daily limit is {most:,.0f} s; "
                f"continue a navigation that you have, or wait: {_anew(today)}."
            )

    def require_place(self, still_open: Sequence[str]) -> None:
        """Refuse one more navigation to a principal whose ``still_open`` are as many as it may have.

        Raises:
            LimitReachedError: They are.
        """
        most = self._limits.open_navigations
        if most is not None and len(still_open) >= most:
            named = ", ".join(f"`{key}`" for key in still_open[:5])
            more = f" and {len(still_open) - 5} more" if len(still_open) > 5 else ""
            raise LimitReachedError(
                f"You have {counted(len(still_open), 'open navigation')}, and the limit is {most}; "
                f"call step with action `finish` or `cancel` for one of {named}{more}, then navigate again."
            )

    async def money_left(self, navigator: Navigator, principal: str, model: str) -> float | None:
        """Return the dollars that a principal may spend today by steps of ``model``; None for any number.

        Raises:
            LimitReachedError: It may spend none, and the model costs money.
        """
        most = self._limits.cost_usd_a_day
        if most is None or not navigator.charges(model):
            return None
        today = await navigator.store.usage.today(principal)
        left = Decimal(str(most)) - today.usage.cost
        if left <= 0:
            raise LimitReachedError(
                f"You spent ${today.usage.cost:,.2f} today, and the daily limit is ${most:,.2f}; use "
                f"model `embedded`, which costs nothing, or wait: {_anew(today)}."
            )
        return float(left)


def _anew(today: Today) -> str:
    hours, minutes = divmod(max(1, round(today.seconds_left / 60)), 60)
    return f"the count restarts at 00:00 UTC, in {hours} h {minutes} min"
