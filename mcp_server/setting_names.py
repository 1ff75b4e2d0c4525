"""The names of all settings: a misspelt one would be no setting, and a limit or a token that is none."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Final

from mcp_server.settings import PREFIX, SettingsError
from navigator.models.catalogue import PROVIDERS
from repo_map.limits import VARIABLES

_TESTS: Final = f"{PREFIX}TEST_"
"""Begins what tells the tests where to find a database or a key."""
_NAMES: Final = """
    ALLOW ARTIFACTS CACHE CALL_SECONDS DATA EMBEDDED_FALLBACK FALLBACK_MODEL
    GRACE_SECONDS HTTP_DRAIN_SECONDS HTTP_HOSTS HTTP_ISSUER HTTP_JWKS
    HTTP_MAX_BODY HTTP_MAX_CONNECTIONS HTTP_ORIGINS HTTP_RESOURCE HTTP_USER_CLAIM KEEP_DAYS
    LENDERS LINE_NUMBERS LOG_FORMAT LOG_LEVEL MAX_COST_USD MAX_NAVIGATIONS METRICS MODEL
    MODEL_RETRIES MODEL_SECONDS MODEL_STREAM PRICES REPOSITORIES STORE TOKEN_BUDGET TOKENS UNMASK VIEWS
"""
_URLS: Final = tuple(f"{vendor.name.upper()}_URL" for vendor in PROVIDERS)
KNOWN: Final = frozenset({*VARIABLES, *(f"{PREFIX}{name}" for name in (*_NAMES.split(), *_URLS))})
"""Variables of the environment; a test holds them to those that are read, and to the page of the server."""

_REMOVED: Final = """
    AUDIT HOST_TOKENS HTTP_GROUPS HTTP_GROUPS_CLAIM HTTP_LOGIN_CLAIM HTTP_METRICS_TOKEN HTTP_TOKENS
    LEASE_SECONDS LIMIT_COST_USD_A_DAY LIMIT_INDEX_SECONDS_A_DAY LIMIT_OPEN_NAVIGATIONS LIMIT_TOKENS_A_DAY
    MAX_DEFINITIONS MAX_HARD_FILES MAX_HARD_SECONDS MAX_INDEXES MAX_LINE_BYTES MAX_PARSE_SECONDS
    FALLBACK_MODELS GEMINI_MEMORY MAX_QUERY_BYTES MAX_QUERY_SECONDS MAX_RELATION_SECONDS
    RIGHTS_SECONDS SHARED_MB SHARE_INDEX WEBHOOK_SECRETS
"""
REMOVED_SETTINGS: Final = frozenset(f"{PREFIX}{name}" for name in _REMOVED.split())
"""Variables that earlier versions read. They have no effect, and are warned of instead of refused."""


def unknown_settings(names: Iterable[str]) -> list[str]:
    """Return a sentence for each variable that begins like a setting and is none."""
    return [
        f"{name} is not a setting; {_instead(name)}."
        for name in sorted(names)
        if name.startswith(PREFIX) and not name.startswith(_TESTS) and name not in KNOWN | REMOVED_SETTINGS
    ]


def warn_removed_settings(names: Iterable[str], warn: Callable[[str], object]) -> None:
    """Call ``warn`` once with a sentence naming each removed setting among ``names``, if there is one."""
    if removed := sorted(REMOVED_SETTINGS.intersection(names)):
        warn(f"These settings were removed and have no effect; unset them: {', '.join(removed)}.")


def require_known(names: Iterable[str]) -> None:
    """Refuse variables that begin like settings and are none.

    Raises:
        SettingsError: there is one.
    """
    for sentence in unknown_settings(names):
        raise SettingsError(sentence)


def _instead(name: str) -> str:
    nearest = difflib.get_close_matches(name, sorted(KNOWN), n=1, cutoff=0.8)
    if nearest:
        return f"write {nearest[0]} if that is meant, or take it out"
    return "take it out, or look for its name in docs/server.md"
