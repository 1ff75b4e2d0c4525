"""The flight plan: which files and symbols, at which level of detail, with what boost, in how many tokens."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Level = Annotated[int, Field(ge=0, le=4)]
Weight = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class PathBoost(_Part):
    """Makes the files that match ``pattern`` weigh more in the ranking, and come earlier in the map."""

    pattern: str = Field(min_length=1)
    weight: Weight = 1.0


class SymbolBoost(_Part):
    """Makes the files that define ``name`` weigh more in the ranking."""

    name: str = Field(min_length=1)
    weight: Weight = 1.0


class Focus(_Part):
    """What moves the ranking's personalisation."""

    paths: tuple[PathBoost, ...] = ()
    symbols: tuple[SymbolBoost, ...] = ()


class SectionRule(_Part):
    """The level of one part of a file: a symbol or heading by glob, or a range of lines."""

    pattern: str | None = Field(default=None, min_length=1)
    """Glob over qualified names (``Router.dispatch``, ``Router.*``) or headings (``Install*``)."""
    lines: str | None = Field(default=None, pattern=r"^[1-9]\d*-[1-9]\d*$")
    """First and last line, 1-based and inclusive: ``120-180``."""
    level: Level

    @model_validator(mode="after")
    def _names_one_part(self) -> Self:
        if (self.pattern is None) == (self.lines is None):
            raise ValueError("a section names either `pattern` or `lines`, not both and not neither")
        return self


class VerbosityRule(_Part):
    """The level of the files that match ``pattern``; of several matching rules the last one holds."""

    pattern: str = Field(min_length=1)
    level: Level | None = None
    """Level of the whole file, or, beside ``sections``, of what no section names (then 1 if left out)."""
    sections: tuple[SectionRule, ...] = ()

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.level is None and not self.sections:
            raise ValueError("a verbosity rule needs `level` or `sections`")
        return self


class CustomQuery(_Part):
    """A query in tree-sitter's query language; the captured nodes' lines join the map of the matching files."""

    pattern: str = Field(min_length=1)
    query: str = Field(min_length=1)
    level: Level = 4


class FlightPlan(_Part):
    """A whole configuration of a map. The same plan on the same tree draws the same bytes."""

    budget: int = Field(default=20_000, gt=0)
    """Most tokens of the final text."""
    focus: Focus | None = None
    verbosity: tuple[VerbosityRule, ...] = ()
    """Files that no rule matches are at level 2 and step down as the budget demands."""
    custom_queries: tuple[CustomQuery, ...] = ()
    tree: str | None = None
    """Fingerprint of the tree that the plan was made on, to tell drift at replay."""
