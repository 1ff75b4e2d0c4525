"""What must hold for any input, tried on a few hundred of them; ``fuzz.py`` tries as many as one likes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.safety.fuzz import fuzz_lines
from tests.safety.fuzz_targets import SEEDS, TARGETS
from tests.safety.mutations import mutated

_few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_updates = st.fixed_dictionaries(
    {},
    optional={
        "budget": st.integers(-5, 5_000) | _json,
        "verbosity": st.lists(
            st.fixed_dictionaries(
                {"pattern": st.text(max_size=12)}, optional={"level": _json, "sections": _json}
            ),
            max_size=3,
        )
        | _json,
        "select": _json,
        "focus": _json,
        "custom_queries": _json,
    },
)


@pytest.mark.parametrize("target", TARGETS)
def test_mutated_seeds_hold(target: str) -> None:
    for data in mutated(SEEDS[target], 60, seed=7):
        TARGETS[target](data)


@given(st.text(max_size=200))
@_few
def test_any_text_is_a_plan_or_a_told_error(text: str) -> None:
    TARGETS["plans"](text.encode())


@given(st.text(alphabet="ab/*?[]{},!\\.\n", max_size=40))
@_few
def test_any_pattern_is_a_glob_or_a_told_error(text: str) -> None:
    TARGETS["patterns"](text.encode())


@given(st.integers(0, 255), st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
@_few
def test_any_bytes_of_any_language_are_read_and_drawn(language: int, source: bytes) -> None:
    TARGETS["sources"](bytes([language]) + source)


@given(_updates)
@_few
def test_whatever_a_model_answers_only_the_plan_changes(updates: object) -> None:
    import json

    TARGETS["replies"](json.dumps(updates).encode())


def test_a_server_on_stdio_outlives_any_line() -> None:
    assert fuzz_lines(400, seed=3) == 2
