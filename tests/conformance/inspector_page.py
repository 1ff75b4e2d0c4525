"""The map as the official Inspector's page shows it, in a headless browser and in both eras."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from tests.conformance.inspector import ERAS, Inspector
from tests.conformance.serving import planted
from tests.support.browser import MISSING, PROGRAM, BrowserError, Page, open_browser

_SERVER: Final = (sys.executable, "-I", "-m", "mcp_server")
_GOAL: Final = "the discount on an apple"
_START_SECONDS: Final = 180
_ITEMS: Final = "document.querySelectorAll('[role=treeitem]').length"
_CLICK: Final = """(() => {
  const words = WORDS;
  const named = (each) => `${each.getAttribute("aria-label") || ""} ${each.textContent}`.trim();
  const found = [...document.querySelectorAll("button, label, input[role=switch]")]
    .find((each) => named(each).startsWith(words));
  if (found) found.click();
  return Boolean(found);
})()"""


def check_inspector_page(environ: Mapping[str, str]) -> list[str]:
    """Show the map of a navigation in the Inspector's Apps tab and steer it; return what failed."""
    if PROGRAM is None:
        print(f"NOT CHECKED: the map in the Inspector's page: {MISSING}.", flush=True)
        return []
    failures = []
    for era in ERAS:
        try:
            told = asyncio.run(_looked_at(environ, era))
        except (AssertionError, BrowserError, TimeoutError) as error:
            failures.append(f"the Inspector's page, {era} era: {error!r}")
        else:
            print(f"the Inspector's page, {era} era: {told}", flush=True)
    return failures


async def _looked_at(environ: Mapping[str, str], era: str) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        folder, own = planted(Path(scratch))
        command = (*(part for name, value in own.items() for part in ("-e", f"{name}={value}")), *_SERVER)
        answer = Inspector(environ, era, folder, command=command).call("navigate", goal=_GOAL)
        known = answer["structuredContent"]["navigation_id"]
        profile = Path(scratch, "profile")
        async with _inspector(environ, era, folder, command) as url, open_browser(profile) as page:
            await page.size(1400, 1400)
            await page.open(url)
            await _click(page, 'Connect or disconnect "')
            await _click(page, "Apps")
            await _click(page, "Show the map")
            await _settled(page, "Boolean(document.querySelector('input[placeholder], input[type=text]'))")
            await _fill(page, "navigation_id", known)
            await _click(page, "Open App")
            nodes = await page.until(_ITEMS)
            await _steered(page)
            return f"{nodes} nodes are drawn, and a click drops a file"


@asynccontextmanager
async def _inspector(
    environ: Mapping[str, str], era: str, folder: Path, command: Sequence[str]
) -> AsyncIterator[str]:
    """Serve the Inspector's page, with our server over stdio behind it, and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "CLIENT_PORT": str(port),
        "HOST": "127.0.0.1",
        "MCP_SANDBOX_PORT": "0",
        "MCP_APP_ORIGIN_PORT": "0",
        "MCP_AUTO_OPEN_ENABLED": "false",
        "MCP_STORAGE_DIR": str(folder.with_name("inspector")),
        # The page and its backend are one process of ours on the loopback, for a minute.
        "DANGEROUSLY_OMIT_AUTH": "true",
        "MCP_INSPECTOR_SECRET_STORE": "memory",
    }
    process = await asyncio.create_subprocess_exec(
        *("mcp-inspector", "--web", "--protocol-era", era, *command),
        env={**environ, **settings},
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_START_SECONDS):
            while not re.search(rf"127\.0\.0\.1:{port}", line := (await process.stdout.readline()).decode()):
                assert line, "it ended before it served its page"
        reading = asyncio.create_task(process.stdout.read())
        yield f"http://127.0.0.1:{port}/"
        reading.cancel()
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        await process.wait()


async def _settled(page: Page, condition: str) -> None:
    """Wait until an expression is true in the Inspector's own page."""
    async with asyncio.timeout(_START_SECONDS):
        while not await page.in_host(condition):
            await page.in_host("new Promise((done) => setTimeout(done, 50))")


async def _click(page: Page, words: str) -> None:
    """Click the first of the Inspector's controls that begins with these words, once it is there."""
    await _settled(page, _CLICK.replace("WORDS", json.dumps(words)))


async def _fill(page: Page, label: str, text: str) -> None:
    """Type into the field of this label."""
    await _settled(
        page,
        f"""(() => {{
          const labels = [...document.querySelectorAll("label")];
          const found = labels.find((each) => each.textContent.startsWith("{label}"));
          const field = found && (found.control || document.getElementById(found.htmlFor));
          if (field) field.focus();
          return Boolean(field);
        }})()""",
    )
    await page.send("Input.insertText", text=text)


async def _steered(page: Page) -> None:
    """Drop the only file by the map's own buttons."""
    click = (
        "[...document.querySelectorAll('button')].find((each) => each.textContent === WORDS).click() || true"
    )
    details = "document.querySelector('#chosen').textContent"
    await page.until(click.replace("WORDS", "'prices.py'"))
    await page.until(f"{details}.includes('Shown as source')")
    await page.until(click.replace("WORDS", "'Drop'"))
    await page.until(f"{details}.includes('not shown')")
