"""The relations' benchmark on a tree made on the spot, before a language server that answers from a table."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.relations.client import LanguageServer, ServerError, Spot
from benchmarks.relations.sampling import enclosing, sample
from benchmarks.relations.sites import SiteKind, SourceSites
from repo_map.index.build import build_index
from repo_map.index.store import Store

ROOT = Path(__file__).parents[2]
FILES = {
    "shop/tax.py": "def rate(country):\n    return 25\n\n\ndef both():\n    return rate('no'), rate('se')\n",
    "shop/cart.py": (
        "from shop.tax import rate\n\n\nclass Cart:\n    def total(self):\n        return rate('no')\n\n\n"
        "TABLE = {'rate': rate}\n"
    ),
    "other/mail.py": "def rate(text):\n    return len(text)\n\n\ndef send(text):\n    rate(text)\n",
}
USES = [
    ["shop/tax.py", 5, 11],
    ["shop/tax.py", 5, 23],
    ["shop/cart.py", 0, 21],
    ["shop/cart.py", 5, 15],
    ["shop/cart.py", 8, 17],
    ["https://example.org/x.py", 0, 0],
]
TABLE = {
    "references": {
        "shop/tax.py:0:4": USES,
        "other/mail.py:0:4": [["other/mail.py", 5, 4]],
    },
    "definition": {
        "shop/tax.py:0:4": [["shop/tax.py", 0, 4]],
        "other/mail.py:0:4": [["other/mail.py", 0, 4]],
    },
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_text(text)
    return tmp_path / "tree"


def server_at(folder: Path, table: dict[str, Any]) -> str:
    """Make the server a program of its own, as those that are installed are."""
    (folder / "table.json").write_text(json.dumps(table))
    program = folder / "table-langserver"
    command = f"{sys.executable} -m tests.benchmarks.language_server {folder / 'table.json'}"
    program.write_text(f"#!/bin/sh\nPYTHONPATH={ROOT} exec {command}\n")
    program.chmod(0o700)
    return str(program)


def judged(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["relations", "--language", "python", *arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def test_precision_and_recall_are_those_of_edges(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = judged(capsys, str(tree), "--server", server_at(tmp_path, TABLE), "--json")
    assert code == 0
    counts = json.loads(out)["counts"]
    assert (counts["definitions"], counts["used"]) == (6, 2)
    assert counts["edges"]["precision"] == 1
    assert counts["edges"]["recall"] == 1


@pytest.mark.slow
def test_answers_are_kept_so_that_a_second_run_needs_no_server(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, kept = server_at(tmp_path, TABLE), str(tmp_path / "answers")
    first = judged(capsys, str(tree), "--server", program, "--json", "--answers", kept)
    Path(program).unlink()
    second = judged(capsys, str(tree), "--server", program, "--json", "--answers", kept)
    assert json.loads(first[1])["counts"] == json.loads(second[1])["counts"]


def test_a_judge_that_is_missing_is_named_with_what_installs_it(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    code, _, err = judged(capsys, str(tree))
    assert code == 2
    assert "`basedpyright-langserver` judges python and is not on PATH" in err
    assert "pip install basedpyright" in err


def test_a_server_that_does_not_answer_is_given_up_after_its_deadline(tree: Path, tmp_path: Path) -> None:
    program = server_at(tmp_path, {**TABLE, "silent": ["textDocument/references"]})
    with LanguageServer([program], tree, deadline_s=1.0) as server:
        server.open("shop/tax.py", "python")
        with pytest.raises(ServerError, match="did not answer `textDocument/references` within 1 s"):
            server.references(Spot("shop/tax.py", 0, 4))


@pytest.mark.slow
def test_a_server_that_ends_on_most_definitions_judges_nothing(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = server_at(tmp_path, {**TABLE, "ends": ["textDocument/references"]})
    code, _, err = judged(capsys, str(tree), "--server", program, "--json")
    assert code == 2
    assert "has ended" in err


def test_a_program_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="did not start"):
        LanguageServer([str(tmp_path / "none")], tmp_path, deadline_s=1.0)


def test_a_file_must_be_open_before_it_is_asked_of(tree: Path, tmp_path: Path) -> None:
    with LanguageServer([server_at(tmp_path, TABLE)], tree, deadline_s=20.0) as server:
        with pytest.raises(ServerError, match="is not open"):
            server.references(Spot("shop/tax.py", 0, 4))
        server.open("shop/tax.py", "python")
        found = server.references(Spot("shop/tax.py", 0, 4))
        assert Spot("shop/cart.py", 5, 15) in found
        assert len(found) == len(USES) - 1


def test_the_sample_is_the_same_each_time_and_leaves_tests_out(tree: Path) -> None:
    (tree / "tests").mkdir()
    (tree / "tests" / "test_tax.py").write_text("def test_rate():\n    assert True\n")
    index = build_index(tree, store=Store(None), workers=1)
    names = [each.name for each in sample(index, {"python"}, 100)]
    assert sorted(names) == ["Cart", "both", "rate", "rate", "send", "total"]
    assert names[:3] == [each.name for each in sample(index, {"python"}, 3)]


def test_a_line_belongs_to_the_innermost_definition(tree: Path) -> None:
    index = build_index(tree, store=Store(None), workers=1)
    cart = index.file_id("shop/cart.py")
    assert cart is not None
    found = {line: enclosing(index, cart, line) for line in (1, 4, 6, 9)}
    names = {line: index.qualified_name(cart, row) if row >= 0 else "" for line, row in found.items()}
    assert names == {1: "", 4: "Cart", 6: "Cart.total", 9: "TABLE"}


@pytest.mark.parametrize(
    ("language", "source", "column", "kind"),
    [
        ("python", "from a import b", 14, SiteKind.IMPORT),
        ("python", "a.b(1)", 2, SiteKind.CALL),
        ("python", "x = a.b", 6, SiteKind.USE),
        ("python", "f(a.b)", 4, SiteKind.USE),
        ("python", "é = 1  # b", 9, SiteKind.TEXT),
        ("typescript", "import { b } from 'c';", 9, SiteKind.IMPORT),
        ("typescript", "new a.B<C>()", 6, SiteKind.CALL),
        ("go", "var _ = b.C(1)", 10, SiteKind.CALL),
        ("java", "class A { void f() { new B<C>(); } }", 25, SiteKind.CALL),
        ("java", "class A { void f() { b.c(); } }", 23, SiteKind.CALL),
        ("rust", "fn f() { a::b::<C>(1); }", 12, SiteKind.CALL),
        ("rust", "fn f() { assert!(g(1)); }", 17, SiteKind.CALL),
        ("cpp", "void f() { a::b<int>(1); c->d(); }", 14, SiteKind.CALL),
        ("cpp", "void f() { a::b<int>(1); c->d(); }", 28, SiteKind.CALL),
    ],
)
def test_what_stands_at_a_place_is_told_by_its_syntax(
    language: str, source: str, column: int, kind: SiteKind
) -> None:
    assert SourceSites(source.encode(), language).kind_at(0, column) is kind
