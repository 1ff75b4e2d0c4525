"""What a run costs, as it was and with what is added to it.

The model, which is the same for every system:

- A call pays for the tokens that no earlier call had sent at the price of writing, for all others at the
  price of reading from the cache, and for its answer. That is a perfect cache; the recorded one was worse, so
  every figure is given with the recorded share of cached tokens as well.
- A packet stands in the first prompt, and so is written once and read at every later call, to the end. What a
  hook adds stands beside what a call printed, and is sent as long as that is.
- A look-up that is replaced is not made: its own answer is not paid, and its command and output are in no
  later prompt, nor what a hook would have added to it. Everything else happens as it did.
- Where an agent leaves old outputs out of its prompts, all behind the first that is newly left out is
  written again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from benchmarks.replay.runs import LEFT_OUT, Run

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
    run: Run,
    prices: Prices,
    added: Mapping[int, int] | None = None,
    dropped: Collection[int] = (),
    until: int | None = None,
) -> Cost:
    """Return what a run costs with so many tokens added behind calls (-1: in the first prompt).

    Args:
        dropped: the calls that are not made.
        until: how many calls are paid; None for all.
    """
    added = added or {}
    calls = run.calls[:until]
    held = (calls[0].prompt if calls else 0) + added.get(-1, 0)
    """Tokens of a prompt without the outputs that a later one may leave out."""
    outputs: list[int] = []
    answers: list[int] = []
    sent = 0
    perfect = recorded = 0.0
    for at, call in enumerate(calls):
        if at in dropped:
            continue
        kept = sum(outputs[-run.keeps :]) if run.keeps else 0
        prompt = held + kept
        known = min(sent, prompt)
        if run.keeps and len(outputs) > run.keeps:
            # What stands before the output that is left out for the first time is as it was.
            known = min(known, held - sum(answers[-run.keeps :]) - LEFT_OUT)
        perfect += prices.write * (prompt - known) + prices.read * known + prices.out * call.out
        share = call.cached / call.prompt if call.prompt else 0.0
        recorded += prompt * (prices.read * share + prices.write * (1 - share)) + prices.out * call.out
        sent = prompt
        if run.keeps:
            held += call.out + (LEFT_OUT if len(outputs) >= run.keeps else 0)
            outputs.append(call.printed + added.get(at, 0))
            answers.append(call.out)
        else:
            held += grown(run, at) + added.get(at, 0)
    return Cost(perfect / _MILLION, recorded / _MILLION)


def grown(run: Run, at: int) -> int:
    """Return the tokens that a call and what it printed add to every later prompt."""
    if run.keeps:
        return run.calls[at].out + run.calls[at].printed
    return max(0, run.calls[at + 1].prompt - run.calls[at].prompt) if at + 1 < len(run.calls) else 0
