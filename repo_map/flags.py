"""Command lines that name a misspelt flag first, and the version that they tell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

PACKAGE = "repo-navigator"


class FlagParser(argparse.ArgumentParser):
    """A parser that names an unknown flag first: the usual one complains of what is missing because of it."""

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse, or end with 2 and one line on the first flag that is unknown."""
        arguments = sys.argv[1:] if args is None else list(args)
        # One that leads to commands, or hands arguments on, can't tell what belongs to whom.
        if not any(action.nargs in (argparse.PARSER, argparse.REMAINDER) for action in self._actions) and (
            told := self._unknown(arguments)
        ):
            self.exit(2, f"{self.prog.split()[0]}: {told}\n")
        return super().parse_known_args(arguments, namespace)

    def _unknown(self, arguments: Sequence[str]) -> str:
        known = {flag: action.nargs != 0 for action in self._actions for flag in action.option_strings}
        is_value = False
        for argument in arguments:
            if argument == "--":
                break
            name, joined, _ = argument.partition("=")
            if is_value or not name.startswith("--"):
                # What follows a flag that takes a value is the value, whatever it looks like.
                is_value = not is_value and known.get(name, False)
                continue
            found = [flag for flag in known if flag == name] or [
                flag for flag in known if flag.startswith(name)
            ]
            if not found:
                # Imported here, as below: a command that is spelt well need not wait for it.
                from difflib import get_close_matches  # noqa: PLC0415

                nearest = get_close_matches(name, [flag for flag in known if flag.startswith("--")], n=1)
                return f"unknown flag {name}; " + (
                    f"did you mean {nearest[0]}?" if nearest else "see --help."
                )
            is_value = not joined and known[found[0]]
        return ""


class TellVersion(argparse.Action):
    """Print the installed version and end; it is looked up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """End the process with the version on stdout."""
        sys.stdout.write(f"{parser.prog} {package_version()}\n")
        parser.exit()


def package_version() -> str:
    """Return the installed version, or ``0`` when running from a bare tree."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "0"
