"""A stand-in for assistants' models on loopback: in each one's wire it asks for one shell line, then ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

_DONE: Final = "Done."
_SHELLS: Final = (
    "Bash",
    "bash",
    "exec_command",
    "shell",
    "shell_command",
    "run_shell_command",
    "local_shell",
)
_MOST: Final = 20_000_000


class StandIn:
    """What was sent to the stand-in, and where it is reached."""

    def __init__(self, line: str) -> None:
        """Take the shell line that it asks for."""
        self.line = line
        self.sent: list[str] = []
        """Bodies of the requests that offered a shell, in order."""
        self.url = ""


@contextmanager
def standing_in(line: str) -> Iterator[StandIn]:
    """Serve a model that asks for a shell line once in each conversation."""
    model = StandIn(line)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    model.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def _handler(model: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send("application/json", b'{"data": [], "models": []}')

        do_HEAD = do_GET  # noqa: N815 - as the library calls it

        def do_POST(self) -> None:
            body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MOST))
            try:
                request = json.loads(body)
            except ValueError:
                request = {}
            shell = _shell(request)
            if shell:
                model.sent.append(body.decode("utf-8", "replace"))
            kind, answer = _answered(self.path, request, shell, model.line)
            self._send(kind, answer)

        def _send(self, kind: str, answer: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _answered(path: str, request: Mapping[str, Any], shell: str, line: str) -> tuple[str, bytes]:
    """Return the kind and the body of an answer in the wire that a path belongs to."""
    wire = next((each for part, each in _WIRES.items() if part in path), None)
    if wire is None:
        return "application/json", b'{"input_tokens": 1, "totalTokens": 1}'
    text = json.dumps(request)
    asks = shell if shell and not any(mark in text for mark in _RESULTS) else ""
    events = list(wire(request, asks, line))
    if request.get("stream") or "stream" in path:
        return "text/event-stream", "".join(_event(each) for each in events).encode()
    return "application/json", json.dumps(events[-1]).encode()


_RESULTS: Final = ('"tool_result"', '"function_call_output"', '"role": "tool"', '"functionResponse"')
"""What tells that the shell line was run already."""


def _event(data: Mapping[str, Any]) -> str:
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n"


def _shell(request: Mapping[str, Any]) -> str:
    """Return the name of the tool that runs a shell line, empty where none is offered."""
    names: list[str] = []
    for tool in request.get("tools") or ():
        listed = tool.get("functionDeclarations") or [tool.get("function") or tool]
        names += [str(each.get("name") or each.get("type")) for each in listed]
    return next((name for name in _SHELLS if name in names), "")


def _arguments(shell: str, line: str) -> dict[str, Any]:
    if shell == "exec_command":
        return {"cmd": line}
    if shell == "shell":
        return {"command": ["bash", "-lc", line]}
    return {"command": line, "description": "Looks for a name"}


def _anthropic(request: Mapping[str, Any], shell: str, line: str) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 10, "output_tokens": 10}
    whole: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "usage": usage}
    whole |= {"model": request.get("model", ""), "stop_sequence": None}
    if shell:
        arguments = _arguments(shell, line)
        block = {"type": "tool_use", "id": "toolu_1", "name": shell, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        content, reason = {**block, "input": arguments}, "tool_use"
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": _DONE}
        content, reason = {"type": "text", "text": _DONE}, "end_turn"
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    if request.get("stream"):
        yield {"type": "message_stop"}
    else:
        yield {**whole, "content": [content], "stop_reason": reason}


def _responses(request: Mapping[str, Any], shell: str, line: str) -> Iterator[dict[str, Any]]:
    item: dict[str, Any]
    if shell:
        arguments = json.dumps(_arguments(shell, line))
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": shell}
        item |= {"arguments": arguments, "status": "completed"}
    else:
        content: Any = [{"type": "output_text", "text": _DONE, "annotations": []}]
        item = {
            "type": "message",
            "id": "m_1",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20, **details}
    about = {"id": "resp_1", "object": "response", "model": request.get("model", "")}
    yield {"type": "response.created", "response": {**about, "status": "in_progress", "output": []}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    whole = {**about, "status": "completed", "output": [item], "usage": usage}
    yield {"type": "response.completed", "response": whole} if request.get("stream") else whole


def _chat(request: Mapping[str, Any], shell: str, line: str) -> Iterator[dict[str, Any]]:
    message: dict[str, Any] = {"role": "assistant", "content": None if shell else _DONE}
    if shell:
        call = {"name": shell, "arguments": json.dumps(_arguments(shell, line))}
        message["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": call}]
    kind = "delta" if request.get("stream") else "message"
    choice = {"index": 0, kind: message, "finish_reason": "tool_calls" if shell else "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    about = {"id": "c_1", "object": "chat.completion.chunk", "created": 0, "model": request.get("model", "")}
    yield {**about, "choices": [choice], "usage": usage}


def _gemini(request: Mapping[str, Any], shell: str, line: str) -> Iterator[dict[str, Any]]:
    del request
    call = {"functionCall": {"name": shell, "args": _arguments(shell, line)}}
    content = {"role": "model", "parts": [call if shell else {"text": _DONE}]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
    yield {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


_WIRES: Final = {
    "/v1/messages/count_tokens": None,
    "/v1/messages": _anthropic,
    "/responses": _responses,
    "/chat/completions": _chat,
    "enerateContent": _gemini,
}
