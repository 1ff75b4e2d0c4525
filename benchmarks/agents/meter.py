"""What each stage took: model calls, tokens, time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from google.genai import types

from navigator.records.pricing import TokenUsage


@dataclass(slots=True)
class StageUse:
    """The use of one stage, all its rounds together."""

    seconds: float = 0.0
    usage: TokenUsage = field(default_factory=TokenUsage)


class Meter:
    """Adds up what the stages of one run take, in the order in which they first ran."""

    def __init__(self) -> None:
        self.stages: dict[str, StageUse] = {}

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Count the time of the block towards a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._of(stage).seconds += time.perf_counter() - started

    def count(self, stage: str, usage: TokenUsage) -> None:
        """Count model calls towards a stage."""
        entry = self._of(stage)
        entry.usage = entry.usage.plus(usage)

    def total(self) -> TokenUsage:
        """Return the tokens and calls of all stages."""
        total = TokenUsage()
        for stage in self.stages.values():
            total = total.plus(stage.usage)
        return total

    def _of(self, stage: str) -> StageUse:
        return self.stages.setdefault(stage, StageUse())


def usage_of(metadata: types.GenerateContentResponseUsageMetadata | None) -> TokenUsage:
    """Return the tokens of one model call as the provider counted them."""
    if metadata is None:
        return TokenUsage(calls=1)
    return TokenUsage(
        input=metadata.prompt_token_count or 0,
        cached=metadata.cached_content_token_count or 0,
        output=metadata.candidates_token_count or 0,
        thinking=metadata.thoughts_token_count or 0,
        calls=1,
    )
