"""The exceptions that callers of ``repo_map`` may catch."""

from __future__ import annotations


class UserError(Exception):
    """A problem that is reported to the user in one sentence: what is wrong, why, and what to do next.

    Attributes:
        code: The kind of problem, for programs. The sentence may change, the code does not.
        argument: The argument or setting that can't be used; empty where the problem is about none.
    """

    code: str = "failed"
    argument: str = ""

    def __init__(self, message: str, *, code: str = "", argument: str = "") -> None:
        super().__init__(message)
        self.code = code or self.code
        self.argument = argument or self.argument


class RepoMapError(UserError):
    """A problem of the map engine."""


class RepositoryNotFoundError(RepoMapError):
    """The path names no readable folder, or no commit of one."""

    code = "repository_not_found"


class FlightPlanError(RepoMapError):
    """A flight plan is not well-formed; the message names the line's path, such as ``verbosity[2].level``."""

    code = "invalid_flight_plan"


class LimitError(RepoMapError):
    """A variable of the environment has a value that can't be used."""

    code = "invalid_setting"


class TreeTooLargeError(RepoMapError):
    """The index of a repository would exceed the memory limit."""

    code = "repository_too_large"


class BudgetError(RepoMapError):
    """A plan can't be rendered within its token budget."""

    code = "budget_too_small"


class OutputError(RepoMapError):
    """A result can't be written to the path of the user."""

    code = "output_failed"


def first_cause(error: BaseException) -> BaseException:
    """Return the first error of an exception group, recursively."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
