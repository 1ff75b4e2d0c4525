"""Secrets of known formats become asterisks; nothing else changes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_map.secrecy.masking import mask, mask_text
from tests.support.secrets import IN_CONTEXT, PRIVATE_KEY_BODY, SECRETS

ORDINARY = """
url = "http://user:password@localhost/"; other = "https://{user}:{password}@host"
DSN = "postgres://postgres:postgres@db/test"; api_key = get_secret_key()
token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"  # a placeholder
sha = "3f786850e387550fdab836ed7e6dc881de23001b"; uuid = "123e4567-e89b-12d3-a456-426614174000"
integrity = "sha512-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"
def test_the_begin_line(pem): assert "-----BEGIN PRIVATE KEY-----" in pem
class APCompliance: pass
"""


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_of_a_known_format_is_masked_byte_for_byte(kind: str) -> None:
    secret = SECRETS[kind]
    masked = mask(f'first = 1\nkey = "{secret}"\nlast = 2\n'.encode())
    assert masked.kinds == (kind,)
    assert masked.source.decode() == f'first = 1\nkey = "{"*" * len(secret)}"\nlast = 2\n'


@pytest.mark.parametrize("kind", IN_CONTEXT)
def test_of_a_secret_that_its_context_tells_only_the_value_is_masked(kind: str) -> None:
    line, secret = IN_CONTEXT[kind].split("|")
    masked = mask(line.format(secret).encode())
    assert masked.kinds == (kind,)
    assert masked.source.decode() == line.format("*" * len(secret))


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\\n"])
@pytest.mark.parametrize("name", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"])
def test_a_private_key_keeps_its_frame_and_counts_once(name: str, line_break: str) -> None:
    text = f"-----BEGIN {name}-----\n{PRIVATE_KEY_BODY}\n-----END {name}-----\n".replace("\n", line_break)
    masked = mask(text.encode())
    assert masked.kinds == ("private key",)
    told = masked.source.decode()
    assert told.startswith(f"-----BEGIN {name}-----{line_break}*")
    assert told.endswith(f"*{line_break}-----END {name}-----{line_break}")
    assert set(told.split("-----")[2]) <= set("*\r\n\\n")


def test_ordinary_code_stays_as_it_is() -> None:
    assert mask(ORDINARY.encode()) == (ORDINARY.encode(), ())


def test_masking_what_is_masked_changes_nothing() -> None:
    text = "\n".join(SECRETS.values()).encode()
    once = mask(text).source
    assert mask(once) == (once, ())


def test_a_secret_in_a_line_without_end_is_found_wherever_it_stands() -> None:
    secret = SECRETS["GitHub token"]
    for place in (0, 1_490, 3_000, 70_000):
        line = "ghp_ " * (place // 5) + secret + " ghp_" * 1_000
        assert secret not in mask_text(line)


@given(st.binary(max_size=400), st.sampled_from([*SECRETS.values()]), st.binary(max_size=400))
def test_any_bytes_keep_their_length_and_lines(before: bytes, secret: str, after: bytes) -> None:
    source = before + b"\n" + secret.encode() + b"\n" + after
    masked = mask(source)
    assert len(masked.source) == len(source)
    assert [at for at, byte in enumerate(source) if byte in b"\r\n"] == [
        at for at, byte in enumerate(masked.source) if byte in b"\r\n"
    ]
    assert secret.encode() not in masked.source


@pytest.mark.parametrize(
    "piece",
    [b"eyJ", b"://a:b", b"_authToken=//", b"-----BEGIN PRIVATE KEY-----abcd ", b"SG.", b":", b"xoxb-1-"],
)
def test_a_hostile_file_costs_time_in_proportion_to_its_size(piece: bytes) -> None:
    started = time.process_time()
    mask(piece * (300_000 // len(piece)))
    # A quadratic search takes minutes here; the bound is loose, for a slow machine.
    assert time.process_time() - started < 10
