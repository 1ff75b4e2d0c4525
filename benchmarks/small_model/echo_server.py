"""A server on this machine that tells how likely a prompt is, from a GGUF file and nothing else.

``python -m benchmarks.small_model.echo_server MODEL.gguf --port 8011``, in an environment of its own. For
``--engine llama`` it holds ``xllamacpp`` and ``numpy``, and any model that llama.cpp reads is read. For
``--engine torch`` it holds ``torch``, ``transformers`` and ``gguf``, and reads only models of Qwen2's build,
faster. The server answers one request at a time, and reads no beginning twice in a row.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Final, Protocol

_ENGINES: Final = {"llama": ("llama_model", "LlamaModel"), "torch": ("torch_model", "TorchModel")}


class Model(Protocol):
    """A model that is held in memory."""

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text, none of them special."""

    def piece(self, token: int) -> bytes:
        """Return what a token stands for."""

    def log_likelihoods(self, tokens: Sequence[int], first: int) -> list[float]:
        """Return the natural logarithm of each token's probability behind those before, from ``first`` on.

        Raises:
            ValueError: there are more tokens than the model was given room for.
        """


def answer(model: Model, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request for a completion that repeats its prompt; nothing is written on."""
    prompt = str(asked["prompt"])
    tokens = model.tokens(prompt)
    offsets, pieces, data = [], [], b""
    for token in tokens:
        offsets.append(len(data.decode("utf-8", "ignore")))
        piece = model.piece(token)
        pieces.append(piece.decode("utf-8", "replace"))
        data += piece
    start = int(asked.get("echo_from", 0))
    first = next((row for row, at in enumerate(offsets) if at >= start), len(tokens))
    likely = model.log_likelihoods(tokens, first)
    logprobs = {
        "tokens": pieces,
        "text_offset": offsets,
        "token_logprobs": [None] * (len(tokens) - len(likely)) + likely,
    }
    usage = {"prompt_tokens": len(tokens), "completion_tokens": 0, "total_tokens": len(tokens)}
    choice = {"index": 0, "text": prompt, "logprobs": logprobs, "finish_reason": "length"}
    return {"object": "text_completion", "model": "local", "choices": [choice], "usage": usage}


def open_server(model: Model, port: int) -> HTTPServer:
    """Return a server on loopback that answers one request after the other."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
            try:
                status, told = 200, answer(model, asked)
            except (KeyError, ValueError) as error:
                status, told = 400, {"error": {"message": str(error)}}
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return HTTPServer(("127.0.0.1", port), Handler)


def load(engine: str, path: str, context: int, threads: int) -> Model:
    """Return the model in a GGUF file, read by one of the engines."""
    module, name = _ENGINES[engine]
    # Each engine's packages lie in an environment that may lack the other's.
    kind = getattr(importlib.import_module(f"benchmarks.small_model.{module}"), name)
    model: Model = kind(path, context, threads)
    return model


def main() -> None:
    """Load the model that the command line names, and serve it."""
    parser = argparse.ArgumentParser(description="Tell how likely prompts are, on loopback.")
    parser.add_argument("model", help="a GGUF file")
    parser.add_argument("--engine", choices=tuple(_ENGINES), default="llama")
    parser.add_argument("--port", type=int, default=8011)
    parser.add_argument("--context", type=int, default=8192, help="most tokens of a prompt (default 8192)")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    model = load(options.engine, options.model, options.context, options.threads)
    open_server(model, options.port).serve_forever()


if __name__ == "__main__":
    main()
