"""From a model's answer to files: programs, edits, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agents.blocks import CandidateError, apply_edits, edits_of, program_of


@pytest.mark.parametrize(
    "answer",
    [
        "Because.\n```python\nx = 1\n```\n",
        'Because.\n```json\n{"code": "x = 1\\n"}\n```\n',
        "```\nx = 1\n```",
        "x = 1\n",
        "```bash\nls\n```\nand\n```py\nx = 1\n```",
    ],
)
def test_a_program_is_found_in_whatever_it_is_wrapped(answer: str) -> None:
    assert program_of(answer) == "x = 1\n"


def test_an_answer_without_a_program_is_refused() -> None:
    with pytest.raises(CandidateError, match="no complete Python program"):
        program_of("The function to mend is not in what was retrieved.")


def _edited(tmp_path: Path, old: str, new: str, source: str) -> str:
    (tmp_path / "a.py").write_text(source)
    answer = f"Why.\n```python a.py\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"
    assert apply_edits(edits_of(answer), tmp_path, ()) == ["a.py"]
    return (tmp_path / "a.py").read_text()


def test_an_edit_replaces_the_lines_it_names(tmp_path: Path) -> None:
    assert _edited(tmp_path, "y = 2", "y = 3", "x = 1\ny = 2\n") == "x = 1\ny = 3\n"


def test_an_edit_finds_lines_whose_indentation_differs(tmp_path: Path) -> None:
    edited = _edited(tmp_path, "y = 2\nz = 3", "y = 4", "if x:\n    y = 2\n    z = 3\n")
    assert edited == "if x:\n    y = 4\n"


@pytest.mark.parametrize(
    ("path", "old", "why"),
    [
        ("../a.py", "x", "leads out"),
        ("/etc/hosts", "x", "leads out"),
        ("linked/a.py", "x", "leads out"),
        ("tests/test_a.py", "x", "may not be changed"),
        ("b.py", "x", "There is no file b.py"),
        ("a.py", "x = 9", "stand 0 times"),
        ("a.py", "x = 1", "stand 2 times"),
    ],
)
def test_edits_that_do_not_fit_are_refused_with_the_reason(
    tmp_path: Path, path: str, old: str, why: str
) -> None:
    root = tmp_path / "repository"
    root.mkdir()
    (root / "a.py").write_text("x = 1\nx = 1\n")
    (root / "linked").symlink_to(tmp_path)
    edits = f"```python {path}\n<<<<<<< SEARCH\n{old}\n=======\ny\n>>>>>>> REPLACE\n```"
    with pytest.raises(CandidateError, match=why):
        apply_edits(edits, root, ("tests/test_a.py",))
    assert (root / "a.py").read_text() == "x = 1\nx = 1\n"


def test_a_block_without_edits_is_the_whole_file(tmp_path: Path) -> None:
    assert apply_edits("```python new/b.py\nx = 1\n```", tmp_path, ()) == ["new/b.py"]
    assert (tmp_path / "new/b.py").read_text() == "x = 1\n"
