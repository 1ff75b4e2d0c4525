"""What a model's name stands for; apart from the models themselves, so that a wrong name is told at once."""

from __future__ import annotations

from collections.abc import Container, Mapping

from navigator.errors import InvalidArgumentError, UnknownModelError
from navigator.models.model_text import MOST_NAME, cleaned_name
from navigator.models.vendors import VENDORS, vendor_of
from navigator.settings import NavigatorSettings
from navigator.state.labels import EMBEDDED
from navigator.state.pricing import FREE, ModelPrice, PriceTable, load_prices
from repo_map.messages import is_printable

_NAMED = [f"`{EMBEDDED}`", *(f"`{vendor.prefix}…`" for vendor in VENDORS)]
CHOICES = f"{', '.join(_NAMED[:-1])} or {_NAMED[-1]}"


def require_key(model: str, settings: NavigatorSettings, environ: Mapping[str, str]) -> None:
    """Refuse a model that a call names and that can't be asked; one of the settings gives way to the next.

    Raises:
        InvalidRequestError: its key is missing.
    """
    vendor = vendor_of(model)
    if vendor is not None and (variable := vendor.missing_key(settings.model_urls, environ)):
        raise InvalidArgumentError(
            "model",
            "out: the embedded planner needs none.",
            f"`{model}` can't be asked because its key is missing; set {variable}, or leave ",
            code="model_key_missing",
        )


def price_of(
    name: str, settings: NavigatorSettings, prices: PriceTable, handed_in: Container[str] = ()
) -> ModelPrice:
    """Return what calls of the model cost: nothing where somebody else pays or it runs on this machine.

    Raises:
        UnknownModelError: the name stands for nothing.
        UnpricedModelError: it costs money, and how much is unknown.
    """
    if name in handed_in:
        return prices.models.get(name, FREE)
    if len(name) > MOST_NAME or not is_printable(name) or " " in name or ".." in name:
        raise UnknownModelError(f"No model is called `{cleaned_name(name)}`; choose {CHOICES}.")
    vendor = vendor_of(name)
    if name == EMBEDDED or (vendor is not None and vendor.is_free):
        return FREE
    if vendor is None:
        raise UnknownModelError(f"No model is called `{name}`; choose {CHOICES}.")
    if vendor.needs_no_key(settings.model_urls):
        return prices.models.get(name, FREE)
    return prices.price_of(name)


def require_models(model: str, settings: NavigatorSettings, handed_in: Container[str] = ()) -> None:
    """Refuse a task's model, or one that would follow it, before anything takes time.

    Raises:
        UnknownModelError: a name stands for nothing, or its package is missing.
        UnpricedModelError: it costs money, and how much is unknown.
        InvalidRequestError: the user's price file can't be used.
    """
    names = [name for name in (model, *settings.fallback_models) if name != EMBEDDED]
    if not names and settings.prices is None:
        return
    prices = load_prices(settings.prices)
    for name in names:
        price_of(name, settings, prices, handed_in)
        vendor = None if name in handed_in else vendor_of(name)
        if vendor is not None:
            vendor.require_package(name)
