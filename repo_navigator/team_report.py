"""What an operator asks of a team's servers: how they stand, who calls, what is fetched, what is slow."""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any, Final

from mcp_server.settings import Settings
from navigator.stores.usage import NOTHING_USED
from navigator.workspaces.catalogue import HOST, Catalogue, CatalogueContentError, CatalogueError
from navigator.workspaces.clones import clones_of, kept, wanted_of

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.stores.host_projects import HostProjects
    from navigator.stores.people import People

_STALE_S: Final = 3_600.0
"""A clone that nobody fetched for so long is told of."""
_SLOWEST: Final = 10
_ACTIVE_S: Final = 86_400.0


async def people_report(settings: Settings, navigator: Navigator, people: People) -> list[dict[str, Any]]:
    """Return everybody who is let in, turned away or has navigations, whoever called last first."""
    by_settings = Counter(settings.http.tokens.values())
    stored, groups = Counter[str](), defaultdict[str, set[str]](set)
    for name, listed in settings.http.groups.items():
        groups[name].update(listed)
    for each in people.tokens.values():
        stored[each.principal] += 1
        groups[each.principal].update(each.groups)
    number, still_open, last = Counter[str](), Counter[str](), dict[str, float]()
    for use in await navigator.store.uses():
        number[use.user] += 1
        still_open[use.user] += use.is_open
        last[use.user] = max(last.get(use.user, 0.0), use.used_at or 0.0, use.changed_at)
    revoked = {**dict.fromkeys(_revoked_by_file(settings), 0.0), **people.revoked}
    counts = settings.principal_limits.by_day
    found = []
    for name in sorted(
        {*by_settings, *stored, *number, *revoked}, key=lambda name: (-last.get(name, 0.0), name)
    ):
        used = (await navigator.store.usage.today(name)).usage if counts else NOTHING_USED
        found.append(
            {
                "principal": name,
                "tokens_of_settings": by_settings[name],
                "tokens_stored": stored[name],
                "groups": sorted(groups[name]),
                "revoked": name in revoked,
                "revoked_at": _moment(revoked.get(name)),
                "navigations": number[name],
                "open": still_open[name],
                "last_used": _moment(last.get(name)),
                "today": {
                    "tokens": used.tokens,
                    "cost_usd": float(used.cost),
                    "index_seconds": round(used.index_seconds, 1),
                }
                if counts
                else None,
            }
        )
    return found


def repositories_report(settings: Settings, at_hosts: HostProjects | None) -> list[dict[str, Any]]:
    """Return the repositories of the file with what this machine has of each, in the file's order.

    Where the file can't be read, these are the clones of this machine, whose readers are not known.
    """
    if settings.repositories is None or settings.data_dir is None:
        return []
    catalogue = Catalogue(settings.repositories, settings.data_dir)
    wanted, found = wanted_of(catalogue), list[dict[str, Any]]()
    try:
        named = list(kept(catalogue))
    except CatalogueError:
        return [
            {
                "name": name,
                "address": None,
                "head": head or None,
                "fetched_at": _moment(fetched_at.timestamp() if fetched_at and head else None),
                "is_waiting": name in wanted,
                "bytes": _bytes_below(catalogue.clones / name),
                "readers": None,
                "readers_at_host": None,
                "host_told_at": None,
            }
            for name, head, fetched_at in clones_of(catalogue)
        ]
    for each in named:
        told = None
        if at_hosts is not None and each.entry.project is not None and HOST in each.entry.readers:
            told = at_hosts.projects.get(str(each.entry.project))
        found.append(
            {
                "name": each.name,
                "address": each.entry.address,
                "head": each.head or None,
                "fetched_at": _moment(each.fetched_at.timestamp() if each.fetched_at and each.head else None),
                "is_waiting": each.name in wanted,
                "bytes": _bytes_below(catalogue.clones / each.name),
                "readers": list(each.entry.readers),
                "readers_at_host": None if told is None or not told.told_at else len(told.readers),
                "host_told_at": _moment(None if told is None else told.told_at),
            }
        )
    return found


def list_fault(settings: Settings) -> str | None:
    """Return why the list of repositories can't be read and what servers do then; None where it can."""
    if settings.repositories is None or settings.data_dir is None:
        return None
    try:
        Catalogue(settings.repositories, settings.data_dir).entries()
    except CatalogueContentError as error:
        return f"{error} Servers that run go on with their earlier list."
    except CatalogueError as error:
        return f"{error} Servers serve no repository by name."
    return None


async def status_report(
    settings: Settings,
    navigator: Navigator,
    people: Sequence[Mapping[str, Any]],
    repositories: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return what an operator looks at first."""
    now, began = time.time(), time.perf_counter()
    await navigator.store.reach()
    reached_ms = round((time.perf_counter() - began) * 1000)
    limits = settings.principal_limits
    fault = list_fault(settings)
    return {
        "database": str(settings.store) if settings.store else f"{settings.data_dir}/sessions.db",
        **(
            {"bucket": str(settings.bucket)}
            if settings.bucket
            else {"folder": f"{settings.data_dir}/artifacts"}
        ),
        "stores_answer_ms": reached_ms,
        "navigations": {
            "stored": sum(each["navigations"] for each in people),
            "open": sum(each["open"] for each in people),
        },
        "people": {
            "known": len(people),
            "active_today": sum(_age(each["last_used"], now) < _ACTIVE_S for each in people),
            "revoked": sum(each["revoked"] for each in people),
        },
        "repositories": {
            "named": None if fault else len(repositories),
            "fetched": sum(each["head"] is not None for each in repositories),
            "never_fetched": [each["name"] for each in repositories if not each["head"]],
            "stale": [
                each["name"]
                for each in repositories
                if each["head"] and _age(each["fetched_at"], now) > _STALE_S
            ],
            "waiting": sum(each["is_waiting"] for each in repositories),
            "bytes": sum(each["bytes"] for each in repositories),
            "list_fault": fault,
        },
        "limits_of_each": {
            "open_navigations": limits.open_navigations,
            "tokens_a_day": limits.tokens_a_day,
            "cost_usd_a_day": limits.cost_usd_a_day,
            "index_seconds_a_day": limits.index_seconds_a_day,
        },
    }


def slow_report(files: Sequence[Path], hours: float) -> dict[str, Any]:
    """Return what took long by the lines of audits: by tool, by repository, and the slowest calls.

    Raises:
        OSError: a file can't be read.
    """
    since = (datetime.now(UTC) - timedelta(hours=hours)).isoformat(timespec="milliseconds")
    by_tool, by_repository = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    indexing, outcomes = Counter[str](), Counter[str]()
    slowest = list[dict[str, Any]]()
    for line in _lines(files, since):
        ms, tool = int(line["ms"]), str(line["tool"])
        by_tool[tool].append(ms)
        place = line["repository"]
        name = ", ".join(place) if isinstance(place, list) else str(place or "none")
        by_repository[name].append(ms)
        indexing[name] += int(line["index_ms"])
        outcomes[str(line["outcome"])] += 1
        if len(slowest) < _SLOWEST or ms > slowest[-1]["ms"]:
            told = ("time", "server", "principal", "tool", "repository", "outcome", "index_ms", "ms")
            slowest.append({key: line[key] for key in told})
            slowest.sort(key=lambda each: -each["ms"])
            del slowest[_SLOWEST:]
    return {
        "hours": hours,
        "calls": sum(map(len, by_tool.values())),
        "outcomes": dict(sorted(outcomes.items())),
        "by_tool": {name: _spread(by_tool[name]) for name in sorted(by_tool)},
        "by_repository": {
            name: {**_spread(by_repository[name]), "index_ms": indexing[name]}
            for name in sorted(by_repository, key=lambda name: (-sum(by_repository[name]), name))
        },
        "slowest": slowest,
    }


def ago(moment: str | None) -> str:
    """Return how long ago a moment was, in words."""
    if moment is None:
        return "never"
    seconds = max(0.0, time.time() - datetime.fromisoformat(moment).timestamp())
    for most, unit, size in ((90, "s", 1), (5_400, "min", 60), (129_600, "h", 3_600)):
        if seconds < most:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds / 86_400:.0f} days ago"


def _lines(files: Sequence[Path], since: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of calls that were made since; what is no line of an audit is passed over."""
    for file in files:
        with file.open("rb") as opened:
            for text in opened:
                with suppress(ValueError, KeyError, TypeError):
                    line = json.loads(text)
                    if line["tool"] and line["time"] >= since and line["outcome"] != "after_answer":
                        int(line["ms"]), int(line["index_ms"])
                        yield line


def _spread(ms: Sequence[int]) -> dict[str, int]:
    cuts = quantiles(ms, n=20, method="inclusive") if len(ms) > 1 else [float(ms[0])] * 19
    return {"calls": len(ms), "p50_ms": round(cuts[9]), "p95_ms": round(cuts[18]), "longest_ms": max(ms)}


def _revoked_by_file(settings: Settings) -> frozenset[str]:
    if settings.repositories is None or settings.data_dir is None:
        return frozenset()
    try:
        return Catalogue(settings.repositories, settings.data_dir).current().revoked
    except CatalogueError:
        return frozenset()


def _moment(seconds: float | None) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else None


def _age(moment: str | None, now: float) -> float:
    return float("inf") if moment is None else now - datetime.fromisoformat(moment).timestamp()


def _bytes_below(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(place) / name).lstat().st_size
    return total
