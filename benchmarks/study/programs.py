"""Agents that are programs of their own: Claude Code and Codex, where they are installed.

They run with the user's rights and the user's login, in a copy of the repository: no cell contains them.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

from benchmarks.study.hooks import Hooks, places
from benchmarks.study.records import Arm, Trace, Work
from navigator.records.pricing import TokenUsage
from repo_navigator.host_files.entries import hook_elements
from repo_navigator.host_files.hosts import HOOK_HOSTS

_CLAUDE: Final = "claude-code"
PROGRAMS: Final = {_CLAUDE: "claude", "codex": "codex"}
ARMS: Final = {_CLAUDE: tuple(Arm), "codex": (Arm.NONE, Arm.TOOL)}
"""Codex starts hooks only when its user has trusted them by hand."""
_SERVER = "repo-navigator"


def is_installed(agent: str) -> bool:
    """Tell whether an agent's program is on the ``PATH``."""
    return shutil.which(PROGRAMS[agent]) is not None


async def run_program(work: Work) -> None:
    """Run a host's program on a goal in the room's work folder."""
    if work.arm.has_hooks:
        await Hooks(work.room).prepare()
    command = (_claude if work.host == _CLAUDE else _codex)(work)
    # A file, so that what a program told is there also where it is stopped.
    told = work.room.folder / "told.jsonl"
    with told.open("wb") as output, told.with_suffix(".errors").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=work.room.work,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=os.environ | places(work.room),
        )
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
            work.trace = trace_of(work.host, list(_events(told.read_bytes())))
    if process.returncode:
        said = told.with_suffix(".errors").read_text("utf-8", "replace")[-300:].strip()
        work.trace = work.trace._replace(failure=said or f"it ended with {process.returncode}")


def trace_of(agent: str, events: list[dict[str, Any]]) -> Trace:
    """Read tokens, turns, cost and calls of the navigator from the events that a program printed."""
    return (_read_claude if agent == _CLAUDE else _read_codex)(events)


def _claude(work: Work) -> Sequence[str]:
    entry = {
        "type": "stdio",
        "command": sys.executable,
        "args": ["-P", "-m", "mcp_server"],
        **HOOK_HOSTS[_CLAUDE].settings,
    }
    servers = {_SERVER: entry} if work.arm.has_tool else {}
    file = work.room.folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    started = hook_elements(HOOK_HOSTS[_CLAUDE], "user") if work.arm.has_hooks else {}
    hooks = {event: [element] for event, element in started.items()}
    settings = work.room.folder / "settings.json"
    settings.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    return (
        *("claude", "-p", work.goal, "--output-format", "stream-json", "--verbose", "--model", work.model),
        *("--mcp-config", str(file), "--strict-mcp-config", "--dangerously-skip-permissions"),
        *("--settings", str(settings)),
        *("--max-turns", str(work.limits.calls), "--max-budget-usd", f"{work.limits.usd:.2f}"),
    )


def _codex(work: Work) -> Sequence[str]:
    server = f"mcp_servers.{_SERVER}"
    added = (
        ()
        if not work.arm.has_tool
        else (
            *("-c", f"{server}.command={json.dumps(sys.executable)}"),
            *("-c", f'{server}.args=["-P", "-m", "mcp_server"]'),
        )
    )
    unasked = "--dangerously-bypass-approvals-and-sandbox"
    return (
        "codex",
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--model",
        work.model,
        unasked,
        *added,
        work.goal,
    )


def _events(told: bytes) -> Iterator[dict[str, Any]]:
    for line in told.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _read_claude(events: list[dict[str, Any]]) -> Trace:
    ended: dict[str, Any] = next((event for event in events if event.get("type") == "result"), {})
    said = [event["message"] for event in events if event.get("type") == "assistant"]
    blocks = [block for message in said for block in message.get("content", [])]
    ours = sum(
        block.get("type") == "tool_use" and block.get("name", "").startswith(f"mcp__{_SERVER}__")
        for block in blocks
    )
    # A message comes once for each of its blocks, with the same usage; without a result, theirs is the sum.
    each = {message.get("id"): message.get("usage") or {} for message in said}
    usages = [ended["usage"]] if ended.get("usage") else list(each.values())
    usage = TokenUsage(calls=ended.get("num_turns", len(each)))
    for used in usages:
        cached = used.get("cache_read_input_tokens", 0)
        sent = used.get("input_tokens", 0) + used.get("cache_creation_input_tokens", 0) + cached
        usage = usage.plus(TokenUsage(sent, cached, used.get("output_tokens", 0)))
    wrong = str(ended.get("subtype", "no result")) if ended.get("is_error", True) else ""
    return Trace(events, usage, ours, usd=ended.get("total_cost_usd"), failure=wrong)


def _read_codex(events: list[dict[str, Any]]) -> Trace:
    usage = TokenUsage()
    for event in events:
        if event.get("type") == "turn.completed":
            used = event.get("usage") or {}
            usage = usage.plus(
                TokenUsage(
                    used.get("input_tokens", 0),
                    used.get("cached_input_tokens", 0),
                    used.get("output_tokens", 0),
                    0,
                    1,
                )
            )
    ended = [event.get("item") or {} for event in events if event.get("type") == "item.completed"]
    ours = sum(item.get("type") == "mcp_tool_call" and item.get("server") == _SERVER for item in ended)
    failed = [event for event in events if event.get("type") in ("turn.failed", "error")]
    return Trace(events, usage, ours, failure=str(failed[-1])[:300] if failed else "")
