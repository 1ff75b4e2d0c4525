"""The file in which a host lists its hooks: the change that adds ours, and the one that takes them out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from repo_navigator.clients.configuration import ConfigurationChange, ConfigurationError, HostFile
from repo_navigator.clients.configuration_text import JsonArray
from repo_navigator.clients.entries import is_our_hook

HOOKS: Final = "hooks"


class HookConfiguration(HostFile):
    """The file that lists hooks."""

    suffix = ".before-repo-navigator-hooks"

    def adding(self, wanted: Mapping[str, Mapping[str, Any]]) -> ConfigurationChange:
        """Return the change that adds an element to each event's list, or renews ours."""
        before = self._read(self.path)
        had = any(is_our_hook(each) for listed in self._lists(before or "").values() for each in listed)
        after = self._added(before or "", wanted)
        return self._change(before, after, keeps=before is not None and not had and after != before)

    def undoing(self) -> ConfigurationChange:
        """Return the change that removes our elements; a file that is otherwise as it was gets its bytes."""
        text, backup_text = self._read(self.path), self._read(self._backup)
        if text is None:
            return self._change(None, None)
        ours = {
            event: next(each for each in listed if is_our_hook(each))
            for event, listed in self._lists(text).items()
            if any(map(is_our_hook, listed))
        }
        if not ours:
            return self._change(text, text)
        if self._added(backup_text or "", ours) == text:
            return self._change(text, backup_text)
        had = self._lists(backup_text) if backup_text is not None else {}
        after = text
        for event in ours:
            after = self._taken(after, event, with_list=event not in had, with_table=not had)
        return self._change(text, after)

    def _added(self, text: str, elements: Mapping[str, Mapping[str, Any]]) -> str:
        if not text.strip():
            lists = {event: [element] for event, element in elements.items()}
            heads = self._host.hooks.heads if self._host.hooks else {}
            return json.dumps({**heads, HOOKS: lists}, indent=2, ensure_ascii=False) + "\n"
        for event, element in elements.items():
            text = self._with(text, event, element)
        return text

    def _with(self, text: str, event: str, element: Mapping[str, Any]) -> str:
        written = self._notation.written(text, HOOKS, event, element)
        there = self._notation.entry(text, HOOKS, event)
        if there is None:
            return self._notation.put(text, HOOKS, event, f"[{written}]")
        listed = JsonArray(there)
        own = next((place for place, each in enumerate(listed.values) if is_our_hook(each)), None)
        if own is None:
            return self._notation.put(text, HOOKS, event, listed.with_element(written))
        if listed.values[own] == element:
            return text
        return self._notation.put(text, HOOKS, event, listed.with_value(own, written))

    def _taken(self, text: str, event: str, *, with_list: bool, with_table: bool) -> str:
        there = self._notation.entry(text, HOOKS, event)
        assert there is not None
        listed = JsonArray(there)
        for place in reversed([at for at, each in enumerate(listed.values) if is_our_hook(each)]):
            listed = JsonArray(listed.without_element(place))
        if not listed.values and with_list:
            return self._notation.take(text, HOOKS, event, with_table=with_table)
        return self._notation.put(text, HOOKS, event, str(listed))

    def _lists(self, text: str) -> dict[str, list[Any]]:
        found = self._data(self.path, text).get(HOOKS, {})
        if not isinstance(found, dict) or not all(isinstance(each, list) for each in found.values()):
            raise ConfigurationError(
                f"`{self.path}` has no object `{HOOKS}` of lists to add to, so it was not changed; fix it."
            )
        return found
