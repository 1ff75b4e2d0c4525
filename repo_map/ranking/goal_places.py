"""The places that a text points to: stack traces, diagnostics, links, paths, qualified names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from repo_map.languages.registry import LANGUAGES

URL = re.compile(r"\bhttps?://\S+|\bwww\.\S+")


class TraceFrame(NamedTuple):
    """A place that a stack trace, a diagnostic or a link into the source points to."""

    path: str
    """As written: absolute, relative, or only a file name."""
    line: int
    """1-based, 0 when unknown."""
    function: str
    """Empty when unknown."""
    linked: bool = False
    """Whether it is a link into the source, which somebody meant to be followed."""


_SUFFIXES = "|".join(
    sorted(
        {re.escape(suffix[1:]) for each in LANGUAGES.values() for suffix in each.spoken_suffixes}
        # Of files that no language here reads.
        | {"cfg", "gradle", "ini", "l", "m", "mm", "proto", "pyx", "rst", "txt", "xml", "y"}
    )
)
_PYTHON_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in ([\w<>.]+))?')
_JAVA_FRAME = re.compile(r"\bat ([\w.$<>/@]+)\.([\w$<>]+)\(([\w$]+\.(?:java|kt|scala|groovy))(?::(\d+))?\)")
_SCRIPT_FRAME = re.compile(
    r"\bat (?:(?:async |new )?([\w.$<>]+)[^\n(]{0,60} \()?(?:file://)?([^\s()]+\.(?:[cm]?[jt]sx?|vue|svelte)):(\d+):\d+"
)
_RUST_FRAME = re.compile(r"(?:\bat |, |--> )(\S+?\.rs):(\d+)")
_GO_FRAME = re.compile(
    r"^[\w./*()\[\]-]+\.\(?\*?(\w+)\)?(?:\.(\w+))?\([^\n]*\)\n\s+(\S+\.go):(\d+)", re.MULTILINE
)
_NATIVE_FRAME = re.compile(
    r"^[ \t]*#\d+[ \t]+(?:0x[0-9a-f]+ in )?([\w:~]+)[^\n]*[ \t](?:at )?(\S+?\.\w+):(\d+)(?::\d+)?[ \t]*$",
    re.MULTILINE,
)
"""Of gdb and of the sanitizers of C, C++, Rust and Go."""
_SHARP_FRAME = re.compile(
    r"\bat ([\w.<>`+]+)\.([\w<>`]+)(?:\[[^\]\n]{0,300}\])?\([^()\n]{0,300}\) in "
    r"([^\n]{1,300}?\.(?:cs|fs|vb)):line (\d+)"
)
_ANY_FRAME = re.compile(rf"([\w@+./\\~-]*\w\.(?:{_SUFFIXES})):(\d+)")
_LINK = re.compile(
    r"https?://(?:github|gitlab)\.\w+/[\w.-]+/[\w.-]+/(?:-/)?(?:blob|blame|tree|raw)/[\w.-]+/"
    r"([^\s#)\]>\"']+)(?:#L(\d+))?"
)
_PATH = re.compile(rf"(?<![\w/.@+~-])((?:[\w@+.~-]+[/\\])*[\w@+~-][\w@+.~-]*\.(?:{_SUFFIXES}))(?![\w/])")
_FOLDER = re.compile(r"(?<![\w/.:@+~-])((?:[A-Za-z_][\w-]*/){2,}[\w.-]*)")
_DOTTED = re.compile(r"(?<![\w./])[A-Za-z_]\w*(?:(?:\.|::|#|->)~?[A-Za-z_]\w*)+")
_NOT_A_NAME = re.compile(
    rf"^(?:i\.e|e\.g|a\.k\.a|www\.|.*\.(?:com|org|io|net|dev|{_SUFFIXES})$)", re.IGNORECASE
)
_PYTHON_TRACE = "Traceback (most recent call last)"
_DIRECT_CAUSE = "was the direct cause of the following exception"
_CAUSED_BY = re.compile(r"^\s*(?:Caused by:|\[cause\]:)", re.MULTILINE)
_PANIC = re.compile(r"\bpanicked at\b|^stack backtrace:", re.MULTILINE)
_MOST = 60


def find_frames(text: str) -> tuple[TraceFrame, ...]:
    """Return the places that traces (Python, Java, JavaScript, Go, C, C#, Rust), messages and links name."""
    plain = URL.sub(lambda url: " " * len(url[0]), text)
    found = [
        (link.start(), TraceFrame(link[1], int(link[2] or 0), "", linked=True))
        for link in _LINK.finditer(text)
    ]
    for pattern, frame_of in _FRAMES:
        found.extend((match.start(), frame_of(match)) for match in pattern.finditer(plain))
    best: dict[tuple[str, int], TraceFrame] = {}
    for _, frame in sorted(found, key=lambda item: item[0]):
        key = (frame.path.rpartition("/")[2], frame.line)
        if key not in best or (frame.function and not best[key].function):
            best[key] = frame
    return tuple(best.values())[:_MOST]


def find_crash(text: str) -> tuple[TraceFrame, ...]:
    """Return the frames of the trace that tells where it broke, innermost first; none without a trace.

    Of a chain of exceptions the one that began it counts: behind the last ``Caused by``; in Python the first
    of those that are each other's direct cause, else the last that was raised.
    """
    plain = URL.sub(lambda url: " " * len(url[0]), text)
    traces = plain.split(_PYTHON_TRACE)
    if len(traces) > 1 or _PYTHON_FRAME.search(plain):
        at = len(traces) - 1
        while at > 1 and _DIRECT_CAUSE in traces[at - 1]:
            at -= 1
        frames = [_python_frame(match) for match in _PYTHON_FRAME.finditer(traces[at])]
        return tuple(frame for frame in reversed(frames) if frame.function)
    begun = _CAUSED_BY.split(plain)[-1]
    found = [
        (match.start(), frame_of(match))
        for pattern, frame_of in (*_FRAMES[1:6], *(_FRAMES[6:7] if _PANIC.search(begun) else ()))
        for match in pattern.finditer(begun)
    ]
    return tuple(frame for _, frame in sorted(found, key=lambda item: item[0]))


def _python_frame(match: re.Match[str]) -> TraceFrame:
    return TraceFrame(match[1], int(match[2]), match[3] or "")


def _java_frame(match: re.Match[str]) -> TraceFrame:
    package = match[1].rpartition("/")[2].split("$")[0].rpartition(".")[0].replace(".", "/")
    return TraceFrame(f"{package}/{match[3]}" if package else match[3], int(match[4] or 0), match[2])


_FRAMES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], TraceFrame]], ...] = (
    (_PYTHON_FRAME, _python_frame),
    (_JAVA_FRAME, _java_frame),
    (_SCRIPT_FRAME, lambda match: TraceFrame(match[2], int(match[3]), (match[1] or "").rpartition(".")[2])),
    (_GO_FRAME, lambda match: TraceFrame(match[3], int(match[4]), match[2] or match[1])),
    (_NATIVE_FRAME, lambda match: TraceFrame(match[2], int(match[3]), match[1].rpartition("::")[2])),
    (_SHARP_FRAME, lambda match: TraceFrame(match[3], int(match[4]), match[2])),
    (_RUST_FRAME, lambda match: TraceFrame(match[1], int(match[2]), "")),
    (_ANY_FRAME, lambda match: TraceFrame(match[1], int(match[2]), "")),
)


def find_paths(text: str) -> tuple[str, ...]:
    """Return paths, file names and folders, as written; a compiled name such as ``x.pyc`` is none."""
    plain = URL.sub(" ", text)
    named = [match[1] for match in _PATH.finditer(plain)] + [match[1] for match in _LINK.finditer(text)]
    folders = [match[1] for match in _FOLDER.finditer(plain)]
    return tuple(dict.fromkeys(path.replace("\\", "/").removeprefix("./") for path in named + folders))[
        :_MOST
    ]


def find_dotted_names(text: str) -> tuple[str, ...]:
    """Return qualified names such as ``Router.dispatch``, ``de::Visitor`` or ``Set#add``, with dots."""
    names = (re.sub(r"::|#|->", ".", match[0]) for match in _DOTTED.finditer(text))
    kept = (re.sub(r"^(?:self|this|cls)\.", "", name) for name in names if not _NOT_A_NAME.match(name))
    return tuple(dict.fromkeys(name for name in kept if "." in name))[: _MOST * 3]
