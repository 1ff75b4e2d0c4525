"""The recording of an assistant's minute is what its commands and calls show; the picture is made of it."""

from __future__ import annotations

import pytest

from tests.docs.recording import CAST, PICTURE, ROWS, SESSION, cast, masked, picture, settled, shown


@pytest.mark.slow
def test_the_recorded_commands_and_calls_show_the_same_again() -> None:
    assert masked(CAST.read_text("utf-8")) == masked(cast()), "python -m tests.docs.recording writes it"


def test_the_picture_shows_each_screen_of_the_recording_whole() -> None:
    recorded = CAST.read_text("utf-8")
    assert PICTURE.read_text("utf-8") == picture(recorded), "python -m tests.docs.recording writes it"
    screens = list(shown(recorded))
    assert len(screens) == len(SESSION)
    assert all(screen.count("\n") <= ROWS for screen in screens)


def test_what_a_display_of_progress_wrote_over_itself_is_gone() -> None:
    written = "\x1b[?25lReading\r\x1b[2KReading: 3 files\r\n\x1b[1A\x1b[2K\x1b[?25h\x1b[1mdone\x1b[0m\r\n"
    assert settled(written) == "\x1b[1mdone\x1b[0m\n"


def test_both_files_are_small_enough_for_a_page() -> None:
    assert max(CAST.stat().st_size, PICTURE.stat().st_size) <= 60_000
