"""What `navigate` is asked: a new navigation, or one that is stored and gone on with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.planner.arguments import require_goal
from navigator.settings import DEFAULT_MAX_STEPS, FIRST_ANSWER, NavigationRequest
from repo_map.errors import RepositoryNotFoundError
from repo_navigator.options import (
    PagedOptions,
    any_of,
    argument,
    flag,
    names_of,
    nonempty,
    number,
    switch,
    whole_number,
)
from repo_navigator.repository_arguments import further_repositories, named_here, require_repository
from repo_navigator.stored_navigations import ID_START
from repo_navigator.terminal import read_input, read_plan

if TYPE_CHECKING:
    from navigator.planner.request import ValidRequest

_FOR_NEW_ONES: Final = (
    *(
        "goal",
        "goal_file",
        "further",
        "names",
        "changes",
        "token_budget",
        "fill",
        "model",
        "max_cost_usd",
        "max_steps",
    ),
    "plan",
)
"""What a navigation begins with, and keeps."""


class Continued(NamedTuple):
    """Which navigation is gone on with, and how."""

    named: str | None
    """Its id; None for the latest of the folder."""
    folder: Path
    words: str
    """What is said to it; may be ``""``."""
    updates: Mapping[str, Any]
    """What is changed of its plan besides."""


@dataclass(frozen=True, kw_only=True)
class NavigateOptions(PagedOptions):
    """What the command line of `navigate` says."""

    repo: str | None = argument(
        "REPO",
        "the repository's folder, or its name; FOLDER@REF reads a commit (default: this git work tree)",
        read=nonempty,
    )
    words: str | None = argument("GOAL", "the task, in your own words", one_of="goal")
    further: tuple[str, ...] = further_repositories()
    goal: str | None = flag(
        "--goal", "TEXT", "the task as a flag, for a text that begins with -", one_of="goal"
    )
    goal_file: str | None = flag("--goal-file", "FILE", "file with the task; - reads stdin", one_of="goal")
    continued: str | None = flag(
        "--continue",
        "ID",
        "continue a stored navigation by its id (default: the latest of this folder); a text after "
        "it is feedback (`3, 7`, `drop X`), and only what is new is printed",
        bare="",
    )
    names: str | None = flag(
        "--names", "A,B,…", "identifiers that you expect in the code, 4 to 10; guesses are welcome"
    )
    changes: str | None = any_of(
        flag(
            "--since",
            "REF",
            "show the code that depends on what changed since HEAD left a commit or branch (main), "
            "or in a range (v1..v2); needs no goal",
            read=nonempty,
            one_of="changes",
        ),
        switch("--diff", "the same for uncommitted changes", value="worktree", one_of="changes"),
    )
    token_budget: int | None = flag(
        "--tokens",
        "N",
        f"maximum tokens of code (default: {FIRST_ANSWER} with the outline, more as you ask for it)",
        read=whole_number,
    )
    fill: bool = switch("--fill", "fill the budget, even with less relevant code")
    model: str | None = flag(
        "--model", "M", "the model that decides, such as gemini-2.5-flash (embedded: no key, no network)"
    )
    max_cost_usd: float | None = flag(
        "--max-cost",
        "USD",
        "maximum US dollars for the model; then the embedded planner continues",
        read=number,
    )
    max_steps: int | None = flag(
        "--max-steps", "N", f"maximum steps ({DEFAULT_MAX_STEPS})", read=whole_number
    )
    plan: str | None = flag("--plan", "FILE", "flight plan to start from, in YAML; - reads stdin")
    save_plan: str | None = flag(
        "--save-plan", "FILE", "write the flight plan to this file; `replay` draws it again"
    )
    html: str | None = flag("--html", "FILE", "write a picture of the map to this file, as an HTML page")
    interactive: bool = switch(
        "--interactive", "ask after each step whether to continue, change something or stop"
    )
    verbose: bool = switch("--verbose", "print on stderr what each step decided, and why")
    wait: bool = switch(
        "--wait", "wait for the full index of a large repository instead of answering from a first look"
    )

    def files(self) -> Iterator[Path]:
        """Yield the files that are written.

        Raises:
            InvalidRequestError: something beside the context would go to stdout too.
        """
        for name, file in (("--save-plan", self.save_plan), ("--html", self.html), ("", self.output)):
            if file == "-":
                raise InvalidRequestError(
                    f"{name} is -, which would mix it with the context; name a file.", argument=name
                )
            if file:
                yield Path(file)

    def asked(self, settings: Settings) -> ValidRequest | Continued:
        """Return what is asked for; what can't be used is refused before anything takes time.

        Raises:
            InvalidRequestError: something of it can't be used.
            FlightPlanError: the plan is not well-formed.
            RepositoryNotFoundError: there is no such repository.
        """
        from navigator.planner.request import validate  # noqa: PLC0415 - help and wrong flags wait for no request

        if self.continued is not None:
            return self._continued(self.continued)
        return validate(self._request(settings), settings, environ=os.environ)

    def _continued(self, named: str) -> Continued:
        """Return what ``--continue`` goes on with.

        Of the texts that stand beside it, one that begins as an id is the id, and one that is a folder's
        path names the repository.
        """
        new = next((names_of(type(self), name) for name in _FOR_NEW_ONES if getattr(self, name)), None)
        if new is not None:
            shown = named if named.startswith(ID_START) else "ID"
            raise InvalidRequestError(
                f"{new} is for a new navigation, and --continue goes on with one as it is; write what "
                f'to change behind it: `repo-navigator navigate --continue {shown} "show X"`.',
                argument=new,
            )
        texts = [text for text in (named, self.repo, self.words) if text]
        navigation = next((text for text in texts if text.startswith(ID_START)), None)
        folder = next((text for text in texts if text != navigation and Path(text).is_dir()), None)
        if navigation is not None and folder is not None:
            raise InvalidRequestError(
                f"`{navigation}` is a navigation of one repository already; leave `{folder}` out, "
                "or leave the id out for the latest navigation of that folder.",
                argument="--continue",
            )
        words = " ".join(text for text in texts if text not in (navigation, folder))
        return Continued(navigation, Path(folder).resolve() if folder else Path.cwd(), words, self.updates)

    def _request(self, settings: Settings) -> NavigationRequest:
        repo, words = self._repository_and_goal(settings)
        goal = words if self.goal is None else self.goal
        if goal is not None:
            # A command line that is not UTF-8 comes with characters that no text can hold.
            goal = os.fsencode(goal).decode("utf-8", "replace")
        elif self.goal_file is not None:
            goal = _read_goal(self.goal_file)
            if not goal.strip() and not self.changes:
                raise InvalidRequestError(
                    "--goal-file names a goal that is empty; check what it is read from.",
                    argument="--goal-file",
                )
        repo_path = require_repository(repo, self.further, settings, "before the goal")
        plan = None if self.plan is None else read_plan(Path(self.plan))
        tokens = settings.token_budget if self.token_budget is None and plan is None else self.token_budget
        is_usual = tokens is None and plan is None and not self.fill and not self.interactive
        return NavigationRequest(
            goal=goal or "" if self.changes else require_goal(goal or ""),
            repo_path=repo_path,
            token_budget=tokens,
            first_answer=FIRST_ANSWER if is_usual else None,
            max_cost_usd=settings.max_cost_usd if self.max_cost_usd is None else self.max_cost_usd,
            mode="interactive" if self.interactive else "autonomous",
            model=self.model,
            flight_plan=plan,
            max_steps=DEFAULT_MAX_STEPS if self.max_steps is None else self.max_steps,
            fill=self.fill,
            line_numbers=self.line_numbers or None,
            names=(self.names or "").split(","),
            changes=self.changes,
            may_look_first=not self.wait,
        )

    def _repository_and_goal(self, settings: Settings) -> tuple[str | None, str | None]:
        """Return REPO and GOAL: one argument alone that has white space, and names no folder, is the goal."""
        is_alone = self.words is None and self.goal is None and self.goal_file is None
        if self.repo is None or not is_alone or len(self.repo.split()) < 2:
            return self.repo, self.words
        try:
            named_here([self.repo], settings)
        except RepositoryNotFoundError:
            return None, self.repo
        return self.repo, None


def _read_goal(name: str) -> str:
    try:
        data = read_input(Path(name))
    except OSError as error:
        raise InvalidRequestError(
            f"The goal can't be read from `{name}`: {error.strerror}; check the path.", argument="--goal-file"
        ) from error
    return data.decode("utf-8", "replace")
