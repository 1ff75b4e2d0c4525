"""What a goal holds that says nothing of the task: markup, templates, dumps of versions, filler."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

LONGEST_GOAL = 24_000
"""Characters that are read: of a longer goal the head and the tail, where the title and the error stand."""
TRACE_LINE = re.compile(
    r"^\s*(?:Traceback \(|File \"|at \S+|#\d+ |\w+ \(most recent|panic: |goroutine \d|thread '.*panicked|"
    r"Caused by:|E {2,}|>? *\S+\.\w{1,5}:\d+|"
    r"(?:[\w.]*(?:Error|Exception|Warning)|error|fatal|ERROR)\b\s*[:\[(])"
)
"""A line of a stack trace or of a compiler's message."""

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
FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
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
    r"how did you install|installation|contribut\w+|screenshots?|your setup|checks|prerequisites|"
    r"existing issues?|anything else|pip (?:freeze|list)|"
    r"output of .*(?:freeze|list|info|doctor|diagnos\w*|show_\w+))\b",
    re.IGNORECASE,
)
_TEMPLATE_HEADING = re.compile(
    r"^(?:steps to reproduce|to reproduce|reproduc\w+(?: steps)?|expected\b.*|actual\b.*|observed\b.*|"
    r"problem|"
    r"current behaviou?r|describe\b.*|bug (?:report|description)|description|summary|error(?: messages?)?|"
    r"what (?:happened|is|do|are|did)\b.*|minimal\b.*|code(?: sample| example)?|output|traceback|example|"
    r"context|"
    r"motivation|issue|feature request|proposed\b.*|possible solution|search before asking|additional\b.*|"
    r"is your feature\b.*|output of\b.*|how to reproduce|steps|relevant log output|logs?|alternatives\b.*|"
    r"use case|notes?|details|any other\b.*|link to\b.*|which\b.*|tell us\b.*|feature description)\W*$",
    re.IGNORECASE,
)
_TEMPLATE_TEXT = re.compile(
    r"^.*\b(?:a clear and concise description|add any other context|if applicable, add|please describe|"
    r"is your feature request related|describe the solution|describe alternatives|_no response_|"
    r"please (?:search|make sure|provide|fill|include|attach|paste|do not|note that this)|"
    r"i(?: have|'ve|’ve) (?:searched|read|checked|verified|looked|confirmed)|"
    r"i (?:agree|confirm|am willing|understand)\b.{0,60}"
    r"\b(?:code of conduct|submit|guidelines|policy))\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_ENVIRONMENT_LINE = re.compile(
    r"^\W*(?:[\w.-]+==[\w.]+|(?:os|python|node|npm|rust|rustc|cargo|go|java|jdk|platform|system|compiler|browser|"
    r"version|operating system|[\w ]{0,20} version)\s*[:=]\s*.{0,60}|"
    r"(?:python|node(?:\.?js)?|npm|rust|go|java|jdk|ubuntu|debian|fedora|centos|arch linux|alpine|linux|"
    r"windows|mac ?os(?: x)?|osx|chrome|firefox|safari|gcc|clang|docker)\W{1,3}v?\d[\w.+-]*(?:[ (,].{0,40})?|"
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


_ASIDE = "\x00"
_SET_ASIDE = re.compile(f"{_ASIDE}(\\d+){_ASIDE}")


_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_SCRIPT_BORDER = re.compile(
    f'("[^"\n]*"|`[^`\n]*`|“[^”\n]*”|「[^」\n]*」)'
    f"|(?<=[{_UNSPACED}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{_UNSPACED}])"
)
"""Between a name and a script without spaces; what is quoted stays."""


def clean(goal: str) -> str:
    """Return the goal bounded, its longest words and white space too, without markup that says nothing."""
    text = goal.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _SCRIPT_BORDER.sub(lambda found: found[1] or " ", unicodedata.normalize("NFC", text))
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
    """Leave out sections about the environment, the headings of issue templates, and lines of versions.

    A section goes with the code in it; what looks like a heading within code is none.
    """
    fences: list[str] = []

    def set_aside(fence: re.Match[str]) -> str:
        fences.append(fence[0])
        return f"{_ASIDE}{len(fences) - 1}{_ASIDE}\n"

    text = FENCE.sub(set_aside, text.replace(_ASIDE, " "))
    headings = list(_HEADING.finditer(text))
    kept = [text[: headings[0].start()] if headings else text]
    for at, heading in enumerate(headings):
        end = headings[at + 1].start() if at + 1 < len(headings) else len(text)
        name = (heading[1] or heading[2] or heading[3] or "").strip()
        if _BOILERPLATE_HEADING.search(name) and len(name) < 60:
            continue
        start = heading.end() if _TEMPLATE_HEADING.match(name) else heading.start()
        kept.append(text[start:end])
    plain = _ENVIRONMENT_LINE.sub("", _TEMPLATE_TEXT.sub("", "".join(kept)))
    return _SET_ASIDE.sub(lambda mark: fences[int(mark[1])], plain)


def line_said(line: str) -> str:
    """Return the words of a line in lower case, nothing for a line of one word."""
    said = re.findall(r"\w+", line.lower())
    return " ".join(said) if len(said) > 1 else ""


def drop_template_lines(text: str, template: Container[str]) -> str:
    """Leave out lines that stand in the repository's own templates, the first line apart."""
    first, *others = text.split("\n")
    return "\n".join([first, *(line for line in others if line_said(line) not in template)])


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


_FOREIGN = frozenset(
    re.findall(
        r"\S+",
        """
        der die das den dem des ein eine einen einem einer und oder aber nicht kein keine ist sind war wird
        werden wurde hat haben kann soll muss mit von vom zu zum zur bei beim auf aus nach wie wenn dann dass
        weil auch noch nur ich wir man sie er es sich im als le la les une du des et ou mais ne pas est sont
        dans sur avec sans pour par quand si que qui ce cette il elle on je nous vous au aux el los las un una
        y pero no son en con sin por para de del al cuando donde como se lo su o os as um uma e mas não em com
        sem da dos das ao quando gli di non sono per che della nel alla come het een van maar niet geen zijn
        wordt werd heeft voor bij onder tussen dan dat dit wat wie waar hoe ik wij er ook nog
        """,
    )
)
"""Frequent words of six languages that say nothing; English ones are dropped with the terms."""
_LETTERS = re.compile(r"[^\W\d_]+")
_FOREIGN_SHARE = 0.2
_QUOTATION = re.compile(r"(`[^`\n]*`|\"[^\"\n]*\"|[“„«][^”“»\n]*[”“»])")
_LONE_WORD = re.compile(r"(?<![\w./\\:#@`'’-])[^\W\d_]+(?![\w/\\#@`('’-]|[.:]\w)")


def drop_foreign_words(text: str) -> str:
    """Leave out the frequent words of another language than English, but in code and quotations."""
    words = [word.lower() for word in _LETTERS.findall(text)]
    if sum(word in _FOREIGN for word in words) < max(2, _FOREIGN_SHARE * len(words)):
        return text
    parts = _QUOTATION.split(text)
    parts[::2] = [
        _LONE_WORD.sub(lambda word: " " if word[0].lower() in _FOREIGN else word[0], part)
        for part in parts[::2]
    ]
    return "".join(parts)
