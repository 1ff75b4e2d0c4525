"""The official Inspector's command line: lists and calls every tool, resource and prompt in both eras."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.conformance.node import TooSlowError, run_tool
from tests.conformance.serving import planted, served

ERAS: Final = ("legacy", "modern")
_PATIENT: Final = ("--connect-timeout", "120000")
"""Milliseconds: over stdio, each request starts a server, and a busy machine takes its time."""


class Inspector:
    """The Inspector before one server in one era."""

    def __init__(
        self,
        environ: Mapping[str, str],
        era: str,
        folder: Path,
        *,
        url: str = "",
        command: Sequence[str] = (),
    ) -> None:
        """Look at the server at ``url``, or, over stdio, at the one that ``command`` starts in ``folder``."""
        target = ("--server-url", url, "--transport", "http") if url else ()
        self._environ = environ
        self._options = ("--cli", *target, "--protocol-era", era, "--format", "json", "--quiet", *_PATIENT)
        self._command = command
        self._folder = folder

    def ask(self, method: str, *arguments: str) -> dict[str, Any]:
        """Return the result of one request.

        Raises:
            AssertionError: The Inspector, or the server, refused it.
        """
        asked = ("mcp-inspector", *self._options, "--method", method, *arguments, *self._command)
        done = run_tool(self._environ, *asked, cwd=self._folder)
        message = json.loads(done.stdout or done.stderr)
        result: dict[str, Any] = message.get("result") or {}
        assert done.returncode == 0, message
        assert result, message
        assert not result.get("isError"), result["content"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return what a tool answers."""
        return self.ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))

    def tour(self) -> Iterator[str]:
        """List and call everything; yield the name of each thing that answered as it should.

        Over stdio each request starts a server of its own, which goes on with what the one before it kept.
        """
        tools = {tool["name"] for tool in self.ask("tools/list", "--strict")["tools"]}
        found = self.call("navigate", goal="the discount on an apple", repo_path=str(self._folder))
        content = found["structuredContent"]
        key = content["navigation_id"]
        assert "def discount" in content["context"]
        answered = {
            "navigate": found,
            "step": self.call("step", navigation_id=key, feedback="show the discount"),
            "get_turn_report": self.call("get_turn_report", navigation_id=key),
            "get_context": self.call("get_context", navigation_id=key),
        }
        assert tools == answered.keys(), tools
        yield from answered
        yield from self._resources(key)
        yield from self._prompts(key)

    def _resources(self, key: str) -> Iterator[str]:
        templates = self.ask("resources/templates/list")["resourceTemplates"]
        fixed = [resource["uri"] for resource in self.ask("resources/list")["resources"]]
        filled = [template["uriTemplate"].format(navigation_id=key, version=0) for template in templates]
        for uri in dict.fromkeys([*fixed, *filled]):
            (part,) = self.ask("resources/read", "--uri", uri)["contents"]
            assert part["text"], uri
            yield uri

    def _prompts(self, key: str) -> Iterator[str]:
        values = {"task": "halve the discount", "feedback": "show the prices", "navigation_id": key}
        for prompt in self.ask("prompts/list")["prompts"]:
            required = [name["name"] for name in prompt["arguments"] if name["name"] in values]
            pairs = [f"{name}={values[name]}" for name in required]
            written = self.ask("prompts/get", "--prompt-name", prompt["name"], "--prompt-args", *pairs)
            assert written["messages"][0]["content"]["text"]
            yield prompt["name"]


def check_inspector(environ: Mapping[str, str]) -> list[str]:
    """Tour the server over HTTP and over stdio, in both eras; return what failed."""
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder, own = planted(Path(scratch))
        settings = [part for name, value in own.items() for part in ("-e", f"{name}={value}")]
        command = (*settings, sys.executable, "-I", "-m", "mcp_server")
        with served("mcp_server", "--http", "127.0.0.1:0", environ={**environ, **own}, cwd=folder) as url:
            for era in ERAS:
                http = Inspector(environ, era, folder, url=url)
                failures += _answered(f"HTTP, {era} era", http.tour())
                pipe = Inspector(environ, era, folder, command=command)
                failures += _answered(f"stdio, {era} era", pipe.tour())
    return failures


def _answered(name: str, answers: Iterator[str]) -> list[str]:
    answered: list[str] = []
    try:
        answered.extend(answers)
    except (AssertionError, KeyError, ValueError, TooSlowError) as error:
        return [f"inspector, {name}: {error}"]
    print(f"inspector, {name}: {len(answered)} tools, resources and prompts answer", flush=True)
    return []
