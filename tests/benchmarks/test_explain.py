"""How likely a fix is to a model: the true lines, the wire and the rows, on a server that we script."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.__main__ import main
from benchmarks.answers import Result
from benchmarks.small_model.explain import Explained, cut_lines, head_of, table
from benchmarks.small_model.fixes import fix_of
from benchmarks.small_model.likelihood import LikelihoodError, bits_of
from benchmarks.small_model.sampling import sampled
from benchmarks.tasks import GoldSpan, Task
from tests.support.maps import HEADER
from tests.support.providers.server import Answer, LoopbackServer, Reply
from tests.support.trees import commit, git

OLD = "def rate_of(country):\n    return RATES[country]\n"
NEW = "def rate_of(country):\n    code = country.lower()\n    return RATES[code]\n"


class EchoServer(LoopbackServer):
    """Repeats a prompt word by word; a word that it has read before costs one bit, another one eight."""

    def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
        self.paths.append(path)
        self.requests.append(request)
        offsets, likely, seen, at = [], [], set(), 0
        for word in request["prompt"].split(" "):
            offsets.append(at)
            likely.append(-math.log(2) * (1 if word.strip() in seen else 8))
            seen.add(word.strip())
            at += len(word) + 1
        logprobs = {"text_offset": offsets, "token_logprobs": [None, *likely[1:]]}
        return Reply({"choices": [{"text": request["prompt"], "logprobs": logprobs}]})


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    folder = tmp_path / "mirrors"
    commit(folder / "ada+shop", {"shop/tax.py": OLD})
    return folder


@pytest.fixture
def task(mirrors: Path) -> Task:
    mirror = mirrors / "ada+shop"
    base = git(mirror, "rev-parse", "HEAD").strip()
    commit(mirror, {"shop/mail.py": "def send(to):\n    return to\n"})
    commit(mirror, {"shop/tax.py": NEW})
    return Task(
        id="ada__shop-1",
        repo="ada/shop",
        base_commit=base,
        language="Python",
        goal="rate_of fails for `NO`",
        gold_files=["shop/tax.py"],
        gold_spans=[GoldSpan("shop/tax.py", 2, 2, insert=False)],
    )


def test_the_fix_is_the_commit_that_edits_the_lines_of_the_task(task: Task, mirrors: Path) -> None:
    fix = fix_of(task, mirrors)
    assert fix is not None
    assert fix.commit == git(mirrors / "ada+shop", "rev-parse", "HEAD").strip()
    assert (fix.path, fix.added) == ("shop/tax.py", "    code = country.lower()\n    return RATES[code]\n")


def test_a_history_without_such_a_commit_has_no_fix(task: Task, mirrors: Path) -> None:
    other = msgspec.structs.replace(task, gold_spans=[GoldSpan("shop/tax.py", 1, 1, insert=True)])
    assert fix_of(other, mirrors) is None


def test_bits_are_those_of_the_text_alone() -> None:
    with EchoServer() as server:
        found = bits_of(f"{server.url}/v1", "local", "one two\nthree\n", "four one five ")
    assert server.paths == ["/v1/completions"]
    assert (found.tokens, found.bits) == (2, pytest.approx(9))


def test_a_server_that_repeats_no_prompt_is_told_in_a_sentence() -> None:
    class Silent(LoopbackServer):
        def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
            return Reply({"choices": [{"text": "", "logprobs": None}]})

    with Silent() as server, pytest.raises(LikelihoodError, match="gives no likelihood of a prompt"):
        bits_of(f"{server.url}/v1", "local", "a\n", "b\n")


def test_each_context_is_measured_once_and_the_table_pairs_them(
    task: Task, mirrors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, answers, out = tmp_path / "tasks.jsonl", tmp_path / "answers", tmp_path / "rows.jsonl"
    file.write_bytes(msgspec.json.encode(task))
    answers.mkdir()
    shown = {
        "navigator": f"{HEADER} shop/tax.py\n code = country.lower()\n",
        "BM25 functions": "### shop/mail.py\n",
    }
    lines = [Result(task.id, system, 500, context, [], 0.1) for system, context in shown.items()]
    (answers / "tasks.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    with EchoServer() as server:
        asked = [
            *("explain", str(file), "--answers", str(answers), "--out", str(out), "--tokens", "500"),
            *("--url", f"{server.url}/v1", "--mirrors", str(mirrors), "--trees", str(tmp_path / "trees")),
        ]
        assert main(asked) == 0
        first = capsys.readouterr().out
        assert len(server.requests) == 4
        assert main(asked) == 0
        assert len(server.requests) == 4
    assert capsys.readouterr().out == first
    assert "| BM25 functions | 500 | 1 |" in first
    assert "1 of 1 |" in first
    prompts = [request["prompt"] for request in server.requests]
    assert all(prompt.startswith("The task:\nrate_of fails") for prompt in prompts)
    assert all(prompt.endswith("    return RATES[code]\n") for prompt in prompts)
    assert sum("return RATES[country]" in prompt for prompt in prompts) == 1  # the head of the edited file


def test_a_context_that_makes_the_fix_likelier_has_fewer_bits_a_token() -> None:
    rows = [
        Explained(str(at), "Go", system, budget, bits, 10, 100, 1.0, "")
        for at in range(3)
        for system, budget, bits in (("navigator", 500, 20.0), ("nothing", 0, 30.0 + at))
    ]
    text = table(rows)
    assert "| navigator | 500 | 3 | 2.00 |  |  |" in text
    assert "| nothing | 500 | 3 | 3.10 | +1.10 [+1.00, +1.20] | 3 of 3 |" in text


def test_the_head_of_a_file_is_whole_lines_within_the_budget() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    assert head_of("a.py", text, 20).startswith("### a.py\nline 0\nline 1\n")
    assert "line 30" not in head_of("a.py", text, 20)


def test_a_long_fix_is_cut_between_lines() -> None:
    assert cut_lines("one\ntwo\nthree\n", 9) == "one\ntwo\n"
    assert cut_lines("a line that is longer\n", 5) == "a line that is longer\n"


def test_a_sample_takes_each_language_in_turn(task: Task) -> None:
    tasks = [
        msgspec.structs.replace(task, id=f"{language}-{number}", language=language)
        for language in ("Go", "C", "Rust")
        for number in range(4)
    ]
    languages = [each.language for each in sampled(tasks, 6)]
    assert sorted(languages[:3]) == sorted(languages[3:]) == ["C", "Go", "Rust"]
    assert sampled(tasks, 6) == sampled(list(reversed(tasks)), 6)
