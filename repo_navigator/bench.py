"""``repo-navigator bench``: the measurements that we publish, where the benchmarks are installed."""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from repo_navigator.terminal import FlagParser


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments; those of the measurement follow its name."""
    parser.add_argument("measurement", help="localize, speed, …")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the measurement")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Run the measurement."""
    del settings
    module = _measurement(options.measurement)
    parser = FlagParser(prog=f"repo-navigator bench {options.measurement}")
    module.add_arguments(parser)
    code: int | None = module.run(parser.parse_args(options.arguments))
    return code or 0


def _measurement(name: str) -> ModuleType:
    # By name: this package lies below the benchmarks, and must work without them.
    try:
        module = importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError:
        module = None
    if module is None or not hasattr(module, "add_arguments"):
        raise InvalidRequestError(
            f"There is no measurement `{name}` here; the benchmarks come with the repository, "
            "run them from its folder."
        )
    return module
