"""Token counts of texts seen before: all else in a warm process is faster than to load a tokenizer."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from repo_map import tokens
from repo_map.indexing import derived

if TYPE_CHECKING:
    from pathlib import Path

    from repo_map.index import RepoIndex
    from repo_map.tokens import TokenEncoding

_MOST_REMEMBERED = 50_000
_FORMAT = 1


class TokenMemo:
    """Exact counts by the hash of the text; shared by all repositories of a cache folder."""

    def __init__(self, folder: Path | None, encoding: TokenEncoding) -> None:
        self._folder = folder
        self._encoding: TokenEncoding = encoding
        self._name = f"tokens-{encoding}-{_FORMAT}"
        self._new: dict[int, tuple[int, ...]] = {}
        kept = derived.recall(folder, self._name) if folder else None
        if kept is None or len(kept) != 2 or len(kept[0]) != len(kept[1]):
            kept = [np.zeros(0, np.uint64), np.zeros((0, 0), np.uint32)]
        # One attribute, so that threads see keys and counts of one moment.
        self._kept = kept[0], kept[1]

    def counts(self, text: str) -> tuple[int, ...]:
        """Return the number of tokens of ``text`` by each vocabulary of the encoding."""
        whole = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8)
        key = int.from_bytes(whole.digest(), "little")
        found = self._new.get(key)
        if found is None:
            keys, counts = self._kept
            at = int(keys.searchsorted(np.uint64(key)))
            if at < len(keys) and int(keys[at]) == key:
                return tuple(counts[at].tolist())
            found = self._new[key] = tokens.counts(text, self._encoding)
        return found

    def save(self) -> None:
        """Keep what was counted since the last time for other processes."""
        if self._folder is None or not self._new:
            return
        new, self._new = self._new, {}
        new = new.copy()
        keys, counts = np.fromiter(new, np.uint64, len(new)), np.array(list(new.values()), np.uint32)
        old_keys, old_counts = self._kept
        if 0 < len(old_keys) <= _MOST_REMEMBERED - len(keys):
            keys, counts = np.concatenate((old_keys, keys)), np.concatenate((old_counts, counts))
        order = np.argsort(keys)
        self._kept = keys[order], counts[order]
        derived.keep(self._folder, self._name, self._kept)


def memo_of(index: RepoIndex, encoding: TokenEncoding) -> TokenMemo:
    """Return the memo for the maps of an index."""
    memos = _memos.setdefault(index, {})
    if encoding not in memos:
        memos[encoding] = TokenMemo(index.cache_folder, encoding)
    return memos[encoding]


_memos: WeakKeyDictionary[RepoIndex, dict[TokenEncoding, TokenMemo]] = WeakKeyDictionary()
