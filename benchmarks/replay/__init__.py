"""Public runs of real agents, replayed with a packet in their first prompt: what would it have saved?"""

from benchmarks.replay.command import add_arguments, run

__all__ = ["add_arguments", "run"]
