"""A headless Chromium driven over a pair of pipes, where one is installed: no package, no network."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
MISSING = f"no browser: none of {', '.join(NAMES)} is installed"
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"),
    # A frame in a sandbox is to be reached as every other one.
    *("--disable-features=IsolateSandboxedIframes", "--disable-site-isolation-trials", "--hide-scrollbars"),
)
# A browser takes its commands from descriptor 3, and answers on 4.
_WITH_PIPES = """
import os, sys
taken, given, *command = sys.argv[1:]
os.dup2(int(taken), 3)
os.dup2(int(given), 4)
os.execvp(command[0], command)
"""
_MOST_BYTES = 1 << 26
_PATIENCE_S = 30.0
_KEYS = {
    "Enter": ("\r", 13),
    "Tab": ("", 9),
    "Escape": ("", 27),
    "Home": ("", 36),
    "End": ("", 35),
    "ArrowLeft": ("", 37),
    "ArrowUp": ("", 38),
    "ArrowRight": ("", 39),
    "ArrowDown": ("", 40),
}


class BrowserError(Exception):
    """What a page threw, or what the browser refused."""


class Page:
    """One tab."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._last = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session = ""
        self._contexts: dict[str, int] = {}
        self.requested: list[str] = []
        """Every address that was asked for."""
        self.said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        """What the page has said by its function ``toTest``."""
        self.thrown: list[str] = []
        """Exceptions, errors on the console and refusals of a policy."""
        self._listening = asyncio.create_task(self._listen())

    async def start(self) -> None:
        """Open an empty tab."""
        target = await self.send("Target.createTarget", url="about:blank")
        attached = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility", "DOM"):
            await self.send(f"{domain}.enable")
        await self.send("Runtime.addBinding", name="toTest")

    async def end(self) -> None:
        """Close the browser."""
        with suppress(BrowserError, ConnectionError):
            self._session = ""
            await self.send("Browser.close")
        self._listening.cancel()
        self._writer.close()

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._last += 1
        answer = self._waiting[self._last] = asyncio.get_running_loop().create_future()
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._writer.write(json.dumps(message).encode() + b"\0")
        await self._writer.drain()
        return await asyncio.wait_for(answer, _PATIENCE_S)

    async def _listen(self) -> None:
        while True:
            try:
                text = await self._reader.readuntil(b"\0")
            except asyncio.IncompleteReadError:
                for answer in self._waiting.values():
                    if not answer.done():
                        answer.set_exception(BrowserError("the browser has ended"))
                return
            message = json.loads(text[:-1])
            if (answer := self._waiting.pop(message.get("id", 0), None)) is None:
                self._hear(message.get("method", ""), message.get("params", {}))
            elif answer.done():
                # Nobody waits for it any more.
                continue
            elif "error" in message:
                answer.set_exception(BrowserError(message["error"]["message"]))
            else:
                answer.set_result(message["result"])

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.executionContextCreated":
            context = params["context"]
            self._contexts[context["auxData"]["frameId"]] = context["id"]
        elif method == "Runtime.bindingCalled":
            self.said.put_nowait(json.loads(params["payload"]))
        elif method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.thrown.append(params["exceptionDetails"].get("exception", {}).get("description", "?"))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.thrown.append(params["entry"]["text"])

    async def open(self, url: str) -> None:
        """Go to an address and wait until it is there."""
        self.requested.clear()
        self.thrown.clear()
        await self.send("Page.navigate", url=url)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def size(self, width: int, height: int) -> None:
        """Make the tab so large."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def prefer(self, **features: str) -> None:
        """Set what the user prefers: ``prefers_color_scheme="dark"``."""
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        await self.send("Emulation.setEmulatedMedia", features=listed)

    async def frame(self) -> int | None:
        """Return the context of the innermost frame within the page, None where there is none."""
        found = await self._innermost()
        return None if found is None else self._contexts[found]

    async def _innermost(self) -> str | None:
        tree = (await self.send("Page.getFrameTree"))["frameTree"]
        found = None
        while children := tree.get("childFrames", []):
            tree = children[0]
            found = str(tree["frame"]["id"])
        return found

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression: in the frame, where there is one."""
        where = await self.frame()
        given: dict[str, Any] = {} if where is None else {"contextId": where}
        return await self._evaluated(expression, given)

    async def in_host(self, expression: str) -> Any:
        """Return the value of an expression in the page that holds the frame."""
        return await self._evaluated(expression, {})

    async def _evaluated(self, expression: str, given: dict[str, Any]) -> Any:
        result = await self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, **given
        )
        if "exceptionDetails" in result:
            raise BrowserError(result["exceptionDetails"].get("exception", {}).get("description", "?"))
        return result["result"].get("value")

    async def until(self, condition: str) -> Any:
        """Wait, frame by frame, until an expression is true, and return its value."""
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                with suppress(BrowserError, KeyError):
                    if value := await self.evaluate(f"(() => {{ return {condition} }})()"):
                        return value
                await self._evaluated("new Promise((done) => setTimeout(done, 20))", {})

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            # The code of a sign is that of some other key, such as Delete for a full stop.
            code = ord(key.upper()) if len(key) == 1 and key.isalnum() else 0
            text, code = _KEYS.get(key, (key, code))
            pressed = {"key": key, "windowsVirtualKeyCode": code}
            if text:
                pressed["text"] = text
            await self.send("Input.dispatchKeyEvent", type="keyDown", **pressed)
            await self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def tree(self) -> list[dict[str, Any]]:
        """Return what a screen reader is told: a role, a name and properties of each thing that counts.

        ``id`` and ``parent`` say what is in what; what counts for nothing is left out in between.
        """
        inner = await self._innermost()
        found = await self.send("Accessibility.getFullAXTree", **({"frameId": inner} if inner else {}))
        above = {node["nodeId"]: node for node in found["nodes"]}

        def parent(node: dict[str, Any]) -> str:
            while (node := above.get(node.get("parentId", ""), {})) and node["ignored"]:
                continue
            return str(node.get("nodeId", ""))

        return [
            {
                "id": node["nodeId"],
                "parent": parent(node),
                "role": node["role"]["value"],
                "name": node.get("name", {}).get("value", ""),
                **{each["name"]: each["value"].get("value") for each in node.get("properties", [])},
            }
            for node in found["nodes"]
            if not node["ignored"]
        ]


@asynccontextmanager
async def open_browser(profile: Path) -> AsyncIterator[Page]:
    """Start a browser whose profile lies in a folder of its own, and end it."""
    assert PROGRAM is not None, MISSING
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _WITH_PIPES, str(commands_out), str(answers_in)),
        *(PROGRAM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"),
        pass_fds=(commands_out, answers_in),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    os.close(commands_out)
    os.close(answers_in)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_MOST_BYTES)
    reading, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(answers_out, "rb", buffering=0)
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(commands_in, "wb", buffering=0)
    )
    page = Page(reader, asyncio.StreamWriter(transport, protocol, None, loop))
    try:
        await page.start()
        yield page
    finally:
        try:
            # One that does not answer is ended too.
            await asyncio.wait_for(page.end(), 20)
            await asyncio.wait_for(process.wait(), 20)
        except TimeoutError:
            process.kill()
            await process.wait()
        reading.close()
