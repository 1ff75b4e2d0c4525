"""What a model costs: by the user's price table, or nothing where it answers on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.agents.model import OPENAI_URL, SCRIPTED, SCRIPTED_NAME, speaks_gemini
from navigator.models.model_names import price_of
from navigator.records.pricing import ModelPrice, load_prices
from navigator.settings import NavigatorSettings


def price_of_model(model: str) -> ModelPrice:
    """Return the price of a model; the scripted one is priced as the model that it is called by.

    Raises:
        NavigatorError: it has no price.
    """
    own, here = os.environ.get("REPO_NAVIGATOR_PRICES"), os.environ.get(OPENAI_URL)
    prices = load_prices(Path(own) if own else None)
    if not speaks_gemini(model):
        return price_of(model, NavigatorSettings(model_urls={"openai": here} if here else {}), prices)
    return prices.price_of(SCRIPTED_NAME if model == SCRIPTED else model)
