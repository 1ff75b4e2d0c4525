"""The server that repeats a prompt with its likelihoods, on a model that we script."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from benchmarks.small_model.echo_server import open_server
from benchmarks.small_model.likelihood import LikelihoodError, bits_of


class BytePairs:
    """Reads two bytes at a time, so that a token may end within a letter; each costs a nat."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def tokens(self, text: str) -> list[int]:
        data = text.encode()
        return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]

    def piece(self, token: int) -> bytes:
        return token.to_bytes(2, "big").lstrip(b"\0")

    def log_likelihoods(self, tokens: Sequence[int], first: int) -> list[float]:
        if len(tokens) > 20:
            raise ValueError(f"{len(tokens)} tokens are more than 20")
        self.asked.append(len(tokens) - first)
        return [-1.0] * (len(tokens) - first)


@pytest.fixture
def model() -> BytePairs:
    return BytePairs()


@pytest.fixture
def url(model: BytePairs) -> Iterator[str]:
    with open_server(model, 0) as server:
        running = threading.Thread(target=server.serve_forever)
        running.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        running.join()


def test_only_the_tokens_of_the_text_are_asked_for(model: BytePairs, url: str) -> None:
    found = bits_of(url, "local", "befor\n", "fix it\n")
    assert (found.before, found.tokens) == (3, 4)
    assert found.bits == pytest.approx(4 / 0.6931, rel=1e-3)
    assert model.asked == [4]


def test_letters_of_several_bytes_move_no_token_across_the_line(url: str) -> None:
    # Twelve bytes in nine letters: one token ends within the second letter.
    found = bits_of(url, "local", "a▲é bcde\n", "é = 1\n")
    assert (found.before, found.tokens) == (6, 4)


def test_a_prompt_that_is_too_long_is_told_and_the_server_lives_on(url: str) -> None:
    with pytest.raises(LikelihoodError, match="gives no likelihood of a prompt"):
        bits_of(url, "local", "long " * 20 + "\n", "fix\n")
    assert bits_of(url, "local", "befor\n", "fix\n").tokens == 2
