"""Artifacts in a folder: laid out as ADK lays them out, whole or not there, numbered for all who save."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from google.adk.artifacts import FileArtifactService
from google.genai import types

from navigator.stores.artifacts import Artifacts, FolderArtifacts, MemoryArtifacts, ReadOnlyArtifacts
from navigator.stores.session_values import SessionId

pytestmark = pytest.mark.anyio
ONE = SessionId("app", "ann", "nav-1")
WHERE = {"app_name": "app", "user_id": "ann", "session_id": "nav-1"}
TEXT = "one\r\ntwo é \u2028\n"


async def test_adks_own_service_reads_what_ours_keeps_and_ours_what_it_keeps(tmp_path: Path) -> None:
    ours, theirs = FolderArtifacts(tmp_path), FileArtifactService(tmp_path)
    assert await ours.save(ONE, "steps/0001.json", "one\ntwo é\n") == 0
    part = await theirs.load_artifact(**WHERE, filename="steps/0001.json")
    assert part is not None
    assert part.text == "one\ntwo é\n"
    saved = await theirs.save_artifact(
        **WHERE, filename="steps/0001.json", artifact=types.Part(text="by ADK")
    )
    assert (saved, await ours.load(ONE, "steps/0001.json")) == (1, "by ADK")
    assert await ours.versions(ONE, "steps/0001.json") == [0, 1]
    assert await theirs.list_artifact_keys(**WHERE) == ["steps/0001.json"]


@pytest.mark.parametrize("kind", ["folder", "memory", "read only"])
async def test_versions_are_numbered_read_back_as_written_and_cleared(kind: str, tmp_path: Path) -> None:
    kinds = {"folder": FolderArtifacts, "read only": ReadOnlyArtifacts}
    artifacts: Artifacts = kinds[kind](tmp_path) if kind in kinds else MemoryArtifacts()
    assert await artifacts.load(ONE, "map.txt") is None
    numbers = await asyncio.gather(*(artifacts.save(ONE, "map.txt", f"{TEXT}{each}") for each in range(8)))
    assert sorted(numbers) == [*range(8)] == await artifacts.versions(ONE, "map.txt")
    for each, number in enumerate(numbers):
        assert await artifacts.load(ONE, "map.txt", number) == f"{TEXT}{each}"
    assert await artifacts.load(ONE, "map.txt", 8) is None
    other = ONE._replace(id="nav-2")
    await artifacts.save(other, "map.txt", "another's")
    await artifacts.clear(ONE)
    assert (await artifacts.versions(ONE, "map.txt"), await artifacts.load(ONE, "map.txt")) == ([], None)
    assert await artifacts.load(other, "map.txt") == "another's"


async def test_a_folder_that_is_read_only_shows_through_and_is_not_changed(tmp_path: Path) -> None:
    stored = FolderArtifacts(tmp_path)
    await stored.save(ONE, "map.txt", "stored")
    artifacts = ReadOnlyArtifacts(tmp_path)
    assert await artifacts.save(ONE, "map.txt", "new") == 1
    assert [await artifacts.load(ONE, "map.txt", each) for each in (None, 0, 1)] == ["new", "stored", "new"]
    await artifacts.clear(ONE)
    assert (await stored.versions(ONE, "map.txt"), await artifacts.load(ONE, "map.txt")) == ([0], "stored")


async def test_what_a_kill_left_unfinished_is_read_by_nobody_and_its_number_is_not_given_again(
    tmp_path: Path,
) -> None:
    artifacts = FolderArtifacts(tmp_path)
    await artifacts.save(ONE, "map.txt", "first")
    leave_unfinished(tmp_path)
    assert await artifacts.load(ONE, "map.txt") == "first"
    assert await artifacts.save(ONE, "map.txt", "second") == 2
    assert await artifacts.load(ONE, "map.txt") == "second"


def leave_unfinished(folder: Path) -> None:
    (versions,) = folder.rglob("versions")
    (versions / ".1.pending").mkdir()
    (versions / ".1.pending" / "map.txt").write_text("hal")


def in_folder(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


ODD = ("..", "../ann", "/ann", "a/../../b", "C:ann", "a\\..\\b", "ann/sessions/nav-1", "")


@pytest.mark.parametrize("user", ODD)
async def test_no_name_leads_out_of_its_folder_or_into_anothers(user: str, tmp_path: Path) -> None:
    folder = tmp_path / "artifacts"
    artifacts = FolderArtifacts(folder)
    await artifacts.save(ONE, "map.txt", "ann's")
    odd = SessionId("app", user, "..")
    assert await artifacts.load(odd, "map.txt") is None
    await artifacts.save(odd, "map.txt", "odd")
    assert in_folder(tmp_path) == ["artifacts"]
    await artifacts.clear(odd)
    assert await artifacts.load(ONE, "map.txt") == "ann's"
