"""What is fuzzed, and what must hold for any input: each target takes bytes and raises only for a fault."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from navigator.planner.plan_changes import amend_by_model
from navigator.planner.request import initial_state, validate
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.state.run_state import Navigation
from navigator.state.state import ModelPricingRates
from repo_map import globs
from repo_map.errors import FlightPlanError, RepoMapError
from repo_map.index.build import build_index
from repo_map.index.extraction import extract
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.languages.registry import LANGUAGES
from repo_map.limits import Limits
from repo_map.outline.draw import draw_map
from repo_map.outline.rendering import render_body
from repo_map.outline.sections import Shape
from repo_map.parsing.symbols import read_symbols
from repo_map.plan.yaml import format_plan, parse_plan
from repo_map.secrets.masking import mask
from repo_map.sources.files import ReadFile, digest
from tests.support.trees import write

TOKEN_BUDGET = 600
FILES = {
    "src/app.py": "def start(port: int):\n    return str(port)\n\n\nclass App:\n    def end(self): 0\n",
    "src/web/router.go": "package web\n\nfunc Route(path string) string {\n\treturn path\n}\n",
    "README.md": "# App\n\n## Start\n\nCall start.\n",
}
_FIRST = {suffix: spec.suffixes[0] for spec in LANGUAGES.values() for suffix in spec.suffixes}
SUFFIXES = sorted({*_FIRST.values()})
_CONTROL = set(map(chr, [*range(9), *range(11, 32), *range(127, 160)])) | set(
    "\u202a\u202e\u2066\u2069\u2028\U000e0041"
)


def plans(data: bytes) -> None:
    """Any text is a plan or an error in one line; a plan written and read again is the same plan."""
    sentence = ""
    try:
        plan = parse_plan(data.decode("utf-8", "replace"))
        assert parse_plan(format_plan(plan)) == plan
    except FlightPlanError as refused:
        sentence = str(refused)
    assert "\n" not in sentence


def patterns(data: bytes) -> None:
    """Any pattern is a glob or a told error, and matches or does not."""
    pattern, _, path = data.decode("utf-8", "replace").partition("\n")
    with suppress(FlightPlanError):
        globs.matches(pattern, path)
        assert globs.matches(path, path) if path else True
        assert globs.select(pattern, sorted({"src/a.py", "b", path})) is not None


def sources(data: bytes) -> None:
    """Any bytes in any language parse, keep their lines, and draw without a control character."""
    if not data:
        return
    source, path = data[1:], f"some/file{SUFFIXES[data[0] % len(SUFFIXES)]}"
    masked = mask(source)
    assert len(masked.source) == len(source)
    limits = Limits(parse_seconds=2.0)
    symbols = read_symbols(masked.source, path, limits)
    lines = masked.source.count(b"\n") + 1
    for item in symbols.definitions:
        assert 0 < item.start <= item.sig_start <= item.sig_end
        assert item.end <= lines
    extract([ReadFile(path, len(source), masked.source, digest=digest(source))], limits, read_symbols)
    text = masked.source.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    for level in (2, 3, 4):
        body = render_body(text, symbols.definitions, Shape(level), is_path_line=lambda _: False)
        assert not _CONTROL & set(body)


def replies(data: bytes) -> None:
    """Whatever a model answers, the plan keeps to the tokens given and to the files of the repository."""
    try:
        said: Any = json.loads(data)
    except (ValueError, RecursionError):
        return
    updates = said if isinstance(said, dict) else {"verbosity": said}
    index, navigation = _active_navigation()
    try:
        asked = {"select": updates.pop("select", None), "updates": updates}
        change = amend_by_model(navigation, index, "because", asked).change
        drawn = draw_map(index, change.plan)
    except RepoMapError:
        return
    assert drawn.tokens <= change.plan.budget <= TOKEN_BUDGET
    assert {file.path for file in drawn.blocks} <= set(FILES)


@cache
def _active_navigation() -> tuple[Index, Navigation]:
    root = write(Path(tempfile.mkdtemp(prefix="fuzz-")), FILES)
    task = validate(NavigationRequest("start the app", root, token_budget=TOKEN_BUDGET), NavigatorSettings())
    rates = ModelPricingRates(
        model_name="embedded", input_per_million=Decimal("0.01"), output_per_million=Decimal("0.01")
    )
    return build_index(root, store=Store(None), workers=1), initial_state(
        task, "nav-fuzz", str(root), rates, 0.0
    )


TARGETS: dict[str, Callable[[bytes], None]] = {
    "plans": plans,
    "patterns": patterns,
    "sources": sources,
    "replies": replies,
}


def _samples() -> Iterator[bytes]:
    """Yield the sources that the tests of the parsers read, a byte for the language before each."""
    for file in sorted((Path(__file__).parent.parent / "fixtures/outlines").glob("*.txt")):
        suffix = _FIRST.get(Path(file.stem).suffix)
        if suffix:
            source = file.read_text(encoding="utf-8").partition("====\n")[0]
            yield bytes([SUFFIXES.index(suffix)]) + source.encode()


_PLAN = """budget: 8000
focus: {paths: [{pattern: "src/**", weight: 4}], symbols: [{name: Router.dispatch, weight: 2}]}
verbosity:
  - {pattern: "**", level: 1}
  - {pattern: src/app.py, level: 2, sections: [{pattern: "App.*", level: 3}, {lines: "1-3", level: 4}]}
custom_queries: [{pattern: "**/*.py", query: "(function_definition) @x", level: 4}]
"""
_REPLY = {
    "budget": 500,
    "verbosity": [
        {"pattern": "src/**", "level": 4},
        {"pattern": "../../etc/passwd", "level": 4},
        {
            "pattern": "src/app.py",
            "level": None,
            "sections": [{"pattern": "App.*", "level": 3}, {"lines": "1-9", "level": 4}],
        },
    ],
    "focus": {"paths": [{"pattern": "**", "weight": 2}], "symbols": [{"name": "start", "weight": 3}]},
    "custom_queries": [{"pattern": "**/*.py", "query": "(function_definition) @x", "level": 4}],
}
SEEDS: dict[str, list[bytes]] = {
    "plans": [_PLAN.encode(), b"budget: 1\n", b"tree: abc\nverbosity: [{pattern: a, level: 0}]"],
    "patterns": [
        b"src/**/*.{py,go}\nsrc/a/b.py",
        b"[a-z]?*\nabc",
        b"**/a/**\nx/a/y",
        b"!/a/**/[!b]*/\na/c/d",
    ],
    "sources": list(_samples()),
    "replies": [
        json.dumps(_REPLY).encode(),
        b'[{"pattern": "README.md", "level": 4}]',
        b'{"budget": 1}',
        b'{"select": [{"target": "src/app.py:1-2", "reason": "r"}, "App.end", 3]}',
    ],
}
