"""What a run costs, as it was and with a packet in its first prompt.

The model, which is the same for every system:

- A call pays for the tokens that no earlier call had sent at the price of writing, for all others at the
  price of reading from the cache, and for its answer. That is a perfect cache; the recorded one was worse, so
  every figure is given with the recorded share of cached tokens as well.
- The packet stands in the first prompt, and so is written once and read at every later call, to the end.
- A look-up that the packet replaces is not made: its own answer is not paid, and its command and output are
  in no later prompt. Everything else happens as it did.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from benchmarks.replay.runs import Call

_MILLION = 1_000_000


class Prices(NamedTuple):
    """US dollars for a million tokens; the defaults are those that the Python runs were billed by."""

    write: float = 2.0
    read: float = 0.2
    out: float = 12.0


class Cost(NamedTuple):
    """US dollars of a run."""

    perfect: float
    """With all that was sent before read from the cache."""
    recorded: float
    """With the share of each prompt read from the cache that was recorded."""


def cost(
    calls: Sequence[Call], prices: Prices, packet: int = 0, dropped: Collection[int] = (), joins: int = 0
) -> Cost:
    """Return what a run costs with a packet of so many tokens, and without the calls ``dropped``.

    Args:
        joins: the first call whose prompt holds the packet.
    """
    prompt, sent = calls[0].prompt if calls else 0, 0
    perfect = recorded = 0.0
    for at, call in enumerate(calls):
        prompt += packet if at == joins else 0
        if at not in dropped:
            perfect += (
                prices.write * max(prompt - sent, 0) + prices.read * min(sent, prompt) + prices.out * call.out
            )
            share = call.cached / call.prompt if call.prompt else 0.0
            recorded += prompt * (prices.read * share + prices.write * (1 - share)) + prices.out * call.out
            sent = prompt
            prompt += grown(calls, at)
    return Cost(perfect / _MILLION, recorded / _MILLION)


def grown(calls: Sequence[Call], at: int) -> int:
    """Return the tokens that a call and what it printed add to every later prompt."""
    return max(0, calls[at + 1].prompt - calls[at].prompt) if at + 1 < len(calls) else 0
