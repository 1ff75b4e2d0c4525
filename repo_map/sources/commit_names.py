"""The names of commits that callers give: read here, looked up among the refs, and never read by git.

Git's own reading of a name searches messages and logs, guesses at ids, and knows no reader. Here a name is a
branch, a tag, an id or ``HEAD``, with ``~2``, ``^2`` and ``^{commit}`` behind it. It becomes the full id of a
commit that HEAD, a branch or a tag has, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from repo_map.messages import plural
from repo_map.sources.git import HEAD, Deadline, Git, GitError, HistoryStart

FORMS_OF_NAMES: Final = "a branch, a tag or an id, also followed by `~2` or `^2`"
"""What a caller is told to give."""
_LONGEST: Final = 250
_MOST_STEPS: Final = 16
_END: Final = re.compile(r"(\w[\w./@+#%=,-]*)((?:~[0-9]{0,5}|\^[0-9]{0,3}|\^\{commit\})*)")
_STEP: Final = re.compile(r"[~^][^~^]*")
_ID: Final = re.compile(r"[0-9a-fA-F]{4,64}")
_FULL: Final = (40, 64)
"""Digits of a whole id."""
_LONGEST_TOLD: Final = 80
_MOST_ALIKE: Final = 1_000
"""Objects whose ids begin alike; more of them mean nothing, as ids that nobody made on purpose are apart."""
_MOST_TIPS: Final = 2_000
"""Of one call: a system takes no longer list of arguments."""
_HEADS, _TAGS, _REMOTES = "refs/heads/", "refs/tags/", "refs/remotes/"


class CommitNameError(Exception):
    """A text names no commit, or two; the message is why, without a full stop, for a caller's sentence."""

    def __init__(self, why: str, advice: str = "") -> None:
        super().__init__(why)
        self.advice = advice
        """What to give in its place; ``""`` where that depends on what was asked."""


class CommitName(NamedTuple):
    """One commit, as a caller names it."""

    base: str
    """``HEAD``, or what a branch, a tag or an id is called."""
    steps: str = ""
    """From there to ancestors: ``~2``, ``^2``."""

    def __str__(self) -> str:
        return _told(self.base + self.steps)


class CommitRange(NamedTuple):
    """Two commits, as a caller names them; one that is left out is the reader's own."""

    first: CommitName | None
    last: CommitName | None
    from_base: bool
    """Whether ``A...B`` was written: what came to ``B`` since both parted."""


def read_name(text: str) -> CommitName:
    """Return the commit that a text names; raises ``CommitNameError``."""
    found = _END.fullmatch(text) if len(text) <= _LONGEST and ".." not in text else None
    if found is None:
        raise CommitNameError(f"`{_told(text)}` is not the name of a commit")
    steps = [step for step in _STEP.findall(found[2]) if step != "^{commit}"]
    if len(steps) > _MOST_STEPS:
        raise CommitNameError(f"`{_told(text)}` goes back in more than {_MOST_STEPS} steps")
    return CommitName(found[1], "".join(steps))


def read_range(text: str) -> CommitRange | CommitName:
    """Return the commit, or the two, that a text names; raises ``CommitNameError``."""
    first, dots, last = text.partition("..")
    if not dots:
        return read_name(text)
    from_base, last = last.startswith("."), last.removeprefix(".")
    return CommitRange(read_name(first) if first else None, read_name(last) if last else None, from_base)


def locate(git: Git, ref: str, deadline: Deadline) -> HistoryStart | None:
    """Return where the history of a commit begins; ``""`` names the one that the work tree is at.

    None where no commit is called so that may be read, and where git does not trust the repository's owner.

    Raises:
        CommitNameError: the text names no commit, or two.
        GitError: git does not answer.
    """
    if not ref:
        return git.history_start(deadline)
    name = read_name(ref)
    # Whether git trusts the owner comes first: nothing else is asked of a repository that it does not trust.
    folder = git.folder(deadline)
    found = folder and find_commit(git, name, deadline)
    return HistoryStart(found, *folder) if folder and found else None


def find_commit(git: Git, name: CommitName, deadline: Deadline) -> str:
    """Return the id of a commit that may be read, ``""`` where none is called so.

    What may not be read is not there: it makes no short id ambiguous either.

    Raises:
        CommitNameError: the name means two commits.
        GitError: git does not answer.
    """
    found = _Search(git, deadline).starts(name.base)
    if len(found) > 1:
        told = _told(name.base)
        raise CommitNameError(
            f"`{told}` means {plural(len(found), 'commit')}",
            f"give `heads/{told}`, `tags/{told}` or a whole id.",
        )
    if not found or not name.steps:
        return "".join(found)
    # The name is an id by now, and git reads nothing but steps of a known form.
    asked = f"{found[0]}{name.steps}^{{commit}}"
    return _ask(git, deadline, "rev-parse", "--verify", "--quiet", asked).strip()


class _Search:
    """Looks for the commits of one name."""

    def __init__(self, git: Git, deadline: Deadline) -> None:
        self._git = git
        self._deadline = deadline

    def starts(self, base: str) -> Sequence[str]:
        """Return the ids of the commits that a name means, each once."""
        refs = self._refs()
        if base == HEAD:
            head = self._head()
            return [head] if head else []
        digits = base.lower() if _ID.fullmatch(base) else ""
        if len(digits) in _FULL and (found := self._of_ids([digits], refs)):
            # A branch that is called like an id takes nobody's place.
            return found
        named = {ref: refs[ref] for ref in _full_names(base) if ref in refs}
        peeled = self._peeled(named.values())
        commits = [commit for each in named.values() if (commit := peeled.get(each))]
        if digits and len(digits) not in _FULL:
            commits += self._of_ids(self._ask("rev-parse", f"--disambiguate={digits}").split(), refs)
        return list(dict.fromkeys(commits))

    def _refs(self) -> dict[str, str]:
        listed = self._ask("for-each-ref", "--format=%(objectname) %(refname)", _HEADS, _TAGS, _REMOTES)
        lines = (line.partition(" ") for line in listed.split("\n") if line)
        return {ref: identity for identity, _, ref in lines}

    def _head(self) -> str:
        return self._ask("rev-parse", "--verify", "--quiet", f"{HEAD}^{{commit}}").strip()

    def _of_ids(self, ids: Sequence[str], refs: Mapping[str, str]) -> list[str]:
        """Return the commits that ids name, those of tags included, as far as they may be read."""
        commits = self._peeled(ids[:_MOST_ALIKE]).values()
        return [commit for commit in dict.fromkeys(commits) if self._may_read(commit, refs)]

    def _may_read(self, commit: str, refs: Mapping[str, str]) -> bool:
        """Return True if HEAD or one of the refs has the commit."""
        tips = list(self._peeled(refs.values()).values())
        if head := self._head():
            tips.append(head)
        # Of a commit and the merge of all tips the base is the commit itself where they have it.
        return commit in tips or any(
            self._ask("merge-base", commit, *tips[at : at + _MOST_TIPS]).strip() == commit
            for at in range(0, len(tips), _MOST_TIPS)
        )

    def _peeled(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the commits of objects by their ids; what is no commit, and no tag of one, is left out."""
        asked = list(dict.fromkeys(ids))
        if not asked:
            return {}
        lines = [f"{each}^{{commit}}" for each in asked]
        told = self._ask("cat-file", "--batch-check=%(objectname) %(objecttype)", lines=lines).split("\n")
        answers = zip(asked, (line.split(" ") for line in told), strict=False)
        return {each: answer[0] for each, answer in answers if answer[-1] == "commit"}

    def _ask(self, *arguments: str, lines: Iterable[str] = ()) -> str:
        return _ask(self._git, self._deadline, *arguments, lines=lines)


def _full_names(base: str) -> Iterator[str]:
    """Yield what refs a name may mean are called in full."""
    yield from (kind + base for kind in (_TAGS, _HEADS, _REMOTES))
    yield f"refs/{base}"
    yield base


def _ask(git: Git, deadline: Deadline, *arguments: str, lines: Iterable[str] = ()) -> str:
    """Return what git says, ``""`` where it knows nothing; raises ``GitError`` where it does not answer."""
    output = git.history(*arguments, lines=lines, deadline=deadline)
    if output is None or output.status is None:
        raise GitError("Git did not answer in time when it was asked for a commit; try again.")
    return output.text.decode("utf-8", "surrogateescape") if output.status == 0 else ""


def _told(text: str) -> str:
    return ascii(text[:_LONGEST_TOLD])[1:-1]
