"""What version 0.1.0 kept of deliveries in files of its own: read once, and put where it belongs now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from repo_map.atomic_files import read_stored

if TYPE_CHECKING:
    from navigator.navigator import Navigator


async def take_over_deliveries(data_dir: Path, navigator: Navigator) -> None:
    """Give each stored navigation what a file says of it, and remove the file.

    A navigation whose delivery is known already keeps it: where the folder can't be written, files stay.
    """
    folder = data_dir / "answers"
    files = await anyio.to_thread.run_sync(lambda: list(_files(folder)))
    if not files:
        return
    known = {use.navigation_id: use for use in await navigator.store.uses()}
    for file, fields in files:
        use = known.get(file.stem)
        if fields is not None and use is not None and use.used_at is None:
            await navigator.store.note_delivered(file.stem, use.user, **fields)
        with suppress(OSError):
            file.unlink()
    with suppress(OSError):  # Not empty, or not ours to remove.
        folder.rmdir()


def _files(folder: Path) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Yield each file with what it says, None where it can't be read."""
    for file in sorted(folder.glob("*.json")):
        try:
            text = read_stored(file).decode("utf-8", "replace")
        except OSError:
            continue
        fields = None
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            stored = json.loads(text)
            held = stored.get("held_step")
            fields = {
                "token_budget": int(stored["token_budget"]),
                "held_step": None if held is None else int(held),
                "used_at": float(stored["used_at"]),
            }
        yield file, fields
