"""``repo-navigator team``: what the operator of a team's servers asks, and whom they let in."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio

from mcp_server.logs import log_to_stderr
from mcp_server.settings import STORED_TOKENS, Settings, require_group, require_principal
from navigator.errors import InvalidRequestError, StorageError
from navigator.stores.people import People
from navigator.stores.store_address import require_packages
from repo_map.messages import counted
from repo_navigator.commands.repositories import catalogue_of
from repo_navigator.options import argument, flag, json_switch, nonempty, number, repeated, switch
from repo_navigator.terminal import print_text
from repo_navigator.use_navigator import use_navigator

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.stores.host_projects import HostProjects
    from navigator.stores.postgres.people import PeopleStore

_T = TypeVar("_T")
_DAY_S: Final = 86_400.0
_MOST_NAMED: Final = 5


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """How it is told."""

    json: bool = json_switch()


@dataclass(frozen=True, kw_only=True)
class StatusOptions(ReportOptions):
    """How the servers stand."""


@dataclass(frozen=True, kw_only=True)
class PeopleOptions(ReportOptions):
    """Who calls, and what each used."""


@dataclass(frozen=True, kw_only=True)
class RepositoriesOptions(ReportOptions):
    """What this machine has fetched."""


@dataclass(frozen=True, kw_only=True)
class SlowOptions(ReportOptions):
    """What took long."""

    hours: float = flag("--hours", "H", "of the last H hours (24)", read=number, default=24.0)
    audit: tuple[str, ...] = repeated(
        "--audit", "FILE", "an audit to read, of another server too (REPO_NAVIGATOR_AUDIT)", read=nonempty
    )


@dataclass(frozen=True, kw_only=True)
class _OfOne(ReportOptions):
    principal: str = argument("NAME", "a principal, as the audit names it", read=nonempty, nargs=None)


@dataclass(frozen=True, kw_only=True)
class TokenOptions(_OfOne):
    """Whom a new token admits."""

    groups: tuple[str, ...] = repeated("--group", "G", "a group that its bearer is in", read=nonempty)
    replace: bool = switch("--replace", "end the earlier stored tokens of NAME, with the groups they gave")


@dataclass(frozen=True, kw_only=True)
class RevokeOptions(_OfOne):
    """Who is turned away."""


@dataclass(frozen=True, kw_only=True)
class ReadmitOptions(_OfOne):
    """Who is turned away no more."""


@dataclass(frozen=True, kw_only=True)
class TeamForgetOptions(_OfOne):
    """Whose navigations are deleted."""

    older_than: float = flag(
        "--older-than", "DAYS", "those alone that nobody used for so long (all)", read=number, default=0.0
    )
    dry_run: bool = switch("--dry-run", "tell how many there are, and delete none")


OPTIONS = {
    "status": ("how database, bucket and clones stand, and how much is kept", StatusOptions),
    "people": ("who calls, what each used today, and who is turned away", PeopleOptions),
    "repositories": ("what was fetched here, how much disk it takes, and who reads it", RepositoriesOptions),
    "slow": ("what took long, by the audit", SlowOptions),
    "token": ("make a token, shown once, that admits a principal at all servers", TokenOptions),
    "revoke": ("turn a principal away at all servers, whoever gave it its token", RevokeOptions),
    "readmit": ("turn a principal away no more", ReadmitOptions),
    "forget": ("delete a principal's navigations with their maps, for good", TeamForgetOptions),
}


def run(options: ReportOptions, settings: Settings) -> int:
    """Tell or do what is asked."""
    log_to_stderr(settings.log_level, settings.log_format)
    require_packages(settings.store, settings.bucket)
    match options:
        case SlowOptions():
            told, text = _slow(options, settings)
        case TokenOptions():
            told, text = _make_token(options, settings)
        case RevokeOptions():
            told, text = _revoke(options, settings)
        case ReadmitOptions():
            was = _at_people(settings, lambda store: store.readmit(options.principal))
            told = {"principal": options.principal, "was_revoked": was}
            found = "is turned away no more" if was else "was not turned away by `team revoke`"
            text = f"`{options.principal}` {found}.\n"
        case TeamForgetOptions():
            told, text = _forget(options, settings)
        case _:
            told, text = _report(options, settings)
    print_text(json.dumps(told, ensure_ascii=False) + "\n" if options.json else text)
    return 0


def _report(options: ReportOptions, settings: Settings) -> tuple[dict[str, Any], str]:
    from repo_navigator.team_report import (  # noqa: PLC0415 - only for who asks
        list_fault,
        people_report,
        repositories_report,
        status_report,
    )

    people, at_hosts = anyio.run(_shared, settings)
    if isinstance(options, RepositoriesOptions):
        catalogue_of(settings)
        found, fault = repositories_report(settings, at_hosts), list_fault(settings)
        return {"repositories": found, "list_fault": fault}, _repositories_text(found, fault)

    async def look(navigator: Navigator) -> tuple[dict[str, Any], str]:
        everybody = await people_report(settings, navigator, people)
        if isinstance(options, PeopleOptions):
            fault = list_fault(settings)
            return {"people": everybody, "list_fault": fault}, _people_text(everybody) + _fault_text(fault)
        clones = repositories_report(settings, at_hosts)
        status = await status_report(settings, navigator, everybody, clones)
        if settings.store is not None:
            status["tables"] = str(await _layout(settings))
        return status, _status_text(status)

    return use_navigator(settings, look, takes_steps=False)


def _slow(options: SlowOptions, settings: Settings) -> tuple[dict[str, Any], str]:
    from repo_navigator.team_report import slow_report  # noqa: PLC0415 - only for who asks

    files = [Path(each).expanduser() for each in options.audit]
    if not files and isinstance(settings.audit, Path):
        files = [settings.audit]
    if not files:
        raise InvalidRequestError(
            "What is slow is told by the audit, and no file of it is named; set REPO_NAVIGATOR_AUDIT for the "
            "servers, or name one by --audit."
        )
    try:
        found = slow_report(files, options.hours)
    except OSError as error:
        raise StorageError(
            f"The audit `{error.filename}` can't be read ({error.strerror}); name another by --audit."
        ) from error
    return found, _slow_text(found)


def _make_token(options: TokenOptions, settings: Settings) -> tuple[dict[str, Any], str]:
    require_principal(options.principal)
    for each in options.groups:
        require_group(each)
    if not settings.http.takes_stored_tokens:
        raise InvalidRequestError(
            f"The servers take no tokens of the database; add `{STORED_TOKENS}` to "
            "REPO_NAVIGATOR_HTTP_TOKENS on each, restart them, and make the token then."
        )
    from mcp_server.tenancy.people import LOOK_S, digest_of  # noqa: PLC0415 - loads the protocol

    token, replaces = secrets.token_urlsafe(32), options.replace
    name, digest, groups = options.principal, digest_of(token), sorted(set(options.groups))
    people = _at_people(settings, lambda store: store.read())
    ended = _at_people(settings, lambda store: store.let_in(name, digest, groups, replaces=replaces))
    told = {"principal": name, "token": token, "groups": groups, "stored_tokens_ended": ended}
    text = f"{token}\nIt admits `{name}` at every server within {LOOK_S:.0f} s, and is shown only now.\n"
    if replaces:
        text += (
            f"{counted(ended, 'earlier stored token')} of `{name}` {'ends' if ended == 1 else 'end'} then; "
        )
        text += f"groups by the new one: {', '.join(groups) or 'none'}.\n"
    if options.principal in people.revoked:
        text += f"`{options.principal}` is turned away, however; `repo-navigator team readmit` ends that.\n"
    return told, text


def _revoke(options: RevokeOptions, settings: Settings) -> tuple[dict[str, Any], str]:
    from mcp_server.tenancy.people import LOOK_S  # noqa: PLC0415 - loads the protocol

    name = options.principal
    ended = _at_people(settings, lambda store: store.revoke(name))
    uses = use_navigator(settings, lambda navigator: navigator.store.uses(name), takes_steps=False)
    is_known = bool(ended or uses or name in settings.http.tokens.values())
    text = f"`{name}` is turned away by every server within {LOOK_S:.0f} seconds.\n"
    if ended:
        text += f"{counted(ended, 'stored token')} of it {'is' if ended == 1 else 'are'} gone for good.\n"
    if not is_known:
        text += "Nobody of that name has a token or a navigation: see that it is spelt as the audit has it.\n"
    return {"principal": name, "stored_tokens_ended": ended, "is_known": is_known}, text


def _forget(options: TeamForgetOptions, settings: Settings) -> tuple[dict[str, Any], str]:
    if not options.older_than >= 0:
        raise InvalidRequestError(f"--older-than is {options.older_than:g}; give it days, 0 or more.")

    async def forget(navigator: Navigator) -> int:
        before = time.time() - options.older_than * _DAY_S
        old = [
            use
            for use in await navigator.store.uses(options.principal)
            if max(use.changed_at, use.used_at or 0.0) < before
        ]
        if not options.dry_run:
            for each in old:
                await navigator.forget(each.navigation_id, user=options.principal)
            await navigator.store.delete_forgotten()
        return len(old)

    number_of = use_navigator(settings, forget)
    verb = "would be deleted" if options.dry_run else "are deleted" if number_of != 1 else "is deleted"
    told = {"principal": options.principal, "navigations": number_of, "deleted": not options.dry_run}
    return told, f"{counted(number_of, 'navigation')} of `{options.principal}` {verb}.\n"


def _at_people(settings: Settings, work: Callable[[PeopleStore], Awaitable[_T]]) -> _T:
    """Return what is made of the people in the shared database."""
    if settings.store is None:
        raise InvalidRequestError(
            "Tokens and revocations for all servers are kept in the database that they share; set "
            "REPO_NAVIGATOR_STORE as they have it. A server by itself reads `revoked: [NAME]` in its file of "
            "repositories."
        )
    address = settings.store
    from navigator.stores.postgres.database import PostgresDatabase  # noqa: PLC0415 - only where one is named
    from navigator.stores.postgres.people import PeopleStore  # noqa: PLC0415 - as above

    async def act() -> _T:
        store = PeopleStore(PostgresDatabase(address))
        try:
            return await work(store)
        finally:
            await store.close()

    return anyio.run(act)


async def _shared(settings: Settings) -> tuple[People, HostProjects | None]:
    """Return what servers share of people and of git hosts."""
    if settings.store is None:
        return People({}, {}), None
    from navigator.stores.postgres.database import PostgresDatabase  # noqa: PLC0415 - only where one is named
    from navigator.stores.postgres.host_projects import SharedHostProjects  # noqa: PLC0415 - as above
    from navigator.stores.postgres.people import PeopleStore  # noqa: PLC0415 - as above

    database = PostgresDatabase(settings.store)
    try:
        return await PeopleStore(database).read(), await SharedHostProjects(database).since(0.0)
    finally:
        await database.close()


async def _layout(settings: Settings) -> object:
    from navigator.stores.postgres.database import PostgresDatabase  # noqa: PLC0415 - only where one is named

    assert settings.store is not None
    return await PostgresDatabase(settings.store).layout()


def _status_text(status: Mapping[str, Any]) -> str:
    clones, people, limits = status["repositories"], status["people"], status["limits_of_each"]
    named = "" if clones["named"] is None else f"{clones['named']:,} named, "
    where = "bucket" if "bucket" in status else "folder"
    lines = {
        "database": f"{status['database']}" + (f", {status['tables']}" if "tables" in status else ""),
        where: f"{status[where]}; both answered in {status['stores_answer_ms']} ms",
        "navigations": f"{status['navigations']['stored']:,} stored, {status['navigations']['open']:,} open",
        "people": f"{people['known']:,} known, {people['active_today']:,} called within a day, "
        f"{people['revoked']:,} turned away",
        "repositories": f"{named}{clones['fetched']:,} fetched here, {_size(clones['bytes'])}; "
        f"{clones['waiting']:,} wait for a fetch",
        "limits": _limits(limits) or "none",
    }
    text = "".join(f"{name:<13}{said}\n" for name, said in lines.items())
    for what, names in (
        ("never fetched", clones["never_fetched"]),
        ("not fetched for an hour", clones["stale"]),
    ):
        if names:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            text += f"! {what}: {', '.join(names[:_MOST_NAMED])}{more}\n"
    return text + _fault_text(clones["list_fault"])


def _fault_text(fault: str | None) -> str:
    return f"! {fault}\n" if fault else ""


def _limits(limits: Mapping[str, Any]) -> str:
    words: tuple[tuple[str, Callable[[Any], str]], ...] = (
        ("open_navigations", lambda most: counted(most, "open navigation")),
        ("tokens_a_day", lambda most: f"{counted(most, 'token')} a day"),
        ("cost_usd_a_day", "${:,.2f} a day".format),
        ("index_seconds_a_day", "{:,.0f} s of indexing a day".format),
    )
    return ", ".join(said(limits[name]) for name, said in words if limits[name] is not None)


def _people_text(people: Sequence[Mapping[str, Any]]) -> str:
    from repo_navigator.team_report import ago  # noqa: PLC0415 - as where it is asked

    # What is used is counted where a limit is set, and so for all or for nobody.
    is_counted = any(each["today"] is not None for each in people)
    counts = ["tokens today", "$ today", "indexing"] if is_counted else []
    heads, rows = ["", "last call", "navigations", "open", *counts, "groups"], []
    for each in people:
        used = each["today"]
        rows.append(
            [
                each["principal"] + (" (turned away)" if each["revoked"] else ""),
                ago(each["last_used"]),
                f"{each['navigations']:,}",
                f"{each['open']:,}",
                *(
                    ()
                    if used is None
                    else (f"{used['tokens']:,}", f"{used['cost_usd']:.2f}", f"{used['index_seconds']:.0f} s")
                ),
                ", ".join(each["groups"]),
            ]
        )
    return _table(heads, rows) if rows else "Nobody has a token or a navigation.\n"


def _repositories_text(found: Sequence[Mapping[str, Any]], fault: str | None) -> str:
    from repo_navigator.team_report import ago  # noqa: PLC0415 - as where it is asked

    heads = ["", "fetched", "disk", "head", "readers"]
    rows = []
    for each in found:
        at_host = each["readers_at_host"]
        told = f" ({at_host:,} by its host, {ago(each['host_told_at'])})" if at_host is not None else ""
        rows.append(
            [
                each["name"],
                ago(each["fetched_at"]) + (", waits" if each["is_waiting"] else ""),
                _size(each["bytes"]),
                each["head"] or "–",
                "–" if each["readers"] is None else (", ".join(each["readers"]) or "nobody") + told,
            ]
        )
    if not rows:
        return _fault_text(fault) or "The file names no repository.\n"
    return _table(heads, rows) + _fault_text(fault)


def _slow_text(found: Mapping[str, Any]) -> str:
    if not found["calls"]:
        return f"No call within {found['hours']:g} hours.\n"
    others = [f"{number:,} {name}" for name, number in found["outcomes"].items() if name != "ok"]
    text = f"{counted(found['calls'], 'call')} within {found['hours']:g} hours"
    text += f"; not ok: {', '.join(others)}\n\n" if others else ", all ok\n\n"
    for title, rows in (("tool", found["by_tool"]), ("repository", found["by_repository"])):
        heads = [title, "calls", "p50", "p95", "longest", *(["indexing"] if title == "repository" else [])]
        text += _table(
            heads,
            [
                [
                    name,
                    f"{each['calls']:,}",
                    *(_time(each[key]) for key in ("p50_ms", "p95_ms", "longest_ms")),
                    *([_time(each["index_ms"])] if "index_ms" in each else []),
                ]
                for name, each in list(rows.items())[:_MOST_ROWS]
            ],
        )
        text += "\n"
    rows = [
        [
            each["time"][:19].replace("T", " "),
            _time(each["ms"]),
            _time(each["index_ms"]),
            str(each["tool"]),
            each["repository"]
            if isinstance(each["repository"], str)
            else ", ".join(each["repository"] or ()),
            str(each["principal"]),
            str(each["outcome"]),
        ]
        for each in found["slowest"]
    ]
    return text + _table(["slowest, UTC", "took", "indexing", "tool", "repository", "who", "outcome"], rows)


_MOST_ROWS: Final = 15


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows in columns, numbers to the right."""
    columns = list(zip(heads, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    to_right = [all(cell[:1].isdigit() or cell == "–" for cell in column[1:]) for column in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_right, strict=True)
        ).rstrip()
        for row in [heads, *rows]
    ]
    return "\n".join([*lines, ""])


def _time(ms: int) -> str:
    return f"{ms} ms" if ms < 1_000 else f"{ms / 1000:.1f} s"


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1e3:.0f} kB"
