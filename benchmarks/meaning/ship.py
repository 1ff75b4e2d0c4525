"""Make one file of a trained model that plain numpy reads: 8-bit vectors and a sorted vocabulary.

python -m benchmarks.meaning.ship MODEL.pt embedding.bin
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.meaning.embedding import Embedding, Side, write_embedding
from repo_map.indexing.vocabulary import StringTable


def to_embedding(model: dict[str, Any]) -> Embedding:
    """Quantise a trained model, each row by its own largest value."""
    state = model["state"]
    terms = StringTable.of_sorted_bytes([term.encode() for term in model["terms"]])
    goal_table = state["goal.table.weight"]
    code_table = state.get("code.table.weight", goal_table)
    return Embedding(
        terms, _side(state, "goal", goal_table, kinds=5), _side(state, "code", code_table, kinds=5)
    )


def _side(state: dict[str, Any], name: str, table: torch.Tensor, kinds: int) -> Side:
    vectors = table.numpy()
    scale = np.maximum(np.abs(vectors).max(axis=1), 1e-6) / 127
    return Side(
        vectors=np.round(vectors / scale[:, None]).astype(np.int8),
        scale=scale.astype(np.float32),
        weight=np.exp(state[f"{name}.weight.weight"].numpy()[:, 0]).astype(np.float32),
        kind=np.exp(state[f"{name}.kind"].numpy()[:kinds]).astype(np.float32),
        power=float(state[f"{name}.power"]),
        rarity=float(state[f"{name}.rarity"]),
    )


def main() -> None:
    """Convert one model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    content = write_embedding(to_embedding(torch.load(options.model)))
    options.file.write_bytes(content)
    sys.stdout.write(f"{options.file}: {len(content):,} bytes\n")


if __name__ == "__main__":
    main()
