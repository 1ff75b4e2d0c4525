"""Searches and reads as assistants make them, by a shell line or by a tool of their own, taken apart."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from repo_navigator.hooks.shell import Simple, simple_commands

_CONTENT: Final = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ugrep", "ug", "ag", "ack"})
_FILES: Final = frozenset({"find", "bfs", "fd", "fdfind", "gfind"})
_READING: Final = frozenset({"cat", "bat", "head", "tail", "sed", "nl", "less", "more", "awk"})
_EDITING: Final = frozenset({"patch", "tee", "ed", "ex"})
_AFTER: Final = frozenset(
    {"head", "tail", "sort", "uniq", "wc", "cut", "less", "more", "cat", "tr", "xargs", "nl"}
)
"""Programs behind a pipe that cut or order what a search found."""
_PASSING: Final = frozenset({"sudo", "time", "env", "command", "nice", "timeout", "stdbuf", "xargs"})
_WITH_VALUE: Final = {
    "grep": "ABCDdefm",
    "rg": "ABCEMTefgjmrtd",
    "ug": "ABCDJKefgmOt",
    "ag": "ABCGmp",
    "git": "ABCefm",
}
"""Short options that take a value, which is no pattern and no path."""
_LONG_WITH_VALUE: Final = frozenset(
    (
        *("--after-context", "--before-context", "--context", "--include", "--exclude", "--exclude-dir"),
        *("--glob", "--iglob", "--type", "--type-not", "--max-count", "--max-depth", "--color", "--colors"),
        *("--regexp", "--file", "--max-columns", "--sort", "--threads", "--encoding", "--max-filesize"),
    )
)
_FIND_NAMES: Final = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"})


class Search(NamedTuple):
    """A search as it was asked for."""

    patterns: tuple[str, ...]
    """What is looked for, as it was written; for files, globs of their names."""
    places: tuple[str, ...] = ()
    """Where, as it was written; empty for everywhere."""
    for_files: bool = False
    """Whether files are looked for by their names, not lines by their text."""
    is_plain: bool = False
    """Whether the pattern is no regular expression."""
    counts: bool = False
    """Whether something else than what was found comes out: its number, or what a filter left of it."""


class Action(NamedTuple):
    """What a tool call did."""

    searches: tuple[Search, ...] = ()
    reads: tuple[str, ...] = ()
    """Files that it showed, as they were named."""
    edits: tuple[str, ...] = ()
    """Files that it changed, as they were named; ``("",)`` where they are not known."""

    @property
    def looks(self) -> bool:
        """Whether it only looked at the repository."""
        return bool(self.searches or self.reads) and not self.edits


def action_of(tool: str, given: Mapping[str, Any]) -> Action:
    """Return what a call of a tool did, by the name and the arguments that hosts give their tools."""
    name = tool.rpartition("__")[2].replace("_", "").lower()
    if name in _SHELLS:
        line = given.get("command") or given.get("cmd")
        if isinstance(line, list):
            return of_words([each for each in line if isinstance(each, str)])
        return of_shell(line) if isinstance(line, str) else Action()
    path = next((given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)), "")
    if name in _EDITS:
        return Action(edits=(path,))
    if name == "applypatch":
        patch = given.get("command") or given.get("input") or given.get("patch")
        return Action(edits=tuple(_PATCHED.findall(patch)) if isinstance(patch, str) else ("",))
    if name in _READS:
        return Action(reads=(path,)) if path else Action()
    pattern = next(
        (given[key] for key in ("pattern", "query", "regex") if isinstance(given.get(key), str)), ""
    )
    where = (path,) if path else ()
    if pattern and name in _SEARCHES:
        return Action((Search((pattern,), where),))
    if pattern and name in _GLOBS:
        return Action((Search((pattern,), where, for_files=True),))
    return Action()


_SHELLS: Final = frozenset(
    (
        "bash",
        "shell",
        "exec",
        "execcommand",
        "runshellcommand",
        "runinterminal",
        "localshell",
        "powershell",
        "runcommand",
    )
)
_EDITS: Final = frozenset(
    (
        *(
            "edit",
            "multiedit",
            "write",
            "notebookedit",
            "create",
            "replace",
            "writefile",
            "strreplace",
            "insert",
        ),
        *("editfile", "createfile", "replacestringinfile", "multireplacestringinfile", "inserteditintofile"),
    )
)
_READS: Final = frozenset({"read", "view", "readfile", "readmanyfiles", "cat"})
_SEARCHES: Final = frozenset({"grep", "searchfilecontent", "grepsearch", "greptool", "rg", "ripgrep"})
_GLOBS: Final = frozenset({"glob", "filesearch", "findfiles"})
_PATH_KEYS: Final = (
    "file_path",
    "path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "dir_path",
    "includePattern",
)
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)


def of_shell(line: str) -> Action:
    """Return what a shell line did, nothing where it can't be taken apart."""
    if len(line) > _LONGEST:
        return Action()
    parts = simple_commands(line)
    if parts is None:
        return Action()
    if len(parts) == 1 and parts[0].words[:1] and _program(parts[0].words) in _INNER:
        words = parts[0].words
        if len(words) > 2 and _RUNS.fullmatch(words[1]):
            return of_shell(words[2])
    return _of_parts(parts)


def of_words(words: Sequence[str]) -> Action:
    """Return what a program that is given word by word did."""
    if len(words) > 2 and _program(words) in _INNER and _RUNS.fullmatch(words[1]):
        return of_shell(words[2])
    return _of_parts([Simple(tuple(words), (), "")])


_RUNS: Final = re.compile(r"-\w*c")
_INNER: Final = frozenset({"bash", "sh", "zsh", "dash"})
_LONGEST: Final = 20_000
"""Characters of a shell line that is taken apart."""


def _of_parts(parts: Sequence[Simple]) -> Action:
    line = _Line()
    for part in parts:
        line.take(part)
    return Action(tuple(line.searches), tuple(dict.fromkeys(line.reads)), tuple(dict.fromkeys(line.edits)))


class _Line:
    """What the commands of a line did so far."""

    def __init__(self) -> None:
        self.searches: list[Search] = []
        self.reads: list[str] = []
        self.edits: list[str] = []
        self._folder = ""
        self._printed: list[str] = []
        """Files whose text the command before printed."""

    def take(self, part: Simple) -> None:
        words = _own_words(part.words)
        program = _program(words)
        printed, self._printed = (self._printed if part.is_fed else []), []
        self.edits += [name for name in part.writes if not name.startswith(_NOT_OURS)]
        search = _search(program, words)
        if part.is_fed and search is None and program not in _AFTER:
            self._note_filter()
        if program == "cd" and len(words) > 1:
            self._folder = posixpath.join(self._folder, words[1])
        elif search is not None:
            if printed and not search.places:
                # Of what was printed the assistant sees what it looks for there.
                del self.reads[-len(printed) :]
                self.searches.append(search._replace(places=tuple(printed)))
            else:
                self._take_search(_inside(search, self._folder), part)
        elif part.is_fed and program in _AFTER:
            self._printed = printed
            if program == "wc":
                self._note_filter()
        elif program in _EDITING or (program in ("sed", "perl") and _edits_in_place(words)):
            self.edits += self._paths(words) or [""]
        elif program in _READING:
            self._printed = self._paths(words)
            self.reads += self._printed
        elif program == "git" and len(words) > 1 and words[1] in _GIT_EDITS:
            self.edits.append("")

    def _take_search(self, search: Search, part: Simple) -> None:
        if part.words[0] == "xargs":
            self.searches = [search]  # In the files that were found before.
        elif not part.is_fed or search.places:
            self.searches.append(search)
        else:
            self._note_filter()

    def _note_filter(self) -> None:
        if self.searches:
            self.searches[-1] = self.searches[-1]._replace(counts=True)

    def _paths(self, words: Sequence[str]) -> list[str]:
        return [posixpath.join(self._folder, word) for word in words[1:] if _is_path(word)]


_NOT_OURS: Final = ("/dev/", "/tmp/")
_GIT_EDITS: Final = frozenset({"apply", "checkout", "restore", "stash"})


def _search(program: str, words: Sequence[str]) -> Search | None:
    if program in _CONTENT:
        return _content(program, words[1:])
    if program == "git" and "grep" in words[1:4]:
        return _content("git", words[list(words).index("grep") + 1 :])
    if program in ("fd", "fdfind"):
        plain = [word for word in words[1:] if not word.startswith("-")]
        return Search((plain[0],), tuple(plain[1:]), for_files=True) if plain else None
    if program in _FILES:
        return _find(words[1:])
    return None


def _content(program: str, words: Sequence[str]) -> Search | None:
    values = _WITH_VALUE.get({"ugrep": "ug", "ack": "ag"}.get(program, program), _WITH_VALUE["grep"])
    patterns: list[str] = []
    plain: list[str] = []
    flags, at = "", 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            plain += words[at:]
            break
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        option, value, letters = _option(word, values)
        if option and value is None and at < len(words):
            value, at = words[at], at + 1
        flags += letters
        if option in ("e", "--regexp") and value is not None:
            patterns.append(value)
    if not patterns:
        patterns, plain = plain[:1], plain[1:]
    if not patterns or "v" in flags:
        return None
    return Search(
        tuple(patterns), tuple(plain), is_plain="F" in flags or program == "fgrep", counts="c" in flags
    )


def _option(word: str, values: str) -> tuple[str, str | None, str]:
    """Return the option of a word that takes a value, the value if it is in the word, and the plain flags."""
    if word.startswith("--"):
        name, sign, value = word.partition("=")
        flag = {"--fixed-strings": "F", "--count": "c", "--invert-match": "v"}.get(name, "")
        takes = sign or name in _LONG_WITH_VALUE
        return (name, value if sign else None, flag) if takes else ("", None, flag)
    letters = word[1:]
    cut = next((place for place, letter in enumerate(letters) if letter in values), len(letters))
    if cut == len(letters):
        return "", None, letters
    return letters[cut], letters[cut + 1 :] or None, letters[:cut]


def _find(words: Sequence[str]) -> Search | None:
    names = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _FIND_NAMES]
    grepped = [at for at, word in enumerate(words) if word in ("-exec", "-execdir", "-ok")]
    if grepped:
        inner = _own_words(words[grepped[0] + 1 :])
        found = _search(_program(inner), [word for word in inner if word not in ("{}", ";", "+", "\\;")])
        if found is not None:
            return found
    places = []
    for word in words:
        if word.startswith(("-", "(", "!", "\\")):
            break
        places.append(word)
    return Search(tuple(names), tuple(places), for_files=True) if names else None


def _inside(search: Search, folder: str) -> Search:
    if not folder:
        return search
    return search._replace(places=tuple(posixpath.join(folder, each) for each in search.places) or (folder,))


def _own_words(words: Sequence[str]) -> Sequence[str]:
    """Return a command without what only passes it on: ``sudo``, ``timeout 5``, ``LC_ALL=C``."""
    at = 0
    while at < len(words):
        if re.match(r"^\w+=", words[at]):
            at += 1
        elif posixpath.basename(words[at]) in _PASSING and at + 1 < len(words):
            at += 1
            while at < len(words) and (
                words[at].startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", words[at])
            ):
                at += 1
        else:
            break
    return words[at:]


def _program(words: Sequence[str]) -> str:
    return posixpath.basename(words[0]).removesuffix(".exe") if words else ""


def _edits_in_place(words: Sequence[str]) -> bool:
    return any(re.match(r"^(?:-[a-zA-Z]*i|--in-place)", word) for word in words[1:])


def _is_path(word: str) -> bool:
    return (
        bool(re.fullmatch(r"[\w@+~./\\:-]*[\w/][\w@+~./-]*", word))
        and not word.startswith("-")
        and ("/" in word or "." in word.strip("."))
    )


_WORD: Final = r"[^\W\d]\w*"
_LEAD: Final = re.compile(
    r"^(?:\^|\\b|\\<|\(\?:|\(|(?:\\s|\[\[:space:\]\]|\s)[*+]?|(?:export|default|async|public|private|protected|static|final"
    r"|abstract|pub|def|class|function|func|fn|interface|struct|enum|trait|type|const|let|var|import|from|new|return|void"
    r"|module|impl)(?:\\s\+?|\s|\[\[:space:\]\]|\.\*)[*+]?)"
)
_TAIL: Final = re.compile(
    r"(?:\\b|\\>|\$|\\?\(.*|\\?\)|\s*(?:(?<![=!<>])=(?!=)|[:{,;]).*|(?:\\s|\s|\[\[:space:\]\])[*+]?|\.\*|\.\+|\\?\[.*)$"
)
_DECLARES: Final = re.compile(
    r"(?:^|[^\w])(?:def|class|function|func|fn|interface|struct|enum|trait|type|record|impl|module)(?:\\s|\s|\[\[:space)"
)
_IDENTIFIER: Final = re.compile(rf"{_WORD}(?:(?:\\?\.|::|->|#){_WORD})*")
_SHORTEST: Final = 4


class Sought(NamedTuple):
    """A name that a pattern looks for."""

    name: str
    """Without what it belongs to."""
    owner: str = ""
    declared: bool = False
    """Whether its declaration was asked for."""


def names_sought(search: Search) -> tuple[Sought, ...]:
    """Return the names that a search of text looks for, none where its pattern is more than names."""
    found: dict[Sought, None] = {}
    for pattern in search.patterns:
        if len(pattern) > 400:
            return ()
        for each in [pattern] if search.is_plain else re.split(r"\\?\|", pattern):
            sought = _sought(each)
            if sought is None:
                return ()
            found[sought] = None
    return tuple(found)


def _sought(pattern: str) -> Sought | None:
    declared = bool(_DECLARES.search(pattern))
    text = pattern.strip()
    while (cut := _LEAD.match(text)) and cut.end():
        text = text[cut.end() :]
    while (cut := _TAIL.search(text)) and cut.start() < len(text):
        text = text[: cut.start()]
    if not _IDENTIFIER.fullmatch(text):
        return None
    owner, _, name = re.sub(r"\\?\.|::|->|#", ".", text).rpartition(".")
    return Sought(name, owner.rpartition(".")[2], declared) if len(name) >= _SHORTEST else None
