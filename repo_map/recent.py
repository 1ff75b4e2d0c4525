"""The latest values under their keys, up to a size in all."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Recent(Generic[_Key, _Value]):
    """Keeps what was put last and forgets what was put first; threads that share an index share it."""

    def __init__(self, most: int, size_of: Callable[[_Value], int]) -> None:
        """Keep values of ``most`` in all, by ``size_of``; one that is larger is kept alone."""
        self._most = most
        self._size_of = size_of
        self._kept: dict[_Key, _Value] = {}
        self._size = 0
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return the value, None where there is none any more."""
        return self._kept.get(key)

    def put(self, key: _Key, value: _Value) -> None:
        """Keep a value, unless there is one under its key."""
        with self._lock:
            if key in self._kept:
                return
            size = self._size_of(value)
            while self._kept and self._size + size > self._most:
                self._size -= self._size_of(self._kept.pop(next(iter(self._kept))))
            self._kept[key] = value
            self._size += size
