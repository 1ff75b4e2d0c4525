"""Prints what an installed module offers: ``python -I module_help.py NAME``; standard library only."""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings

_DOC_LINES = 12


def describe(name: str) -> str:
    """Return the module's docstring, and signature and docstring of each public function and class."""
    module = importlib.import_module(name)
    lines = [name, *_doc(module, "")]
    for public in getattr(module, "__all__", None) or [each for each in dir(module) if each[0] != "_"]:
        thing = getattr(module, public, None)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            lines += [f"{public}{_signature(thing)}", *_doc(thing, "    ")]
    return "\n".join(lines)


def _signature(thing: object) -> str:
    try:
        return str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(…)"


def _doc(thing: object, indent: str) -> list[str]:
    return [indent + line for line in (inspect.getdoc(thing) or "").split("\n")[:_DOC_LINES] if line]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(describe(sys.argv[1]))
