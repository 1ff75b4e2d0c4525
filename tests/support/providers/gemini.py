"""Gemini's wire on loopback: generateContent, streaming, cachedContents and interactions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from repo_map.text.tokens import count
from tests.support.providers.minds import Mind, Refuse, Say, Usage
from tests.support.providers.server import Answer, LoopbackServer, Reply


class Counted(NamedTuple):
    """Input tokens of one request, as this server counts them."""

    path: str
    read: int
    """All that the model reads, remembered parts included."""
    cached: int
    """Of it, what the server remembered."""


class GeminiServer(LoopbackServer):
    """Counts what it is sent, keeps caches and interactions, and lets a mind answer."""

    def __init__(self, mind: Mind, *, least_cache: int = 0) -> None:
        super().__init__()
        self.counted: list[Counted] = []
        self.caches: dict[str, int] = {}
        """Tokens of each cache that is kept at present."""
        self.interactions: dict[str, int] = {}
        """Tokens of the conversation up to each interaction that is kept at present."""
        self.deleted: list[str] = []
        self.kept_on: list[str] = []
        """Caches, once for each time that they were asked to be kept longer."""
        self._mind = mind
        self._least_cache = least_cache
        self._made = 0

    def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
        """Return the answer to one request, worded as Gemini's service does."""
        if method == "DELETE":
            return self._delete(path)
        if path.endswith("/cachedContents"):
            return self._cache(path, request)
        if method == "PATCH":
            return self._keep(path)
        interacts = path.endswith("/interactions")
        held = self.caches if not interacts else self.interactions
        named = request.get("previous_interaction_id" if interacts else "cachedContent")
        if named is not None and named not in held:
            return _refusal(Refuse(403 if not interacts else 404, f"{named} was not found"))
        cached = held[named] if named is not None else 0
        counted = Counted(path, cached + said(request), cached)
        self.counted.append(counted)
        self.paths.append(path)
        self.requests.append(request)
        thought = self._mind(request, len(self.requests) - 1)
        if isinstance(thought, Refuse):
            return _refusal(thought)
        if not isinstance(thought, Say):
            return thought
        if interacts:
            return self._interaction(thought, counted)
        answer = _content(thought, counted)
        return Reply(_streamed(answer)) if ":streamGenerateContent" in path else Reply(answer)

    def _cache(self, path: str, request: Mapping[str, Any]) -> Reply:
        tokens = said(request)
        if tokens < self._least_cache:
            words = f"Cached content is too small. total_token_count={tokens}, min={self._least_cache}"
            return _refusal(Refuse(400, words))
        name = f"cachedContents/{self._number()}"
        self.caches[name] = tokens
        self.counted.append(Counted(path, tokens, 0))
        seconds = float(str(request["ttl"]).removesuffix("s"))
        ends = datetime.now(UTC) + timedelta(seconds=seconds)
        usage = {"totalTokenCount": tokens}
        return Reply(
            {"name": name, "model": request["model"], "expireTime": ends.isoformat(), "usageMetadata": usage}
        )

    def _keep(self, path: str) -> Reply:
        name = path.removeprefix("/v1beta/").partition("?")[0]
        self.kept_on.append(name)
        if name not in self.caches:
            return _refusal(Refuse(403, f"{name} was not found"))
        return Reply({"name": name, "usageMetadata": {"totalTokenCount": self.caches[name]}})

    def _interaction(self, thought: Say, counted: Counted) -> Reply:
        name = f"interaction-{self._number()}"
        usage = _usage(thought.usage, counted)
        self.interactions[name] = counted.read + thought.usage.candidates
        steps: list[dict[str, Any]] = [
            {"type": "function_call", "id": f"{name}-{place}", "name": call.name, "arguments": call.args}
            for place, call in enumerate(thought.calls)
        ]
        if thought.text:
            steps.append({"type": "model_output", "content": [{"type": "text", "text": thought.text}]})
        return Reply(
            {
                "id": name,
                "object": "interaction",
                "model": "loopback",
                "status": "requires_action" if thought.calls else "completed",
                "steps": steps,
                "usage": {
                    "total_input_tokens": usage["promptTokenCount"],
                    "total_cached_tokens": usage["cachedContentTokenCount"],
                    "total_output_tokens": usage["candidatesTokenCount"],
                    "total_thought_tokens": usage["thoughtsTokenCount"],
                    "total_tokens": usage["totalTokenCount"],
                },
            }
        )

    def _delete(self, path: str) -> Reply:
        name = re.sub(r"^/v1beta/(interactions/)?", "", path)
        self.deleted.append(name)
        known = self.caches.pop(name, None) or self.interactions.pop(name, None)
        return Reply({}) if known is not None else _refusal(Refuse(404, f"{name} was not found"))

    def _number(self) -> int:
        self._made += 1
        return self._made


@contextmanager
def gemini(mind: Mind, **parts: Any) -> Iterator[GeminiServer]:
    """Serve ``mind`` for as long as the context lasts."""
    server = GeminiServer(mind, **parts)
    with server:
        yield server


def said(request: Mapping[str, Any]) -> int:
    """Count the tokens that a request carries: instruction, tools and contents, of either API."""
    texts = [json.dumps(tool, sort_keys=True, separators=(",", ":")) for tool in request.get("tools", [])]
    texts += _texts(request.get("systemInstruction", request.get("system_instruction", "")))
    texts += _texts(request.get("contents", request.get("input", [])))
    return sum(count(text) for text in texts)


def text_of(request: Mapping[str, Any]) -> str:
    """Return every text of a request's contents, in order."""
    return "\n".join(_texts(request.get("contents", request.get("input", []))))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    if "text" in value:
        return [str(value["text"])]
    inner = value.get("parts", value.get("content"))
    return _texts(inner) if inner is not None else [json.dumps(value, sort_keys=True)]


def _content(thought: Say, counted: Counted) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": thought.text}] if thought.text else []
    parts += [{"functionCall": {"name": call.name, "args": call.args}} for call in thought.calls]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": _usage(thought.usage, counted),
        "modelVersion": "loopback",
    }


def _streamed(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Cut an answer into events as the service does: the parts one by one, the usage with the last."""
    (candidate,) = answer["candidates"]
    events: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
        for part in candidate["content"]["parts"]
    ]
    end = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
    return [*events, {"candidates": [end], "usageMetadata": answer["usageMetadata"]}]


def _usage(usage: Usage, counted: Counted) -> dict[str, int]:
    prompt = counted.read if usage.prompt is None else usage.prompt
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": counted.cached if usage.cached is None else usage.cached,
        "candidatesTokenCount": usage.candidates,
        "thoughtsTokenCount": usage.thoughts,
        "totalTokenCount": prompt + usage.candidates + usage.thoughts,
    }


def _refusal(refusal: Refuse) -> Reply:
    body = {"code": refusal.status, "message": refusal.message, "status": "SCRIPTED"}
    return Reply({"error": body}, refusal.status)
