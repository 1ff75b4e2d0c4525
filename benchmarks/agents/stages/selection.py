"""Choosing what to read: from an index of modules, with search tools, or by the navigator."""

from __future__ import annotations

import asyncio
from functools import cached_property
from pathlib import Path

from google.adk.agents.context import Context

from benchmarks.agents.isolation.sandbox import Room
from benchmarks.agents.job import Job
from benchmarks.agents.stages.base import ModelStage, Stage, State, model_stage, section
from benchmarks.agents.stages.workspace import repository_of
from benchmarks.agents.tools import modules, shell
from benchmarks.agents.tools.modules import INDEX_NAME, IndexEntry, index_modules, index_of, index_text
from benchmarks.agents.tools.search import SearchTools
from benchmarks.agents.trial import fresh_room
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings

_ANSWER = 'Answer with JSON alone, the most relevant first, at most five: {"modules": ["…"]}'
BY_INDEX = f"""You are the module selector.
Choose from the index the modules that have to be read or changed to fulfil the request.
{_ANSWER}"""
BY_TOOLS = f"""You are the module selector.
Find the modules that have to be read or changed to fulfil the request: search the repository with your tools
and read what looks right.
{_ANSWER}"""


class ModuleIndexer(Stage):
    """Writes the index of modules into the workspace, where the selector's brief reads it."""

    async def work(self, ctx: Context) -> None:
        """Write ``adk_index.yaml``."""
        repository = repository_of(ctx.state)
        entries = await asyncio.to_thread(lambda: index_modules(index_of(repository)))
        entries += [IndexEntry(name, "installed library", ()) for name in self.job.task.libraries]
        _index_file(ctx.state).write_text(index_text(entries), encoding="utf-8")


def select_by_index(job: Job) -> ModelStage:
    """Return ``ModuleSelectorAgent`` in its index-based mode; it writes ``selection``."""

    def brief(state: State) -> str:
        index = _index_file(state).read_text("utf-8")
        return section("Request", state["sanitized_request"]) + section("Index", index)

    return model_stage("module_selector", "ModuleSelectorAgent", BY_INDEX, brief, job, output_key="selection")


def select_by_tools(job: Job) -> ModelStage:
    """Return ``ModuleSelectorAgent`` in its tool-based mode; it writes ``selection``."""
    opened: list[_Desk] = []

    def brief(state: State) -> str:
        # The repository exists only from here on: the tools find it where it was opened last.
        opened[:] = [_Desk(state)]
        return section("Request", state["sanitized_request"])

    def find_files(name_contains: str = "") -> str:
        return opened[0].search.find_files(name_contains)

    def grep(pattern: str) -> str:
        return opened[0].search.grep(pattern)

    def read_file(path: str, first_line: int = 1) -> str:
        return opened[0].search.read_file(path, first_line)

    async def get_module_help(module: str) -> str:
        """Get signatures and docstrings of a file of the repository, or of an installed Python module."""
        return await modules.get_module_help(module, opened[0].index, opened[0].room)

    async def run_shell_command(command: str) -> str:
        """Run a command line in a copy of the repository; get what it printed and how it ended."""
        return await shell.run_shell_command(command, opened[0].room, job.options.test_limits)

    for tool in (find_files, grep, read_file):
        tool.__doc__ = getattr(SearchTools, tool.__name__).__doc__
    return model_stage(
        "module_selector",
        "ModuleSelectorAgent",
        BY_TOOLS,
        brief,
        job,
        tools=(find_files, grep, read_file, get_module_help, run_shell_command),
        output_key="selection",
    )


class _Desk:
    """What the tools of one selection work on."""

    def __init__(self, state: State) -> None:
        self.index = index_of(repository_of(state))
        self.search = SearchTools(self.index)
        self._folder = Path(state["workspace_dir"]) / "shell"
        self._repository = repository_of(state)

    @cached_property
    def room(self) -> Room:
        """A copy of the repository: commands may write there without changing what is worked on."""
        return fresh_room(self._repository, self._folder)


class NavigatorSelector(Stage):
    """Asks the navigator, in this process; its context is the knowledge."""

    async def work(self, ctx: Context) -> None:
        """Write ``knowledge``."""
        settings = NavigatorSettings(cache_dir=_cache_folder(ctx.state), workers=1)
        navigator = Navigator(settings)
        try:
            request = NavigationRequest(
                goal=ctx.state["sanitized_request"],
                repo_path=repository_of(ctx.state),
                token_budget=self.job.options.knowledge_tokens,
            )
            output = await navigator.run(await navigator.open(request))
        finally:
            await navigator.aclose()
        ctx.state["knowledge"] = output.context_string
        ctx.state["relevant_modules"] = {"modules": [file.path for file in output.files[:20]]}


def _index_file(state: State) -> Path:
    return Path(state["workspace_dir"]) / INDEX_NAME


def _cache_folder(state: State) -> Path:
    return Path(state["workspace_dir"]) / "cache"
