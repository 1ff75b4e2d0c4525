"""Resolve revision names: branches, tags, ids and ``HEAD``, followed by ``~N``, ``^N``, ``^{commit}``.

Git's own syntax is never used: it can search messages and reflogs, and knows no access rights. A name
resolves to the full id of a commit that HEAD, a branch or a tag has, or to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_MAX_TIPS: Final = 2_000
"""Tips in one call, within the limit of a command line."""
_HEADS, _TAGS, _REMOTES = "refs/heads/", "refs/tags/", "refs/remotes/"


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

    None if there is no readable commit of that name, or git does not trust the repository's owner.

    Raises:
        CommitNameError: the text names no commit, or two.
        GitError: git does not answer.
    """
    if not ref:
        return git.history_start(deadline)
    name = read_name(ref)
    # Nothing else is read from a repository whose owner git does not trust.
    folder = git.folder(deadline)
    found = folder and find_commit(git, name, deadline)
    return HistoryStart(found, *folder) if folder and found else None


def find_commit(git: Git, name: CommitName, deadline: Deadline) -> str:
    """Return the id of a readable commit, ``""`` if there is none of that name.

    Commits that may not be read do not make a short id ambiguous either.

    Raises:
        CommitNameError: the name means two commits.
        GitError: git does not answer.
    """
    found = _CommitSearch(git, deadline).find(name.base)
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


class _CommitSearch:
    """Finds the commits of a name."""

    def __init__(self, git: Git, deadline: Deadline) -> None:
        self._git = git
        self._deadline = deadline

    def find(self, base: str) -> Sequence[str]:
        """Return the ids of the commits of a name, each once."""
        refs = self._refs()
        if base == HEAD:
            head = self._head()
            return [head] if head else []
        digits = base.lower() if _ID.fullmatch(base) else ""
        if len(digits) in _FULL_ID_DIGITS and (found := self._of_ids([digits], refs)):
            # An id goes before a branch of the same name.
            return found
        named = {ref: refs[ref] for ref in _full_names(base) if ref in refs}
        peeled = self._peeled(named.values())
        commits = [commit for each in named.values() if (commit := peeled.get(each))]
        if digits and len(digits) not in _FULL_ID_DIGITS:
            commits += self._of_ids(self._ask("rev-parse", f"--disambiguate={digits}").split(), refs)
        return list(dict.fromkeys(commits))

    def _refs(self) -> dict[str, str]:
        listed = self._ask("for-each-ref", "--format=%(objectname) %(refname)", _HEADS, _TAGS, _REMOTES)
        lines = (line.partition(" ") for line in listed.split("\n") if line)
        return {ref: identity for identity, _, ref in lines}

    def _head(self) -> str:
        return self._ask("rev-parse", "--verify", "--quiet", f"{HEAD}^{{commit}}").strip()

    def _of_ids(self, ids: Sequence[str], refs: Mapping[str, str]) -> list[str]:
        """Return the readable commits of ids, also of tags."""
        commits = self._peeled(ids[:_MAX_CANDIDATES]).values()
        return [commit for commit in dict.fromkeys(commits) if self._may_read(commit, refs)]

    def _may_read(self, commit: str, refs: Mapping[str, str]) -> bool:
        """Return True if HEAD or one of the refs has the commit."""
        tips = list(self._peeled(refs.values()).values())
        if head := self._head():
            tips.append(head)
        # The merge base of a commit and all tips is the commit itself if they have it.
        return commit in tips or any(
            self._ask("merge-base", commit, *tips[at : at + _MAX_TIPS]).strip() == commit
            for at in range(0, len(tips), _MAX_TIPS)
        )

    def _peeled(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the commits by the ids of objects, without objects that are no commit or tag of one."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        lines = [f"{each}^{{commit}}" for each in wanted]
        shown = self._ask("cat-file", "--batch-check=%(objectname) %(objecttype)", lines=lines).split("\n")
        answers = zip(wanted, (line.split(" ") for line in shown), strict=False)
        return {each: answer[0] for each, answer in answers if answer[-1] == "commit"}

    def _ask(self, *arguments: str, lines: Iterable[str] = ()) -> str:
        return _ask(self._git, self._deadline, *arguments, lines=lines)


def _full_names(base: str) -> Iterator[str]:
    """Yield the full names of the refs that a name may mean."""
    yield from (kind + base for kind in (_TAGS, _HEADS, _REMOTES))
    yield f"refs/{base}"
    yield base


def _ask(git: Git, deadline: Deadline, *arguments: str, lines: Iterable[str] = ()) -> str:
    """Return the output of git, ``""`` if it failed; raises ``GitError`` if it does not answer."""
    output = git.history(*arguments, lines=lines, deadline=deadline)
    if output is None or output.status is None:
        raise GitError("Git did not answer in time for a commit; try again.")
    return output.text.decode("utf-8", "surrogateescape") if output.status == 0 else ""


def _printable(text: str) -> str:
    return ascii(text[:_MAX_SHOWN_CHARS])[1:-1]
