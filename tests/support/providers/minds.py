"""What scripted minds answer: a tool call, words, or a refusal, without the wording of any one provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.support.providers.server import Die, Drip, Reply, Stall


class Call(NamedTuple):
    """One tool call."""

    name: str
    args: Mapping[str, Any] | str
    """Arguments; text where a mind gets their JSON wrong."""


class Usage(NamedTuple):
    """Tokens that the provider says it bills; None where it counts them itself."""

    prompt: int | None = None
    candidates: int = 50
    cached: int | None = None
    thoughts: int = 0


class Say(NamedTuple):
    """An answer of calls and words."""

    calls: tuple[Call, ...] = ()
    text: str = ""
    usage: Usage = Usage()


class Refuse(NamedTuple):
    """An error, in the provider's own words."""

    status: int
    message: str = "scripted"


Thought = Say | Refuse | Reply | Stall | Drip | Die
Mind = Callable[[dict[str, Any], int], Thought]
"""Takes the request's JSON and its number from 0, and answers."""


def call(name: str, args: Mapping[str, Any] | str, **usage: int) -> Say:
    """Answer with a tool call, and the tokens that it is billed for."""
    return Say((Call(name, args),), usage=Usage(**{"prompt": 1000, "cached": 0, **usage}))


def say(text: str, **usage: int) -> Say:
    """Answer with words."""
    return Say(text=text, usage=Usage(**{"prompt": 1000, "cached": 0, **usage}))
