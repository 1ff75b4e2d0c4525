"""The maps and the records of one navigation, as artifacts of its session."""

from __future__ import annotations

from typing import NamedTuple

from navigator.errors import StorageError, unsaved
from navigator.records.bookkeeping import StepRecord
from navigator.stores.artifacts import Artifacts
from navigator.stores.session_values import SessionId

MAP_NAME = "map.txt"


class NavigationArtifacts(NamedTuple):
    """The artifacts of one navigation."""

    kept_in: Artifacts
    session: SessionId

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
        await self.kept_in.versions(self.session, MAP_NAME)

    async def clear(self) -> None:
        """Delete every artifact of the navigation."""
        await self.kept_in.clear(self.session)

    async def _save(self, name: str, text: str) -> int:
        try:
            return await self.kept_in.save(self.session, name, text)
        except OSError as error:
            raise unsaved(error) from error

    async def _load(self, name: str, version: int | None) -> str:
        text = await self.kept_in.load(self.session, name, version)
        if text is None:
            raise StorageError(
                f"`{name}` of navigation `{self.session.id}` is gone from the data folder; navigate again."
            )
        return text


def _record_name(step: int) -> str:
    return f"steps/{step:04d}.json"
