"""``repo-navigator check``: what it prints in each form, and how it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
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
    for since in ("base", "base..HEAD"):
        assert main(["check", str(shop), "--since", since, "--json"]) == 1
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["findings"]
    assert [(each["path"], each["line"]) for each in found] == [("cart.py", 1), ("cart.py", 5)]
    assert refusal_of_command(["check", str(shop), "--since", "nowhere"], capsys).code == "invalid_changes"


def test_json_holds_every_place_the_tests_and_the_command(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", str(renamed(shop)), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert len(found["findings"]) == 2
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


def test_text_with_long_places_still_says_what_is_not_resolved_and_what_to_run(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "calculate_the_total_of_a_very_long_order_with_all_of_its_taxes"
    users = {
        f"{long}_{n}.py": f"from till import Till\n\n\ndef {long}_{n}():\n    return Till().gross({n})\n"
        for n in range(4)
    }
    opened = {f"open_{n}.py": "def total(order):\n    return order.till.gross(1)\n" for n in range(4)}
    test = "from till import Till\n\n\ndef test_gross():\n    assert Till().gross(1)\n"
    till = "class Till:\n    def gross(self, amount):\n        return amount * 2\n"
    commit(shop, {**users, **opened, "test_till.py": test, "till.py": till})
    (shop / "till.py").write_text(till.replace("self, ", "self, currency, "))
    assert main(["check", str(shop), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert main(["check", str(shop)]) == 1
    text = capsys.readouterr().out
    likeliest = found["unresolved"]["likeliest"][0]
    assert found["tests"]
    assert f"{likeliest['path']}:{likeliest['line']}" in text
    assert found["tests"][0]["path"] in text
    assert tokens.count(text) <= 300


def test_sarif_and_annotations_name_each_place(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(renamed(shop)), "--format", "sarif"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == ["gone-name"]
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("gone-name", "error")
    place = first["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "cart.py"}, "region": {"startLine": 1}}
    main(["check", str(shop), "--format", "github"])
    assert capsys.readouterr().out.splitlines() == [
        f"::error file=cart.py,line={line},title=gone-name::`gross` is now `with_tax`; use `with_tax`."
        for line in (1, 5)
    ]


def test_a_name_in_a_file_cannot_make_an_annotation_of_its_own(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "a,b%0A::error::x.py"
    commit(shop, {path: FILES["cart.py"]})
    commit(shop, {"::error::y.py": FILES["cart.py"]})
    main(["check", str(renamed(shop))])
    assert not any(line.lstrip().startswith("::") for line in capsys.readouterr().out.splitlines())
    main(["check", str(shop), "--format", "github"])
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("::error file=") for line in lines)
    assert any("file=a%2Cb%250A%3A%3Aerror%3A%3Ax.py," in line for line in lines)


def test_what_is_not_resolved_is_said(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(shop, {"a.lua": "function f()\nend\n"})
    write(shop, {"a.lua": "function g()\nend\n"})
    main(["check", str(shop), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["complete"] is False
    assert "lua" in found["left_open"][0]


def test_navigate_tells_the_same_of_a_change_as_data_and_first_of_all(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["navigate", str(renamed(shop)), "--diff", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["line"] for each in answer["findings"]] == [1, 5]
    assert answer["impact"][0] == "cart.py:1: `gross` is now `with_tax` (also line 5); use `with_tax`."
    assert any("python -m pytest test_price.py::test_net" in line for line in answer["impact"])


def test_the_hook_for_pre_commit_runs_this_command(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (hook,) = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    program, *arguments = hook["entry"].split()
    assert (program, hook["pass_filenames"], hook["always_run"]) == ("repo-navigator", False, True)
    monkeypatch.chdir(renamed(shop))
    assert main(arguments) == 1


@pytest.fixture
def undecided(shop: Path) -> Path:
    commit(shop, {"fees.py": "from price import net\n\nFEES = list(map(net, [1]))\n"})
    price = FILES["price.py"].replace("net(amount)", "net(amount, rate)")
    return write(
        shop, {"price.py": price, "test_price.py": FILES["test_price.py"].replace("net(1)", "net(1, 2)")}
    )


def test_each_format_has_the_reasons_why_a_check_is_not_complete(
    undecided: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("--json", "--format=github", "--format=sarif"):
        assert main(["check", str(undecided), form]) == 0
    data, warning, sarif = capsys.readouterr().out.splitlines()
    (reason,) = json.loads(data)["left_open"]
    assert "fees.py:3" in reason
    assert warning.startswith("::warning title=")
    assert reason in warning
    (run,) = json.loads(sarif)["runs"]
    (invocation,) = run["invocations"]
    (note,) = invocation["toolExecutionNotifications"]
    assert (run["results"], note["level"]) == ([], "note")
    assert reason in note["message"]["text"]


def test_a_strict_check_that_is_not_complete_ends_with_1(shop: Path, undecided: Path) -> None:
    assert main(["check", str(undecided)]) == 0
    assert main(["check", str(undecided), "--strict"]) == 1
    git(shop, "checkout", "-q", ".")
    assert main(["check", str(shop), "--strict"]) == 0


def _refuse(capsys: pytest.CaptureFixture[str], *commands: list[str]) -> Iterator[str]:
    for command in commands:
        assert main(command) in (2, 3), command
        yield capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives a folder to another user")
def test_gits_reason_for_a_refusal_is_given_with_the_command_that_helps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = commit(tmp_path / "repo", {"a.py": "def weigh(box):\n    return box.kg\n"})
    for path in (root, root / ".git"):
        os.chown(path, 12345, 12345)
    here = str(root)
    goal = ["--goal", "weigh"]
    for told in _refuse(
        capsys,
        ["check", here],
        ["check", here, "--since", "HEAD"],
        ["navigate", f"{here}@HEAD", *goal],
        ["navigate", here, "--diff", *goal],
    ):
        assert f"git config --global --add safe.directory {here}" in told
    assert main(["ask", "history", "a.py", "--repo", here]) == 0
    assert "safe.directory" in capsys.readouterr().out


def test_a_commit_without_objects_in_a_partial_clone_names_the_command_that_fetches_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    origin = tmp_path / "origin"
    for number in range(3):
        commit(origin, {"settle.py": f"def settle(n):\n    return n * {number}\n"})
    git(origin, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git(origin, "clone", "-q", "--filter=blob:none", f"file://{origin}", str(partial))
    goal = ["--goal", "settle"]
    # An older git refuses a commit without its objects, a newer one lists it.
    for arguments, note in (
        (["navigate", f"{partial}@HEAD~2", *goal], "not in this clone"),
        (["check", str(partial), "--since", "HEAD~2"], "could not be followed"),
    ):
        code, printed = main(arguments), "".join(capsys.readouterr())
        assert (f"git -C {partial} fetch --refetch --no-filter" if code else note) in printed
    git(partial, "config", "extensions.unknown", "true")
    for told in _refuse(capsys, ["check", str(partial)], ["navigate", f"{partial}@HEAD", *goal]):
        assert "unknown repository extension" in told
    git(origin, "config", "--file", str(partial / ".git/config"), "--unset", "extensions.unknown")
    git(partial, "fetch", "-q", "--refetch", "--no-filter")
    assert main(["navigate", f"{partial}@HEAD~2", *goal]) == 0


def test_one_place_of_each_kind_is_printed_before_others(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shape = "class Shape:\n    def area(self, unit):\n        return unit\n"
    square = (
        "from shape import Shape\n\n\nclass Square(Shape):\n    def area(self, unit):\n        return 2\n"
    )
    files = {
        f"call_{at:02}.py": "from shape import Shape\n\n\ndef go():\n    return Shape().area(1)\n"
        for at in range(30)
    }
    commit(shop, {"shape.py": shape, "square.py": square, **files})
    write(shop, {"shape.py": shape.replace("self, unit", "self, unit, scale")})
    assert main(["check", str(shop)]) == 1
    text = capsys.readouterr().out
    assert "call_00.py:5" in text
    assert "square.py:5" in text
    assert "places more: --json lists all" in text


@pytest.mark.parametrize(
    "arguments", [["check"], ["check", "."], ["check", "--since", "main"], ["navigate", ".", "--diff"]]
)
def test_a_folder_outside_git_ends_with_the_code_of_a_missing_repository(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write(tmp_path / "plain", FILES))
    assert main([*arguments, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "repository_not_found"
    cache = Path(os.environ["REPO_NAVIGATOR_CACHE"])
    assert not [each for each in cache.rglob("*") if each.is_file()]  # Nothing was indexed.


def test_a_repository_without_the_commit_ends_with_bad_input(shop: Path) -> None:
    assert main(["check", str(shop), "--since", "nope"]) == 2
