"""The exceptions that callers of ``repo_map`` may catch."""

from __future__ import annotations


class RepoMapError(Exception):
    """A problem told in one sentence: what is wrong, why, and what to do next."""


class RepositoryNotFoundError(RepoMapError):
    """The path names no readable folder."""


class FlightPlanError(RepoMapError):
    """A flight plan is not well-formed; the message names the line's path, such as ``verbosity[2].level``."""


class LimitError(RepoMapError):
    """A variable of the environment has a value that can't be used."""


class TreeTooLargeError(RepoMapError):
    """A repository does not fit the memory that its index may take."""


class BudgetError(RepoMapError):
    """A plan can't be drawn within its token budget."""


def first_cause(error: BaseException) -> BaseException:
    """Return what went wrong first of what several tasks ended with."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
