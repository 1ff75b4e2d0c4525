"""One entry goes into a text and out of it again, and every other byte stays."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from repo_navigator.clients.configuration_text import JsonWithComments, Toml

SPACES = st.sampled_from(
    ["", "", " ", "\n", "\r\n", "\n\t", "  // a, {comment}\n", "/* [b], */", " /* \n */ "]
)
STRINGS = st.sampled_from(["a", "b", "ours", "// no comment", '"', "\\", "}", ",", "ä", "/* no */"])
SCALARS = st.one_of(STRINGS.map(json.dumps), st.sampled_from(["1", "-2.5e3", "true", "null"]))


@st.composite
def listed(draw: st.DrawFn, opening: str, closing: str, items: list[str]) -> str:
    """Return items between brackets, with spaces and comments, and perhaps a comma at the end."""
    text = opening + draw(SPACES)
    for number, item in enumerate(items):
        is_last = number == len(items) - 1
        comma = draw(st.sampled_from(["", ","])) if is_last else ","
        text += item + draw(SPACES) + comma + draw(SPACES)
    return text + closing


@st.composite
def members(draw: st.DrawFn, values: st.SearchStrategy[str], keys: st.SearchStrategy[str]) -> list[str]:
    chosen = draw(st.lists(keys, max_size=3, unique=True))
    return [f"{json.dumps(key)}{draw(SPACES)}:{draw(SPACES)}{draw(values)}" for key in chosen]


def objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return members(values, STRINGS).flatmap(lambda items: listed("{", "}", items))


VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        objects(inner), st.lists(inner, max_size=3).flatmap(lambda items: listed("[", "]", items))
    ),
    max_leaves=6,
)
OTHER_KEYS = st.sampled_from(["x", "y", "a // b"])


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """Return a configuration that may have a table ``servers``, in which there may be an entry ``ours``."""
    items = draw(members(VALUES, OTHER_KEYS))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(items)))
        items.insert(at, f'"servers"{draw(SPACES)}:{draw(SPACES)}{draw(objects(VALUES))}')
    return draw(SPACES) + draw(listed("{", "}", items)) + draw(SPACES)


OURS = {"command": "c", "args": ["}", "//"]}


@given(configurations(), st.booleans())
def test_an_entry_is_put_in_and_taken_out_and_the_rest_says_what_it_said(text: str, with_bom: bool) -> None:
    notation, text, path = JsonWithComments(), "\ufeff" * with_bom + text, ("servers", "ours")
    before = notation.data(text)
    servers = before.get("servers", {})
    after = notation.put(text, path, OURS)
    assert notation.data(after) == {**before, "servers": {**servers, "ours": OURS}}
    left = notation.remove(after, path)
    others = {name: value for name, value in servers.items() if name != "ours"}
    # Of several members with our name readers take the last.
    if text.count('"ours"') < 2:
        assert notation.data(left) == {**before, "servers": others}
    if others and "ours" not in servers:
        assert left == text


@given(st.lists(VALUES, max_size=3).flatmap(lambda items: listed("[", "]", items)))
def test_an_element_is_put_into_a_list_and_taken_out_again(values: str) -> None:
    notation, text = JsonWithComments(), f'{{"hooks": {{"event": {values}}}}}'
    before = notation.data(text)["hooks"]["event"]
    after = notation.put(text, ("hooks", "event", len(before)), OURS)
    assert notation.data(after)["hooks"]["event"] == [OURS, *before]
    left = notation.remove(after, ("hooks", "event", 0))
    assert left == text if before else notation.data(left)["hooks"]["event"] == []


@given(
    st.lists(
        st.sampled_from(
            [
                "a = 1",
                "# words",
                "",
                "[x]",
                "[servers.other]",
                'b = """\n[servers.ours]\n"""',
                "c = [\n  [1],\n]",
            ]
        ),
        unique=True,
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_table_is_put_at_the_end_and_taken_out_again(lines: list[str], ending: str) -> None:
    notation = Toml()
    text = "".join(f"{line}\n" for line in lines).replace("\n", ending)
    value, path = {"command": "c", "args": ["[x]"], "env": {"A": "b"}}, ("servers", "ours")
    after = notation.put(text, path, value)
    before = notation.data(text)
    assert notation.data(after) == {**before, "servers": {**before.get("servers", {}), "ours": value}}
    # A string that looks like our table is not told apart; who calls compares what the whole text says.
    if "[servers.ours]" not in text:
        assert notation.remove(after, path) == text
