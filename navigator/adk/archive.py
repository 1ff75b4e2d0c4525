"""Maps and step records as artifacts: written once, before the event that makes the step count."""

from __future__ import annotations

from typing import NamedTuple

from google.adk.artifacts import BaseArtifactService
from google.genai import types

from navigator.errors import StorageError
from navigator.run import StepRecord

MAP_NAME = "map.txt"


class Archive(NamedTuple):
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

    async def save_record(self, record: StepRecord) -> None:
        """Keep the record of a step; of a step that was cut short and taken again, the latest holds."""
        await self._save(_record_name(record.report.step_number), record.model_dump_json())

    async def load_record(self, step: int) -> StepRecord:
        """Return the record of ``step``."""
        return StepRecord.model_validate_json(await self._load(_record_name(step), None))

    async def clear(self) -> None:
        """Delete every artifact of the navigation."""
        where = {"app_name": self.app_name, "user_id": self.user, "session_id": self.navigation_id}
        for name in await self.service.list_artifact_keys(**where):
            if not name.startswith("user:"):
                await self.service.delete_artifact(filename=name, **where)

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
            raise StorageError(
                f"The step could not be saved ({error.strerror or error}); free space, or name another data "
                "folder with REPO_NAVIGATOR_DATA, then take the step again."
            ) from error

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
