"""The maps and the records of one navigation, as ADK's artifacts."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import NamedTuple

from google.adk.artifacts import BaseArtifactService, FileArtifactService
from google.genai import types

from navigator.errors import StorageError, unsaved
from navigator.records.bookkeeping import StepRecord

MAP_NAME = "map.txt"


class NavigationArtifacts(NamedTuple):
    """The artifacts of one navigation."""

    service: BaseArtifactService
    app_name: str
    user: str
    navigation_id: str

    async def save_map(self, text: str) -> int:
        """Keep a map and return its version."""
        return await self._save(MAP_NAME, text)

    async def load_map(self, version: int) -> str:
        """Return the map of that version."""
        return await self._load(MAP_NAME, version)

    async def save_record(self, record: StepRecord) -> int:
        """Keep the record of a step and return its version; one that was cut short may have left another."""
        return await self._save(_record_name(record.report.step_number), record.model_dump_json())

    async def load_record(self, step: int, version: int | None) -> StepRecord:
        """Return that version of the record of ``step``, None for the latest."""
        return StepRecord.model_validate_json(await self._load(_record_name(step), version))

    async def reach(self) -> None:
        """Ask the store something.

        Raises:
            StorageError: it does not answer.
        """
        where = {"app_name": self.app_name, "user_id": self.user, "session_id": self.navigation_id}
        await self.service.list_versions(**where, filename=MAP_NAME)

    async def clear(self) -> None:
        """Delete every artifact of the navigation."""
        where = {"app_name": self.app_name, "user_id": self.user, "session_id": self.navigation_id}
        for name in await self.service.list_artifact_keys(**where):
            if not name.startswith("user:"):
                await self.service.delete_artifact(filename=name, **where)
        if (
            isinstance(self.service, FileArtifactService)
            and Path(self.navigation_id).name == self.navigation_id
        ):
            # ADK leaves the folder, and in it what a kill left of an artifact that was being saved.
            users = self.service.root_dir / "apps" / self.app_name / "users" / self.user
            folder = users / "sessions" / self.navigation_id
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _save(self, name: str, text: str) -> int:
        try:
            return await self.service.save_artifact(
                app_name=self.app_name,
                user_id=self.user,
                session_id=self.navigation_id,
                filename=name,
                artifact=types.Part(text=text),
            )
        except OSError as error:
            raise unsaved(error) from error

    async def _load(self, name: str, version: int | None) -> str:
        part = await self.service.load_artifact(
            app_name=self.app_name,
            user_id=self.user,
            session_id=self.navigation_id,
            filename=name,
            version=version,
        )
        if part is None or part.text is None:
            raise StorageError(
                f"`{name}` of navigation `{self.navigation_id}` is gone from the data folder; navigate again."
            )
        return part.text


def _record_name(step: int) -> str:
    return f"steps/{step:04d}.json"
