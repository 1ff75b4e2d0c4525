"""Folders of files that many processes write to and prune at once."""

import os
from pathlib import Path

from repo_map.cache import TEMPORARY, newest_first, prune


def _written(folder: Path, name: str, second: int, size: int = 100) -> Path:
    path = folder / name
    path.write_bytes(b"x" * size)
    os.utime(path, (second, second))
    return path


def test_a_file_that_went_since_it_was_listed_hides_none_of_the_others(tmp_path: Path) -> None:
    old, new = _written(tmp_path, "old", 1), _written(tmp_path, "new", 2)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert newest_first(tmp_path) == [new, old]
    prune(tmp_path, 100)
    assert newest_first(tmp_path) == [new]


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert newest_first(tmp_path / "none") == []
    prune(tmp_path / "none", 0)


def test_the_one_in_use_stays_though_it_is_the_oldest_and_too_large(tmp_path: Path) -> None:
    used = _written(tmp_path, "used", 1, size=500)
    _written(tmp_path, "newer", 2)
    prune(tmp_path, 50, keep={"used"})
    assert newest_first(tmp_path) == [used]


def test_what_a_crash_left_behind_goes_and_what_is_being_written_stays(tmp_path: Path) -> None:
    _written(tmp_path, f"dead{TEMPORARY}", 1)
    writing = tmp_path / f"live{TEMPORARY}"
    writing.write_bytes(b"x" * 1000)
    prune(tmp_path, 0)
    assert newest_first(tmp_path) == [writing]
