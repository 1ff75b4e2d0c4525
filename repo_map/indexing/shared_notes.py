"""Which notes on a file follow from its bytes alone, so that they hold on every machine."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = r"\d{1,3}(?:,\d{3})*"
_DECIDED_BY_BYTES: Final = re.compile(
    f"a line of {_NUMBER} bytes is longer than {_NUMBER}; no symbols were read"
    f"|{_NUMBER} bytes are more than the {_NUMBER} that are parsed; no symbols were read"
    f"|{_NUMBER} blocks after the first {_NUMBER} were left out"
    f"|more than {_NUMBER} (?:definitions|names are used in it|imports|uses and bindings of names)"
    f"; the first {_NUMBER} were read"
)


def is_decided_by_bytes(note: str) -> bool:
    """Say whether a note on a file follows from its bytes and the limits.

    Others tell what happened: a grammar that took too long for this machine, or crashed. Elsewhere the file
    may be read whole.
    """
    return _DECIDED_BY_BYTES.fullmatch(note) is not None
