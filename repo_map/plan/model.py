"""The flight plan: which files and symbols, at which level of detail, with what boost, in how many tokens."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from repo_map import globs
from repo_map.errors import FlightPlanError
from repo_map.messages import one_line, plural
from repo_map.secrets.names import mask_name

MAX_RULES: Final = 500
"""Verbosity rules. Every event of a navigation stores the plan, which may not grow without end."""
MAX_SECTIONS: Final = 5_000
"""Of all rules together."""
MAX_BOOSTS: Final = 2_000
"""Of paths, and of symbols."""
MAX_QUERIES: Final = 20
MAX_PATTERN_CHARS: Final = 5_000
MAX_QUERY_CHARS: Final = 10_000
MAX_WHY_CHARS: Final = 80
Lines = Annotated[str, Field(pattern=r"^[1-9]\d{0,8}-[1-9]\d{0,8}$")]
Name = Annotated[str, Field(min_length=1, max_length=MAX_PATTERN_CHARS)]
Query = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]
Why = Annotated[str, Field(max_length=MAX_WHY_CHARS), AfterValidator(one_line)]
"""Why a file or a part of it is shown, in a few words: a note to readers of the plan, which is not drawn."""
Weight = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]
_MAX_SHOWN_CHARS = 60
_MAX_BITS = 1_000
_MESSAGES = {
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be a first and a last line, such as 120-180",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "dict_type": "must be a mapping",
}


def prepare_plan(data: Any, limit: int = MAX_SECTIONS) -> Any:
    """Return a plan, or a partial one, as given but without secrets and the former key ``reasons``.

    Raises ValueError if it has more than ``limit`` sections.
    """
    if not isinstance(data, Mapping):
        return data
    rules = data.get("verbosity")
    listed = rules if isinstance(rules, list | tuple) else ()
    given = (
        rule.get("sections") if isinstance(rule, Mapping) else getattr(rule, "sections", None)
        for rule in listed
    )
    count = sum(len(sections) for sections in given if isinstance(sections, list | tuple))
    if count > limit:
        raise ValueError(
            f"The rules have {count:,} sections together, more than {limit:,}; "
            "use patterns that name more parts, or show whole files"
        )
    return _mask({key: value for key, value in data.items() if key != "reasons"})


def _mask(value: Any) -> Any:
    """Return YAML data without secrets in its strings and keys."""
    if isinstance(value, str):
        return mask_name(value)
    if isinstance(value, dict):
        return {_mask(key): _mask(part) for key, part in value.items()}
    return [_mask(part) for part in value] if isinstance(value, list) else value


def _refuse_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number, not yes or no")
    return value


def _check_glob(pattern: str) -> str:
    try:
        globs.compile(pattern)
    except FlightPlanError as error:
        raise ValueError(str(error)) from None
    return pattern


Level = Annotated[int, BeforeValidator(_refuse_bool), Field(ge=0, le=4)]
Glob = Annotated[str, Field(min_length=1, max_length=MAX_PATTERN_CHARS), AfterValidator(_check_glob)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, defer_build=True)


class PathBoost(_Part):
    """Makes the files that match ``pattern`` weigh more in the ranking, and come earlier in the map."""

    pattern: Glob
    weight: Weight = 1.0


class SymbolBoost(_Part):
    """Makes the files that define ``name`` weigh more in the ranking."""

    name: Name
    weight: Weight = 1.0


class Focus(_Part):
    """What moves the ranking's personalisation."""

    paths: tuple[PathBoost, ...] = Field(default=(), max_length=MAX_BOOSTS)
    symbols: tuple[SymbolBoost, ...] = Field(default=(), max_length=MAX_BOOSTS)


class SectionRule(_Part):
    """The level of one part of a file: a symbol or heading by glob, or a range of lines."""

    pattern: Name | None = None
    """Glob over qualified names (``Router.dispatch``, ``Router.*``) or headings (``Install*``)."""
    lines: Lines | None = None
    """First and last line, 1-based and inclusive: ``120-180``."""
    level: Level
    why: Why | None = None

    @model_validator(mode="after")
    def _names_one_part(self) -> Self:
        if (self.pattern is None) == (self.lines is None):
            raise ValueError("a section names either `pattern` or `lines`, not both and not neither")
        return self


class VerbosityRule(_Part):
    """The level of the files that match ``pattern``; of several matching rules the last one holds."""

    pattern: Glob
    level: Level | None = None
    """Level of the whole file, or, beside ``sections``, of what no section names (then 1 if left out)."""
    why: Why | None = None
    sections: tuple[SectionRule, ...] = ()

    @model_validator(mode="after")
    def _needs_level_or_sections(self) -> Self:
        if self.level is None and not self.sections:
            raise ValueError("a verbosity rule needs `level` or `sections`")
        return self


class CustomQuery(_Part):
    """A query in tree-sitter's query language; the captured nodes' lines join the map."""

    pattern: Glob
    query: Query
    level: Level = 4
    """4 shows captured nodes whole, 3 and 2 their first lines, 1 and 0 nothing."""


def _stamp_of(value: Any) -> Any:
    return {"fingerprint": value} if isinstance(value, str) else value


class TreeStamp(_Part):
    """The tree that a plan was made on, to detect drift at replay."""

    fingerprint: str = Field(min_length=1)
    """Equal for equal paths and bytes, on any machine."""
    files: dict[str, str] = Field(default_factory=dict)
    """First eight hexadecimal digits of the SHA-256 of each file shown by more than its path."""
    first_look: int = Field(default=0, ge=0)
    """How many files were read, where the plan was made by a first look; 0 where all were."""


class FlightPlan(_Part):
    """A whole configuration of a map. The same plan on the same tree draws the same bytes."""

    budget: Annotated[int, BeforeValidator(_refuse_bool)] = Field(default=20_000, gt=0, le=1_000_000_000)
    """Most tokens of the final text."""
    focus: Focus | None = None
    verbosity: tuple[VerbosityRule, ...] = Field(default=(), max_length=MAX_RULES)
    """Files that no rule matches are at level 2 and step down as the budget demands."""
    custom_queries: tuple[CustomQuery, ...] = Field(default=(), max_length=MAX_QUERIES)
    line_numbers: bool | None = None
    """Whether lines of source have numbers; None leaves it to the caller of the renderer."""
    tree: Annotated[TreeStamp | None, BeforeValidator(_stamp_of)] = None

    @model_validator(mode="before")
    @classmethod
    def _prepare(cls, data: Any) -> Any:
        return prepare_plan(data)


def plan_error(error: ValidationError, model: type[BaseModel]) -> FlightPlanError:
    """Turn pydantic's findings into one sentence about the first of them."""
    findings = error.errors(include_url=False)
    sentence = _sentence(findings[0], model)
    others = len(findings) - 1
    if others:
        sentence += f" There {'is' if others == 1 else 'are'} {plural(others, 'more such problem')}."
    return FlightPlanError(sentence)


def _sentence(finding: Any, model: type[BaseModel]) -> str:
    path = _path(finding["loc"])
    given = finding["input"]
    kind = finding["type"]
    if kind == "extra_forbidden":
        names = _fields_at(model, finding["loc"][:-1])
        nearest = difflib.get_close_matches(str(finding["loc"][-1]), names, 1, 0.5)
        hint = (
            f"did you mean `{nearest[0]}`?" if nearest else f"it takes {', '.join(f'`{n}`' for n in names)}."
        )
        return f"`{path}` is not a field of a flight plan; {hint}"
    if kind == "missing":
        return f"`{path}` is missing."
    message = finding["msg"].removeprefix("Value error, ").removeprefix("Input ").rstrip(".")
    if kind == "string_too_long":
        limit = finding["ctx"]["max_length"]
        return f"`{path}` has {len(given):,} characters, more than {limit:,}; make it shorter."
    if kind == "too_long":
        count, limit = finding["ctx"]["actual_length"], finding["ctx"]["max_length"]
        advice = "use globs that name more files" if path == "verbosity" else "keep those that matter most"
        return f"`{path}` has {count or len(given):,} entries, more than {limit:,}; {advice}."
    if path.endswith("level") and kind in ("less_than_equal", "greater_than_equal"):
        message = "must be 0 (exclude), 1 (path), 2 (structure), 3 (interface) or 4 (implementation)"
    message = _MESSAGES.get(kind, message)
    if kind == "value_error":
        return f"`{path}`: {message}." if path else f"{message}."
    message = message.replace("should be", "must be")
    return f"`{path or 'the plan'}` is {_shown(given)}; it {message}."


def _shown(given: object) -> str:
    if isinstance(given, dict | list):
        return f"a {'mapping' if isinstance(given, dict) else 'list'}"
    if isinstance(given, int) and given.bit_length() > _MAX_BITS:
        return "a number of very many digits"  # Python writes out none of more than 4,300 digits.
    shown = repr(given)
    return shown if len(shown) <= _MAX_SHOWN_CHARS else f"{shown[:_MAX_SHOWN_CHARS]}…"


def _path(location: Sequence[int | str]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _fields_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Return the field names of the part of a plan that a location leads to."""
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model inside ``Focus | None`` or ``tuple[VerbosityRule, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _model_in(inner)
        if found:
            return found
    return None
