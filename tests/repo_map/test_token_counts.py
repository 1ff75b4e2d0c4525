"""Tokens are counted alike by the tokenizers and by what is kept of their vocabularies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from repo_map.derived_arrays import recall_arrays
from repo_map.outline.rendering import ELISION, MARK
from repo_map.text import tokens, vocabulary
from repo_map.text.vocabulary import Vocabularies

ROOT = Path(__file__).parents[2]
SIGNS = ELISION + MARK + "  \n\n\t\r/ ;'\"(){}[]<>=.,:_-+*…→«»éÉßñÀ09sStTlLdDABxyz"
WORDS = ["don't", "IT'S", "camelCase", "HTTPServer", "\n/", "//", "12345", "  ", "\n"]
TEXTS = st.one_of(
    st.text(SIGNS, max_size=40),
    st.text(max_size=20),
    st.lists(
        st.sampled_from(["don't", "IT'S", "camelCase", "HTTPServer", "\n/", "//", "12345", "  ", "\n"])
    ).map("".join),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("cache")
    program = f"from pathlib import Path; from repo_map.text import tokens; tokens.keep(Path({str(found)!r}))"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
    return found


@pytest.fixture(scope="module")
def kept(folder: Path) -> Vocabularies:
    arrays = recall_arrays(folder, "vocabularies-1")
    assert arrays is not None
    return Vocabularies(arrays)


@settings(deadline=None)
@given(text=TEXTS)
@example(text="}\n/foo")
@example(text="}\n/abc\n   \n x")
@example(text="abc'street  \n  ")
def test_any_text_counts_as_the_tokenizers_count_it_or_is_left_to_them(kept: Vocabularies, text: str) -> None:
    assert kept.counts(text) in (None, tokens.counts(text))


def test_the_sources_of_the_product_are_counted_without_the_tokenizers(kept: Vocabularies) -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "repo_map/text").glob("*.py"))]
    assert [kept.counts(text) for text in sources] == [tokens.counts(text) for text in sources]


def test_letters_of_other_scripts_digits_and_very_long_words_are_left_to_the_tokenizers(
    kept: Vocabularies,
) -> None:
    assert [kept.counts(text) for text in ("漢字", "x²", "e\u0301", "a" * 3_000, " " * 3_000)] == [None] * 5


def test_what_many_words_were_counted_by_is_forgotten_and_counts_go_on(
    kept: Vocabularies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "_MOST_WORDS", 10)
    texts = [f"word{chr(97 + number % 26)}{number} other_{number}\n" for number in range(60)]
    assert [kept.counts(text) for text in texts] == [tokens.counts(text) for text in texts]


def test_a_process_that_finds_them_kept_loads_no_tokenizer(folder: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from repo_map.text import tokens; "
        f"tokens.load(Path({str(folder)!r})); print(tokens.count('def pack(): …'), 'splintr' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], check=True, cwd=ROOT, capture_output=True, text=True
    )
    assert ended.stdout.split() == [str(tokens.count("def pack(): …")), "False"]
