"""The path matcher, through its three doors: one path, many sorted paths, names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repo_map import globs
from repo_map.errors import FlightPlanError

NAMED = [
    ("**", "a/b.py"),
    ("src/**", "src/a/b.py"),
    ("src/**/*.py", "src/b.py"),
    ("src/**/*.py", "src/x/y/b.py"),
    ("**/test_*.py", "test_a.py"),
    ("*.{py,js}", "b.js"),
    ("{a,b/**/c}.py", "b/q/c.py"),
    ("lib?.c", "lib1.c"),
    ("[!a]b", "cb"),
    ("[a-c]b", "bb"),
    ("a[]]", "a]"),
    ("app/[id]/page.tsx", "app/[id]/page.tsx"),
    ("src/auth", "src/auth/login.py"),
    ("src/auth/", "src/auth/x/login.py"),
    ("./src/a.py", "src/a.py"),
]
NOT_NAMED = [
    ("*.py", "a/b.py"),
    ("src/*", "src/a/b.py"),
    ("src**", "src/a.py"),
    ("src/aut", "src/auth/login.py"),
    ("[!a]b", "/b"),
    ("a?b", "a/b"),
    ("A.py", "a.py"),
    ("a.py", "axpy"),
]


@pytest.mark.parametrize(("pattern", "path"), NAMED + NOT_NAMED)
def test_a_glob_names_these_paths_and_no_others(pattern: str, path: str) -> None:
    is_named = (pattern, path) in NAMED
    assert globs.matches(pattern, path) == is_named
    assert globs.select(pattern, [path]) == [0] * is_named


@pytest.mark.parametrize("pattern", ["src/[a", "src/{a,b", "[z-a]", ""])
def test_a_malformed_glob_is_refused_in_one_sentence(pattern: str) -> None:
    with pytest.raises(FlightPlanError, match=r"glob"):
        globs.compile(pattern)


def test_a_name_pattern_crosses_dots() -> None:
    assert globs.compile_name("Router.*").fullmatch("Router.Inner.run")
    assert globs.compile_name("Install*").fullmatch("Install on Windows")
    assert not globs.compile_name("run").fullmatch("Router.run")


@given(st.text(alphabet="ab/[]{}*?.", min_size=1))
def test_an_escaped_path_names_itself_and_no_other(path: str) -> None:
    if not path.startswith(("/", "./")) and not path.endswith("/"):
        assert globs.compile(globs.escape(path)).fullmatch(path)
        assert not globs.matches(globs.escape(path), f"x{path}")


@given(
    st.lists(st.text(alphabet="ab/.", min_size=1), unique=True).map(sorted),
    st.sampled_from(["**", "a/**", "a*", "*", "a", "a/", "**/b", "[ab]*", "{a,b}/**", "ab/*.a"]),
)
def test_selecting_among_many_agrees_with_matching_each(paths: list[str], pattern: str) -> None:
    expected = [i for i, path in enumerate(paths) if globs.matches(pattern, path)]
    assert globs.select(pattern, paths) == expected


def plainly_matches(pattern: str, path: str) -> bool:
    """Match by trying everything: slow, and plainly right, for patterns without sets and alternatives."""
    if not pattern:
        return not path
    if pattern.startswith("**/"):
        return plainly_matches(pattern[3:], path) or any(
            plainly_matches(pattern[3:], path[at + 1 :]) for at, one in enumerate(path) if one == "/" and at
        )
    if pattern[0] == "*":
        return any(
            plainly_matches(pattern[1:], path[at:]) for at in range(len(path) + 1) if "/" not in path[:at]
        )
    return (
        bool(path)
        and (pattern[0] in ("?", path[0]))
        and path[0] != "/" * (pattern[0] == "?")
        and (plainly_matches(pattern[1:], path[1:]))
    )


_PART = st.text(alphabet="ab*?", min_size=1, max_size=5).filter(lambda part: "**" not in part)
_PARTS = st.lists(_PART | st.just("**"), min_size=1, max_size=5).filter(lambda parts: parts[-1] != "**")


@given(_PARTS, st.lists(st.text(alphabet="ab", min_size=1, max_size=6), min_size=1, max_size=5))
@settings(max_examples=400)
def test_a_glob_matches_what_trying_everything_matches(parts: list[str], names: list[str]) -> None:
    pattern, path = "/".join(parts), "/".join(names)
    assert bool(globs.compile(pattern).fullmatch(path)) == plainly_matches(pattern, path)


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 60 + "b", "**/a/" * 40 + "b", "**/*a*a/" * 20 + "b", "{a,aa}" * 9 + "b", "**a**b*c*d*e"],
)
def test_no_glob_runs_away(pattern: str) -> None:
    assert not globs.matches(pattern, "a/" * 40 + "a" * 200)


def test_alternatives_without_end_are_refused() -> None:
    with pytest.raises(FlightPlanError):
        globs.compile("{a,b,c,d}" * 12)
