"""The ``repo-map`` command as its users meet it: text, JSON, exit codes and one-sentence errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from repo_navigator.map_main import main
from tests.support.maps import HEADER
from tests.support.trees import write

FILES = {
    "src/app.py": "class App:\n    def run_forever(self):\n        return 1\n",
    "src/util.py": "def helper_function():\n    return 2\n",
    "docs/guide.md": "# Guide\n\nWords.\n",
}


FULL = "The output can't be written: No space left on device; make room there, or write elsewhere.\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", FILES)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_map_goes_to_stdout_and_what_to_know_of_it_to_stderr(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "generate", repo)
    assert code == 0
    assert "src/app.py\nclass App:\n    def run_forever(self):\n\n" in out
    assert err.startswith("repo-map: ")
    assert "of 20,000 tokens, 3 files" in err


def test_rules_focus_and_budget_come_from_options(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("-v", "**:path", "-v", "src/util.py:4", "--focus", "docs/**:9", "--tokens", 500, "-q")
    code, out, err = run(capsys, "generate", repo, *arguments)
    assert (code, err) == (0, "")
    assert out == f"{HEADER} src/util.py\ndef helper_function():\n    return 2\n\ndocs/guide.md\nsrc/app.py\n"


def test_options_come_after_the_rules_of_a_plan_file(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = repo.parent / "plan.yaml"
    plan.write_text("budget: 300\nverbosity: [{pattern: '**', level: 0}, {pattern: 'src/**', level: 1}]\n")
    assert run(capsys, "generate", repo, "-C", plan, "-q")[1] == "src/app.py\nsrc/util.py\n"
    assert run(capsys, "generate", repo, "-C", plan, "-q", "-v", "src/app.py:0")[1] == "src/util.py\n"


def test_json_carries_the_map_and_everything_about_it(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "generate", repo, "--json", "--tokens", 25)
    data = json.loads(out)
    assert code == 0
    assert data["tokens"] <= data["token_budget"] == 25
    assert {"map", "files", "cuts", "left_out", "excluded", "fingerprint", "notes", "problems"} <= data.keys()


def test_costs_are_listed_by_file_and_glob(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "costs", repo)
    names = [line.split()[0] for line in out.splitlines()[1:-2]]
    assert names == ["src/app.py", "src/util.py", "docs/guide.md"]
    assert out.endswith("tokens per level, counted\n")
    rows = json.loads(run(capsys, "costs", repo, "--by", "glob", "--glob", "**/*.py", "--json")[1])["rows"]
    assert [(row["name"], row["files"]) for row in rows] == [("**/*.py", 2)]
    assert "src/util.py" in run(capsys, "costs", repo, "--by", "file", "--glob", "src/**")[1]


def test_a_plan_is_priced_before_it_is_drawn(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = repo.parent / "plan.yaml"
    plan.write_text("verbosity: [{pattern: '**', level: 4}]\n")
    priced = json.loads(run(capsys, "costs", repo, "-C", plan, "--json")[1])["plan"]
    drawn = json.loads(run(capsys, "generate", repo, "-C", plan, "--json")[1])["tokens"]
    assert abs(priced - drawn) <= 2


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("generate", "{repo}/zzz"), 3, "zzz"),
        (
            ("generate", "{repo}", "-C", "{repo}/zzz.yaml"),
            2,
            "zzz.yaml`: No such file or directory; check the path.",
        ),
        (("generate", "{repo}", "-v", "src/**"), 2, "`-v src/**` is not a rule; write GLOB:LEVEL"),
        (("generate", "{repo}", "-v", "src/[a:3"), 2, "opens a `[` that it never closes"),
        (("generate", "{repo}", "-v", "src/**:7"), 2, "`verbosity[0].level` is 7"),
        (("generate", "{repo}", "--tokens", "1"), 2, "A budget of 1 token can't hold"),
        (("generate", "{repo}", "--tokens", "9", "-v", "**:4", "--strict"), 2, "The plan's rules need"),
        (("costs", "{repo}/src/app.py"), 3, "app.py"),
    ],
)
def test_bad_input_gets_one_sentence_and_an_exit_code(
    repo: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    given = [argument.replace("{repo}", str(repo)) for argument in arguments]
    found, out, err = run(capsys, *given)
    assert (found, out) == (code, "")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_gets_one_sentence(repo: Path) -> None:
    command = f"{sys.executable} -m repo_navigator.map_main generate {repo} -q > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"repo-map: {FULL}")


def test_ctrl_c_ends_with_5_and_one_line(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal:
        @property
        def buffer(self) -> Terminal:
            return self

        def read(self, _: int = -1) -> bytes:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert run(capsys, "generate", repo, "-C", "-") == (5, "", "repo-map: cancelled\n")
