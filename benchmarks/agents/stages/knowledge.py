"""Getting the request and the knowledge: sanitizer, module selector in three modes, docstring fetcher."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from google.adk.agents.context import Context

from benchmarks.agents.job import Job
from benchmarks.agents.schemas import RelevantModules
from benchmarks.agents.selector_tools import (
    INDEX_NAME,
    IndexEntry,
    SelectorTools,
    get_module_help,
    index_modules,
    index_of,
    index_text,
)
from benchmarks.agents.stages.base import (
    ModelStage,
    Stage,
    State,
    model_stage,
    repository_of,
    room_of,
    section,
)
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from repo_map.index.index import Index
from repo_map.text.tokens import count

_NAME = re.compile(r"[\w./+-]*\w")
_MOST_MODULES = 20
SANITIZE = """You are the prompt sanitiser.
Rewrite the user's request so that only its goal is left: what should work in the end, with every fact, name,
number and message that it gives. Leave out instructions about which tools to call or how to work. Answer with
the request alone."""
_ANSWER = 'Answer with JSON alone, the most relevant first, at most five: {"modules": ["…"]}'
BY_INDEX = f"""You are the module selector.
Choose from the index the modules that have to be read or changed to fulfil the request.
{_ANSWER}"""
BY_TOOLS = f"""You are the module selector.
Find the modules that have to be read or changed to fulfil the request: search the repository with your tools
and read what looks right.
{_ANSWER}"""


def prompt_sanitizer(job: Job) -> ModelStage:
    """Return the stage ``PromptSanitizerAgent``; it writes ``sanitized_request``."""
    return model_stage(
        "prompt_sanitizer",
        "PromptSanitizerAgent",
        SANITIZE,
        lambda state: section("Request", state["user_request"]),
        job,
        output_key="sanitized_request",
    )


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
    tools = SelectorTools(job.options.test_limits)

    def brief(state: State) -> str:
        # The repository exists only from here on.
        tools.open(repository_of(state), Path(state["workspace_dir"]))
        return section("Request", state["sanitized_request"])

    return model_stage(
        "module_selector",
        "ModuleSelectorAgent",
        BY_TOOLS,
        brief,
        job,
        tools=(tools.find_files, tools.grep, tools.read_file, tools.get_module_help, tools.run_shell_command),
        output_key="selection",
    )


class NavigatorSelector(Stage):
    """Asks the navigator, in this process; its context is the knowledge."""

    async def work(self, ctx: Context) -> None:
        """Write ``knowledge``."""
        settings = NavigatorSettings(cache_dir=Path(ctx.state["workspace_dir"]) / "cache", workers=1)
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


class DocstringFetcherAgent(Stage):
    """Fetches docstrings and signatures; of a repository that has a bug, whole modules while they fit."""

    async def work(self, ctx: Context) -> None:
        """Read ``selection``, write ``relevant_modules`` and ``knowledge``."""
        index = index_of(repository_of(ctx.state))
        known = {*index.paths, *self.job.task.libraries}
        chosen = modules_in(ctx.state.get("selection", ""), known)
        ctx.state["relevant_modules"] = chosen.model_dump(mode="json")
        parts: list[str] = []
        left = self.job.options.knowledge_tokens
        for module in chosen.modules:
            help_text = await get_module_help(module, index, room_of(ctx.state))
            for text in (*self._source(module, index), help_text):
                tokens = count(text) + 1
                if tokens <= left:
                    parts.append(text.rstrip())
                    left -= tokens
                    break
        ctx.state["knowledge"] = "\n\n".join(parts)

    def _source(self, module: str, index: Index) -> Sequence[str]:
        """Return a module's source where the task is to change it: none for an agent, which only calls it."""
        number = index.file_id(module)
        if number is None or self.job.task.kind == "agent":
            return []
        return [f"{module}\n{index.sources.text(number)}"]


def modules_in(said: str, known: set[str]) -> RelevantModules:
    """Return the modules that an answer names, in its order, each once."""
    named = [name for name in _NAME.findall(said) if name in known]
    return RelevantModules(modules=tuple(dict.fromkeys(named))[:_MOST_MODULES])
