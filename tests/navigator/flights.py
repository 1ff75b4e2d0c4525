"""Flights of a model over each wire that the navigator speaks, from the front door to the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from navigator.settings import NavigationRequest
from navigator.state.reports import NavigatorOutput, TurnReport
from tests.navigator.conftest import MakeNavigator
from tests.support.providers.gemini import GeminiServer, gemini
from tests.support.providers.minds import Mind, Say, call
from tests.support.providers.openai import OpenAiServer, openai

ZOOM = {
    "reasoning": "The task names token_expired.",
    "updates": {"verbosity": [{"pattern": "src/auth/tokens.py", "level": 4}]},
}
DONE = {
    "summary": "The comparison of token_expired is the wrong way round.",
    "select": [{"target": "token_expired", "reason": "compares the age with the lifetime"}],
}
REQUEST = NavigationRequest.__slots__


class Flown(NamedTuple):
    """What a flight came to, and what the server was asked."""

    output: NavigatorOutput
    reports: list[TurnReport]
    server: Any

    @property
    def notes(self) -> str:
        return " ".join(self.output.notes)


class Wire(NamedTuple):
    """A model, the loopback server that stands in for its provider, and the settings that lead there."""

    model: str
    serve: Callable[..., AbstractContextManager[Any]]
    settings: Callable[[Any], Mapping[str, Any]]


def _gemini(**more: Any) -> Wire:
    def settings(server: GeminiServer) -> Mapping[str, Any]:
        return {"model_urls": {"gemini": server.url}, **more}

    return Wire("gemini-2.0-flash", gemini, settings)


def _openai(name: str, **more: Any) -> Wire:
    def settings(server: OpenAiServer) -> Mapping[str, Any]:
        return {"model_urls": {name: server.base_url}, **more}

    return Wire(f"{name}/coder", openai, settings)


WIRES = {
    "gemini": _gemini(),
    "gemini, streamed": _gemini(stream=True),
    "ollama": _openai("ollama"),
    "openai": _openai("openai"),
    "openai, streamed": _openai("openai", stream=True),
}


async def fly(
    make: MakeNavigator, repository: Path, mind: Mind, *, wire: Wire = WIRES["gemini"], **parts: Any
) -> Flown:
    """Fly to the end with ``mind`` behind ``wire``; ``parts`` are of the request or of the settings."""
    settings = {name: parts.pop(name) for name in list(parts) if name not in REQUEST}
    server_parts, more_urls = settings.pop("server", {}), settings.pop("more_urls", {})
    with wire.serve(mind, **server_parts) as server:
        all_settings = {"retry_delay_s": 0.0, **wire.settings(server), **settings}
        all_settings["model_urls"] = {**all_settings["model_urls"], **more_urls}
        navigator = make(**all_settings)
        request = {"goal": "token_expired is wrong", "repo_path": repository, "model": wire.model}
        navigation_id = await navigator.open(NavigationRequest(**{**request, **parts}))
        output = await navigator.run(navigation_id)
        reports = await navigator.decisions(navigation_id)
        await navigator.aclose()
        return Flown(output, reports, server)


def good(request: dict[str, Any], number: int) -> Say:
    """Zoom once, then finish."""
    return call("update_flight_plan", ZOOM) if number == 0 else call("finalize_context", DONE)


def wander(request: dict[str, Any], number: int) -> Say:
    """Change one file's level at every step, and leave the counting to the server."""
    update = {"verbosity": [{"pattern": "src/billing.py", "level": 1 + number % 4}]}
    answer = call("update_flight_plan", {"reasoning": "again", "updates": update})
    return answer._replace(usage=answer.usage._replace(prompt=None, cached=None))
