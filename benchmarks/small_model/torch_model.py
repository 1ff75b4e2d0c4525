"""How likely a model of Qwen2's build finds a text, on a processor that is fast at eight-bit whole numbers.

The weights of a GGUF file are rounded to eight bits a number, with one scale for each row. What a layer reads
is rounded to eight bits with one scale for each token. Attention and the vocabulary of the last layer are
bfloat16, all else is float32. Only the tokens that are asked for meet the vocabulary.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

# Installed beside this file's interpreter only, never with the product.
torch: Any = importlib.import_module("torch")
gguf: Any = importlib.import_module("gguf")
transformers: Any = importlib.import_module("transformers")

_CHUNK: Final = 256
"""Tokens that are read together."""
_ZERO: Final = 128
"""Stands for 0 among numbers without a sign."""
_TINY: Final = 1e-12


class _Linear:
    """A matrix of eight-bit weights; several that read the same input are one."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        weight = torch.cat([_values(tensor) for tensor in tensors])
        self._scale = weight.abs().amax(1) / 127
        rounded = (weight / self._scale[:, None]).round().to(torch.int8)
        self._zeros = torch.zeros(len(weight), dtype=torch.int32)
        self._packed = torch.ops.onednn.qlinear_prepack(rounded, [_CHUNK, weight.shape[1]])

    def __call__(self, inputs: Any, kind: Any = torch.float32) -> Any:
        inputs = inputs.float()
        largest = inputs.abs().amax(-1, keepdim=True).clamp_min_(_TINY)
        # Adding a half, then cutting, rounds.
        rounded = (inputs * (127 / largest)).add_(_ZERO + 0.5).to(torch.uint8)
        product = torch.ops.onednn.qlinear_pointwise(
            *(rounded, 1.0, _ZERO, self._packed, self._scale, self._zeros, None),
            *(1.0, 0, kind, "none", [], ""),
        )
        return product.mul_((largest / 127).to(kind))


class _Layer(NamedTuple):
    attention_norm: Any
    query_key_value: _Linear
    bias: Any
    attention_output: _Linear
    feed_norm: Any
    gate_up: _Linear
    down: _Linear


class TorchModel:
    """A model that is held in memory, with what it has read."""

    def __init__(self, path: str, context: int, threads: int) -> None:
        torch.set_num_threads(threads)
        reader = gguf.GGUFReader(path)
        if reader.fields["general.architecture"].contents() != "qwen2":
            raise SystemExit(f"`{path}` is not of Qwen2's build; take `--engine llama`.")

        def told(name: str) -> Any:
            return reader.fields[f"qwen2.{name}"].contents()

        tensors = {tensor.name: tensor for tensor in reader.tensors}
        self._heads, self._groups = told("attention.head_count"), told("attention.head_count_kv")
        self._width = told("embedding_length") // self._heads
        self._small = told("attention.layer_norm_rms_epsilon")
        self._layers = [_layer(tensors, f"blk.{number}.") for number in range(told("block_count"))]
        self._norm = _values(tensors["output_norm.weight"])
        self._words = tensors["token_embd.weight"]
        self._vocabulary = _values(tensors.get("output.weight", self._words)).bfloat16()
        steps = 1 / told("rope.freq_base") ** (torch.arange(0, self._width, 2).double() / self._width)
        angles = torch.outer(torch.arange(context).double(), steps).float()
        self._turns = torch.cat([angles.cos()] * 2, -1), torch.cat([angles.sin()] * 2, -1)
        room = (len(self._layers), 2, self._groups, context, self._width)
        self._memory = torch.zeros(room, dtype=torch.bfloat16)
        self._read: list[int] = []
        self._most = context
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(Path(path).parent), gguf_file=Path(path).name, local_files_only=True
        )
        self._bytes = _bytes_of_letters()

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text, none of them special."""
        found: list[int] = self._tokenizer(text, add_special_tokens=False).input_ids
        return found

    def piece(self, token: int) -> bytes:
        """Return what a token stands for."""
        letters = self._tokenizer.convert_ids_to_tokens(token)
        if any(letter not in self._bytes for letter in letters):
            return str(letters).encode()
        return bytes(self._bytes[letter] for letter in letters)

    def log_likelihoods(self, tokens: Sequence[int], first: int) -> list[float]:
        """Return the natural logarithm of each token's probability behind those before, from ``first`` on."""
        if len(tokens) > self._most:
            raise ValueError(f"{len(tokens)} tokens are more than {self._most}")
        first = max(first, 1)
        known, most = 0, min(len(self._read), first - 1)
        while known < most and self._read[known] == tokens[known]:
            known += 1
        self._read = list(tokens[:-1])
        found: list[float] = []
        with torch.inference_mode():
            for start in range(known, len(tokens) - 1, _CHUNK):
                end = min(start + _CHUNK, len(tokens) - 1)
                wanted = max(start, first - 1)
                states = self._decode(tokens[start:end], start, wanted - start)
                if wanted < end:
                    normed = self._normed(states, self._norm).bfloat16()
                    logits = torch.nn.functional.linear(normed, self._vocabulary).float()
                    likely = torch.log_softmax(logits, -1)
                    found += likely[range(end - wanted), list(tokens[wanted + 1 : end + 1])].tolist()
        return found

    def _decode(self, tokens: Sequence[int], start: int, wanted: int) -> Any:
        """Return the states behind the last layer, of the tokens from ``wanted`` on.

        Keys and values of each layer are kept. What else the last layer makes of tokens before is not needed.
        """
        end = start + len(tokens)
        states = _rows(self._words, tokens)
        hidden = torch.arange(end)[None, :] > torch.arange(start, end)[:, None]
        mask = torch.zeros(hidden.shape, dtype=torch.bfloat16).masked_fill_(hidden, float("-inf"))
        for layer, memory in zip(self._layers, self._memory, strict=True):
            joint = layer.query_key_value(self._normed(states, layer.attention_norm)).add_(layer.bias)
            parts = joint.view(len(tokens), -1, self._width).transpose(0, 1)
            query, key, value = parts.split([self._heads, self._groups, self._groups])
            memory[0, :, start:end] = self._turned(key, start)
            memory[1, :, start:end] = value
            if layer is self._layers[-1]:
                states, query, mask = states[wanted:], query[:, wanted:], mask[wanted:]
                start += wanted
                if not len(states):
                    break
            seen = torch.nn.functional.scaled_dot_product_attention(
                self._turned(query, start).bfloat16()[None],
                *(memory[part, None, :, :end] for part in (0, 1)),
                attn_mask=mask,
                enable_gqa=True,
            )[0]
            states = states + layer.attention_output(seen.transpose(0, 1).flatten(1))
            fed = layer.gate_up(self._normed(states, layer.feed_norm), torch.bfloat16)
            gate, up = fed.chunk(2, -1)
            states = states + layer.down(torch.nn.functional.silu(gate) * up)
        return states

    def _normed(self, states: Any, weight: Any) -> Any:
        return torch.nn.functional.rms_norm(states, states.shape[-1:], weight, self._small)

    def _turned(self, parts: Any, start: int) -> Any:
        """Return queries or keys, turned by their places."""
        cosine, sine = (each[start : start + parts.shape[1]] for each in self._turns)
        first, second = parts.chunk(2, -1)
        return parts * cosine + torch.cat([-second, first], -1) * sine


def _layer(tensors: dict[str, Any], prefix: str) -> _Layer:
    def linear(*names: str) -> _Linear:
        return _Linear([tensors[f"{prefix}{name}.weight"] for name in names])

    return _Layer(
        _values(tensors[f"{prefix}attn_norm.weight"]),
        linear("attn_q", "attn_k", "attn_v"),
        torch.cat([_values(tensors[f"{prefix}attn_{name}.bias"]) for name in "qkv"]),
        linear("attn_output"),
        _values(tensors[f"{prefix}ffn_norm.weight"]),
        linear("ffn_gate", "ffn_up"),
        linear("ffn_down"),
    )


def _values(tensor: Any) -> Any:
    return torch.from_numpy(np.array(gguf.dequantize(tensor.data, tensor.tensor_type)))


def _rows(tensor: Any, rows: Sequence[int]) -> Any:
    return torch.from_numpy(np.array(gguf.dequantize(tensor.data[list(rows)], tensor.tensor_type)))


def _bytes_of_letters() -> dict[str, int]:
    """Return the byte of each letter that tokens of this kind are written in."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = {chr(byte): byte for byte in plain}
    return letters | {chr(256 + place): byte for place, byte in enumerate(others)}
