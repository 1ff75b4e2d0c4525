"""``repo-navigator check``: what it prints in each form, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from repo_map.text import tokens
from repo_navigator.main import main
from tests.support.errors import refusal_of_command
from tests.support.trees import commit, git, write

FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "price.py": "def net(amount):\n    return amount\n\n\ndef gross(amount):\n    return amount * 2\n",
    "cart.py": "from price import gross\n\n\ndef total(a):\n    return gross(a)\n",
    "test_price.py": "from price import net\n\n\ndef test_net():\n    assert net(1)\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return commit(tmp_path / "shop", FILES)


def renamed(shop: Path) -> Path:
    return write(
        shop,
        {
            "price.py": FILES["price.py"]
            .replace("gross", "with_tax")
            .replace("return amount\n", "return +amount\n")
        },
    )


def test_what_is_found_is_printed_with_the_tests_to_run_and_ends_with_1(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(renamed(shop))]) == 1
    assert capsys.readouterr().out == (
        "2 places to look at:\n"
        "cart.py:1: `gross` is now `with_tax` (also line 5); use `with_tax`\n"
        "Tests: python -m pytest test_price.py::test_net\n"
        "  as test_price.py calls `net`\n"
    )


def test_nothing_to_tell_is_one_line_and_ends_with_0(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(shop)]) == 0
    assert capsys.readouterr().out == "Nothing was changed.\n"
    write(shop, {"cart.py": FILES["cart.py"] + "\n\nRATE = 1\n"})
    assert main(["check", str(shop)]) == 0
    assert capsys.readouterr().out == "Nothing found in 1 changed file.\n"


def test_a_base_and_a_range_are_checked(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(shop, "branch", "base")
    commit(renamed(shop), {})
    assert main(["check", str(shop)]) == 0
    assert main(["check", str(shop), "--since", "base", "--json"]) == 1
    assert main(["check", str(shop), "--since", "base..HEAD", "--json"]) == 1
    *_, ranged = capsys.readouterr().out.splitlines()
    assert [(each["path"], each["line"]) for each in json.loads(ranged)["findings"]] == [
        ("cart.py", 1),
        ("cart.py", 5),
    ]


def test_json_holds_every_place_the_tests_and_the_command(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uses = "".join(f"    gross({n})\n" for n in range(40))
    write(shop, {"cart.py": f"from price import gross\n\n\ndef total():\n{uses}"})
    commit(shop, {})
    main(["check", str(renamed(shop)), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert len(found["findings"]) == 41
    assert found["findings"][0] == {
        "kind": "gone-name",
        "path": "cart.py",
        "line": 1,
        "within": "",
        "name": "gross",
        "message": "`gross` is now `with_tax`",
        "action": "use `with_tax`",
        "is_sure": True,
        "cause": "price.py:5",
    }
    assert found["complete"] is True
    assert [each["path"] for each in found["tests"]] == ["test_price.py"]
    assert found["command"] == "python -m pytest test_price.py::test_net"


def test_text_stays_below_300_tokens_and_counts_what_is_left_out(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    users = {
        f"user_{n:02}.py": f"from price import gross\n\n\ndef total_{n}():\n    return gross({n})\n"
        for n in range(60)
    }
    commit(shop, users)
    assert main(["check", str(renamed(shop))]) == 1
    text = capsys.readouterr().out
    assert tokens.count(text) <= 300
    assert "122 places to look at" in text
    assert "places more: --json lists all" in text
    assert "Tests: " in text


def test_sarif_names_rules_and_places(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(renamed(shop)), "--format", "sarif"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == ["gone-name"]
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("gone-name", "error")
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "cart.py"},
        "region": {"startLine": 1},
    }


def test_github_gets_an_annotation_a_place(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(renamed(shop)), "--format", "github"])
    assert capsys.readouterr().out.splitlines() == [
        f"::error file=cart.py,line={line},title=gone-name::`gross` is now `with_tax`; use `with_tax`."
        for line in (1, 5)
    ]


def test_a_name_in_a_file_cannot_make_an_annotation_of_its_own(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "a,b%0A::error::x.py"
    commit(shop, {path: FILES["cart.py"]})
    main(["check", str(renamed(shop)), "--format", "github"])
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("::error file=") for line in lines)
    assert any("file=a%2Cb%250A%3A%3Aerror%3A%3Ax.py," in line for line in lines)


def test_what_is_not_resolved_is_said(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(shop, {"a.lua": "function f()\nend\n"})
    write(shop, {"a.lua": "function g()\nend\n"})
    main(["check", str(shop), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["complete"] is False
    (reason,) = found["left_open"]
    assert "lua" in reason


def test_a_commit_that_is_none_is_refused(shop: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert refusal_of_command(["check", str(shop), "--since", "nowhere"], capfd).code == "invalid_changes"


def test_navigate_tells_the_same_of_a_change_as_data_and_first_of_all(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["navigate", str(renamed(shop)), "--diff", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(each["kind"], each["path"], each["line"]) for each in answer["findings"]] == [
        ("gone-name", "cart.py", 1),
        ("gone-name", "cart.py", 5),
    ]
    assert answer["impact"][0] == "cart.py:1: `gross` is now `with_tax` (also line 5); use `with_tax`."
    assert any("python -m pytest test_price.py::test_net" in line for line in answer["impact"])
    assert not any("Nothing outside" in each for each in answer["impact"])


def test_the_hook_for_pre_commit_runs_this_command(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (hook,) = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    program, *arguments = hook["entry"].split()
    assert (program, hook["pass_filenames"], hook["always_run"]) == ("repo-navigator", False, True)
    monkeypatch.chdir(renamed(shop))
    assert main(arguments) == 1


def test_places_have_room_before_the_reasons_of_tests(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uses = {f"some/long/folder/of/users/user_{n}.py": FILES["cart.py"] for n in range(30)}
    tests = {f"tests/with/a/long/name/test_{n}.py": FILES["test_price.py"] for n in range(9)}
    commit(shop, {**uses, **tests})
    main(["check", str(renamed(shop))])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "62 places to look at:"
    assert sum("`gross` is now `with_tax`" in line for line in lines) >= 4


def left_open(root: Path, path: str, old: str, new: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    write(root, {path: (root / path).read_text().replace(old, new)})
    assert main(["check", str(root), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["complete"] is bool(not found["left_open"])
    return [*found["left_open"]]


def test_calls_that_may_leave_values_out_and_stayed_are_left_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "function put(a) {\n  return a;\n}\nexports.all = (x) => [put(x),\n  put(x, 2)];\n"
    root = commit(tmp_path / "tree", {"a.js": source})
    (why,) = left_open(root, "a.js", "put(a)", "put(a, b)", capsys)
    assert "a.js:4" in why
    assert "a.js:5" not in why


def test_a_method_that_is_gone_and_called_on_what_nothing_resolves_is_left_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (
        "pub struct A;\n\nimpl A {\n    pub fn poll(&self) {}\n}\n\n"
        "pub fn run(each: other::B) {\n    each.a().unwrap().poll()\n}\n"
    )
    toml = '[package]\nname = "a"\nversion = "0.1.0"\n'
    root = commit(tmp_path / "tree", {"Cargo.toml": toml, "src/lib.rs": source})
    (why,) = left_open(root, "src/lib.rs", "fn poll(", "fn read(", capsys)
    assert "src/lib.rs:8" in why


@pytest.fixture
def undecided(shop: Path) -> Path:
    commit(shop, {"fees.py": "from price import net\n\nFEES = list(map(net, [1]))\n"})
    test = FILES["test_price.py"].replace("net(1)", "net(1, 2)")
    return write(
        shop,
        {"price.py": FILES["price.py"].replace("net(amount)", "net(amount, rate)"), "test_price.py": test},
    )


def reason_of(undecided: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return why a check is not complete, as every format has it."""
    assert main(["check", str(undecided), "--json"]) == 0
    (reason,) = json.loads(capsys.readouterr().out)["left_open"]
    assert "fees.py:3" in reason
    return str(reason)


def test_github_gets_a_warning_for_each_reason_why_the_check_is_not_complete(
    undecided: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = reason_of(undecided, capsys)
    assert main(["check", str(undecided), "--format", "github"]) == 0
    warning = capsys.readouterr().out
    assert warning.startswith("::warning title=")
    assert reason in warning


def test_sarif_gets_a_note_for_each_reason_why_the_check_is_not_complete(
    undecided: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = reason_of(undecided, capsys)
    assert main(["check", str(undecided), "--format", "sarif"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is True
    (note,) = invocation["toolExecutionNotifications"]
    assert note["level"] == "note"
    assert reason in note["message"]["text"]


def test_a_strict_check_that_is_not_complete_ends_with_1(shop: Path, undecided: Path) -> None:
    assert main(["check", str(undecided)]) == 0
    assert main(["check", str(undecided), "--strict"]) == 1
    git(shop, "checkout", "-q", ".")
    assert main(["check", str(shop), "--strict"]) == 0
