"""``python -m tests.goldens``: write what the product prints today."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.goldens.capture import DATA, captures

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        found = captures(Path(scratch))
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir()
    for name, text in found.items():
        (DATA / name).write_text(text, encoding="utf-8")
