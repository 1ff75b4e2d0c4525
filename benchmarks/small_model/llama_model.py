"""How likely llama.cpp finds a text: the library that ``xllamacpp`` holds, called for its logits."""

from __future__ import annotations

import ctypes
import importlib
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

_BATCH = 256
_SEQUENCE = 0


class _Parameters(ctypes.Structure):
    """Parameters of any version of the library: larger than all of them, and passed by value."""

    _fields_ = (("raw", ctypes.c_uint8 * 1024),)


class _Batch(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int32),
        ("token", ctypes.POINTER(ctypes.c_int32)),
        ("embedding", ctypes.c_void_p),
        ("position", ctypes.POINTER(ctypes.c_int32)),
        ("sequences", ctypes.POINTER(ctypes.c_int32)),
        ("sequence", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
        ("wanted", ctypes.POINTER(ctypes.c_int8)),
        ("spare", ctypes.c_uint8 * 64),
    )


_INT = ctypes.c_int32
_POINTER = ctypes.c_void_p
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "llama_backend_init": (None, ()),
    "llama_model_default_params": (_Parameters, ()),
    "llama_context_default_params": (_Parameters, ()),
    "llama_model_load_from_file": (_POINTER, (ctypes.c_char_p, _Parameters)),
    "llama_init_from_model": (_POINTER, (_POINTER, _Parameters)),
    "llama_model_get_vocab": (_POINTER, (_POINTER,)),
    "llama_vocab_n_tokens": (_INT, (_POINTER,)),
    "llama_tokenize": (
        _INT,
        (_POINTER, ctypes.c_char_p, _INT, ctypes.POINTER(_INT), _INT, ctypes.c_bool, ctypes.c_bool),
    ),
    "llama_token_to_piece": (_INT, (_POINTER, _INT, ctypes.c_char_p, _INT, _INT, ctypes.c_bool)),
    "llama_batch_init": (_Batch, (_INT, _INT, _INT)),
    "llama_decode": (_INT, (_POINTER, _Batch)),
    "llama_get_logits_ith": (ctypes.POINTER(ctypes.c_float), (_POINTER, _INT)),
    "llama_get_memory": (_POINTER, (_POINTER,)),
    "llama_memory_seq_rm": (ctypes.c_bool, (_POINTER, _INT, _INT, _INT)),
}


def _library() -> Any:
    # Installed beside this file's interpreter only, never with the product.
    library = ctypes.CDLL(importlib.import_module("xllamacpp").xllamacpp.__file__)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class LlamaModel:
    """A model that llama.cpp holds in memory, with what it has read."""

    def __init__(self, path: str, context: int, threads: int) -> None:
        self._llama = llama = _library()
        llama.llama_backend_init()
        model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
        if not model:
            raise SystemExit(f"`{path}` is no model that this version of the library can read.")
        parameters = llama.llama_context_default_params()
        known = struct.unpack_from("<9i", bytes(parameters.raw))
        if known[:4] != (512, 2048, 512, 1) or known[7] != known[8]:
            raise SystemExit("This version of xllamacpp orders its parameters otherwise; try 2026.10.")
        for place, value in ((0, context), (1, _BATCH), (2, _BATCH), (7, threads), (8, threads)):
            struct.pack_into("<i", parameters.raw, 4 * place, value)
        self._context = llama.llama_init_from_model(model, parameters)
        self._memory = llama.llama_get_memory(self._context)
        self._vocabulary = llama.llama_model_get_vocab(model)
        self._size = llama.llama_vocab_n_tokens(self._vocabulary)
        self._batch = llama.llama_batch_init(_BATCH, 0, 1)
        self._read: list[int] = []
        self._most = context

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text, none of them special."""
        data = text.encode()
        buffer = (ctypes.c_int32 * (len(data) + 8))()
        count = self._llama.llama_tokenize(
            self._vocabulary, data, len(data), buffer, len(buffer), False, False
        )
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """Return what a token stands for."""
        buffer = ctypes.create_string_buffer(512)
        count = self._llama.llama_token_to_piece(self._vocabulary, token, buffer, len(buffer), 0, True)
        return buffer.raw[:count]

    def log_likelihoods(self, tokens: Sequence[int], first: int) -> list[float]:
        """Return the natural logarithm of each token's probability behind those before, from ``first`` on."""
        if len(tokens) > self._most:
            raise ValueError(f"{len(tokens)} tokens are more than {self._most}")
        first = max(first, 1)
        known, most = 0, min(len(self._read), first - 1)
        while known < most and self._read[known] == tokens[known]:
            known += 1
        self._llama.llama_memory_seq_rm(self._memory, _SEQUENCE, known, -1)
        del self._read[known:]
        found: list[float] = []
        for at in range(known, len(tokens) - 1, _BATCH):
            found += self._decode(tokens, at, min(at + _BATCH, len(tokens) - 1), first - 1)
        return found

    def _decode(self, tokens: Sequence[int], start: int, end: int, wanted: int) -> list[float]:
        batch = self._batch
        batch.count = end - start
        for row in range(end - start):
            batch.token[row], batch.position[row] = tokens[start + row], start + row
            batch.sequences[row], batch.sequence[row][0] = 1, _SEQUENCE
            batch.wanted[row] = start + row >= wanted
        batch.wanted[end - start - 1] = 1
        if self._llama.llama_decode(self._context, batch):
            raise ValueError("the library could not read the prompt")
        self._read += tokens[start:end]
        rows = range(max(start, wanted), end)
        return [self._log_likelihood(row - start, tokens[row + 1]) for row in rows]

    def _log_likelihood(self, row: int, token: int) -> float:
        logits = np.ctypeslib.as_array(self._llama.llama_get_logits_ith(self._context, row), (self._size,))
        highest = float(logits.max())
        return float(logits[token]) - highest - math.log(float(np.exp(logits - highest).sum()))
