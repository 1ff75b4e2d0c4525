"""The stage that persists the solution."""

from __future__ import annotations

import shutil
from pathlib import Path

from google.adk.agents.context import Context

from benchmarks.agents.blocks import CandidateError
from benchmarks.agents.stages.base import Stage
from benchmarks.agents.stages.candidate import write_candidate
from benchmarks.agents.stages.workspace import repository_of
from benchmarks.agents.trial import fresh_room


class CodeBasedFinalVerifier(Stage):
    """Writes the files of the latest candidate to the output folder."""

    async def work(self, ctx: Context) -> None:
        """Read ``agent_code``; write the files, and ``final_response``."""
        code = ctx.state.get("agent_code", "")
        try:
            paths = self._persist(code, ctx) if code else []
        except CandidateError:
            paths = []
        said = f"Wrote {', '.join(paths)}." if paths else "No candidate could be used; nothing was written."
        ctx.state["final_response"] = f"{said} Rounds: {ctx.state.get('round', 0)}."

    def _persist(self, code: str, ctx: Context) -> list[str]:
        room = fresh_room(repository_of(ctx.state), Path(ctx.state["workspace_dir"]) / "final")
        paths = write_candidate(code, room.work, self.job)
        for path in paths:
            target = self.job.out / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(room.work / path, target)
        return paths
