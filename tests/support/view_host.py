"""A host of our own for the map's view: a page with a frame, and behind it a real MCP client."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, TextResourceContents

from tests.support.browser import Page

POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)
"""What hosts let a view do that asks for nothing."""
_HOST = """<!doctype html><html lang="en"><title>Host</title><body style="margin:0"><script>
const tell = (message) => toTest(JSON.stringify(message));
addEventListener("message", (event) => { if (event.source === view.contentWindow) tell(event.data); });
const hand = (message) => view.contentWindow.postMessage(message, "*");
</script><style>iframe { border: 0; width: 100%; height: 1400px }</style>
<iframe id="view" title="Map" sandbox="allow-scripts" srcdoc="PAGE"></iframe>
"""


class ViewHost:
    """Shows the view of ``show_map``, and does what the specification asks of a host."""

    def __init__(self, page: Page, client: Client, folder: Path, **quirks: Any) -> None:
        """Make a host.

        Args:
            page: where it shows the view.
            client: what it speaks to the server by.
            folder: for its own page.
            quirks: ``capabilities`` of the host, in place of the usual ones; ``drops_meta``.
        """
        self._page, self._client, self._folder = page, client, folder
        self._capabilities = quirks.get("capabilities", {"serverTools": {}, "updateModelContext": {}})
        self._drops_meta = quirks.get("drops_meta", False)
        self.called: list[tuple[str, dict[str, Any]]] = []
        """Every tool that the view has called, with its arguments."""
        self.heard: list[dict[str, Any]] = []
        """Every other message of the view."""
        self._news = asyncio.Event()
        self._serving = asyncio.create_task(self._serve())

    async def show(self, arguments: dict[str, Any]) -> None:
        """Call ``show_map`` as a model does, and show its view."""
        tools = {tool.name: tool for tool in (await self._client.list_tools()).tools}
        uri = (tools["show_map"].meta or {})["ui"]["resourceUri"]
        (content,) = (await self._client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        meta = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        framed = content.text.replace("<head>", f"<head>{meta}")
        file = self._folder / "host.html"
        file.write_text(_HOST.replace("PAGE", escape(framed)), "utf-8")
        self._arguments = arguments
        self._result = await self._client.call_tool("show_map", arguments)
        await self._page.open(file.as_uri())

    async def tell(self, method: str, **params: Any) -> None:
        """Send the view a notification."""
        await self._hand({"method": method, "params": params})

    async def ask(self, method: str) -> None:
        """Send the view a request, whose answer is ``heard``."""
        await self._hand({"id": "host", "method": method, "params": {}})

    async def hears(self, **fields: Any) -> dict[str, Any]:
        """Wait for a message with these fields, and return it."""
        while True:
            for message in self.heard:
                if fields.items() <= message.items():
                    return message
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 60)

    async def end(self) -> None:
        """Stop serving."""
        self._serving.cancel()
        with suppress(asyncio.CancelledError):
            await self._serving

    async def _serve(self) -> None:
        while True:
            message = await self._page.said.get()
            if "id" in message and "method" in message:
                await self._hand({"id": message["id"], **await self._answer(message)})
            else:
                self.heard.append(message)
                self._news.set()
                if message.get("method") == "ui/notifications/initialized":
                    await self.tell("ui/notifications/tool-input", arguments=self._arguments)
                    await self.tell("ui/notifications/tool-result", **self._wire(self._result))

    async def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        method, params = message["method"], message.get("params", {})
        if method == "ui/initialize":
            self.heard.append(message)
            return {
                "result": {
                    "protocolVersion": params["protocolVersion"],
                    "hostInfo": {"name": "test-host", "version": "1"},
                    "hostCapabilities": self._capabilities,
                    "hostContext": {"theme": "light", "displayMode": "inline"},
                }
            }
        if method == "tools/call":
            self.called.append((params["name"], params["arguments"]))
            tools = {tool.name: tool for tool in (await self._client.list_tools()).tools}
            visible = ((tools[params["name"]].meta or {}).get("ui") or {}).get("visibility", ["model", "app"])
            if "app" not in visible:
                return {"error": {"code": -32602, "message": "not for views"}}
            return {"result": self._wire(await self._client.call_tool(params["name"], params["arguments"]))}
        self.heard.append(message)
        if method == "ui/update-model-context":
            return {"result": {}}
        return {"error": {"code": -32601, "message": f"no {method} here"}}

    def _wire(self, result: Any) -> dict[str, Any]:
        assert isinstance(result, CallToolResult)
        wire = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        if self._drops_meta:
            wire.pop("_meta", None)
        return wire

    async def _hand(self, message: dict[str, Any]) -> None:
        await self._page.in_host(f"hand({json.dumps({'jsonrpc': '2.0', **message})})")
