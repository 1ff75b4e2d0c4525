"""Read and outline: whole definitions, shared room, and what is said of what was cut."""

from __future__ import annotations

import pytest

from repo_map.lookup.read import outline, read
from repo_map.lookup.requests import LookupRequestError, Read
from repo_map.text.tokens import count
from tests.support.maps import index_of

LONG = '    """First.\n\n' + "    More words.\n" * 40 + '    """\n'
BODY = "".join(f"    value_{number} = compute({number})\n" for number in range(300))
SHOP = {
    "shop/a.py": f"def small():\n    return 1\n\n\ndef documented():\n{LONG}    return 2\n",
    "shop/b.py": f"def small():\n    return 2\n\n\ndef huge():\n{BODY}",
    "shop/conf.py": "OPTIONS = [\n    'stop-writes-on-error',\n    'other',\n]\n",
    "tests/test_a.py": "def small():\n    return 3\n",
}


def lines_of(text: str) -> list[str]:
    return text.split("\n")


def test_a_name_gives_whole_definitions_the_project_before_tests() -> None:
    found = read(index_of(SHOP), Read(("small",)))
    heads = [line for line in lines_of(found.text) if line.endswith("[function]")]
    assert heads == [
        "shop/a.py:1-2 small [function]",
        "shop/b.py:1-2 small [function]",
        "tests/test_a.py:1-2 small [function]",
    ]
    near = read(index_of(SHOP), Read(("small",)), near=("shop/b.py",))
    assert lines_of(near.text)[0] == "shop/b.py:1-2 small [function]"


@pytest.mark.parametrize(
    "target", ["shop/b.py:small", "small (shop/b.py)", "shop/b.py::small", "b.py:1-2", "b.py:1"]
)
def test_every_form_of_a_target_is_read(target: str) -> None:
    found = read(index_of(SHOP), Read((target,)))
    assert {each.file for each in found.locations} == {1}
    assert "return 2" in found.text or target == "b.py:1"


def test_the_room_is_shared_and_a_cut_says_where_it_goes_on() -> None:
    index = index_of(SHOP)
    found = read(index, Read(("shop/b.py:huge", "shop/a.py:small")), tokens=600)
    assert count(found.text) <= 620
    assert "    return 1" in found.text
    _, cut, rest = found.text.partition("… continue with shop/b.py:")
    assert cut
    first, last = rest.split("\n")[0].split("-")
    assert int(last) == 305
    assert f"value_{int(first) - 6} " in read(index, Read((f"shop/b.py:{first}-{last}",))).text


def test_documentation_is_shortened_before_code() -> None:
    found = read(index_of(SHOP), Read(("documented",)), tokens=120)
    assert "return 2" in found.text
    assert "lines of documentation" in found.text


def test_a_string_that_is_no_definition_leads_to_its_table() -> None:
    found = read(index_of(SHOP), Read(("stop-writes-on-error",)))
    assert [(each.first, each.last) for each in found.locations] == [(1, 4)]


def test_lines_can_go_without_numbers() -> None:
    found = read(index_of(SHOP), Read(("shop/a.py:small",), line_numbers=False))
    assert lines_of(found.text)[1:] == ["def small():", "    return 1"]


@pytest.mark.parametrize(
    "targets", [(), ("a", "b", "c", "d", "e"), ("nowhere_at_all",), ("shop/a.py:900-901",), ("shop/a.py:0",)]
)
def test_targets_that_can_not_be_read_are_refused(targets: tuple[str, ...]) -> None:
    with pytest.raises(LookupRequestError):
        read(index_of(SHOP), Read(targets))


def test_a_missing_target_does_not_lose_the_others() -> None:
    found = read(index_of(SHOP), Read(("shop/a.py:small", "nowhere_at_all")))
    assert "return 1" in found.text
    assert "nowhere_at_all" in found.text


def test_an_outline_lists_definitions_or_the_files_of_a_folder() -> None:
    index = index_of(SHOP)
    of_file = lines_of(outline(index, "shop/a.py").text)
    assert of_file[1:] == ["1-2 def small():", "5-49 def documented():"]
    assert lines_of(outline(index, "shop").text)[1:] == [
        "shop/a.py 2 definitions",
        "shop/b.py 2 definitions",
        "shop/conf.py 1 definition",
    ]
    assert lines_of(outline(index, "").text)[1:] == ["shop/ 3 files", "tests/ 1 file"]
    with pytest.raises(LookupRequestError):
        outline(index, "nowhere")
