"""Maps of small repositories written in one string."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.outline.draw import RepoMap, draw_map
from repo_map.outline.pack import goal_terms, pack
from repo_map.outline.places import rank_places, with_boosts
from repo_map.plan.model import FlightPlan
from repo_map.plan.yaml import parse_plan
from repo_map.ranking.score import Relevance
from tests.support.trees import write

MARK = "=== "
HEADER = "■"
"""Begins the header of a file in a packet: what the tests expect, spelt once."""


def pack_places(
    index: Index, relevance: Relevance, budget: int, base: FlightPlan | None = None
) -> FlightPlan:
    """Return the plan that shows what ``base`` asks for and the likeliest places in ``budget`` tokens."""
    own = (base or FlightPlan()).model_copy(update={"budget": budget})
    allowed = with_boosts(index, relevance, own)
    places = rank_places(index, allowed)
    return pack(index, own, places, budget, terms=goal_terms(relevance.goal)).plan


def files_of(text: str) -> dict[str, str]:
    """Cut ``=== path`` headed text into files."""
    files: dict[str, str] = {}
    for part in text.split(MARK)[1:]:
        path, _, content = part.partition("\n")
        files[path.strip()] = content
    return files


@lru_cache(maxsize=32)
def _index_of(files: tuple[tuple[str, str | bytes], ...]) -> Index:
    root = Path(tempfile.mkdtemp(prefix="map-"))
    # At the very end, because an index reads its files when a map is drawn.
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return build_index(write(root, dict(files)), store=Store(None), workers=1)


def index_of(repo: str | Mapping[str, str | bytes]) -> Index:
    """Index a repository without a cache."""
    files = files_of(repo) if isinstance(repo, str) else repo
    return _index_of(tuple(sorted(files.items())))


def draw(repo: str | Mapping[str, str | bytes], plan: str = "", **options: Any) -> RepoMap:
    """Draw a plan given as YAML."""
    return draw_map(index_of(repo), parse_plan(plan), **options)


def numbers_of(block: str) -> list[tuple[int, str]]:
    """Return the lines of a numbered block as a reader places them: counting on from the number told last."""
    header, *rows = block.rstrip("\n").split("\n")
    at = int(found[1]) if (found := re.fullmatch(rf"{HEADER} \S+:(\d+)(?:  .*)?", header)) else 1
    placed = []
    for row in rows:
        if re.fullmatch(r"⋮(?: [\d,]+.*)?", row):
            at = int(found[1]) if (found := re.fullmatch(r"⋮ (\d+)(?:  .*)?", row)) else 0
            continue
        if found := re.match(r"(\d+)│", row):
            at, row = int(found[1]), row[found.end() :]  # noqa: PLW2901
        placed.append((at, row))
        at += 1
    return placed


def check(repo: str | Mapping[str, str | bytes], plan: str, expect: str, **options: Any) -> None:
    """Hold a drawn map against what is expected, character by character."""
    drawn = draw(repo, plan, **options).text
    assert drawn == expect, f"drawn:\n{drawn}"
