"""Relations that the index states, held against language servers: ``python -m benchmarks relations``."""

from benchmarks.relations.command import add_arguments, run

__all__ = ["add_arguments", "run"]
