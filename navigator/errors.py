"""The exceptions that callers of ``navigator`` may catch; each message says what, why and what next."""

from __future__ import annotations

from collections.abc import Sequence

from repo_map.errors import UserError


class NavigatorError(UserError):
    """A problem in one sentence; the navigation's last good step is still there."""


class InvalidRequestError(NavigatorError):
    """The caller's input can't be used: an empty goal, a budget of 0, a plan that is not well-formed."""

    code = "invalid_request"


class InvalidArgumentError(InvalidRequestError):
    """An argument can't be used; each surface writes its own name for it between ``before`` and ``after``."""

    code = "invalid_argument"

    def __init__(self, argument: str, after: str, before: str = "", *, code: str = "") -> None:
        self.after, self.before = after, before
        super().__init__(self.naming(f"`{argument}`"), code=code, argument=argument)

    def naming(self, name: str) -> str:
        """Return the sentence with ``name`` for the argument: ``--max-steps`` on a command line."""
        gap = "" if self.after[:1] in ".,:;" else " "
        return f"{self.before}{name}{gap}{self.after}"


class UnknownModelError(InvalidRequestError):
    """The catalogue has no model of that name, or the package that would run it is not installed."""

    code = "unknown_model"
    argument = "model"


class UnpricedModelError(InvalidRequestError):
    """A model that costs money has no known price, so its spend could not be bounded."""

    code = "model_price_unknown"
    argument = "model"


class StillIndexingError(NavigatorError):
    """A repository is not indexed yet; the work goes on, and a later call finds it done."""

    code = "still_indexing"


class UnknownNavigationError(NavigatorError):
    """No navigation has that id, or none was named and more than one could be meant."""

    code = "unknown_navigation"
    argument = "navigation_id"

    def __init__(self, message: str, choices: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.choices = tuple(choices)


class NavigationClosedError(NavigatorError):
    """The navigation was cancelled and takes no more steps."""

    code = "navigation_closed"


class NavigationBusyError(NavigatorError):
    """Another process has just stepped the same navigation."""

    code = "navigation_busy"


class ModelFailedError(NavigatorError):
    """No configured model gave a usable answer."""

    code = "model_failed"


class StorageError(NavigatorError):
    """The data folder can't be read or written."""

    code = "storage_failed"
