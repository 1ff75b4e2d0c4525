"""Inputs made from seeds: bytes changed here and there, and, where the seed is JSON, its values."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

_TOKENS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"**/",
    b"*",
    b"\0",
    b"\n",
    b'"',
    b"\xff",
    b"1e999",
    b"null",
    b"-1",
    b"\xe2\x80\xae",
    b":",
]
_ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    2**63,
    1e308,
    0.5,
    "",
    "\0",
    "**",
    "../..",
    "/etc/passwd",
    "[",
    "{a,b",
    "a\nb",
    "\u202e",
    "\ud800",
    "x" * 300,
    "level",
    [],
    {},
    [[[[[]]]]],
    {"pattern": "**", "level": 4},
    "navigator://navigations/..%2f",
    "2026-07-28",
]
_SHARE_OF_VALUES = 0.5


def mutated(seeds: list[bytes], inputs: int, seed: int) -> Iterator[bytes]:
    """Yield inputs made from seeds by a few changes each; the same ones for the same seed."""
    dice = random.Random(seed)
    values = [_decoded(each) for each in seeds]
    for _ in range(inputs):
        at = dice.randrange(len(seeds))
        if values[at] is not None and dice.random() < _SHARE_OF_VALUES:
            yield json.dumps(_with_odd_values(values[at], dice)).encode()
        else:
            yield _with_odd_bytes(seeds[at], seeds, dice)


def _decoded(seed: bytes) -> Any:
    """Return the JSON object or array that a seed is, else None."""
    try:
        value = json.loads(seed)
    except ValueError:
        return None
    return value if isinstance(value, (dict, list)) else None


def _with_odd_values(value: Any, dice: random.Random) -> Any:
    """Return the value as it would be read, with one to three of its parts replaced, dropped or repeated."""
    changed = json.loads(json.dumps(value))
    for _ in range(dice.randrange(1, 4)):
        places = list(_places(changed))
        if not places:
            break
        holder, key = dice.choice(places)
        match dice.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[str(dice.choice(_ODD))] = holder[key]
            case 1:
                holder.insert(key, holder[key])
            case 2:
                holder[key] = [holder[key]]
            case _:
                holder[key] = json.loads(json.dumps(dice.choice(_ODD)))
    return changed


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container within a value with each of its keys or positions."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _with_odd_bytes(seed: bytes, seeds: list[bytes], dice: random.Random) -> bytes:
    data = bytearray(seed)
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(6):
            case 0:
                data[at:at] = dice.choice(_TOKENS)
            case 1:
                del data[at : at + dice.randrange(1, 9)]
            case 2:
                data[at:at] = data[at : at + dice.randrange(1, 30)] * dice.randrange(1, 4)
            case 3 if data:
                data[at % len(data)] = dice.randrange(256)
            case 4:
                other = dice.choice(seeds)
                data[at:] = other[dice.randrange(len(other) + 1) :]
            case _:
                data[at:at] = dice.randbytes(dice.randrange(1, 5))
    return bytes(data)
