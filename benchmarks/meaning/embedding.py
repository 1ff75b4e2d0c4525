"""The embedding's file: two tables of 8-bit term vectors, for goals and for code, and their weights."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repo_map.errors import RepoMapError
from repo_map.indexing.vocabulary import StringTable

MAGIC = b"repo-navigator meaning 1\n"
_ALIGNMENT = 64

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]


class EmbeddingFileError(RepoMapError):
    """The embedding's file is not one, or is cut short; the message says which."""


@dataclass(frozen=True, eq=False)
class Side:
    """How bags of terms become vectors on one side; a term counts ``weight·kind·count^power·idf^rarity``."""

    vectors: Bytes
    """Shape (terms, dimensions)."""
    scale: Floats
    """What one step of each row of ``vectors`` is worth, shape (terms,)."""
    weight: Floats
    """How much each term says, whatever it means; shape (terms,), above 0."""
    kind: Floats
    """How much a term says by where it stands: the field of a unit, the source in a goal."""
    power: float
    rarity: float


@dataclass(frozen=True, eq=False)
class Embedding:
    """Everything that the file holds."""

    terms: StringTable
    goal: Side
    code: Side

    @cached_property
    def rows(self) -> Mapping[bytes, int]:
        """The row of each term, by its UTF-8 bytes."""
        return {term: row for row, term in enumerate(self.terms.iter_bytes())}


def read_embedding(content: bytes) -> Embedding:
    """Read an embedding from the bytes of its file; the arrays are views of them."""
    if not content.startswith(MAGIC):
        raise EmbeddingFileError(
            "This is no embedding of this version; make one with `benchmarks.meaning.ship`."
        )
    end = content.index(b"\n", len(MAGIC))
    header = json.loads(content[len(MAGIC) : end])
    try:
        arrays = {
            name: np.frombuffer(content, np.dtype(kind), int(np.prod(shape)), offset).reshape(shape)
            for name, (kind, shape, offset) in header["arrays"].items()
        }
    except ValueError:
        raise EmbeddingFileError(
            "The embedding is cut short; make it again with `benchmarks.meaning.ship`."
        ) from None
    return Embedding(
        StringTable(arrays["terms.starts"], arrays["terms.blob"]),
        *(_side(name, arrays, header) for name in ("goal", "code")),
    )


def _side(name: str, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> Side:
    columns = {field: arrays[f"{name}.{field}"] for field in ("vectors", "scale", "weight", "kind")}
    return Side(**columns, power=header[f"{name}.power"], rarity=header[f"{name}.rarity"])


def write_embedding(embedding: Embedding) -> bytes:
    """Return the bytes of an embedding's file: a line that says what it is, one of JSON, then the arrays."""
    arrays: dict[str, NDArray[Any]] = {
        "terms.starts": embedding.terms.starts,
        "terms.blob": embedding.terms.blob,
    }
    header: dict[str, Any] = {}
    for name, side in (("goal", embedding.goal), ("code", embedding.code)):
        arrays |= {
            f"{name}.{field}": getattr(side, field) for field in ("vectors", "scale", "weight", "kind")
        }
        header |= {f"{name}.power": side.power, f"{name}.rarity": side.rarity}
    # Offsets stand in the header, so it is padded to a length that is known before they are.
    room = _aligned(len(MAGIC) + 256 * len(arrays) + 512)
    places: dict[str, tuple[str, Sequence[int], int]] = {}
    offset = room
    for name, array in arrays.items():
        places[name] = (array.dtype.newbyteorder("<").str, array.shape, offset)
        offset = _aligned(offset + array.nbytes)
    head = MAGIC + json.dumps(header | {"arrays": places}).encode()
    content = bytearray(offset)
    content[:room] = head.ljust(room - 1) + b"\n"
    for name, array in arrays.items():
        start = places[name][2]
        content[start : start + array.nbytes] = np.ascontiguousarray(array, places[name][0]).tobytes()
    return bytes(content)


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT
