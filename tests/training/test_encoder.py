"""An encoder learns to put changed functions first; only where torch is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from training.text_pairs import TextPair
from training.unit_lists import ListedUnit, UnitList

pytest.importorskip("torch", reason="torch is not installed: it is needed for training an encoder alone")
tokenizers: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
transformers: Any = pytest.importorskip("transformers", reason="transformers is not installed")

_KINDS = ("draw", "login", "cache", "mail", "route", "parse", "print", "sort")
_ANSWERS = ("shape", "password", "memory", "letter", "handler", "token", "page", "order")


def _small_model(folder: Path) -> Path:
    """Write a transformer of two thin layers that knows a few words."""
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_KINDS, *_ANSWERS, "fix", "a", "py", "."]
    cut = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(words)}, "[UNK]")
    )
    cut.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=cut, **marks).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def _list_of(kind: str, answer: str) -> UnitList:
    units = [
        ListedUnit(f"{each}.py", each, 1, 2, 0, 0.0, gold=each == answer, source=each) for each in _ANSWERS
    ]
    return UnitList(kind, "owner/name", "Python", "small", f"fix a {kind}", 1, units)


def test_an_encoder_learns_which_function_a_goal_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training import encoder

    def run(*arguments: object) -> None:
        monkeypatch.setattr(sys, "argv", ["encoder", *map(str, arguments)])
        encoder.main()

    start = _small_model(tmp_path / "start")
    pairs, lists = tmp_path / "pairs", tmp_path / "lists"
    pairs.mkdir()
    lists.mkdir()
    meant = list(zip(_KINDS, _ANSWERS, strict=True))
    taught = [TextPair(kind, "python", f"fix a {kind}", [f"{answer}. py"], []) for kind, answer in meant]
    (pairs / "small.jsonl").write_bytes(b"\n".join(msgspec.json.encode(each) for each in taught))
    for kind, answer in meant:
        (lists / f"{kind}.json").write_bytes(msgspec.json.encode(_list_of(kind, answer)))
    model, scores = tmp_path / "model", tmp_path / "scores.npz"
    learning = ("--batch", 8, "--epochs", 60, "--rate", 0.01, "--lists", lists)
    run("train", start, model, "--pairs", pairs, *learning)
    run("score", model, "--lists", lists, "--out", scores)
    run("score", model, "--lists", lists, "--out", tmp_path / "plain.npz", "--plain")
    with np.load(scores) as found:
        first = [int(np.argmax(found[kind][:, encoder.FEATURES.index("goal")])) for kind in _KINDS]
    assert sum(place == at for at, place in enumerate(first)) >= 6
