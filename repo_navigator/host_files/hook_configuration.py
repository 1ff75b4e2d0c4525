"""The file in which a host lists its hooks: the change that adds ours, and the one that takes them out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from navigator.errors import InvalidRequestError
from repo_navigator.host_files.configuration import ConfigurationChange, read_configuration
from repo_navigator.host_files.configuration_text import JsonArray, JsonWithComments
from repo_navigator.host_files.hook_hosts import TABLE, HookHost, is_our_hook

_BACKUP_SUFFIX: Final = ".before-repo-navigator-hooks"
_UNIT: Final = "  "


class HookConfiguration:
    """A host's file of hooks, as the user's or as one that a project shares."""

    def __init__(
        self, host: HookHost, path: Path, backup: Path | None = None, *, within: Path | None = None
    ) -> None:
        """Name the file; it must lie ``within`` a folder, links followed, where one is given."""
        self._host, self.path = host, path
        self._backup = backup or path.with_name(path.name + _BACKUP_SUFFIX)
        self._within = within
        self._notation = JsonWithComments()

    def adding(self, elements: Mapping[str, Mapping[str, Any]]) -> ConfigurationChange:
        """Return the change that adds an element to each event's list, or renews ours.

        Raises:
            InvalidRequestError: The file can't be read, or is not what the host would write.
        """
        before = self._read(self.path)
        had = any(is_our_hook(each) for listed in self._lists(before or "").values() for each in listed)
        after = self._added(before or "", elements)
        self._require(before or "", after, elements)
        return ConfigurationChange(
            self.path, self._backup, before, after, keeps=before is not None and not had and after != before
        )

    def undoing(self) -> ConfigurationChange:
        """Return the change that takes our elements out; whoever changed nothing else gets the same bytes.

        Raises:
            InvalidRequestError: As in ``adding``.
        """
        text, kept = self._read(self.path), self._read(self._backup)
        if text is None:
            return ConfigurationChange(self.path, self._backup, None, None)
        ours = {
            event: next(each for each in listed if is_our_hook(each))
            for event, listed in self._lists(text).items()
            if any(map(is_our_hook, listed))
        }
        if not ours:
            return ConfigurationChange(self.path, self._backup, text, text)
        if self._added(kept or "", ours) == text:
            return ConfigurationChange(self.path, self._backup, text, kept)
        had = self._lists(kept) if kept is not None else {}
        after = text
        for event in ours:
            after = self._taken(after, event, with_list=event not in had, with_table=not had)
        self._require(text, after, {})
        return ConfigurationChange(self.path, self._backup, text, after)

    def _added(self, text: str, elements: Mapping[str, Mapping[str, Any]]) -> str:
        if not text.strip():
            lists = {event: [element] for event, element in elements.items()}
            return json.dumps({**self._host.heads, TABLE: lists}, indent=2, ensure_ascii=False) + "\n"
        for event, element in elements.items():
            text = self._with(text, event, element)
        return text

    def _with(self, text: str, event: str, element: Mapping[str, Any]) -> str:
        written = self._notation.written(text, TABLE, event, element)
        there = self._notation.entry(text, TABLE, event)
        if there is None:
            return self._notation.put(text, TABLE, event, f"[{written}]")
        listed = JsonArray(there)
        own = next((place for place, each in enumerate(listed.values) if is_our_hook(each)), None)
        if own is None:
            return self._notation.put(text, TABLE, event, listed.with_element(written))
        if listed.values[own] == element:
            return text
        return self._notation.put(text, TABLE, event, listed.with_value(own, written))

    def _taken(self, text: str, event: str, *, with_list: bool, with_table: bool) -> str:
        there = self._notation.entry(text, TABLE, event)
        assert there is not None
        listed = JsonArray(there)
        for place in reversed([at for at, each in enumerate(listed.values) if is_our_hook(each)]):
            listed = JsonArray(listed.without_element(place))
        if not listed.values and with_list:
            return self._notation.take(text, TABLE, event, with_table=with_table)
        return self._notation.put(text, TABLE, event, str(listed))

    def _require(self, before: str, after: str, elements: Mapping[str, Mapping[str, Any]]) -> None:
        """Raise unless the new text says what it has to, so that no file is ever spoilt."""
        expected = {
            event: [each for each in listed if not is_our_hook(each)]
            for event, listed in self._lists(before).items()
        }
        found = self._lists(after)
        others = {
            event: [each for each in listed if not is_our_hook(each)] for event, listed in found.items()
        }
        same = all(others.get(event, []) == listed for event, listed in expected.items())
        ours = {event: [each for each in listed if is_our_hook(each)] for event, listed in found.items()}
        right = all(ours.get(event) == [element] for event, element in elements.items())
        rest = [
            {key: value for key, value in self._data(text).items() if key != TABLE}
            for text in (before, after)
        ]
        if not (same and right and (rest[0] == rest[1] or not before.strip())):
            raise InvalidRequestError(
                f"`{self.path}` is written in a way that `install` can't change safely, so it was left "
                "alone; change it by hand."
            )

    def _lists(self, text: str) -> dict[str, list[Any]]:
        found = self._data(text).get(TABLE, {})
        if not isinstance(found, dict) or not all(isinstance(each, list) for each in found.values()):
            raise InvalidRequestError(
                f"`{self.path}` has no object `{TABLE}` of lists to add to, so it was left alone; mend it."
            )
        return found

    def _data(self, text: str) -> dict[str, Any]:
        try:
            return self._notation.data(text)
        except ValueError as error:
            raise InvalidRequestError(
                f"`{self.path}` can't be read as {self._host.title} would ({error}), so it was left alone; "
                "mend it."
            ) from error

    def _read(self, path: Path) -> str | None:
        within = self._within if path == self.path else None
        return read_configuration(path, self._notation.longest, within)
