"""How likely a model finds a text, asked over the wire of completions with ``echo``."""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.request
from typing import Any, NamedTuple

from repo_map.errors import RepoMapError

_TIMEOUT_S = 3_600.0
_NO_LIKELIHOOD = (
    "The server at `{url}` gives no likelihood of a prompt ({why}); name one that answers `/completions` "
    "with `echo` and `logprobs`, such as vLLM or `benchmarks/small_model/echo_server.py`."
)


class LikelihoodError(RepoMapError):
    """A server that does not tell how likely a prompt is; the message says why."""


class Bits(NamedTuple):
    """How a model finds a text."""

    bits: float
    """Of the whole text: the fewer, the likelier."""
    tokens: int
    before: int
    """Tokens that stand before it."""


def bits_of(url: str, model: str, before: str, text: str) -> Bits:
    """Return how likely ``text`` is behind ``before``.

    Args:
        url: base of an OpenAI-compatible server, ``http://127.0.0.1:8000/v1``.
        model: its name there.
        before: must end with a line's end, so that no token stands in both.
        text: what is to be told.

    Raises:
        LikelihoodError: the server can't tell it.
    """
    asked = {
        "model": model,
        "prompt": before + text,
        "max_tokens": 1,
        "temperature": 0,
        "echo": True,
        "logprobs": 1,
        # Known to our own server alone: what lies before needs no likelihood, which takes time.
        "echo_from": len(before),
    }
    told = _post(f"{url.rstrip('/')}/completions", asked)
    try:
        logprobs = told["choices"][0]["logprobs"]
        pairs = list(zip(logprobs["text_offset"], logprobs["token_logprobs"], strict=True))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise LikelihoodError(_NO_LIKELIHOOD.format(url=url, why="its answer has none")) from error
    end = len(before) + len(text)
    inside = [float(nats) for at, nats in pairs if len(before) <= at < end and nats is not None]
    if not inside:
        raise LikelihoodError(_NO_LIKELIHOOD.format(url=url, why="it repeats no prompt"))
    return Bits(-sum(inside) / math.log(2), len(inside), sum(at < len(before) for at, _ in pairs))


def _post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        # It holds the connection until it is closed.
        with error:
            raise LikelihoodError(_NO_LIKELIHOOD.format(url=url, why=str(error))) from error
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise LikelihoodError(_NO_LIKELIHOOD.format(url=url, why=str(error))) from error
