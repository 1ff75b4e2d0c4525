"""Text that code names: whose path stands in a string leads there, as surely as what is written says."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.file_references import file_references_of
from repo_map.relations.model import Confidence
from tests.repo_map.relations.asking import Files, index_of, place_of

FACT, LIKELY, POSSIBLE = Confidence.RESOLVED, Confidence.LIKELY, Confidence.POSSIBLE
PAGE = "<h1>{{ title }}</h1>\n"

NAMED: dict[str, tuple[Files, str, list[tuple[str, int, Confidence]]]] = {
    "a template by its path below its folder": (
        {
            "app/views.py": "def users_page():\n    return render_template('users/page.html')\n",
            "app/templates/users/page.html": PAGE,
            "app/templates/shops/page.html": PAGE,
        },
        "app/templates/users/page.html",
        [("app/views.py", 2, FACT)],
    ),
    "a template without its suffix, where something renders it": (
        {
            "routes/users.js": "router.get('/', (req, res) => res.render('users/list', { all }));\n",
            "views/users/list.ejs": PAGE,
            "notes.js": "const kind = 'users/list';\n",
        },
        "views/users/list.ejs",
        [("routes/users.js", 1, FACT)],
    ),
    "a template with dots for folders": (
        {
            "app/Users.php": "<?php\nreturn view('users.page', $data);\n",
            "resources/users/page.blade.php": PAGE,
        },
        "resources/users/page.blade.php",
        [("app/Users.php", 2, FACT)],
    ),
    "a partial without its dash": (
        {
            "app/users_controller.rb": "def show\n  render 'users/row'\nend\n",
            "app/views/users/_row.html.erb": PAGE,
        },
        "app/views/users/_row.html.erb",
        [("app/users_controller.rb", 2, FACT)],
    ),
    "templates that take in another one": (
        {
            "templates/base.html": PAGE,
            "templates/a.html": "{% extends 'base.html' %}\n{% block x %}{% endblock %}\n",
            "templates/b.html": '<p>\n{%- include "base.html" %}\n',
        },
        "templates/base.html",
        [("templates/a.html", 1, FACT), ("templates/b.html", 2, FACT)],
    ),
    "a query file that is read by a path in parts": (
        {
            "db/load.py": "from pathlib import Path\nSQL = Path(__file__).parent / 'queries' / 'users.sql'\n",
            "db/queries/users.sql": "select 1;\n",
            "other/users.sql": "select 2;\n",
        },
        "db/queries/users.sql",
        [("db/load.py", 2, FACT)],
    ),
    "a file of a package": (
        {
            "shop/prices.py": "T = files('shop.data').joinpath('t.json')\n",
            "shop/data/t.json": "{}\n",
            "old/data/t.json": "{}\n",
        },
        "shop/data/t.json",
        [("shop/prices.py", 1, FACT)],
    ),
    "a file beside the one that names it": (
        {"src/lib.rs": 'const HELP: &str = include_str!("../docs/help.txt");\n', "docs/help.txt": "Help\n"},
        "docs/help.txt",
        [("src/lib.rs", 1, FACT)],
    ),
    "a golden file by its bare name, where its folder is said": (
        {
            "tests/test_page.py": "HERE = Path('tests') / 'golden'\n\nread(HERE / 'page.out')\n",
            "tests/golden/page.out": "x\n",
        },
        "tests/golden/page.out",
        [("tests/test_page.py", 3, FACT)],
    ),
    "a file that Go embeds": (
        {"gen/api.go": "package gen\n\n//go:embed api.tpl\nvar apiTemplate string\n", "gen/api.tpl": PAGE},
        "gen/api.tpl",
        [("gen/api.go", 3, FACT)],
    ),
    "a bare name alone is likely": (
        {"src/app.go": 'package app\nvar T = load("table.csv")\n', "src/assets/table.csv": "a,b\n"},
        "src/assets/table.csv",
        [("src/app.go", 2, LIKELY)],
    ),
    "one of several files of a name is possible": (
        {
            "app/a.py": "open(folder + 'settings/base.ini')\n",
            "x/settings/base.ini": "[a]\n",
            "y/settings/base.ini": "[b]\n",
        },
        "x/settings/base.ini",
        [("app/a.py", 1, POSSIBLE)],
    ),
    "a name that any project's file may bear says nothing": (
        {"src/find.js": "find(folder, 'package.json');\n", "package.json": "{}\n", "src/setup.py": ""},
        "package.json",
        [],
    ),
    "a path that begins with what is filled in": (
        {"a/url.py": "def f(base):\n    return f'{base}/users/page.html'\n", "t/users/page.html": PAGE},
        "t/users/page.html",
        [("a/url.py", 2, FACT)],
    ),
    "comments and documentation name nothing": (
        {"a.py": '"""See t/users/page.html."""\n# t/users/page.html\n', "t/users/page.html": PAGE},
        "t/users/page.html",
        [],
    ),
    "code reads no data of tests": (
        {"src/a.py": "lexer('lines/one.txt')\n", "tests/lines/one.txt": "x\n"},
        "tests/lines/one.txt",
        [],
    ),
}


@pytest.mark.parametrize(("files", "path", "expected"), NAMED.values(), ids=NAMED)
def test_a_file_is_named_by(
    tmp_path: Path, files: Files, path: str, expected: list[tuple[str, int, Confidence]]
) -> None:
    index = index_of(tmp_path, files)
    file = index.paths.index(path)
    named = file_references_of(index)
    found = [(index.paths[each.source[0]], each.line, each.confidence) for each in named.references_to(file)]
    assert found == expected
    for each in named.references_to(file):
        assert each in named.references_in(each.source[0])


def test_a_name_in_hundreds_of_files_is_looked_for_in_the_nearest(tmp_path: Path) -> None:
    files = {f"far/m{number}.py": "render('users/page.html')\n" for number in range(300)}
    files |= {"app/views.py": "render('users/page.html')\n", "app/t/users/page.html": PAGE}
    index = index_of(tmp_path, files)
    file = index.paths.index("app/t/users/page.html")
    found = file_references_of(index).references_to(file)
    assert index.paths[found[0].source[0]] == "app/views.py"
    assert len(found) == 200


def test_a_definition_names_what_a_constant_that_it_uses_does(tmp_path: Path) -> None:
    go = (
        "package gen\n\n//go:embed api.tpl\nvar apiTemplate string\n\n"
        "func Api() string {\n\treturn fill(apiTemplate)\n}\n\nfunc Other() int {\n\treturn 1\n}\n"
    )
    python = "PAGE = 'users/page.html'\n\n\ndef page():\n    return render(PAGE)\n"
    files = {"gen/api.go": go, "gen/api.tpl": PAGE, "views.py": python, "t/users/page.html": PAGE}
    index = index_of(tmp_path, files)
    named = file_references_of(index)

    def used(name: str) -> list[str]:
        return [index.paths[each.target[0]] for each in named.used_in(place_of(index, name))]

    assert used("gen/api.go:Api") == ["gen/api.tpl"]
    assert used("gen/api.go:Other") == []
    assert used("views.py:page") == ["t/users/page.html"]
