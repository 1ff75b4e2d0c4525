"""OpenAI's chat completions on loopback, as OpenAI, Ollama and other compatible servers speak them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from repo_map.text.tokens import count
from tests.support.providers.minds import Mind, Refuse, Say
from tests.support.providers.server import Answer, LoopbackServer, Reply

BLOCK = 128
"""A prefix cache serves whole blocks of so many tokens."""


class OpenAiServer(LoopbackServer):
    """Counts what it is sent, serves prefixes that it has seen from its cache, and lets a mind answer."""

    def __init__(self, mind: Mind, *, tells_usage: bool = True) -> None:
        super().__init__()
        self.cached: list[int] = []
        """By request, the tokens of its prefix that an earlier request began with as well."""
        self.read: list[int] = []
        self._mind = mind
        self._tells_usage = tells_usage

    @property
    def base_url(self) -> str:
        """What a client is given."""
        return f"{self.url}/v1"

    def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
        """Return the answer to one request."""
        said = _said(request)
        shared = max((_shared(said, _said(earlier)) for earlier in self.requests), default=0)
        self.read.append(count(said))
        self.cached.append(count(said[:shared]) // BLOCK * BLOCK)
        self.paths.append(path)
        self.requests.append(request)
        thought = self._mind(request, len(self.requests) - 1)
        if isinstance(thought, Refuse):
            return Reply({"error": {"message": thought.message, "type": "scripted"}}, thought.status)
        if not isinstance(thought, Say):
            return thought
        answer = self._completion(thought)
        return Reply([*_streamed(answer), "[DONE]"]) if request.get("stream") else Reply(answer)

    def _completion(self, thought: Say) -> dict[str, Any]:
        calls = [
            {
                "id": f"call-{len(self.requests)}-{place}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.args if isinstance(call.args, str) else json.dumps(call.args),
                },
            }
            for place, call in enumerate(thought.calls)
        ]
        message = {"role": "assistant", "content": thought.text or None, "tool_calls": calls or None}
        finish = "tool_calls" if calls else "stop"
        head = {"id": "completion", "created": 0, "model": "loopback", "object": "chat.completion"}
        usage = {"usage": self._usage(thought)} if self._tells_usage else {}
        return {**head, "choices": [{"index": 0, "message": message, "finish_reason": finish}], **usage}

    def _usage(self, thought: Say) -> dict[str, Any]:
        message = thought.usage
        prompt = self.read[-1] if message.prompt is None else message.prompt
        output = message.candidates + message.thoughts
        return {
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "total_tokens": prompt + output,
            "prompt_tokens_details": {
                "cached_tokens": self.cached[-1] if message.cached is None else message.cached
            },
            "completion_tokens_details": {"reasoning_tokens": message.thoughts},
        }


@contextmanager
def openai(mind: Mind, **parts: Any) -> Iterator[OpenAiServer]:
    """Serve ``mind`` for as long as the context lasts."""
    server = OpenAiServer(mind, **parts)
    with server:
        yield server


def messages_of(request: Mapping[str, Any]) -> str:
    """Return every text of a request's messages, in order."""
    return "\n".join(str(message.get("content") or "") for message in request["messages"])


def _said(request: Mapping[str, Any]) -> str:
    return json.dumps([request.get("tools", []), *request["messages"]])


def _shared(one: str, other: str) -> int:
    known, unknown = 0, min(len(one), len(other)) + 1
    while unknown - known > 1:
        middle = (known + unknown) // 2
        known, unknown = (middle, unknown) if one[:middle] == other[:middle] else (known, middle)
    return known


def _streamed(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut an answer into chunks: the words, each call's head and its arguments in two, the end, the usage."""
    head = {"id": "completion", "created": 0, "model": "loopback", "object": "chat.completion.chunk"}
    (choice,) = answer["choices"]

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    if choice["message"]["content"]:
        yield chunk({"role": "assistant", "content": choice["message"]["content"]})
    for place, call in enumerate(choice["message"]["tool_calls"] or []):
        arguments = call["function"]["arguments"]
        half = len(arguments) // 2
        first = {**call, "index": place, "function": {**call["function"], "arguments": arguments[:half]}}
        yield chunk({"tool_calls": [first]})
        yield chunk({"tool_calls": [{"index": place, "function": {"arguments": arguments[half:]}}]})
    yield chunk({}, choice["finish_reason"])
    if "usage" in answer:
        yield {**head, "choices": [], "usage": answer["usage"]}
