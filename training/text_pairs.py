"""Pairs with their text, for an encoder: what a commit says, what it changed, and neighbours that it left.

    python -m training.text_pairs MIRROR… --out FOLDER [--commits 200] [--step 5]

One file of JSON lines a repository. The text of the pull request that brought a commit stands before the
commit's own, where a merge holds it: it is nearer to what an issue says.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.git import run_git
from repo_map.languages.registry import language_of
from repo_map.text.units import GAP
from training.before import Before
from training.encoder_texts import goal_text, unit_text
from training.messages import goal_of
from training.past_changes import PastChange, past_changes

_MOST_CHANGED = 4
_MOST_NEIGHBOURS = 6
_MERGES = 20_000
"""Commits in which merges are looked for."""
_BY_REQUEST = "Merge pull request"
_OF_SHORTLOG = ("* ", "  ")


class TextPair(msgspec.Struct, frozen=True):
    """One commit: its goal, units that it changed and units of the same files that it left alone."""

    id: str
    language: str
    goal: str
    changed: list[str]
    neighbours: list[str]


def pull_requests(root: Path) -> dict[str, str]:
    """Return, for each commit that a merged pull request brought, what the merge says of it."""
    log = run_git(root, "log", f"--max-count={_MERGES}", "--format=%H%x1f%P%x1f%B%x1e", "HEAD")
    parents: dict[str, list[str]] = {}
    said: dict[str, str] = {}
    for entry in log.decode("utf-8", "replace").split("\x1e")[:-1]:
        identity, _, rest = entry.strip("\n").partition("\x1f")
        before, _, message = rest.partition("\x1f")
        parents[identity] = before.split()
        if message.startswith(_BY_REQUEST):
            lines = message.split("\n")[1:]
            said[identity] = "\n".join(line for line in lines if not line.startswith(_OF_SHORTLOG)).strip()
    found: dict[str, str] = {}
    line = list(_first_parents(parents, next(iter(parents), "")))
    known = set(line)
    for merge in reversed(line):
        waiting = parents[merge][1:]
        while waiting:
            commit = waiting.pop()
            if commit in parents and commit not in known:
                known.add(commit)
                waiting += parents[commit]
                if said.get(merge):
                    found[commit] = said[merge]
    return found


def _first_parents(parents: dict[str, list[str]], start: str) -> Iterator[str]:
    commit = start
    while commit in parents:
        yield commit
        commit = next(iter(parents[commit]), "")


def pair_of(change: PastChange, request: str) -> TextPair:
    """Return the texts of one commit; ``request`` is what its pull request says, or empty."""
    chance = random.Random(change.commit.id)
    own = goal_of(change.commit.message)
    asked = goal_of(request)
    goal = own if not asked or asked.startswith(own) or own.startswith(asked) else f"{asked}\n\n{own}"
    changed = [_text(file, row) for file in change.files for row in file.changed]
    others = [
        (file, row)
        for file in change.files
        for row, kind in enumerate(file.units.kind)
        if kind != GAP and row not in file.changed
    ]
    wanted = set(goal_text(goal).lower().split())
    near = sorted(
        (_text(file, row) for file, row in chance.sample(others, min(len(others), 3 * _MOST_NEIGHBOURS))),
        key=lambda text: -len(wanted & set(text.lower().split())),
    )
    return TextPair(
        id=change.commit.id[:12],
        language=language_of(change.files[0].path),
        goal=goal_text(goal),
        changed=chance.sample(changed, min(len(changed), _MOST_CHANGED)),
        neighbours=near[:_MOST_NEIGHBOURS],
    )


def _text(file: Before, row: int) -> str:
    units = file.units
    lines = file.source.decode("utf-8", "replace").split("\n")[units.start[row] - 1 : units.end[row]]
    return unit_text(file.path, file.name(row), "\n".join(lines))


def read_repository(root: Path, most: int, step: int = 1) -> Iterator[TextPair]:
    """Yield the pairs of a repository, every ``step``-th commit from the newest, at most ``most``."""
    requests, taught = pull_requests(root), 0
    for batch in past_changes(root, step=step):
        for change in batch.changes:
            yield pair_of(change, requests.get(change.commit.id, ""))
            taught += 1
            if taught == most:
                return


def read_pairs(path: Path) -> list[TextPair]:
    """Read a file of pairs."""
    return [msgspec.json.decode(line, type=TextPair) for line in path.read_bytes().splitlines()]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=200, help="useful commits of each repository")
    parser.add_argument("--step", type=int, default=1, help="every so many commits one is read")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for root in options.roots:
        name = root.parent.name if root.name == "repo" else root.name
        target = options.out / f"{name}.jsonl"
        if target.exists():
            continue
        pairs = list(read_repository(root, options.commits, options.step))
        partial = target.with_suffix(".partial")
        partial.write_bytes(b"".join(msgspec.json.encode(pair) + b"\n" for pair in pairs))
        partial.rename(target)
        sys.stderr.write(f"{name}: {len(pairs)} commits\n")


if __name__ == "__main__":
    main()
