"""The guide's conversations are held, and their answers are what it shows."""

from __future__ import annotations

import re

from repo_map.relevance.completeness import Completeness, Evidence
from repo_navigator.host_files.hosts import HOSTS
from tests.docs.assistant_page import PAGE, page


def test_the_conversations_are_what_the_server_answers() -> None:
    shown = PAGE.read_text("utf-8")
    assert shown == page(shown), "python -m tests.docs.assistant_page writes it"
    assert shown.count("The answer, ") > 2


def test_the_page_names_the_files_and_the_key_of_every_host_that_install_knows() -> None:
    rows = re.findall(
        r"^\| [^|]+ \| `([a-z-]+)` \| ([^|]+) \| `(\w+)` \|(.*)\|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert {name: (key, shared.strip().strip("`")) for name, _, key, shared in rows} == {
        name: (host.servers, host.project_file) for name, host in HOSTS.items()
    }
    for name, own, _, _ in rows:
        assert own.split("`")[1].endswith(HOSTS[name].file), name


def test_the_page_tells_the_grades_as_the_product_gives_them() -> None:
    text = PAGE.read_text("utf-8")
    grades = [Completeness(chance / 10, 0.9).evidence for chance in range(1, 10)]
    assert grades == [*[Evidence.UNSURE] * 4, *[Evidence.LIKELY] * 3, *[Evidence.SURE] * 2]
    for grade in Evidence:
        assert f"| `Evidence: {grade}` |" in text
