"""What a check reports of an edit: all that it breaks, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repo_map.check.check import check_changes
from repo_map.check.git_diff import read_changes
from repo_map.check.model import CheckReport
from repo_map.check.patch import read_patch
from repo_map.index.build import build_index
from repo_map.index.store import Store
from tests.repo_map.check.edit_cases import CASES, Case
from tests.repo_map.check.unresolved_cases import UNRESOLVED, Edit
from tests.support.trees import commit, git


def edited(root: Path, case: Case) -> Path:
    commit(root, case.files)
    for path, edit in case.edits.items():
        target = root / path
        if edit is None:
            target.unlink()
        else:
            old, new = edit
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(target.read_text().replace(old, new) if old else new)
    return root


def check(root: Path) -> CheckReport:
    index = build_index(root, store=Store(None), workers=1)
    return check_changes(index, read_changes(index, "worktree")[1])


def described(report: CheckReport) -> tuple[str, ...]:
    return tuple(f"{each.path}:{each.line} {each.kind} {each.message}" for each in report.findings)


def uncertain(report: CheckReport) -> tuple[str, ...]:
    """Return the places that are not resolved, and those that the limitations name without their cause."""
    listed = [f"{each.path}:{each.line}" for each in report.unresolved.likeliest]
    sentences = [re.sub(r"\([^)]*:\d+\)", "", each) for each in report.limitations]
    named = [place for each in sentences for place in re.findall(r"[\w./-]+\.\w+:\d+", each)]
    return tuple(dict.fromkeys((*named, *listed)))


@pytest.mark.parametrize("name", sorted(CASES))
def test_check_reports_what_an_edit_breaks(tmp_path: Path, name: str) -> None:
    report = check(edited(tmp_path, CASES[name]))
    assert described(report) == CASES[name].findings
    assert all(each.is_sure for each in report.findings)
    assert uncertain(report) == CASES[name].uncertain
    assert report.complete is (CASES[name].complete and not CASES[name].uncertain)


@pytest.mark.parametrize("name", ["python-renamed", "java-overload", "go", "python-module-deleted", "rust"])
def test_check_reports_the_same_of_a_patch_that_is_not_applied(tmp_path: Path, name: str) -> None:
    root = edited(tmp_path, CASES[name])
    patch = git(root, "diff", "HEAD")
    git(root, "checkout", "-q", ".")
    index = build_index(root, store=Store(None), workers=1)
    assert described(check_changes(index, read_patch(patch))) == CASES[name].findings


def test_replacement_with_another_signature_is_reported_with_its_parameters(tmp_path: Path) -> None:
    files = {
        "price.py": "def gross(amount):\n    return amount\n",
        "cart.py": "from price import gross\n\n\ndef total():\n    return gross(1)\n",
    }
    case = Case(files, {"price.py": ("def gross(amount)", "def with_tax(amount, rate)")}, ())
    found = check(edited(tmp_path, case)).findings
    assert {each.action for each in found} == {"use `with_tax`, which takes (amount, rate)"}


@pytest.mark.parametrize("name", ["check_staticmethod", "classmethod_of"])
def test_method_named_like_a_decorator_is_no_static_method(tmp_path: Path, name: str) -> None:
    source = f"class Shop:\n    def {name}(self, value):\n        return value\n"
    files = {"a.py": source, "b.py": "from a import Shop\n\n\ndef f():\n    pass\n"}
    case = Case(files, {"b.py": ("    pass", f"    return Shop().{name}(1)")}, ())
    assert check(edited(tmp_path, case)).findings == ()


@pytest.mark.parametrize(
    ("files", "edit", "place"),
    [
        (
            {"a.go": "package a\n\ntype T struct {\n\tName string\n\tAge int\n}\n"}
            | {"b.go": "package a\n\nfunc f(t T) string {\n\treturn t.Name\n}\n"},
            ("\tName string", "\tTitle string"),
            "b.go:4",
        ),
        (
            {"a.ts": "export enum Color {\n  Red = 1,\n}\nexport const limit = 1;\n"}
            | {"b.ts": "import * as a from './a';\nexport function f(x: any) {\n  return x.limit;\n}\n"},
            ("limit =", "most ="),
            "b.ts:3",
        ),
        (
            {"a.rb": "class A\n  def net\n    1\n  end\nend\n\ndef total(each)\n  each.net + 1\nend\n"},
            ("def net", "def gross"),
            "a.rb:8",
        ),
    ],
    ids=["go-field", "typescript-constant", "ruby-method"],
)
def test_unresolved_occurrence_of_a_removed_name_is_no_finding(
    tmp_path: Path, files: dict[str, str], edit: tuple[str, str], place: str
) -> None:
    report = check(edited(tmp_path, Case(files, {min(files): edit}, ())))
    assert report.findings == ()
    assert uncertain(report) == (place,)
    assert not report.complete


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(each, id=f"{why}-{name}")
        for why, edits in UNRESOLVED.items()
        for name, each in edits.items()
    ],
)
def test_edit_with_users_that_nothing_resolves_is_not_all_clear(tmp_path: Path, edit: Edit) -> None:
    commit(tmp_path, edit.files)
    for path, text in edit.files.items():
        if text.startswith("\ufeffutf-16\n"):
            (tmp_path / path).write_bytes(text.replace("utf-16", "#").encode("utf-16-le"))
            git(tmp_path, "commit", "-qam", "as UTF-16")
    command, _, place = edit.setup.partition(" ")
    if command == "skip":
        git(tmp_path, "update-index", "--skip-worktree", place)
        (tmp_path / place).unlink()
    elif command == "link":
        head = git(tmp_path, "rev-parse", "HEAD").strip()
        git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{head},{place}")
        git(tmp_path, "commit", "-qm", "link")
        (tmp_path / place).mkdir(parents=True)
    target = tmp_path / edit.path
    target.write_text(target.read_text().replace(edit.old, edit.new))
    report = check(tmp_path)
    named = [f"{each.path}:{each.line}" for each in report.findings]
    named += [f"{each.path}:{each.line}" for each in report.unresolved.likeliest]
    is_noted = ":" not in edit.place and any(edit.place in note for note in report.unresolved.notes)
    assert edit.place in named or is_noted
    assert report.findings or not report.complete


def test_check_that_runs_out_of_time_is_not_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repo_map.check.trees._MAX_SECONDS", 0.0)
    case = CASES["python-renamed"]
    report = check(edited(tmp_path, case))
    assert not report.complete
    assert report.limitations


def test_check_of_many_new_functions_finds_their_wrong_calls(tmp_path: Path) -> None:
    many = "".join(f"def f{at}(x):\n    return net(x)\n" for at in range(3_000))
    case = Case(
        {"a.py": "def net(a):\n    return a\n"}, {"a.py": ("return a\n", f"return a\n{many}net()\n")}, ()
    )
    report = check(edited(tmp_path, case))
    assert described(report) == ("a.py:6003 arguments the call of `net` does not fit: `a` is missing",)


def test_files_that_are_not_checked_out_are_not_changed(tmp_path: Path) -> None:
    commit(tmp_path, CASES["python-renamed"].files)
    git(tmp_path, "sparse-checkout", "set", "--no-cone", "/price.py")
    report = check(tmp_path)
    assert (report.changed, report.complete) == ((), True)


def test_package_whose_main_is_missing_is_not_all_clear(tmp_path: Path) -> None:
    files = {"p/package.json": '{"name": "p", "main": "src/index.js"}', "p/src/index.js": "exports.net = 1\n"}
    edits = {"p/package.json": ("src/index.js", "dist/index.js")}
    report = check(edited(tmp_path, Case(files, edits, ())))
    assert not report.complete
    assert "`dist/index.js`" in report.limitations[0]
