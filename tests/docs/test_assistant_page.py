"""The guide's conversations are held, and their answers are what it shows."""

from __future__ import annotations

from tests.docs.assistant_page import PAGE, page


def test_the_conversations_are_what_the_server_answers() -> None:
    shown = PAGE.read_text("utf-8")
    assert shown == page(shown), "python -m tests.docs.assistant_page writes it"
    assert shown.count("The answer, ") > 2
