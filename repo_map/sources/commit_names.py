"""Resolve revision names: branches, tags, ids and ``HEAD``, followed by ``~N``, ``^N``, ``^{commit}``.

Git's own syntax is never used: it can search messages and reflogs, and knows no access rights. A name
resolves to the full id of a commit that HEAD, a branch or a tag has, or to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from repo_map.messages import plural
from repo_map.sources.git import HEAD, Deadline, Git, GitError, HistoryStart

FORMS_OF_NAMES: Final = "a branch, a tag or an id, also followed by `~2` or `^2`"
"""The accepted names, for messages."""
_MAX_NAME_CHARS: Final = 250
_MAX_STEPS: Final = 16
_NAME: Final = re.compile(r"(\w[\w./@+#%=,-]*)((?:~[0-9]{0,5}|\^[0-9]{0,3}|\^\{commit\})*)")
_STEP: Final = re.compile(r"[~^][^~^]*")
_ID: Final = re.compile(r"[0-9a-fA-F]{4,64}")
_FULL_ID_DIGITS: Final = (40, 64)
"""Digits of a full id."""
_MAX_SHOWN_CHARS: Final = 80
_MAX_CANDIDATES: Final = 1_000
"""Objects with the same short id that are looked at."""
_NAMESPACES: Final = ("refs/tags/", "refs/heads/", "refs/remotes/")


class CommitNameError(Exception):
    """A text names no commit, or two; the message is the reason, without a full stop."""

    def __init__(self, why: str, advice: str = "") -> None:
        super().__init__(why)
        self.advice = advice
        """What to give instead; ``""`` if that depends on the request."""


class CommitName(NamedTuple):
    """The name of a commit."""

    base: str
    """``HEAD``, a branch, a tag or an id."""
    ancestry: str = ""
    """Steps to an ancestor: ``~2``, ``^2``."""

    def __str__(self) -> str:
        return _printable(self.base + self.ancestry)


class CommitRange(NamedTuple):
    """The names of two commits; None for the default of the caller."""

    first: CommitName | None
    last: CommitName | None
    from_base: bool
    """True for ``A...B``: from the merge base of both to ``B``."""


def read_name(text: str) -> CommitName:
    """Parse the name of a commit; raises ``CommitNameError``."""
    found = _NAME.fullmatch(text) if len(text) <= _MAX_NAME_CHARS and ".." not in text else None
    if found is None:
        raise CommitNameError(f"`{_printable(text)}` is not the name of a commit")
    steps = [step for step in _STEP.findall(found[2]) if step != "^{commit}"]
    if len(steps) > _MAX_STEPS:
        raise CommitNameError(f"`{_printable(text)}` goes back in more than {_MAX_STEPS} steps")
    return CommitName(found[1], "".join(steps))


def read_range(text: str) -> CommitRange | CommitName:
    """Parse the name of a commit or of a range; raises ``CommitNameError``."""
    first, dots, last = text.partition("..")
    if not dots:
        return read_name(text)
    from_base, last = last.startswith("."), last.removeprefix(".")
    return CommitRange(read_name(first) if first else None, read_name(last) if last else None, from_base)


def locate(git: Git, ref: str, deadline: Deadline) -> HistoryStart | None:
    """Return where the history of a commit begins; ``""`` names the one of the work tree.

    None if there is no readable commit of that name.

    Raises:
        CommitNameError: the text names no commit, or two.
        GitError: git does not answer, or refuses the repository.
    """
    # Nothing else is read from a repository whose owner git does not trust.
    name = read_name(ref) if ref else None
    start = git.history_start(deadline)
    head = start and find_commit(git, name, deadline) if name else start and start.head
    return start._replace(head=head) if start and head else None


def find_commit(git: Git, name: CommitName, deadline: Deadline) -> str:
    """Return the id of a readable commit, ``""`` if there is none of that name.

    Commits that may not be read do not make a short id ambiguous either.

    Raises:
        CommitNameError: the name means two commits.
        GitError: git does not answer.
    """
    found = _commits_named(git, name.base, deadline)
    if len(found) > 1:
        shown = _printable(name.base)
        raise CommitNameError(
            f"`{shown}` means {plural(len(found), 'commit')}",
            f"give `heads/{shown}`, `tags/{shown}` or a whole id.",
        )
    if not found or not name.ancestry:
        return "".join(found)
    # The name is an id by now, and the steps have a known form.
    wanted = f"{found[0]}{name.ancestry}^{{commit}}"
    return _ask(git, deadline, "rev-parse", "--verify", "--quiet", wanted).strip()


def _commits_named(git: Git, base: str, deadline: Deadline) -> list[str]:
    """Return the ids of the commits of a name, each once."""
    if base == HEAD:
        return _peeled(git, [HEAD], deadline)
    digits = base.lower() if _ID.fullmatch(base) else ""
    if len(digits) in _FULL_ID_DIGITS and (found := _readable(git, [digits], deadline)):
        # An id goes before a branch of the same name.
        return found
    names = [f"{kind}{base}" for kind in (*_NAMESPACES, "refs/", "")]
    wanted = [name for name in names if name.startswith(_NAMESPACES)]
    # The patterns also match what is below them.
    listed = _ask(git, deadline, "for-each-ref", "--format=%(refname) %(objectname)", *wanted).split("\n")
    ids = dict(line.split(" ", 1) for line in listed if line)
    commits = _peeled(git, [ids[name] for name in wanted if name in ids], deadline)
    if digits and len(digits) not in _FULL_ID_DIGITS:
        alike = _ask(git, deadline, "rev-parse", f"--disambiguate={digits}").split()
        commits += _readable(git, alike[:_MAX_CANDIDATES], deadline)
    return list(dict.fromkeys(commits))


def _readable(git: Git, ids: Sequence[str], deadline: Deadline) -> list[str]:
    """Return the commits of ids, also of tags, that HEAD or a branch or tag has."""
    ends = ("--count=1", "--format=x", *_NAMESPACES)
    return [
        commit
        for commit in _peeled(git, ids, deadline)
        if _ask(git, deadline, "for-each-ref", f"--contains={commit}", *ends)
        or _ask(git, deadline, "merge-base", commit, HEAD).strip() == commit
    ]


def _peeled(git: Git, ids: Sequence[str], deadline: Deadline) -> list[str]:
    """Return the commits of objects, each once, without objects that are no commit or tag of one."""
    if not ids:
        return []
    lines = [f"{each}^{{commit}}" for each in ids]
    shown = _ask(git, deadline, "cat-file", "--batch-check=%(objecttype) %(objectname)", lines=lines)
    answers = (line.partition(" ") for line in shown.split("\n"))
    return list(dict.fromkeys(commit for kind, _, commit in answers if kind == "commit"))


def _ask(git: Git, deadline: Deadline, *arguments: str, lines: Iterable[str] = ()) -> str:
    """Return the output of git, ``""`` if it failed; raises ``GitError`` if it does not answer."""
    output = git.history(*arguments, lines=lines, deadline=deadline)
    if output is None or output.status is None:
        raise GitError("Git did not answer in time for a commit; try again.")
    return output.text.decode("utf-8", "surrogateescape") if output.status == 0 else ""


def _printable(text: str) -> str:
    return ascii(text[:_MAX_SHOWN_CHARS])[1:-1]
