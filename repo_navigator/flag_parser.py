"""The parser of command lines: flags in any order, and one sentence for each mistake."""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple, NoReturn

from mcp_server.version import package_version
from repo_map.errors import UserError
from repo_map.messages import printable

_ALIKE: Final = 0.7
"""Share of letters that two names have in common, in order, where one is taken for the other misspelt."""


_ARGUMENT: Final = re.compile(r"argument (-[\w-]+|\w+)")
"""How argparse begins a sentence about one argument."""


class CommandLineError(UserError):
    """A command line can't be parsed."""

    code = "invalid_command_line"


class Declared(NamedTuple):
    """One way to fill a field."""

    names: tuple[str, ...]
    """The flags that stand for it; none for an argument that is known by its place."""
    settings: dict[str, Any]
    """As argparse takes them."""
    one_of: str = ""
    """Of what shares this name one at most may be given."""


class FlagParser(argparse.ArgumentParser):
    """A parser that takes arguments in any order, and tells in one line what is wrong and how to write it."""

    def __init__(self, **options: Any) -> None:
        # Before the flag for help is added: argparse has no public way to ask what was.
        self._added: list[argparse.Action] = []
        self._one_of: defaultdict[str, list[argparse.Action]] = defaultdict(list)
        """Arguments of which one at most may be given."""
        self._commands: Any = None
        # An incomplete flag is reported as a mistake.
        super().__init__(**{"allow_abbrev": False, **options})

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Add an argument, as argparse does."""
        action = super().add_argument(*names, **options)
        self._added.append(action)
        return action

    def add_declared(self, declared: Iterable[tuple[str, Declared]]) -> None:
        """Add what a record declares."""
        groups: dict[str, Any] = {}
        for name, (flags, settings, one_of) in declared:
            given = {each: value for each, value in settings.items() if value is not None}
            if not one_of:
                self.add_argument(*flags, **given, dest=name)
            elif flags:
                if one_of not in groups:
                    groups[one_of] = self.add_mutually_exclusive_group()
                self._one_of[one_of].append(groups[one_of].add_argument(*flags, **given, dest=name))
            else:
                # Argparse takes no place in any order that stands in a group of its own.
                self._one_of[one_of].append(super().add_argument(**given, dest=name))

    def add_commands(self, metavar: str = "COMMAND") -> Any:
        """Add commands, of which one is needed; returns what ``add_parser`` is called on."""
        self._commands = self.add_subparsers(dest="command", required=True, metavar=metavar)
        return self._commands

    def name_of(self, argument: str, value: object = None) -> str:
        """Return what this command line calls an argument of the agent: a flag, or a place in the line.

        Of several flags that give it, the one that stands for ``value`` comes first.
        """
        taken = [each for each in self._known if each.dest == argument]
        taken.sort(key=lambda each: each.const is None or each.const != value)
        return next((_name(each) for each in taken), f"`{argument}`")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse, or raise what is wrong; what is left over is wrong as well.

        Raises:
            CommandLineError: An argument can't be used.
        """
        arguments = sys.argv[1:] if args is None else list(args)
        if self._commands is None:
            self.require_known(arguments)
            found, left = self.parse_known_intermixed_args(arguments, namespace)
            self._require_alone(found)
        else:
            for first in arguments[:1]:
                if first not in self._commands.choices and first not in self._flags:
                    self._refuse_unknown(first)
                self._commands.choices.get(first, self).require_known(arguments)
            found, left = self.parse_known_args(arguments, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found

    def require_known(self, arguments: Iterable[str]) -> None:
        """Refuse the first flag that is none, whatever else is wrong."""
        for argument in takewhile(lambda each: each != "--", arguments):
            name = argument.partition("=")[0]
            # Argparse takes what has a space, and nothing else that begins so, for a value.
            if name.startswith("--") and " " not in name and name not in self._flags:
                self._refuse_unknown(name)

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong, and how the command is written.

        Raises:
            CommandLineError: Always.
        """
        about = _ARGUMENT.match(message)
        self._refuse(f"{message}; {self._advice()}", about[1] if about else "")

    def _require_alone(self, found: argparse.Namespace) -> None:
        """Refuse an argument that is known by its place beside a flag that stands for the same."""
        for actions in self._one_of.values():
            given = [each for each in actions if getattr(found, each.dest) is not None]
            for place in (each for each in given if not each.option_strings and len(given) > 1):
                other = next(each for each in given if each is not place)
                self.error(f"argument {_name(place)}: not allowed with argument {_name(other)}")

    @property
    def _known(self) -> list[argparse.Action]:
        return [*self._added, *(action for actions in self._one_of.values() for action in actions)]

    @property
    def _flags(self) -> list[str]:
        return [name for action in self._known for name in action.option_strings]

    def _refuse_unknown(self, name: str) -> NoReturn:
        is_flag = name.startswith("-")
        known = [each for each in self._flags if each.startswith("--")] if is_flag else self._commands.choices
        near = nearest(name, known)
        hint = f"did you mean {near}?" if near else self._advice()
        sentence = f"{'unknown flag' if is_flag else 'there is no command'} {name}; {hint}"
        self._refuse(sentence, name if is_flag else "")

    def _refuse(self, sentence: str, argument: str) -> NoReturn:
        from repo_map.secrets.masking import mask_text  # noqa: PLC0415 - loads patterns; most lines are right

        raise CommandLineError(mask_text(printable(sentence)), argument=argument)

    def _advice(self) -> str:
        """Return how the command is written, with those arguments alone that it can't do without."""
        if self._commands is not None:
            return f"choose one of {', '.join(self._commands.choices)}, and see `{self.prog} --help`."
        parts = [_written(action) for action in self._added if action.required or not action.option_strings]
        parts += [
            f"({' | '.join(_written(each).strip('[]') for each in actions)})"
            for actions in self._one_of.values()
            if not all(each.option_strings for each in actions)
        ]
        return f"write `{' '.join([self.prog, *parts, '[FLAG …]'])}`, and see `{self.prog} --help`."


class ShowVersion(argparse.Action):
    """Print the installed version and end; it is looked up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """End the process with the version on stdout."""
        sys.stdout.write(f"{parser.prog} {package_version()}\n")
        parser.exit()


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that ``name`` is a slip of the pen for, or a longer form of; ``""`` for none."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - most commands are valid

    bare = name.lstrip("-").lower()

    def likeness(other: str) -> float:
        stem = other.lstrip("-").lower()
        is_longer_form = len(stem) > 3 and bare.startswith(stem.removesuffix("s"))
        return max(SequenceMatcher(None, bare, stem).ratio(), _ALIKE if is_longer_form else 0.0)

    best = max(known, key=likeness, default="")
    return best if best and likeness(best) >= _ALIKE else ""


def _name(action: argparse.Action) -> str:
    return _written(action).strip("[]").split()[0]


def _written(action: argparse.Action) -> str:
    """Return how a positional argument, or a flag with its value, stands in a command line."""
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.option_strings:
        return action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {value}"
    # While argparse reads the flags it keeps there how many values a place takes.
    nargs = getattr(action, "save_nargs", action.nargs)
    return {"?": f"[{value}]", "*": f"[{value} …]", "+": f"{value} …"}.get(str(nargs), value)
