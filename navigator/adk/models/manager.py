"""Model sessions by navigation: made when a task first flies, found while it flies on, destroyed with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from navigator.adk.models.catalogue import providers_of
from navigator.adk.models.providers import Patience
from navigator.adk.models.session import HybridSession
from navigator.model_names import price_of

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from navigator.adk.flight import Flight
    from navigator.pricing import ModelPrice, PriceTable
    from navigator.settings import NavigatorSettings


class SessionManager:
    """Creates, finds and destroys the sessions of tasks."""

    def __init__(
        self, settings: NavigatorSettings, prices: PriceTable, handed_in: Mapping[str, BaseLlm]
    ) -> None:
        self._settings = settings
        self._prices = prices
        self._handed_in = handed_in
        self._sessions: dict[str, HybridSession] = {}

    def price_of(self, model: str) -> ModelPrice:
        """Return what calls of ``model`` cost.

        Raises:
            UnknownModelError: the name stands for nothing.
            UnpricedModelError: it costs money, and how much is unknown.
        """
        return price_of(model, self._settings, self._prices, self._handed_in)

    def create(self, flight: Flight) -> HybridSession:
        """Return a new session with the models that the flight's task and the settings name."""
        settings = self._settings
        providers = providers_of(flight, settings, self._prices, self._handed_in)
        patience = Patience(
            settings.call_timeout_s, settings.retries, settings.retry_delay_s, settings.stream
        )
        session = HybridSession(flight, providers, patience)
        self._sessions[session.id] = session
        return session

    def find(self, navigation_id: str) -> HybridSession | None:
        """Return the session of a navigation that flies here."""
        return self._sessions.get(navigation_id)

    async def destroy(self, navigation_id: str) -> None:
        """Let go of a navigation's session and of what is kept for it; a later step makes a new one."""
        if session := self._sessions.pop(navigation_id, None):
            await session.destroy()
