"""The parser of command lines: flags in any order, and one sentence for each mistake."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from mcp_server.version import package_version
from repo_map.messages import printable

if TYPE_CHECKING:
    from repo_navigator.options import Declared


_ALIKE: Final = 0.7
"""Share of letters that two names have in common, in order, where one is taken for the other misspelt."""


class Alternatives:
    """Arguments of which one at most may be given."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self.actions: list[argparse.Action] = []

    @property
    def leads(self) -> bool:
        """Whether a command can't be shown without them: one is needed, or is no flag."""
        return bool(self._group.required) or not all(each.option_strings for each in self.actions)

    def add_argument(self, *names: str, **options: Any) -> None:
        """Add one of them, as a parser's ``add_argument`` does."""
        self.actions.append(self._group.add_argument(*names, **options))


class FlagParser(argparse.ArgumentParser):
    """A parser that names an unknown flag first, and tells in one line how the command is written."""

    def __init__(self, **options: Any) -> None:
        # Before the flag for help is added: argparse has no public way to ask what was.
        self._added: list[argparse.Action] = []
        self._alternatives: list[Alternatives] = []
        self._leading: argparse.Action | None = None
        """What takes everything that follows: a command's name."""
        # Half a flag is a slip, which is told as one.
        super().__init__(**{"allow_abbrev": False, **options})

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Add an argument, as argparse does."""
        action = super().add_argument(*names, **options)
        self._added.append(action)
        return action

    def add_declared(self, declared: Iterable[tuple[str, Declared]]) -> None:
        """Add what a record declares."""
        groups: dict[str, Alternatives] = {}
        for name, (flags, settings, one_of) in declared:
            if one_of and one_of not in groups:
                groups[one_of] = self.add_alternatives(required=False)
            add = groups[one_of].add_argument if one_of else self.add_argument
            # Argparse takes neither a name nor what is None for granted with all of its actions.
            given = {each: value for each, value in settings.items() if value is not None}
            add(*flags, **given, dest=name)

    def add_alternatives(self, *, required: bool = True) -> Alternatives:
        """Add arguments of which one at most may be given, and one has to be where they are ``required``."""
        self._alternatives.append(Alternatives(self.add_mutually_exclusive_group(required=required)))
        return self._alternatives[-1]

    def add_commands(self, metavar: str = "COMMAND") -> Any:
        """Add commands, of which one is needed; returns what ``add_parser`` is called on."""
        self._leading = commands = self.add_subparsers(dest="command", required=True, metavar=metavar)
        self._added.append(commands)
        return commands

    def name_of(self, argument: str, value: object = None) -> str:
        """Return what this command line calls an argument of the agent: a flag, or a place in the line.

        Of several flags that give it, the one that stands for ``value`` comes first.
        """
        taken = [each for each in self._actions_known() if each.dest == argument]
        taken.sort(key=lambda each: each.const is None or each.const != value)
        return next((_choice(each).split()[0] for each in taken), f"`{argument}`")

    def _actions_known(self) -> list[argparse.Action]:
        return [*self._added, *(action for group in self._alternatives for action in group.actions)]

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse, or end with 2 and one line on what is wrong; what is left over is wrong as well."""
        arguments = sys.argv[1:] if args is None else list(args)
        if message := self._unknown(arguments):
            self._refuse(message)
        parsed, left = super().parse_known_args(self._flags_first(arguments), namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return parsed, left

    def error(self, message: str) -> NoReturn:
        """End with 2 and one line: what is wrong, and how the command is written."""
        self._refuse(f"{message}; {self._advice()}")

    def _refuse(self, sentence: str) -> NoReturn:
        from repo_map.secrets.masking import mask_text  # noqa: PLC0415 - loads patterns; most lines are right

        program = self.prog.removeprefix("python -m ").split()[0]
        self.exit(2, f"{program}: {mask_text(printable(sentence))}\n")

    def _unknown(self, arguments: Sequence[str]) -> str:
        """Return what to say of the first flag or command that is none; ``""`` where all are known."""
        known = {
            flag: action.nargs not in (0, "?")
            for action in self._actions_known()
            for flag in action.option_strings
        }
        is_value = False
        for argument in arguments:
            if argument == "--":
                break
            name, joined, _ = argument.partition("=")
            if self._leading is not None and not is_value and not name.startswith("-"):
                # What follows a command belongs to it.
                return self._unknown_command(argument, self._leading.choices)
            if is_value or not name.startswith("--"):
                # What follows a flag that takes a value is the value, whatever it looks like.
                is_value = not is_value and known.get(name, False)
                continue
            if name not in known:
                near = nearest(name, [flag for flag in known if flag.startswith("--")])
                return f"unknown flag {name}; " + (f"did you mean {near}?" if near else self._advice())
            is_value = not joined and known[name]
        return ""

    def _flags_first(self, arguments: list[str]) -> list[str]:
        """Return the arguments with those that are no flags behind all flags, so that any order is taken.

        Of two that may be left out argparse would take the second for left out where a flag is between them.
        """
        flags = {name: each.nargs for each in self._actions_known() for name in each.option_strings}
        if self._leading is not None or any(nargs not in (None, 0, "?") for nargs in flags.values()):
            return arguments
        first: list[str] = []
        others: list[str] = []
        waits = False
        for at, argument in enumerate(arguments):
            if argument == "--" and not waits:
                return [*first, "--", *others, *arguments[at + 1 :]]
            if not waits and (
                not argument.startswith("-") or argument == "-" or " " in argument.partition("=")[0]
            ):
                others.append(argument)
                continue
            first.append(argument)
            waits = not waits and _takes_next(argument, flags, arguments[at + 1 : at + 2])
        return [*first, *others]

    def _unknown_command(self, name: str, commands: Iterable[str] | None) -> str:
        if commands is None or name in (choices := list(commands)):
            return ""
        near = nearest(name, choices)
        hint = f"did you mean {near}?" if near else f"choose one of {', '.join(choices)}."
        return f"there is no command {name}; {hint}"

    def _advice(self) -> str:
        """Return how the command is written, with those flags alone that it can't do without."""
        if self._leading is not None and self._leading.choices is not None:
            return f"choose one of {', '.join(self._leading.choices)}, and see `{self.prog} --help`."
        parts = [_written(action) for action in self._added if action.required or not action.option_strings]
        parts += [
            f"({' | '.join(map(_choice, group.actions))})" for group in self._alternatives if group.leads
        ]
        return f"write `{' '.join([self.prog, *parts, '[FLAG …]'])}`, and see `{self.prog} --help`."


def _takes_next(argument: str, flags: Mapping[str, object], following: Sequence[str]) -> bool:
    """Tell whether a flag takes the argument behind it; an unknown one takes none."""
    if argument.startswith("--"):
        nargs = flags.get(argument, 0)
        # Its value may be left out: a flag behind it is none.
        return nargs != 0 and (nargs != "?" or not "".join(following).startswith("-"))
    # Of letters that stand together one that takes a value takes what follows it.
    for at, letter in enumerate(argument[1:], 1):
        if flags.get(f"-{letter}", 0) != 0:
            return at == len(argument) - 1
    return False


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that ``name`` is a slip of the pen for, or a longer form of; ``""`` for none."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - most commands are spelt well

    bare = name.lstrip("-").lower()

    def likeness(other: str) -> float:
        stem = other.lstrip("-").lower()
        is_longer_form = len(stem) > 3 and bare.startswith(stem.removesuffix("s"))
        return max(SequenceMatcher(None, bare, stem).ratio(), _ALIKE if is_longer_form else 0.0)

    best = max(known, key=likeness, default="")
    return best if best and likeness(best) >= _ALIKE else ""


class TellVersion(argparse.Action):
    """Print the installed version and end; it is looked up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """End the process with the version on stdout."""
        sys.stdout.write(f"{parser.prog} {package_version()}\n")
        parser.exit()


def _choice(action: argparse.Action) -> str:
    """Return how one of several arguments, of which one is needed, stands in a command line."""
    return _written(action).strip("[]")


def _written(action: argparse.Action) -> str:
    """Return how a positional argument, or a flag with its value, stands in a command line."""
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.option_strings:
        return action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {value}"
    return {"?": f"[{value}]", "+": f"{value} …"}.get(str(action.nargs), value)
