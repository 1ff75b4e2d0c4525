"""The registered study: its tasks, measures, stopping rule and analysis, as written before any attempt."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from benchmarks.agents.mining import task_at
from benchmarks.agents.task import GitSource, Task, TaskError, read_tasks
from benchmarks.git import run_git
from benchmarks.study.desk import FILES_HOST, SHELL_HOST
from benchmarks.trees import MirrorNotFoundError, find_mirror

REGISTERED: Final = Path(str(resources.files("benchmarks.study").joinpath("registered.yaml")))
NAMED: Final = "names its place"
UNNAMED: Final = "does not name its place"
LARGE: Final = "more than 5,000 files"
_DRY_TASKS: Final = ("python-voucher", "python-tax", "python-freight")
_FILLING: Final = 5_001


class Repository(msgspec.Struct, frozen=True):
    """Where tasks come from."""

    test: str
    """How tests are run; ``{tests}`` is their paths."""
    needs: tuple[str, ...] = ()
    """Python packages that the tests need beside pytest."""


class RegisteredTask(msgspec.Struct, frozen=True):
    """One task: the tree before a commit, whose message is the goal and whose tests decide."""

    repo: str
    commit: str
    strata: tuple[str, ...]
    no_shell: bool = False
    """Whether it is also tried in the host without a shell."""


class Registration(msgspec.Struct, frozen=True):
    """The file ``registered.yaml``."""

    date: str
    repeats: int
    primary: str
    """The arm whose cost against none is the one test; what else is told is told with its interval."""
    harm: float
    """An arm harms a task whose attempts cost more than this share beyond those of none."""
    repositories: Mapping[str, Repository]
    wanted: int
    """The first so many tasks whose tests decide on the machine at hand are tried."""
    tasks: tuple[RegisteredTask, ...]


class StudyTask(NamedTuple):
    """A task as it is run."""

    task: Task
    repo: str
    strata: tuple[str, ...]
    hosts: tuple[str, ...]


def read_registration(file: Path = REGISTERED) -> Registration:
    """Read a registration.

    Raises:
        TaskError: it can't be read, or a task names a repository that it does not list.
    """
    try:
        registered = msgspec.yaml.decode(file.read_bytes(), type=Registration)
    except (OSError, msgspec.MsgspecError) as error:
        raise TaskError(f"The registration {file} can't be used: {error}") from error
    if missing := {task.repo for task in registered.tasks} - set(registered.repositories):
        raise TaskError(f"The registration {file} lists no repository {', '.join(sorted(missing))}.")
    return registered


def registered_tasks(registered: Registration, mirrors: Path) -> list[StudyTask]:
    """Return the registered tasks.

    Raises:
        MirrorNotFoundError: a repository has no mirror.
        TaskError: a mirror lacks a commit.
    """
    found = []
    for entry in registered.tasks:
        mirror = find_mirror(entry.repo, mirrors)
        test, name = registered.repositories[entry.repo].test, entry.repo.rpartition("/")[2]
        task = task_at(mirror, entry.commit, test, name)
        hosts = (SHELL_HOST, *([FILES_HOST] if entry.no_shell else []))
        found.append(StudyTask(task, entry.repo, entry.strata, hosts))
    return found


def clone_missing(repos: Sequence[str], mirrors: Path, origin: str) -> list[str]:
    """Clone the repositories that have no mirror yet; return them.

    Raises:
        TaskError: one can't be cloned.
    """
    mirrors.mkdir(parents=True, exist_ok=True)
    cloned = []
    for repo in dict.fromkeys(repos):
        try:
            find_mirror(repo, mirrors)
        except MirrorNotFoundError:
            # As the user's own git would: its protocols, proxies and credentials are the user's matter.
            command = ("git", "clone", "-q", "--mirror", f"{origin}/{repo}", repo.replace("/", "+"))
            ended = subprocess.run(command, cwd=mirrors, capture_output=True, text=True, check=False)
            if ended.returncode:
                said = ended.stderr.strip().rpartition("\n")[2]
                raise TaskError(f"{repo} can't be cloned from {origin}: {said}") from None
            cloned.append(repo)
    return cloned


def dry_tasks(scratch: Path) -> list[StudyTask]:
    """Return small tasks of this repository's own, of every registered kind; one is in a large tree."""
    tasks = [task for task in read_tasks() if task.id in _DRY_TASKS]
    first = tasks[0]
    large = first.model_copy(
        update={
            "id": f"{first.id}-large",
            "goal": f"{first.goal} It is so in the large repository too.",
            "repository": "",
            "git": _filled(first, scratch / "large"),
        }
    )
    return [
        *(StudyTask(task, "orderdesk", (UNNAMED,), (SHELL_HOST,)) for task in tasks[1:]),
        StudyTask(first, "orderdesk", (NAMED,), (SHELL_HOST, FILES_HOST)),
        StudyTask(large, "orderdesk, large", (UNNAMED, LARGE), (SHELL_HOST,)),
    ]


def _filled(task: Task, folder: Path) -> GitSource:
    """Return a commit with a task's repository, with its bug, among more than 5,000 other files."""
    task.lay_out(folder)
    for number in range(_FILLING):
        file = folder / "archive" / f"year_{number % 50}" / f"ledger_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"LEDGER_{number} = {number}\n", encoding="utf-8")
    run_git(folder, "init", "-q", ".")
    run_git(folder, "add", "-A", "-f")
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
    run_git(folder, *who, "commit", "-q", "--no-verify", "-m", "As it is")
    return GitSource(path=folder, commit="HEAD")
