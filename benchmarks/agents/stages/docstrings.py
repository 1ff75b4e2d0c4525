"""Fetching what the selected modules say, within the budget that all variants share."""

from __future__ import annotations

import re
from collections.abc import Sequence

from google.adk.agents.context import Context

from benchmarks.agents.schemas import RelevantModules
from benchmarks.agents.stages.base import Stage
from benchmarks.agents.stages.workspace import repository_of, room_of
from benchmarks.agents.tools.modules import get_module_help, index_of
from repo_map.index import RepoIndex
from repo_map.text.tokens import count

_NAME = re.compile(r"[\w./+-]*\w")
_MOST_MODULES = 20


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

    def _source(self, module: str, index: RepoIndex) -> Sequence[str]:
        """Return a module's source where the task is to change it: none for an agent, which only calls it."""
        number = index.file_id(module)
        return [] if number is None or self.job.task.kind == "agent" else [f"{module}\n{index.text(number)}"]


def modules_in(said: str, known: set[str]) -> RelevantModules:
    """Return the modules that an answer names, in its order, each once."""
    named = [name for name in _NAME.findall(said) if name in known]
    return RelevantModules(modules=tuple(dict.fromkeys(named))[:_MOST_MODULES])
