"""What a command line may say, declared once: a record with a field for each argument, flag and switch.

A command module has ``OPTIONS``, the record that its ``run`` takes. What is left out has the default.
"""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields
from json import dumps
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from repo_navigator.flag_parser import Declared
from repo_navigator.terminal import write_or_print

if TYPE_CHECKING:
    from repo_navigator.flag_parser import FlagParser

_DECLARED: Final = "declared"


def argument(
    metavar: str,
    about: str,
    *,
    read: Callable[[str], Any] = str,
    nargs: str | None = "?",
    choices: Collection[str] | None = None,
    one_of: str = "",
) -> Any:
    """Declare an argument that is known by its place; ``nargs`` as argparse has it, None: it is needed."""
    settings = {"metavar": metavar, "help": about, "type": read, "nargs": nargs, "choices": choices}
    return _field("", settings, () if nargs in ("*", "+") else None, one_of)


def flag(
    names: str,
    metavar: str,
    about: str,
    *,
    read: Callable[[str], Any] = str,
    default: object = None,
    choices: Collection[str] | None = None,
    bare: str | None = None,
    one_of: str = "",
) -> Any:
    """Declare a flag with a value, which may be left out where ``bare`` is what the flag alone means.

    ``names`` are all of its names, with spaces between them; choices stand where there is no ``metavar``.
    """
    alone = {} if bare is None else {"nargs": "?", "const": bare}
    settings = {"metavar": metavar or None, "help": about, "type": read, "choices": choices, **alone}
    return _field(names, settings, default, one_of)


def repeated(names: str, metavar: str, about: str, *, read: Callable[[str], Any] = str) -> Any:
    """Declare a flag that may be given more than once, each time with a value."""
    return _field(names, {"metavar": metavar, "help": about, "type": read, "action": "append"}, ())


def switch(names: str, about: str, *, value: object = True, default: object = False, one_of: str = "") -> Any:
    """Declare a flag without a value, and what it stands for."""
    return _field(names, {"help": about, "action": "store_const", "const": value}, default, one_of)


def any_of(*ways: Any) -> Any:
    """Declare several flags that fill one field, whose default is that of the first."""
    declared = tuple(each for way in ways for each in way.metadata[_DECLARED])
    return field(default=ways[0].default, metadata={_DECLARED: declared})


def _field(names: str, settings: dict[str, Any], default: object, one_of: str = "") -> Any:
    return field(default=default, metadata={_DECLARED: (Declared(tuple(names.split()), settings, one_of),)})


def add_options(parser: FlagParser, module: ModuleType) -> None:
    """Add what a command takes, as its record says.

    A measurement of ours has ``add_arguments`` in place of a record, and takes what argparse returns.
    """
    if not hasattr(module, "OPTIONS"):
        module.add_arguments(parser)
    else:
        parser.add_declared(_declared_by(module.OPTIONS))


def options_of(module: ModuleType, found: Namespace) -> Any:
    """Return what a command line says, as the record that a command takes."""
    record = getattr(module, "OPTIONS", None)
    return found if record is None else _record_of(record, found)


def names_of(record: type, field_name: str) -> str:
    """Return the flags that fill a field, as words name them: ``--since or --diff``."""
    return " or ".join(
        way.names[-1] for name, way in _declared_by(record) if name == field_name and way.names
    )


def _declared_by(record: type) -> list[tuple[str, Declared]]:
    """Return each way to fill a field, with the field's name; a command's own stand before shared ones."""
    bases = [getattr(base, "__dataclass_fields__", {}) for base in record.__mro__]
    ordered = sorted(fields(record), key=lambda each: sum(each.name in base for base in bases))
    return [(each.name, declared) for each in ordered for declared in each.metadata[_DECLARED]]


def _record_of(record: type, found: Namespace) -> Any:
    """Return the record that a command line fills."""
    given = {each.name: getattr(found, each.name) for each in fields(record)}
    given = {name: value for name, value in given.items() if value is not None}
    return record(**{name: tuple(it) if isinstance(it, list) else it for name, it in given.items()})


def whole_number(text: str) -> int:
    """Return the number that an argument holds.

    Raises:
        ArgumentTypeError: it holds none; the command line tells the sentence.
    """
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"`{text}` is not a whole number") from None


def count(text: str) -> int:
    """Return the number above zero that an argument holds; raises as ``whole_number`` does."""
    if (found := whole_number(text)) < 1:
        raise ArgumentTypeError(f"`{text}` is not a number above zero")
    return found


def number(text: str) -> float:
    """Return the number that an argument holds; raises as ``whole_number`` does."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"`{text}` is no number") from None


def nonempty(text: str) -> str:
    """Return what an argument holds; an empty path would mean the folder that one stands in."""
    if not text.strip():
        raise ArgumentTypeError("nothing is given")
    return text


def folder(text: str) -> Path:
    """Return the path that an argument holds."""
    return Path(nonempty(text))


def output_file(text: str) -> str | None:
    """Return the file that an argument names, None for stdout, which ``-`` stands for."""
    return None if nonempty(text) == "-" else text


def json_switch() -> Any:
    """Declare ``--json``."""
    return switch("--json", "print one JSON object instead of text")


def quiet_switch() -> Any:
    """Declare ``--quiet``, for scripts."""
    return switch("-q --quiet", "print only errors on stderr")


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where a command prints, and in which form."""

    output: str | None = flag("-o --output", "FILE", "write to this file instead of stdout", read=output_file)
    quiet: bool = quiet_switch()
    json: bool = json_switch()

    def write(self, text: str) -> None:
        """Write a text where it is to go."""
        write_or_print(text, self.output)

    def write_json(self, data: object) -> None:
        """Write a JSON object there, on one line."""
        self.write(dumps(data, ensure_ascii=False))


@dataclass(frozen=True, kw_only=True)
class PagedOptions(OutputOptions):
    """How a context is shown."""

    line_numbers: bool = switch("--line-numbers", "number every fifth line of source, as in 55│")
    no_pager: bool = switch("--no-pager", "do not open a pager ($PAGER, or less) for a long context")

    @property
    def updates(self) -> dict[str, Any]:
        """What is changed of the plan of a stored navigation; empty for nothing."""
        return {"line_numbers": True} if self.line_numbers else {}
