"""``python -m benchmarks.reference``: freeze the behaviour of an installed product, and compare two freezes.

    PYTHON -P benchmarks/reference.py freeze --out A --mirrors DIR --trees DIR --tasks DIR
    python -m benchmarks.reference compare A B

``freeze`` drives the product of the interpreter that runs it, of any version, so it imports the standard
library alone. What it asks is listed in ``reference_tasks.jsonl``. Each part is a file of rows in the output
folder. Freezes that are compared should share their work trees.

answers    first answers of ``navigate`` to tasks, at the default size and at 8,000 tokens
relations  callers, uses and overrides of every definition of 12 repositories, a row per file
check      commits of which one edit is left out: is it found, and what is reported of the whole commit
replay     saved flight plans replayed and drawn; those of another freeze with ``--plans``
session    an MCP session over stdio, with ids, times and folders replaced
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

PARTS: Final = ("answers", "relations", "check", "replay", "session")
LISTED: Final = Path(__file__).with_name("reference_tasks.jsonl")
SIZES: Final[dict[str, tuple[str, ...]]] = {"default": (), "8000": ("--tokens", "8000")}
SESSION_TASK: Final = "encode__httpx-9415af643f"
_NAVIGATE: Final = ("--json", "--wait", "--quiet")
_TIMEOUT_S: Final = 300.0
_MAX_ROUNDS: Final = 4
"""Of the same question, until two answers in a row are equal: git's history is read on between them."""
_SHOWN_DIFFERENCES: Final = 4
_SHOWN_CHARS: Final = 90

Row = dict[str, Any]
"""``id``; ``value``, which is compared; and ``about``, which explains it."""


class RunError(Exception):
    """A command of the product that gave no result in time; the message is what it printed instead."""


class Lab(NamedTuple):
    """The folders of one freeze."""

    out: Path
    mirrors: Path
    trees: Path
    tasks: Path
    """Of task files."""
    plans: Path
    """Of the flight plans that are replayed."""

    @property
    def environment(self) -> dict[str, str]:
        """Return an environment without settings of the user, with caches and data in the freeze."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("REPO_NAVIGATOR_")}
        state = self.out / "state"
        folders = {f"XDG_{name}_HOME": str(state / name.lower()) for name in ("CACHE", "DATA", "CONFIG")}
        return own | folders | {"COLUMNS": "100", "TZ": "UTC", "LC_ALL": "C.UTF-8"}

    def run(self, program: str, *arguments: str | Path, statuses: Sequence[int] = (0,)) -> str:
        """Run a console script of the interpreter's environment and return what it prints.

        Raises:
            RunError: it ended with a status that is not among ``statuses``, or not in time.
        """
        command = [str(Path(sys.executable).with_name(program)), *map(str, arguments)]
        try:
            done = _run(command, self.environment, self.out, _TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise RunError(f"{program} {arguments[0]}: no result within {_TIMEOUT_S:g} s") from None
        if done.returncode not in statuses:
            message = done.stderr.decode("utf-8", "replace").strip()[-400:]
            raise RunError(f"{program} {arguments[0]}: status {done.returncode}: {message}")
        return done.stdout.decode("utf-8", "replace")

    def read_tasks(self, ids: Iterable[str]) -> Iterator[Row]:
        """Yield the tasks with these ids, in this order."""
        lines = (line for file in self.tasks.glob("*.jsonl") for line in file.read_text("utf-8").splitlines())
        known = {task["id"]: task for task in map(json.loads, lines)}
        yield from (known[each] for each in ids)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands and their arguments."""
    commands = parser.add_subparsers(dest="action", required=True)
    add = commands.add_parser(
        "freeze", help="record the behaviour of this interpreter's product"
    ).add_argument
    add("--out", type=Path, required=True, help="folder of the freeze")
    add("--mirrors", type=Path, required=True, help="folder of git mirrors, owner+name each")
    add("--trees", type=Path, required=True, help="folder for work trees")
    add("--tasks", type=Path, required=True, help="folder of task files (JSON lines)")
    add("--plans", type=Path, help="the freeze whose flight plans are replayed (default: --out)")
    add("--only", default=",".join(PARTS), metavar="PART,…", help="parts to record")
    add("--limit", type=int, help="of each part but the session, so many tasks, repositories or commits")
    add = commands.add_parser("compare", help="compare two freezes; exit code 1 if they differ").add_argument
    add("one", type=Path, metavar="A")
    add("other", type=Path, metavar="B")
    add("--only", default=",".join(PARTS), metavar="PART,…", help="parts to compare")
    add("--except", dest="ignored", default="", metavar="FIELD,…", help="fields to ignore")
    add = commands.add_parser("relations-of", help="print the relations of a work tree").add_argument
    add("tree", type=Path)


def run(options: argparse.Namespace) -> int:
    """Run a command; return 1 where two freezes differ."""
    if options.action == "relations-of":
        for row in relations_of_tree(options.tree):
            print(_canonical(row))
        return 0
    if options.action == "compare":
        parts, ignored = options.only.split(","), frozenset(options.ignored.split(","))
        return compare(options.one, options.other, parts, ignored)
    lab = Lab(
        out=options.out.resolve(),
        mirrors=options.mirrors.resolve(),
        trees=options.trees.resolve(),
        tasks=options.tasks.resolve(),
        plans=(options.plans or options.out).resolve() / "plans",
    )
    freeze(lab, options.only.split(","), options.limit)
    return 0


def _run(
    command: Sequence[str], environment: dict[str, str], folder: Path, timeout_s: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, timeout=timeout_s, check=False
    )


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


# Freeze


def freeze(lab: Lab, parts: Sequence[str], limit: int | None = None, listed: Path = LISTED) -> None:
    """Write the rows of parts, one file each, which replace those of an earlier run."""
    recorders: dict[str, tuple[str, Callable[[Lab, Iterator[Row]], Iterator[Row]]]] = {
        "answers": ("answers", _answers),
        "relations": ("relations", _relations),
        "check": ("check", _checks),
        "replay": ("answers", _replays),
        "session": ("session", _session),
    }
    lab.out.mkdir(parents=True, exist_ok=True)
    entries = [json.loads(line) for line in listed.read_text("utf-8").splitlines()]
    for part in parts:
        started, count = time.monotonic(), 0
        source, record = recorders[part]
        own = (each for each in entries if each["part"] == source)
        file = lab.out / f"{part}.jsonl"
        with file.with_suffix(".part").open("w", encoding="utf-8") as rows:
            for row in record(lab, islice(own, None if part == "session" else limit)):
                rows.write(_canonical(row) + "\n")
                rows.flush()
                count += 1
        file.with_suffix(".part").replace(file)
        products = lab.out / "products.json"
        known = json.loads(products.read_text()) if products.exists() else {}
        products.write_text(json.dumps(known | {part: _product()}))
        print(f"{part}: {count} rows, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def _product() -> Row:
    """Return which version of the product the interpreter runs."""
    spec = find_spec("repo_map")
    folder = Path(spec.origin or "").parent if spec else Path()
    described = _git(folder, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*", must_work=False)
    return {"commit": described.decode().strip(), "folder": str(folder), "python": sys.version.split()[0]}


def _recorded(identity: str, record: Callable[..., Row], *arguments: Any) -> Row:
    """Return a row of what ``record`` returns; a command that fails is a result, too."""
    try:
        value = record(*arguments)
    except RunError as error:
        value = {"error": str(error)}
    return {"id": identity, "about": value.pop("about", None), "value": value}


def _answers(lab: Lab, entries: Iterator[Row]) -> Iterator[Row]:
    plans, goal = lab.out / "plans", lab.out / "goal.txt"
    plans.mkdir(exist_ok=True)
    for at, task in enumerate(lab.read_tasks(each["id"] for each in entries)):
        tree = check_out(lab, task["repo"], task["base_commit"])
        goal.write_text(task["goal"], "utf-8")
        for size, arguments in SIZES.items():
            asked = ["navigate", tree, "--goal-file", goal, *_NAVIGATE, *arguments]
            if size == "default" and at % 2 == 0:
                asked += ["--save-plan", plans / f"{task['id']}.yaml"]
            row = _recorded(f"{task['id']} {size}", _settled, lab, tree, asked)
            yield {**row, "about": {"task": task}}


def _settled(lab: Lab, tree: Path, arguments: Sequence[str | Path]) -> Row:
    """Return the first answer that comes twice in a row."""
    before: Row = {}
    for _ in range(_MAX_ROUNDS):
        answer: Row = _plain(json.loads(lab.run("repo-navigator", *arguments)), tree)
        if answer == before:
            return answer
        before = answer
    raise RunError(f"{_MAX_ROUNDS} answers in a row differ")


def _relations(lab: Lab, entries: Iterator[Row]) -> Iterator[Row]:
    for entry in entries:
        tree = check_out(lab, entry["repo"], entry["commit"])
        command = [sys.executable, "-P", __file__, "relations-of", str(tree)]
        done = _run(command, lab.environment, lab.out, 3 * _TIMEOUT_S)
        if done.returncode:
            raise SystemExit(f"{entry['repo']}: {done.stderr.decode('utf-8', 'replace')[-800:]}")
        for row in map(json.loads, done.stdout.decode("utf-8").split("\n")[:-1]):
            yield {**row, "id": f"{entry['repo']} {row['id']}"}


def relations_of_tree(tree: Path) -> Iterator[Row]:
    """Yield the relations of the definitions of each file, as the product at hand resolves them.

    This alone reaches into the product: adapt it when that is renamed, so that the rows stay as they are. A
    definition is ``path:line name``, by the first line of its signature; what is outside of all is a path.
    """
    try:
        from repo_map.index.build import build_index  # noqa: PLC0415 - the rest runs with any version
    except ImportError:  # The version that froze the reference.
        build_index = import_module("repo_map.index").build_index
    from repo_map.relations.model import Confidence, Place  # noqa: PLC0415 - as above
    from repo_map.relations.resolve import relations_of  # noqa: PLC0415 - as above

    index = build_index(tree)
    relations = relations_of(index)

    def named(place: Place) -> str:
        file, row = place
        path = index.paths[file]
        if row < 0:
            return path
        return f"{path}:{index.definitions(file)[row].sig_start} {index.qualified_name(file, row)}"

    for file, path in enumerate(index.paths):
        value: Row = {"definitions": len(index.definitions(file))}
        for row in range(len(index.definitions(file))):
            place = (file, row)
            found = {
                "callers": relations.callers_of(place, Confidence.LIKELY),
                "uses": relations.uses_of(place, Confidence.LIKELY),
                "overrides": relations.overrides_of(place),
                "overridden": relations.overridden_by(place),
            }
            for name, every in found.items():
                for each in every:
                    site = [str(each.kind), each.line, int(each.confidence)]
                    owners = value.setdefault(name, {}).setdefault(named(place), [])
                    owners.append([named(each.source), named(each.target), *site])
        yield {"id": path, "value": value}


def _checks(lab: Lab, entries: Iterator[Row]) -> Iterator[Row]:
    for entry in entries:
        yield _recorded(f"{entry['repo']} {entry['commit'][:12]}", _check, lab, entry)


def _check(lab: Lab, entry: Row) -> Row:
    """Check a commit as it was made, then with one edit left out; both are uncommitted changes."""
    mirror, commit, parent = find_mirror(lab.mirrors, entry["repo"]), entry["commit"], entry["parent"]
    tree = check_out(lab, entry["repo"], parent, "check")
    _git(tree, "read-tree", commit)
    _git(tree, "checkout-index", "-a", "-f", "-q", must_work=False)
    gone = _git(mirror, "diff", "--no-renames", "--diff-filter=D", "--name-only", "-z", parent, commit)
    for path in filter(None, gone.decode("utf-8", "replace").split("\0")):
        (tree / path).unlink(missing_ok=True)
    _git(tree, "read-tree", parent)
    whole = json.loads(lab.run("repo-navigator", "check", tree, "--json", statuses=(0, 1)))
    before = _git(mirror, "cat-file", "blob", f"{parent}:{entry['old']}").split(b"\n")
    lines = _git(mirror, "cat-file", "blob", f"{commit}:{entry['path']}").split(b"\n")
    first, start = entry["first"], entry["start"]
    lines[start : start + entry["added"]] = before[first : first + entry["removed"]]
    (tree / entry["path"]).write_bytes(b"\n".join(lines))
    left_out = json.loads(lab.run("repo-navigator", "check", tree, "--json", statuses=(0, 1)))
    known = {(each["path"], each["line"], each["message"]) for each in whole["findings"]}
    place = range(start + 1, start + 1 + entry["removed"])
    return {
        "found": any(
            each["path"] == entry["path"]
            and each["line"] in place
            and (each["path"], each["line"], each["message"]) not in known
            for each in left_out["findings"]
        ),
        "alarms": sorted(f"{each['path']}:{each['line']}" for each in whole["findings"]),
        "findings": sorted(f"{each['path']}:{each['line']} {each['kind']}" for each in left_out["findings"]),
        "complete": [whole["complete"], left_out["complete"]],
        "tests": [each["path"] for each in left_out["tests"]],
        "command": left_out["command"],
        "about": {"whole": whole, "left out": left_out},
    }


def _replays(lab: Lab, entries: Iterator[Row]) -> Iterator[Row]:
    for task in lab.read_tasks(each["id"] for each in entries):
        if (plan := lab.plans / f"{task['id']}.yaml").exists():
            tree = check_out(lab, task["repo"], task["base_commit"])
            yield _recorded(task["id"], _replay, lab, tree, plan)


def _replay(lab: Lab, tree: Path, plan: Path) -> Row:
    """Draw a plan by each command that does, and the map that a budget alone gives."""
    return {
        "replay": _plain(json.loads(lab.run("repo-navigator", "replay", plan, tree, "--json")), tree),
        "text": lab.run("repo-navigator", "replay", plan, tree, "--quiet"),
        "map": lab.run("repo-map", "generate", tree, "--plan", plan, "--quiet"),
        "map of a budget": lab.run("repo-map", "generate", tree, "--tokens", "4000", "--quiet"),
    }


# A session over MCP

_NAVIGATION: Final = re.compile(r"nav-[0-9a-f]{24}")
_DURATION: Final = re.compile(r"\b\d[\d,]*(?:\.\d+)? (?:ms|s)\b")
_TIMESTAMP: Final = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|[+-]\d\d:?\d\d)?")


def _plain(value: Any, tree: Path) -> Any:
    """Return a JSON value without ids, times and the place of the work tree."""
    if isinstance(value, dict):
        return {key: _plain(each, tree) for key, each in value.items() if key != "seconds"}
    if isinstance(value, list):
        return [_plain(each, tree) for each in value]
    if not isinstance(value, str):
        return value
    text = _NAVIGATION.sub("NAVIGATION", value.replace(str(tree), "TREE"))
    return _TIMESTAMP.sub("TIME", _DURATION.sub("N s", text))


def _session(lab: Lab, entries: Iterator[Row]) -> Iterator[Row]:
    import anyio  # noqa: PLC0415 - a dependency of the product at hand

    (task,) = lab.read_tasks([SESSION_TASK])
    tree = check_out(lab, task["repo"], task["base_commit"])
    # The server then finds the whole tree and its history in the cache.
    _settled(lab, tree, ("navigate", tree, task["goal"], *_NAVIGATE))
    rows: list[Row] = []
    anyio.run(_converse, lab, tree, task["goal"], list(entries), rows)
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row["id"]] += 1
        yield {"id": f"{row['id']} #{seen[row['id']]}", "value": _plain(row["value"], tree)}


async def _converse(lab: Lab, tree: Path, goal: str, calls: Sequence[Row], rows: list[Row]) -> None:
    import anyio  # noqa: PLC0415 - a dependency of the product at hand
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - as above

    async def note(label: str, request: Callable[..., Any], *arguments: Any) -> Any:
        """Add a row of an answer or of an error; return the answer."""
        try:
            answer = await request(*arguments)
        except Exception as error:
            rows.append({"id": label, "value": {"error": type(error).__name__, "message": str(error)}})
            return None
        rows.append({"id": label, "value": answer.model_dump(mode="json", by_alias=True, exclude_none=True)})
        return answer

    command = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "mcp_server"], env=lab.environment, cwd=str(tree)
    )
    with anyio.fail_after(2 * _TIMEOUT_S):
        async with Client(command) as client:
            rows.append({"id": "instructions", "value": {"text": client.instructions}})
            await note("tools", client.list_tools)
            await note("resource templates", client.list_resource_templates)
            prompts = await note("prompts", client.list_prompts)
            for prompt in prompts.prompts if prompts else ():
                given = {each.name: goal for each in prompt.arguments or () if each.required}
                await note(f"prompt {prompt.name}", client.get_prompt, prompt.name, given)
            navigation = ""
            for at, call in enumerate(calls):
                tool, given = call["tool"], call["arguments"]
                usual = {"goal": goal, "repo_path": str(tree)} if tool == "navigate" else {}
                if given.get("action") == "forget":
                    usual["navigation_id"] = navigation
                answer = await note(f"{tool} {json.dumps(given)}", client.call_tool, tool, usual | given)
                if at == 0:
                    navigation = answer.structured_content["navigation_id"]
                    listed = await note("resources", client.list_resources)
                    for number, resource in enumerate(listed.resources if listed else ()):
                        await note(f"resource {number}", client.read_resource, str(resource.uri))
            await note("no resource", client.read_resource, "navigator://nothing")


# Work trees


def check_out(lab: Lab, repo: str, commit: str, folder: str = "plain") -> Path:
    """Return a work tree of a commit, made once: a repository of its own whose history ends there."""
    tree = work_tree(lab.trees, repo, commit, folder)
    done = tree.with_name(f"{tree.name}.done")
    if not done.exists():
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
        _git(tree, "init", "-q", "-b", "main", ".")
        objects = find_mirror(lab.mirrors, repo) / "objects"
        for file in objects.rglob("*"):
            if file.is_file() and file.parent.name != "info":
                target = tree / ".git" / "objects" / file.relative_to(objects)
                target.parent.mkdir(exist_ok=True)
                try:
                    target.hardlink_to(file)
                except OSError:
                    shutil.copyfile(file, target)
        _git(tree, "update-ref", "HEAD", commit)
        _git(tree, "read-tree", commit)
        # A mirror may lack large files; the rest of the tree is written all the same.
        _git(tree, "checkout-index", "-a", "-f", "-q", must_work=False)
        done.touch()
    return tree


def work_tree(trees: Path, repo: str, commit: str, folder: str = "plain") -> Path:
    """Return where the work tree of a commit is, or would be."""
    return trees / folder / repo.replace("/", "__") / commit[:12]


def find_mirror(mirrors: Path, repo: str) -> Path:
    """Return the git folder of a repository's mirror, ``owner+name`` in any case."""
    wanted = repo.replace("/", "+").lower()
    for folder in sorted(mirrors.iterdir()):
        for inner in (folder / "repo" / ".git", folder / "repo", folder / ".git", folder):
            if folder.name.lower() == wanted and (inner / "objects").is_dir():
                return inner.resolve()
    raise SystemExit(f"There is no mirror of {repo} in `{mirrors}`; clone it there as `{wanted}`.")


_PLAIN_GIT: Final = ("core.autocrlf=false", "filter.lfs.smudge=", "filter.lfs.process=")


def _git(root: Path, *arguments: str, must_work: bool = True) -> bytes:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = own | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    settings = [part for each in _PLAIN_GIT for part in ("-c", each)]
    done = _run(["git", *settings, *arguments], environment, root)
    if done.returncode and must_work:
        raise SystemExit(f"git {' '.join(arguments)} in `{root}`: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


# Compare


def compare(one: Path, other: Path, parts: Sequence[str], ignored: frozenset[str]) -> int:
    """Print what differs between two freezes; return 1 if anything does."""
    differs = False
    for name, folder in (("A", one), ("B", other)):
        if not any(folder.glob("*.jsonl")):
            raise SystemExit(f"`{folder}` has no recorded part; name the --out folder of a freeze.")
        products = json.loads((folder / "products.json").read_text()).values()
        print(f"{name}: {', '.join(sorted({each['commit'] for each in products}))}  {folder}")
    print("part       equal differ only-A only-B  fields that differ")
    for part in parts:
        before, after = (_read(folder / f"{part}.jsonl") for folder in (one, other))
        if not before and not after:
            print(f"{part:10} not recorded")
            continue
        pairs = [(row, after[identity]) for identity, row in before.items() if identity in after]
        found = [list(differences(row["value"], new["value"], ignored)) for row, new in pairs]
        wrong = [(row["id"], paths) for (row, _), paths in zip(pairs, found, strict=True) if paths]
        alone = len(before) - len(pairs), len(after) - len(pairs)
        fields = Counter(field for _, paths in wrong for field in {path[0] for path, *_ in paths})
        listed = ", ".join(f"{field} {count}" for field, count in fields.most_common())
        counts = f"{len(pairs) - len(wrong):5} {len(wrong):6} {alone[0]:6} {alone[1]:6}"
        print(f"{part:10} {counts}  {listed}".rstrip())
        for identity, paths in wrong[:_SHOWN_DIFFERENCES]:
            path, old, new = paths[0]
            print(f"    {identity}: {'.'.join(path)}: {_clipped(old)} -> {_clipped(new)}")
        failed = [sum("error" in row["value"] for row in rows.values()) for rows in (before, after)]
        if part != "session" and any(failed):
            print(f"    failed commands: {failed[0]} -> {failed[1]}")
        if part == "check":
            for line in _figures(pairs):
                print(f"    {line}")
        differs = differs or bool(wrong) or any(alone)
    return int(differs)


def _read(file: Path) -> dict[str, Row]:
    lines = file.read_text("utf-8").split("\n")[:-1] if file.exists() else []
    return {row["id"]: row for row in map(json.loads, lines)}


def differences(
    one: Any, other: Any, ignored: frozenset[str] = frozenset(), path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Yield where two JSON values differ, with what each has there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted((one.keys() | other.keys()) - ignored):
            yield from differences(one.get(key), other.get(key), ignored, (*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (each, its_like) in enumerate(zip(one, other, strict=True)):
            yield from differences(each, its_like, ignored, (*path, str(at)))
    elif one != other:
        yield path or ("value",), one, other


def _clipped(value: Any) -> str:
    text = _canonical(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


_COUNTS: Final[dict[str, Callable[[Row], int]]] = {
    "left-out edits found": lambda value: value["found"],
    "findings about whole commits": lambda value: len(value["alarms"]),
    "complete checks, of two each": lambda value: sum(value["complete"]),
}


def _figures(pairs: Sequence[tuple[Row, Row]]) -> Iterator[str]:
    """Yield what the rows of the checks come to."""
    good = [pair for pair in pairs if not any("error" in row["value"] for row in pair)]
    for name, count in _COUNTS.items():
        one, other = (sum(count(pair[at]["value"]) for pair in good) for at in (0, 1))
        yield f"{name}, {len(good)} commits: {one} -> {other}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the interpreter may have another version of the product than this module."""
    parser = argparse.ArgumentParser(prog="reference", description=(__doc__ or "").partition("\n")[0])
    add_arguments(parser)
    return run(parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
