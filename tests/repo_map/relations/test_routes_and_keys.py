"""Routes and keys: a client finds its handler, a lookup its setting, and the other way about."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.model import Confidence
from repo_map.relations.named_keys import named_keys_of
from repo_map.relations.routes import routes_of
from tests.repo_map.relations.asking import Files, index_of, lines_of, place_of

API = (
    '@app.get("/users/{id}")\ndef user(id):\n    return id\n\n\n'
    '@app.post("/users/{id}")\ndef change(id):\n    return id\n\n\n'
    '@app.get("/shops/{id}/open")\ndef shop(id):\n    return id\n'
)
ASKED: dict[str, tuple[Files, str, list[str]]] = {
    "a test's client": (
        {"api.py": API, "tests/test_api.py": 'def test_user(client):\n    client.get("/users/1")\n'},
        "api.py:user",
        ["tests/test_api.py:2"],
    ),
    "a client in another language, with a host before the path and a value within": (
        {"api.py": API, "web/api.ts": "export const load = (id) => fetch(`${base}/shops/${id}/open`);\n"},
        "api.py:shop",
        ["web/api.ts:1"],
    ),
    "no other method": (
        {"api.py": API, "tests/test_api.py": 'def test_user(client):\n    client.get("/users/1")\n'},
        "api.py:change",
        [],
    ),
    "no other path": (
        {"api.py": API, "tests/test_api.py": 'def test_it(client):\n    client.get("/users/1/open")\n'},
        "api.py:shop",
        [],
    ),
    "a test that has routes of its own asks for these alone": (
        {
            "api.py": API,
            "tests/test_api.py": (
                "def test_user(client):\n"
                '    @app.get("/own/{id}")\n    def own(id): ...\n    client.get("/users/1")\n'
            ),
        },
        "api.py:user",
        [],
    ),
    "nothing where two handlers fit": (
        {
            "api.py": API,
            "old.py": '@app.get("/users/<id>")\ndef old(id):\n    pass\n',
            "tests/test_api.py": 'def test_user(client):\n    client.get("/users/1")\n',
        },
        "api.py:user",
        [],
    ),
}


@pytest.mark.parametrize(("files", "name", "expected"), ASKED.values(), ids=ASKED)
def test_a_handler_is_asked_by(tmp_path: Path, files: Files, name: str, expected: list[str]) -> None:
    index = index_of(tmp_path, files)
    found = routes_of(index).asking(place_of(index, name))
    told = tuple(each for each in found if each.confidence >= Confidence.LIKELY)
    assert lines_of(index, told) == expected
    for each in told:
        assert each in routes_of(index).handling(each.source)


def test_a_route_is_a_fact_where_handler_and_client_stand_in_one_file(tmp_path: Path) -> None:
    test = API + '\n\ndef test_user(client):\n    client.get("/users/1")\n'
    index = index_of(tmp_path, {"test_api.py": test, "web.ts": "fetch('/users/1');\n"})
    found = routes_of(index).asking(place_of(index, "test_api.py:user"))
    assert [each.confidence for each in found] == [Confidence.RESOLVED]


SETTINGS = "retry:\n  max: 3\n  wait: 1\ncolour: red\n"
LOOKED_UP: dict[str, tuple[Files, str, list[tuple[str, Confidence]]]] = {
    "a key of several parts": (
        {"app.py": "def f():\n    return settings.get('retry.max')\n", "settings.yaml": SETTINGS},
        "settings.yaml:retry.max",
        [("app.py:2", Confidence.RESOLVED)],
    ),
    "a single word is likely": (
        {"app.py": "x = config.get('colour')\ny = paint('colour')\n", "settings.yaml": SETTINGS},
        "settings.yaml:colour",
        [("app.py:1", Confidence.LIKELY)],
    ),
    "a key that two files hold is possible": (
        {"app.py": "x = config.get('retry.max')\n", "a.yaml": SETTINGS, "b.yaml": SETTINGS},
        "a.yaml:retry.max",
        [("app.py:1", Confidence.POSSIBLE)],
    ),
    "a message": (
        {"app.ts": "export const f = () => t('cart.empty');\n", "en.json": '{"cart": {"empty": "None"}}\n'},
        "en.json:cart.empty",
        [("app.ts:1", Confidence.RESOLVED)],
    ),
}


@pytest.mark.parametrize(("files", "name", "expected"), LOOKED_UP.values(), ids=LOOKED_UP)
def test_a_key_is_asked_for_by(
    tmp_path: Path, files: Files, name: str, expected: list[tuple[str, Confidence]]
) -> None:
    index = index_of(tmp_path, files)
    keys = named_keys_of(index)
    found = keys.using(place_of(index, name))
    assert list(zip(lines_of(index, found), (each.confidence for each in found), strict=True)) == expected
    for each in found:
        assert each in keys.used_in(each.source)
