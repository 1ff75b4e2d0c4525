"""Memoization with cycle detection and a step budget."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from typing import Any, Final, TypeVar, cast

from repo_map.deadline import CpuDeadline

MAX_DEPTH: Final = 24
"""Answers that one answer may rest on, one upon the other; a longer way is given up."""
_MAX_CACHED: Final = 200_000
"""Answers that a resolver keeps."""
_SITE_STEPS: Final = 2_000
"""For one use of a name. In 19 public repositories with 190,000 uses none took more than a tenth of it."""
_QUESTION_STEPS: Final = 40_000
"""For one question, beside what its sites add: some half a second."""
_STEPS_A_SITE: Final = 10
"""What each use of a name that a question looks at adds to its steps."""
_STEPS_AT_ONCE: Final = 64
"""Steps between two looks at the clock."""
BINDINGS_A_STEP: Final = 64
"""Bindings that are looked through in the time of a step."""

_Found = TypeVar("_Found")


class BudgetExceededError(Exception):
    """What is asked takes more steps, or more CPU time, than it may; nothing of it is answered."""


class Question:
    """What one question about relations may take, and how much of it was left open.

    Its steps are counted, so that the same question gets the same answer; the CPU time is the last limit, for
    what steps do not measure.
    """

    def __init__(self, seconds: float) -> None:
        self._left_open: set[Hashable] = set()
        self._steps = _QUESTION_STEPS
        self._unclocked = _STEPS_AT_ONCE
        """Steps since the last look at the clock."""
        self._deadline = CpuDeadline(seconds)

    @property
    def left_open(self) -> int:
        """The uses of names that were given up: what they mean is not known, and is not in the answer."""
        return len(self._left_open)

    def leave_open(self, use: Hashable) -> None:
        """Note that a use of a name was given up."""
        self._left_open.add(use)

    @property
    def limitation(self) -> str:
        """The number of unresolved uses as a sentence; ``""`` if all were resolved."""
        if not self.left_open:
            return ""
        uses = "1 use of a name is" if self.left_open == 1 else f"{self.left_open:,} uses of names are"
        return f"{uses} too complex to resolve, and left open."

    @property
    def is_over(self) -> bool:
        """Whether it may take no more."""
        return self._steps <= 0 or self._deadline.is_over()

    def allow(self, sites: int) -> None:
        """Let it take what so many uses of names need."""
        if self._steps > 0:
            self._steps += _STEPS_A_SITE * sites

    def take(self, steps: int) -> None:
        """Count steps; raise BudgetExceededError where there are none left."""
        self._unclocked += steps
        self._steps -= steps
        if self._steps < 0 or (self._unclocked >= _STEPS_AT_ONCE and self._deadline.is_over()):
            raise BudgetExceededError
        self._unclocked %= _STEPS_AT_ONCE


class Memo:
    """Keeps what one resolver found, and ends what leads back to itself, too far, or takes too much."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._known: dict[Hashable, Any] = {}
        self._active: set[Hashable] = set()
        self._is_cut = False
        self._question: Question | None = None
        self._left = 0
        """Steps that the use of a name may still take."""

    @contextmanager
    def asked(self, question: Question, steps: int = _SITE_STEPS) -> Iterator[None]:
        """Let the resolver work for a question, in one thread at a time, for at most ``steps``.

        Raises:
            BudgetExceededError: It took all steps that it may; what was cached is whole all the same.
        """
        with self._lock:
            self._question, self._left, self._is_cut = question, steps, False
            try:
                yield
            except RecursionError:
                raise BudgetExceededError from None
            finally:
                self._question = None
                self._active.clear()

    def charge(self, steps: int = 1) -> None:
        """Count steps, in proportion to the work; raise BudgetExceededError where there are none left."""
        self._left -= steps
        if self._question is None or self._left < 0:
            raise BudgetExceededError
        self._question.take(steps)

    def memoized(self, key: Hashable, make: Callable[[], _Found]) -> _Found:
        """Return what ``make`` finds, ``()`` where that leads back to itself or too far."""
        self.charge()
        if (cached := self._known.get(key)) is not None:
            return cached  # type: ignore[no-any-return]
        if key in self._active or len(self._active) > MAX_DEPTH:
            self._is_cut = True
            return ()  # type: ignore[return-value]
        self._active.add(key)
        try:
            return self.cached(key, make)
        finally:
            self._active.discard(key)

    def cached(self, key: Hashable, make: Callable[[], _Found]) -> _Found:
        """Compute and cache a result.

        A result that was cut short by a cycle or the depth limit is cached only for the outermost request,
        because another path may find more.
        """
        if (cached := self._known.get(key)) is not None:
            return cached  # type: ignore[no-any-return]
        was_cut, self._is_cut = self._is_cut, False
        found = make()
        if not self._is_cut or self._active <= {key}:
            if len(self._known) > _MAX_CACHED:
                self._known.clear()
            self._known[key] = found
        self._is_cut = self._is_cut or was_cut
        return found


_Method = TypeVar("_Method", bound=Callable[..., Any])


def memoized(method: _Method) -> _Method:
    """Let a method of a resolver answer once; a question that leads back to itself is answered by nothing."""

    @wraps(method)
    def remembered(self: Any, *asked: Hashable) -> Any:
        return self.memo.memoized((method, *asked), lambda: method(self, *asked))

    return cast("_Method", remembered)


def cached(method: _Method) -> _Method:
    """Let a method of a resolver that never leads back to itself answer once."""

    @wraps(method)
    def remembered(self: Any, *asked: Hashable) -> Any:
        return self.memo.cached((method, *asked), lambda: method(self, *asked))

    return cast("_Method", remembered)
