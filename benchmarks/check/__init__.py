"""``python -m benchmarks check``: what the check of an edit finds in real commits."""

from __future__ import annotations

from benchmarks.check.command import add_arguments, run

__all__ = ["add_arguments", "run"]
