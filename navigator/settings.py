"""How a navigator is set up: where it keeps its data, which models it may use, how much it may do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from navigator.state.labels import EMBEDDED
from navigator.storage.addresses import BucketAddress, DatabaseAddress
from repo_map.limits import DEFAULT, Limits

if TYPE_CHECKING:  # A server reads its settings before it imports what builds models.
    from navigator.state.state import ExecutionMode
    from repo_map.plan.model import FlightPlan


StepAction = Literal["continue", "finish", "cancel"]

MIN_TOKEN_BUDGET: Final = 400
"""Least that holds a report and a map worth reading."""
MAX_TOKEN_BUDGET: Final = 2_000_000
DEFAULT_TOKEN_BUDGET = 8_000
"""Clients truncate at 10k tokens, and their tokenizers may count 20 % more than ours."""
FIRST_ANSWER = 1_000
"""Tokens of a first answer for clients that read files: larger ones cost more than they save."""
FIRST_ANSWER_ALONE = 1_500
DEFAULT_MAX_STEPS = 12
LOCAL_USER: Final = "local"
"""The user of callers without a token: on their own machine they may name any folder."""
DEFAULT_MAX_COST_USD = Decimal(2)


class NavigatorSettings(BaseModel):
    """What a ``Navigator`` is built from; every field has a default that needs no configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_dir: Path | None = None
    """Folder for sessions and artifacts; None keeps them in memory."""
    store: DatabaseAddress | None = None
    """Database for sessions, in place of the data folder's, which several servers may share."""
    bucket: BucketAddress | None = None
    cache_dir: Path | None = None
    use_cache: bool = True
    model: str = EMBEDDED
    fallback_model: str = ""
    """Continues with the same context if ``model`` fails; empty for none. The embedded policy comes last."""
    embedded_fallback: bool = True
    prices: Path | None = None
    model_urls: Mapping[str, str] = {}
    """Base URL per provider: ``gemini``, ``ollama``, ``openai``."""
    stream: bool = False
    """Whether models answer piece by piece, so that ``call_timeout_s`` limits silence and not length."""
    call_timeout_s: float = 60.0
    """Longest that one model call may take before the next model is tried."""
    retries: int = 2
    """Times that a call is repeated after a passing fault, before the next model is tried."""
    retry_delay_s: float = 0.5
    """Before the first repetition; each further one waits twice as long."""
    max_tokens_read: int = 30_000
    """Most tokens that a model reads in one step: the first message and what its tools return."""
    line_numbers: bool = False
    """Whether maps tell the numbers of lines where neither the request nor its plan says so."""
    unmasked: tuple[str, ...] = ()
    workers: int | None = None
    limits: Limits = DEFAULT
    """What bounds the index of a repository, and how many are kept in memory."""


_Settings = TypeVar("_Settings", bound=NavigatorSettings)


def in_memory(settings: _Settings) -> _Settings:
    """Return the settings of a navigator that keeps nothing it does, wherever others keep it."""
    return settings.model_copy(update={"data_dir": None, "store": None, "bucket": None})


@dataclass(frozen=True, slots=True)
class NavigationRequest:
    """One task: what is wanted, where, and within which limits."""

    goal: str
    """May be empty where ``changes`` says what it is about, and may hold a patch itself."""
    repo_path: str | Path
    token_budget: int | None = None
    """Most tokens of the map, never of an answer around it; None means the plan's own, else 8,000."""
    max_cost_usd: Decimal | float = DEFAULT_MAX_COST_USD
    mode: ExecutionMode = "autonomous"
    model: str | None = None
    flight_plan: FlightPlan | Mapping[str, object] | str | None = None
    max_steps: int = DEFAULT_MAX_STEPS
    line_numbers: bool | None = None
    """Whether the map has line numbers; None leaves it to the plan, else to the settings."""
    fill: bool = False
    """Whether the map fills its budget; else it ends where more is not worth its tokens."""
    first_answer: int | None = None
    """Most tokens of the first answer, its report and its outline included; None for the whole budget."""
    names: Sequence[str] = ()
    """Identifiers and words that the caller expects in the code: guesses, ten or so."""
    changes: str | None = None
    """What was changed: ``worktree``, a commit or a range as git names them, or a patch."""
    may_look_first: bool = False
    """Whether a large repository that is not indexed yet may be answered from a first look at it."""


class Timeouts(NamedTuple):
    """Seconds until the index, and until an answer, None for as many as they take; the work goes on then."""

    index_s: float | None = None
    answer_s: float | None = None


NO_TIMEOUT: Final = Timeouts()
