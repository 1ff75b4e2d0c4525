"""A goal's text parsed: words, code, traces, mentions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from repo_map.languages.registry import LANGUAGES
from repo_map.relevance.priors import FileKindIntent, file_kind_intents
from repo_map.text.terms import terms_of, words

LONGEST_GOAL = 24_000
"""Characters that are read: of a longer goal the head and the tail, where the title and the error stand."""

TRACE_LINE = re.compile(
    r"^\s*(?:Traceback \(|File \"|at \S+|#\d+ |\w+ \(most recent|panic: |goroutine \d|thread '.*panicked|"
    r"Caused by:|E {2,}|>? *\S+\.\w{1,5}:\d+|"
    r"(?:[\w.]*(?:Error|Exception|Warning)|error|fatal|ERROR)\b\s*[:\[(])"
)
"""A line of a stack trace or of a compiler's message."""
FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
URL = re.compile(r"\bhttps?://\S+|\bwww\.\S+")

FILLER = re.compile(
    r"^\W*(?:(?:please|can you|could you|explain|describe|tell me|show me|find out|help me)\b[\s,:]*)+"
    r"|\b(?:i|we) (?:want|need|would like|am trying|are trying)(?: to)?\b"
    r"|\b(?:about|across|actually|again|ago|almost|already|although|among|anyway|anything|because|becomes?|currently|"
    r"despite|during|ever|everything|happen(?:s|ed|ing)?|hence|however|indeed|instead|itself|maybe|meanwhile|moreover|"
    r"neither|nevertheless|often|otherwise|perhaps|possibly|probably|properly|quite|rather|really|recently|"
    r"seem(?:s|ed)?|several|simply|somehow|something|sometimes|somewhere|soon|still|therefore|though|thus|too|towards?|"
    r"unfortunately|unless|upon|usually|various|wants?|wanted|whatever|whenever|whereas|wherever|whether|whose|"
    r"within|yet)\b(?![\w(.])",
    re.IGNORECASE,
)
"""What a goal says around what it is about; code says it too, and so seldom that it would count much."""
# Patterns look for names, paths and lines from every place anew: where nothing interrupts a run, that takes
# the square of its length.
_LONG_WORD = re.compile(r"(\S{300})(?=\S)")
_LONG_SPACE = re.compile(r"(\s{60})\s+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(
    r"</?(?:details|summary|br|p|pre|code|b|i|em|strong|kbd|sub|sup|img|a|h\d)\b[^>]*>", re.IGNORECASE
)
_CHECKBOX = re.compile(r"^\s*[-*] \[[ xX]\].*$", re.MULTILINE)
_HEADING = re.compile(
    r"^(?:#{1,6}[ \t]*(.+?)[ \t:]*#*|\*\*([^*\n]{2,60})\*\*:?|([A-Z][\w /]{2,40}):)[ \t]*$", re.MULTILINE
)
_BOILERPLATE_HEADING = re.compile(
    r"\b(?:environment|\w*versions?|system info\w*|platform|operating system|compiler|checklist|"
    r"validation|"
    r"additional (?:context|information)|before submitting|code of conduct|willing to|os|dependenc(?:y|ies)|"
    r"how did you install|installation|contribut\w+|screenshots?|your setup)\b",
    re.IGNORECASE,
)
_TEMPLATE_HEADING = re.compile(
    r"^(?:steps to reproduce|to reproduce|reproduc\w+(?: steps)?|expected\b.*|actual\b.*|observed\b.*|"
    r"problem|"
    r"current behaviou?r|describe\b.*|bug (?:report|description)|description|summary|error(?: messages?)?|"
    r"what (?:happened|is|do|are|did)\b.*|minimal\b.*|code(?: sample| example)?|output|traceback|example|"
    r"context|"
    r"motivation|issue|feature request|proposed\b.*|possible solution|search before asking|additional\b.*|"
    r"is your feature\b.*)\W*$",
    re.IGNORECASE,
)
_TEMPLATE_TEXT = re.compile(
    r"^.*\b(?:a clear and concise description|add any other context|if applicable, add|please describe|"
    r"is your feature request related|describe the solution|describe alternatives|_no response_|"
    r"please (?:search|make sure|provide|fill))\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_ENVIRONMENT_LINE = re.compile(
    r"^\W*(?:[\w.-]+==[\w.]+|(?:os|python|node|npm|rust|rustc|cargo|go|java|jdk|platform|system|compiler|browser|"
    r"version|operating system|[\w ]{0,20} version)\s*[:=]\s*.{0,60}|"
    r"(?:_no response_|n/a|none|thanks?[\w ,!.]*|hi[\w ,!.]{0,20}|hello[\w ,!.]{0,20}))$",
    re.IGNORECASE | re.MULTILINE,
)
_PAIR_LINE = re.compile(r"^\W{0,6}(?:export )?[\w .()/+-]{1,40}?\s*(?:==|=>|[:=])\s*(.{0,120})$")
_VERSION_VALUE = re.compile(
    r"^['\"(v^~>=]*\d+\.\d+[\w.+~-]*['\"),]*(?:\s*\(.{0,60}\))?$"
    r"|^(?:None|N/?A|nil|not (?:installed|set|found)|<[\w ]+>|unknown)$",
    re.IGNORECASE,
)
_LEAST_DUMP = 5
"""Lines of ``key: value`` in a row from which on they may be a dump of versions."""
_LEAST_VERSIONS = 3
_SHARE_OF_VERSIONS = 0.3
_KIND = r"(?:bug|feature(?: request)?|question|feat|fix|docs|chore|refactor|perf|enhancement|regression)"
_KIND_PREFIX = re.compile(
    rf"^\s*(?:\[{_KIND}\][\s:]*|{_KIND}(?:\((?P<scope>[^)]*)\))?\s*[:!]+\s*)", re.IGNORECASE
)
"""``[bug] …``, ``fix: …``, ``feat(router)!: …``, of which the scope says something."""
_LONGEST_TITLE = 240
_MOST_COMPOUNDS = 400


def clean(goal: str) -> str:
    """Return the goal bounded, its longest words and white space too, without markup that says nothing."""
    text = goal.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > LONGEST_GOAL:
        text = text[: LONGEST_GOAL * 2 // 3] + "\n" + text[-LONGEST_GOAL // 3 :]
    text = _LONG_SPACE.sub(r"\1", _LONG_WORD.sub(r"\1 ", text))
    return _CHECKBOX.sub("", _TAG.sub(" ", _COMMENT.sub("", text)))


def first_line(text: str) -> str:
    """Return the first line, whatever it is."""
    return text.strip().partition("\n")[0][:_LONGEST_TITLE]


def split_title(text: str) -> tuple[str, str]:
    """Return the first line that says something and the rest; a goal that starts with code has no title."""
    stripped = text.lstrip()
    first, _, rest = stripped.partition("\n")
    if first.startswith(("```", "~~~")) or TRACE_LINE.match(first):
        return "", stripped
    if len(first) > _LONGEST_TITLE:
        sentence = first.find(". ", 20, _LONGEST_TITLE)
        cut = sentence + 1 if sentence > 0 else _LONGEST_TITLE
        first, rest = first[:cut], first[cut:] + "\n" + rest
    plain = first.lstrip("#*- \t").strip()
    return _KIND_PREFIX.sub(lambda found: f"{found['scope']}: " if found["scope"] else "", plain), rest


def drop_boilerplate(text: str) -> str:
    """Leave out sections about the environment, the headings of issue templates, and lines of versions."""
    headings = list(_HEADING.finditer(text))
    kept = [text[: headings[0].start()] if headings else text]
    for at, heading in enumerate(headings):
        end = headings[at + 1].start() if at + 1 < len(headings) else len(text)
        name = (heading[1] or heading[2] or heading[3] or "").strip()
        if _BOILERPLATE_HEADING.search(name) and len(name) < 60:
            continue
        start = heading.end() if _TEMPLATE_HEADING.match(name) else heading.start()
        kept.append(text[start:end])
    return _ENVIRONMENT_LINE.sub("", _TEMPLATE_TEXT.sub("", "".join(kept)))


def drop_version_dumps(text: str) -> str:
    """Leave out what tools print of a machine: five or more ``key: value`` lines in a row, many of versions.

    ``show_versions()``, ``--diagnostic`` and ``npx envinfo`` name every part of a project, and say nothing of
    the task. Blank lines, rules and headings without punctuation may stand between the pairs.
    """
    kept: list[str] = []
    run: list[str] = []
    values: list[str] = []

    def end_run() -> None:
        versions = sum(bool(_VERSION_VALUE.match(value)) for value in values)
        is_dump = len(values) >= _LEAST_DUMP and versions >= max(
            _LEAST_VERSIONS, _SHARE_OF_VERSIONS * len(values)
        )
        if not is_dump:
            kept.extend(run)
        run.clear()
        values.clear()

    for line in text.split("\n"):
        stripped = line.strip()
        if pair := _PAIR_LINE.match(stripped):
            values.append(pair[1].strip())
            run.append(line)
        elif run and (not stripped or not stripped.strip("-=*_ ")):
            run.append(line)
        else:
            end_run()
            kept.append(line)
    end_run()
    return "\n".join(kept)


def compounds(text: str) -> list[str]:
    """Return neighbouring words run together, two and three at a time."""
    found: list[str] = []
    for clause in re.split(r"[.,;:!?()\n]", text):
        run = [word.lower().replace("_", "") for word in re.findall(r"[A-Za-z]\w*", clause)]
        found.extend(a + b for a, b in pairwise(run) if len(a) > 1 and len(b) > 1)
        found.extend(a + b + c for a, b, c in zip(run, run[1:], run[2:], strict=False))
    return found[:_MOST_COMPOUNDS]


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
_GDB_FRAME = re.compile(r"^#\d+\s+(?:0x[0-9a-f]+ in )?([\w:~]+)\s*\([^\n]*\)\s+at (\S+?):(\d+)", re.MULTILINE)
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
    """Return the places that traces (Python, Java, JavaScript, Go, Rust, gdb), diagnostics and links name."""
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
        for pattern, frame_of in (*_FRAMES[1:5], *(_FRAMES[5:6] if _PANIC.search(begun) else ()))
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
    (_GDB_FRAME, lambda match: TraceFrame(match[2], int(match[3]), match[1].rpartition("::")[2])),
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


class GoalPart(StrEnum):
    """Where in the goal a term stands."""

    TITLE = "title"
    PROSE = "prose"
    INLINE = "inline"
    """Inline code, and identifiers in prose."""
    CODE = "code"
    ERROR = "error"


class ParsedGoal(NamedTuple):
    """Everything that scoring wants to know of a goal."""

    title: str
    terms: Mapping[GoalPart, Mapping[str, int]]
    """How often each term stands in each source."""
    paths: tuple[str, ...]
    """Paths and file names, as written."""
    frames: tuple[TraceFrame, ...]
    """Places in stack traces, diagnostics and links into the source, in order."""
    crash: tuple[TraceFrame, ...]
    """Of these, the trace that tells where it broke, innermost first."""
    dotted: tuple[str, ...]
    """Qualified names, written with dots: ``Router.dispatch``."""
    identifiers: Mapping[str, GoalPart]
    """Names that look like code, case kept, each with the best source that it stands in."""
    messages: tuple[str, ...]
    """Quoted texts and error messages, to be found in string literals."""
    compounds: tuple[str, ...]
    """Neighbouring words run together, as they would be in an identifier: ``cachekey``."""
    flags: tuple[str, ...]
    """Command line flags without dashes."""
    aims: FileKindIntent
    """What it is about beside the code."""
    surface: Mapping[str, str]
    """Term → the word that it came from, for reasons."""


_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\n]*\n?)+", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]{1,200})`")
_ERROR_NAME = re.compile(r"\b[A-Za-z_][\w.]*(?:Error|Exception|Warning)\b(?::\s*([^\n`]{4,300}))?")
_ERROR_MESSAGE = re.compile(r"(?:Exception|rror|panic\w*)\b.*?:\s*(.{6,300})")
_QUOTED = re.compile(r"\"([^\"\n]{6,200})\"|(?<!\w)'([^'\n]{6,200})'(?!\w)|[“«]([^”»\n]{6,200})[”»]")
_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w{2,}\b")
_USED_NAME = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(|\.([A-Za-z_]\w{2,})|\b([A-Z]\w{2,})")
_CALL = re.compile(r"\b([A-Za-z_]\w{2,})\(")
_CODE_LIKE = re.compile(r"\w_\w|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|^_+\w|[A-Za-z]\d")
_CODE_MARK = re.compile(r"[=({;]|->|::")
_FLAG = re.compile(r"(?<![\w-])--([A-Za-z][\w-]{2,40})")
_OPERATORS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "@": "__matmul__",
    "/": "__truediv__",
    "//": "__floordiv__",
    "%": "__mod__",
    "**": "__pow__",
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
    "&": "__and__",
    "|": "__or__",
    "^": "__xor__",
    "~": "__invert__",
    "<<": "__lshift__",
    ">>": "__rshift__",
    "[]": "__getitem__",
    "()": "__call__",
    "in": "__contains__",
    "+=": "__iadd__",
    "|=": "__ior__",
    "&=": "__iand__",
}


def parse_goal(goal: str) -> ParsedGoal:
    """Take a goal apart; any text will do, an empty one gives an empty goal."""
    text = clean(goal)
    without_links = drop_version_dumps(URL.sub(" ", text))
    title, body = split_title(without_links)
    reader = _Reader()
    prose = drop_boilerplate(reader.take_code(body))
    reader.take_prose(title, GoalPart.TITLE)
    reader.take_prose(prose, GoalPart.PROSE)
    return ParsedGoal(
        title=title,
        terms={source: dict(counts) for source, counts in reader.terms.items()},
        paths=find_paths(text),
        frames=find_frames(text),
        crash=find_crash(text),
        dotted=find_dotted_names(without_links),
        identifiers=reader.identifiers,
        messages=tuple(dict.fromkeys(reader.messages)),
        compounds=tuple(dict.fromkeys([*compounds(title), *compounds(prose)])),
        flags=tuple(dict.fromkeys(_FLAG.findall(text))),
        aims=file_kind_intents(first_line(without_links)),
        surface=reader.surface,
    )


class _Reader:
    """Gathers what the parts of a goal say."""

    def __init__(self) -> None:
        self.terms: dict[GoalPart, Counter[str]] = {source: Counter() for source in GoalPart}
        self.identifiers: dict[str, GoalPart] = {}
        self.messages: list[str] = []
        self.surface: dict[str, str] = {}

    def take_code(self, text: str) -> str:
        """Read fenced and indented blocks and traces; return the prose that is left."""
        for fence in FENCE.finditer(text):
            self._take_block(fence[2])
        lines: list[str] = []
        for line in FENCE.sub("", text).split("\n"):
            if TRACE_LINE.match(line):
                self._take_error(line)
            else:
                lines.append(line)
        return _INDENTED.sub(self._take_indented, "\n".join(lines))

    def take_prose(self, text: str, source: GoalPart) -> None:
        """Read running text: its words, inline code, identifiers, quoted messages."""
        for inline in _INLINE.findall(text):
            code = inline.strip()
            self._add(_OPERATORS.get(code, code), GoalPart.INLINE)
            self._name(_IDENTIFIER.findall(code), GoalPart.INLINE)
        self.messages.extend(quoted for quotes in _QUOTED.findall(text) for quoted in quotes if quoted)
        self.messages.extend(message.strip() for message in _ERROR_NAME.findall(text) if message)
        self._add(FILLER.sub(" ", text), source)
        self._add(" ".join(_FLAG.findall(text)).replace("-", "_"), GoalPart.INLINE)
        bare = _INLINE.sub(" ", text)
        names = [name for name in _IDENTIFIER.findall(bare) if _CODE_LIKE.search(name)] + _CALL.findall(bare)
        self._add(" ".join(dict.fromkeys(names)), GoalPart.INLINE)
        self._name(names, GoalPart.INLINE)

    def _take_indented(self, block: re.Match[str]) -> str:
        if not _CODE_MARK.search(block[0]):
            return block[0]
        self._take_block(block[0])
        return "\n"

    def _take_block(self, block: str) -> None:
        for line in block.split("\n"):
            if TRACE_LINE.match(line):
                self._take_error(line)
            else:
                self._add(line, GoalPart.CODE)
        self._name((name for names in _USED_NAME.findall(block) for name in names if name), GoalPart.CODE)

    def _take_error(self, line: str) -> None:
        self._add(line, GoalPart.ERROR)
        self._name((name for name in _IDENTIFIER.findall(line) if _CODE_LIKE.search(name)), GoalPart.ERROR)
        self.messages.extend(_ERROR_MESSAGE.findall(line))

    def _add(self, text: str, source: GoalPart) -> None:
        for word in words(text):
            for term in terms_of(word):
                self.terms[source][term] += 1
                self.surface.setdefault(term, word)

    def _name(self, names: Iterable[str], source: GoalPart) -> None:
        for name in names:
            if terms_of(name) and _better(source, self.identifiers.get(name)):
                self.identifiers[name] = source


_BEST_FIRST = (GoalPart.INLINE, GoalPart.TITLE, GoalPart.PROSE, GoalPart.ERROR, GoalPart.CODE)


def _better(source: GoalPart, known: GoalPart | None) -> bool:
    return known is None or _BEST_FIRST.index(source) < _BEST_FIRST.index(known)
