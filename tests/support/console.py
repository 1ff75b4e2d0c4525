"""Console sessions in documents, which tests run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^<!-- file: (?P<path>\S+) -->\n```\w*\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


class Entry(NamedTuple):
    """One command of a session, and what the document says that it prints on stdout."""

    command: str
    printed: str


def entries(document: str) -> Iterator[Entry]:
    """Yield the commands of a document's ``console`` blocks, in order."""
    for block in _BLOCK.findall(document):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield Entry(command, printed)


def files(document: str) -> dict[str, str]:
    """Return the files that a document shows below ``<!-- file: path -->``, by path."""
    return {match["path"]: match["text"] for match in _FILE.finditer(document)}


def run(command: str, folder: Path) -> str:
    """Run a command as a shell would, with this environment's programs first, and return its stdout.

    Raises:
        subprocess.CalledProcessError: when the command fails.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode()
