"""The view as a browser runs it: from disk, and in a host over the real server, by mouse and by keyboard."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID

from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.picture.page import saved_page
from tests.conformance.node import FOLDER as TOOLS
from tests.mcp_server.conftest import both_eras
from tests.navigator.test_picture import with_hostile_texts
from tests.support.browser import MISSING, PROGRAM, Page, open_browser
from tests.support.results import object_of
from tests.support.trees import git, write
from tests.support.view_host import ViewHost

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.skipif(PROGRAM is None, reason=MISSING)]
AXE = TOOLS / "node_modules" / "axe-core" / "axe.min.js"
MANY = {f"data/d{at % 50}/m{at}.py": f"x = {at}\n" for at in range(3_000)}
"""Files of folders that are one node each."""
GOAL = "The discount on an apple must never make its price negative"
SHOWS_VIEWS = (advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]}),)
ITEMS = "document.querySelectorAll('[role=treeitem]').length"
STATUS = "document.getElementById('status').textContent"
DETAILS = "document.querySelector('#chosen').textContent"
STEPS = "Number(document.getElementById('step').max)"
FOLDER = "document.querySelector('[aria-current]').textContent"
CHOSEN = "document.querySelector('#chosen h2').textContent"
FOCUSED = "((each) => each.getAttribute('aria-label') || each.id || each.textContent)(document.activeElement)"


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    async with open_browser(tmp_path / "profile") as opened:
        await opened.size(1000, 1400)
        yield opened


@pytest.fixture
async def client(settings: Settings, shop: Path, era: str) -> AsyncIterator[Client]:
    server = build_server(settings, working_folder=shop)
    async with Client(server, mode=era, extensions=SHOWS_VIEWS) as opened:
        yield opened


@asynccontextmanager
async def hosting(page: Page, client: Client, folder: Path, **quirks: Any) -> AsyncIterator[ViewHost]:
    found = object_of(await client.call_tool("navigate", {"goal": GOAL}))
    host = ViewHost(page, client, folder, **quirks)
    try:
        await host.show({"navigation_id": found["navigation_id"]})
        if quirks.get("capabilities") != {}:
            await page.until(ITEMS)
        yield host
    finally:
        await host.end()


async def picture_of(
    settings: Settings, shop: Path, call: dict[str, Any] | None = None, **step: Any
) -> dict[str, Any]:
    """Navigate, take a step where one is given, and return the data of the map."""
    async with Client(build_server(settings, working_folder=shop), extensions=SHOWS_VIEWS) as client:
        await client.call_tool("navigate", call or {"goal": GOAL})
        if step:
            await client.call_tool("step", step)
        data: dict[str, Any] = object_of(await client.call_tool("map_data", {}))["picture"]
    return data


@pytest.fixture
async def picture(settings: Settings, shop: Path) -> dict[str, Any]:
    """The data of a map of the shop."""
    return await picture_of(settings, shop)


async def saved(page: Page, folder: Path, picture: dict[str, Any]) -> Path:
    file = folder / "map.html"
    file.write_text(saved_page(picture), "utf-8")
    await page.open(file.as_uri())
    await page.until(ITEMS)
    return file


async def button(page: Page, words: str) -> None:
    """Click the first button that begins with these words, by the mouse."""
    box = await page.evaluate(
        f"""(() => {{
          const found = [...document.querySelectorAll("button")].find(
            (each) => each.textContent.startsWith({json.dumps(words)}));
          found.scrollIntoView({{ block: "center" }});
          const {{ x, y, width, height }} = found.getBoundingClientRect();
          return [x + width / 2, y + height / 2];
        }})()"""
    )
    # The frame stands in the upper left corner of the host's page, which may have been scrolled for it.
    left, top = await page.in_host(
        "(() => { const f = document.querySelector('iframe'); "
        "return f ? [f.getBoundingClientRect().x, f.getBoundingClientRect().y] : [0, 0] })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        await page.send(
            "Input.dispatchMouseEvent",
            type=kind,
            x=box[0] + left,
            y=box[1] + top,
            button="left",
            clickCount=1,
        )


async def tab_to(page: Page, words: str) -> None:
    """Press Tab until what begins with these words has the focus."""
    for _ in range(80):
        await page.press("Tab")
        if (await page.evaluate(FOCUSED) or "").startswith(words):
            return
    raise AssertionError(f"Tab does not reach {words}")


async def test_a_saved_page_shows_the_map_and_asks_for_nothing(
    page: Page, picture: dict[str, Any], tmp_path: Path
) -> None:
    file = await saved(page, tmp_path, picture)
    assert await page.evaluate("document.querySelector('h1').textContent") == "Map of shop-repository"
    at = next(at for at, place in enumerate(picture["places"]) if place["name"] == "discount")
    await page.evaluate(f"document.querySelector('.entry[data-place=\"{at}\"]').click()")
    text = await page.evaluate("document.body.innerText")
    for sentence in (GOAL, picture["sure"], "shop/prices.py", picture["places"][at]["why"]):
        assert sentence.replace("`", "") in text
    assert "Drop" not in text
    assert page.requested == [file.as_uri()]
    assert page.thrown == []


@pytest.mark.parametrize("width", [420, 1000])
async def test_the_page_fits_wide_and_narrow(
    page: Page, picture: dict[str, Any], tmp_path: Path, width: int
) -> None:
    await page.size(width, 900)
    await saved(page, tmp_path, picture)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    assert await page.evaluate(_SMALL_TARGETS) == []


_SMALL_TARGETS = """[...document.querySelectorAll("button, input, select")]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 24)
  .map((each) => each.outerHTML)"""


async def test_everything_that_can_be_used_has_a_role_and_a_name(
    page: Page, picture: dict[str, Any], tmp_path: Path
) -> None:
    await saved(page, tmp_path, picture)
    tree = await page.tree()
    used = {"button", "treeitem", "searchbox", "combobox", "slider", "tree", "region", "navigation"}
    assert [node for node in tree if node["role"] in used and not node["name"].strip()] == []
    assert {"tree", "treeitem", "status", "slider", "searchbox", "main", "heading", "list"} <= {
        node["role"] for node in tree
    }
    names = [node["name"] for node in tree if node["role"] == "region"]
    assert len(names) == len(set(names))
    items = [node["name"] for node in tree if node["role"] == "treeitem"]
    assert any(re.match(r"shop/prices\.py, source, \d+ tokens", name) for name in items)
    assert await page.evaluate(
        "(() => { const ids = [...document.querySelectorAll('[id]')].map((each) => each.id); "
        "return ids.length === new Set(ids).size })()"
    )


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; `make conformance` does it")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1000])
async def test_axe_finds_no_violation(
    page: Page, picture: dict[str, Any], tmp_path: Path, theme: str, width: int
) -> None:
    await page.size(width, 900)
    await page.prefer(prefers_color_scheme=theme)
    await saved(page, tmp_path, picture)
    await page.evaluate("document.querySelector('.entry').click()")
    await page.evaluate(AXE.read_text("utf-8"))
    found = await page.evaluate(
        "axe.run().then((result) => JSON.stringify([result.violations, result.passes]))"
    )
    violations, passes = json.loads(found)
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in violations] == []
    # It has looked, at colours and at the tree too.
    assert {"color-contrast", "aria-required-children", "aria-allowed-attr"} <= {
        each["id"] for each in passes
    }


async def test_what_a_screen_reader_is_told_follows_the_map_and_every_change(
    page: Page, client: Client, tmp_path: Path
) -> None:
    async with hosting(page, client, tmp_path):
        nodes = {node["id"]: node for node in await page.tree()}
        (tree,) = [node for node in nodes.values() if node["role"] == "tree"]
        assert tree["name"] == "Files of shop-repository by size"
        items = [node for node in nodes.values() if node["role"] == "treeitem"]
        top = [node for node in items if node["level"] == 1]
        assert [(node["name"].split(",")[0], node["selected"], node["expanded"]) for node in top] == [
            ("The whole repository", False, True)
        ]
        shop = next(node for node in items if node["name"].startswith("shop, "))
        prices = next(node for node in items if node["name"].startswith("shop/prices.py, "))
        assert re.fullmatch(r"shop, \d+ files, at most source, \d+ tokens", shop["name"])
        assert re.match(r"shop/prices.py, source, \d+ tokens", prices["name"])
        assert (shop["level"], shop["expanded"], prices["level"]) == (2, True, 3)
        placed = """[...document.querySelectorAll("[role=treeitem]")].map((each) => [each.title.split(",")[0],
          each.ariaLevel, each.ariaPosInSet, each.ariaSetSize])"""
        places = {title: numbers for title, *numbers in await page.evaluate(placed)}
        inside = [title for title in places if title.startswith("shop/")]
        assert [places[title] for title in inside] == [
            ["3", f"{at}", f"{len(inside)}"] for at in range(1, len(inside) + 1)
        ]
        assert "expanded" not in prices
        # The list of the answer stands before the map, which is one stop.
        await tab_to(page, "Goal")
        await page.press("Tab")
        assert await page.evaluate(FOCUSED) == "Undo the last change"
        await tab_to(page, "find")
        walked = []
        for _ in range(3):
            await page.press("Tab")
            walked.append((await page.evaluate(FOCUSED)).split(",")[0])
        assert walked[:2] == ["show", "area"]
        assert await page.evaluate("document.activeElement.getAttribute('role')") == "treeitem"
        await button(page, "shop/prices.py")
        await page.until(f"{CHOSEN} === 'shop/prices.py'")
        await button(page, "Drop")
        await page.until(f"{STATUS} === 'Done: dropped shop/prices.py.'")
        nodes = {node["id"]: node for node in await page.tree()}
        (status,) = [node for node in nodes.values() if node["role"] == "status"]
        assert (status["live"], status["atomic"]) == ("polite", True)
        told = [node["name"] for node in nodes.values() if node["parent"] == status["id"]]
        assert told == ["Done: dropped shop/prices.py."]
        (focused,) = [node for node in nodes.values() if node.get("focused") and node["role"] == "treeitem"]
        assert focused["name"].startswith("shop/prices.py, not shown, ")


async def test_the_map_is_walked_zoomed_and_searched_by_the_keyboard_alone(
    page: Page, picture: dict[str, Any], tmp_path: Path
) -> None:
    await saved(page, tmp_path, picture)
    await tab_to(page, "area")
    await page.press("Tab")
    assert await page.evaluate("document.activeElement.getAttribute('role')") == "treeitem"
    await page.press("Home")
    assert await page.evaluate(CHOSEN) == "The whole repository"
    await page.press("ArrowRight")
    assert await page.evaluate(CHOSEN) == "shop"
    await page.press("Enter")
    assert await page.evaluate("document.querySelector('[aria-current]').textContent") == "shop"
    await page.press("ArrowDown")
    assert await page.evaluate(CHOSEN) == "shop/cart.py"
    assert (await page.evaluate(FOCUSED)).startswith("shop/cart.py, ")
    await page.press("ArrowLeft", "Escape")
    assert await page.evaluate("document.querySelector('[aria-current]').textContent") == "shop-repository"
    await page.press("Home")
    await tab_to(page, "find")
    await page.press(*"prices", "Enter")
    assert await page.evaluate(CHOSEN) == "shop/prices.py"
    assert "shop/prices.py, source" in await page.evaluate(STATUS)
    assert page.thrown == []


@pytest.fixture
async def folded(settings: Settings, shop: Path) -> dict[str, Any]:
    """The data of a map with a folder that is one node."""
    return await picture_of(settings, write(shop, MANY))


async def test_a_saved_page_says_what_it_holds_no_more_of(
    page: Page, folded: dict[str, Any], tmp_path: Path
) -> None:
    await saved(page, tmp_path, folded)
    await tab_to(page, "find")
    await page.press(*"data/d49", "Enter")
    await page.until(f"{CHOSEN} === 'data/d49'")
    assert "This folder is folded: a saved page holds no more of it" in await page.evaluate(DETAILS)
    await page.press("Enter")
    assert "This folder is folded" in await page.evaluate(STATUS)
    assert await page.evaluate(FOLDER) == "shop-repository"
    assert page.thrown == []


async def test_in_a_host_a_folded_folder_is_opened_and_the_model_is_told_nothing(
    page: Page, client: Client, shop: Path, tmp_path: Path
) -> None:
    write(shop, MANY)
    async with hosting(page, client, tmp_path) as host:
        await tab_to(page, "find")
        await page.press(*"data/d49", "Enter")
        await page.until(f"{CHOSEN} === 'data/d49'")
        await page.press("Enter")
        await page.until(f"{STATUS} === 'Zoomed to data/d49.'")
        assert await page.evaluate(FOLDER) == "d49"
        files = "[...document.querySelectorAll('.leaf')].map((each) => each.title.split(',')[0])"
        assert "data/d49/m2999.py" in await page.evaluate(files)
        assert (await page.evaluate(FOCUSED)).startswith("data/d49, ")
        assert host.called[-1] == ("map_data", {**host.called[0][1], "within": "data/d49"})
        await page.press("ArrowRight")
        await button(page, "Show source")
        await page.until(f"{STATUS}.startsWith('Done: ')")
        assert await page.evaluate(FOLDER) == "d49"
        told = [each for each in host.heard if each.get("method") == "ui/update-model-context"]
        assert len(told) == 1
        await page.press("Escape", "Escape")
        await page.until(f"{STATUS} === 'Zoomed to The whole repository.'")
        assert await page.evaluate(FOLDER) == "shop-repository"
        assert page.thrown == []


async def test_files_are_filtered_by_what_is_shown_of_them(
    page: Page, picture: dict[str, Any], tmp_path: Path
) -> None:
    await saved(page, tmp_path, picture)
    await page.evaluate(
        "(() => { const s = document.querySelector('select'); s.value = 'shown'; "
        "s.dispatchEvent(new Event('change')) })()"
    )
    plain = await page.evaluate(
        "[...document.querySelectorAll('.leaf:not(.dim)')].map((each) => each.title.split(',')[0]).sort()"
    )
    tree = picture["tree"]
    assert len(plain) == sum(
        kind == 1 and level > 0 for kind, level in zip(tree["kinds"], tree["levels"], strict=True)
    )
    assert "shop/prices.py" in plain


async def test_hostile_names_goals_and_reasons_run_nothing(
    page: Page, picture: dict[str, Any], tmp_path: Path
) -> None:
    await page.open("about:blank#")
    file = await saved(page, tmp_path, with_hostile_texts(picture))
    assert page.requested == [file.as_uri()]
    assert page.thrown == []
    assert await page.evaluate("document.querySelectorAll('img, script:not([id])').length") == 1
    assert "<img src=x" in await page.evaluate("document.body.innerText")


async def test_each_node_of_the_map_stands_within_its_folder(
    page: Page, picture: dict[str, Any], tmp_path: Path
) -> None:
    await saved(page, tmp_path, picture)
    drawn = await page.evaluate(
        """[...document.querySelectorAll("[data-at]")].map((each) => {
          const { x, y, right, bottom } = each.getBoundingClientRect();
          return [Number(each.dataset.at), x, y, right, bottom];
        })"""
    )
    boxes = {at: box for at, *box in drawn}
    parents = picture["tree"]["parents"]
    assert len(boxes) == len(parents)
    for at, (left, top, right, bottom) in boxes.items():
        if parents[at] < 0:
            continue
        x, y, most_x, most_y = boxes[parents[at]]
        # The frame of a box takes 4 pixels, however little its file is.
        assert x - 1 <= left
        assert y - 1 <= top
        assert right <= most_x + 4
        assert bottom <= most_y + 4


LINES = "document.querySelectorAll('.answer-map path').length"
NUMBERS = "[...document.querySelectorAll('#chosen .row > .number')].map((each) => Number(each.textContent))"


async def test_a_place_of_the_outline_shows_its_source_and_draws_its_relations(
    page: Page, picture: dict[str, Any], shop: Path, tmp_path: Path
) -> None:
    await saved(page, tmp_path, picture)
    at, place = next(
        (at, each)
        for at, each in enumerate(picture["places"])
        if any(at in link[:2] for link in picture["links"])
    )
    path, (first, last) = picture["files"][place["file"]]["path"], place["lines"]
    await page.evaluate(f"document.querySelector('.entry[data-place=\"{at}\"]').click()")
    assert await page.evaluate(CHOSEN) == place["name"]
    assert await page.evaluate(NUMBERS) == list(range(first, last + 1))
    lines = await page.evaluate(
        "[...document.querySelectorAll('#chosen .row .text')].map((each) => each.textContent)"
    )
    assert lines == (shop / path).read_text("utf-8").split("\n")[first - 1 : last]
    others = {other for link in picture["links"] if at in link[:2] for other in link[:2]} - {at}
    assert await page.evaluate(LINES) == len(others)
    related = await page.evaluate(
        "[...document.querySelectorAll('[aria-label=Relations] button')].map((each) => each.textContent)"
    )
    assert {picture["places"][other]["name"] for other in others} == set(related)
    assert page.thrown == []


async def test_a_change_is_told_first_and_its_faults_lead_to_their_lines(
    page: Page, settings: Settings, shop: Path, tmp_path: Path
) -> None:
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "one")):
        git(shop, *command)
    prices = shop / "shop/prices.py"
    prices.write_text(prices.read_text("utf-8").replace("def discount(", "def lowered("), "utf-8")
    data = await picture_of(settings, shop, {"goal": "What breaks?", "changes": "worktree"})
    await saved(page, tmp_path, data)
    fault = next(each for each in data["findings"] if each["broken"])
    path = data["files"][fault["file"]]["path"]
    await button(page, f"{path}:{fault['line']}")
    await page.until("document.querySelector('#chosen .row.faulty') !== null")
    assert await page.evaluate("document.querySelector('#chosen .faulty > .number').textContent") == str(
        fault["line"]
    )
    assert await page.evaluate("document.querySelectorAll('.strip.risky').length") == len(
        {each["file"] for each in data["findings"]}
    )
    assert await page.evaluate("document.querySelectorAll('.strip .changed').length") == len(data["changed"])


async def test_a_slider_goes_through_the_steps_and_tells_what_each_changed(
    page: Page, settings: Settings, shop: Path, tmp_path: Path
) -> None:
    shown = {"verbosity": [{"pattern": "shop/mail.py", "level": 4}]}
    data = await picture_of(settings, shop, updates=shown)
    await saved(page, tmp_path, data)
    assert await page.evaluate(STEPS) == len(data["turns"]) - 1
    after = "(document.querySelector('.sides > :last-child') || document.getElementById('steps')).textContent"
    assert "shop/mail.py sourcenew" in (await page.evaluate(after)).replace("\u200b", "")
    await tab_to(page, "step")
    await page.press("ArrowLeft")
    assert "shop/mail.py source" not in await page.evaluate(after)
    await page.press("Home")
    assert await page.evaluate("document.querySelector('#steps strong').textContent") == (
        f"Step {data['turns'][0]['step']}"
    )


@both_eras
async def test_in_a_host_the_view_shakes_hands_fetches_its_data_and_tells_its_size(
    page: Page, client: Client, tmp_path: Path
) -> None:
    async with hosting(page, client, tmp_path, drops_meta=True) as host:
        assert await page.evaluate(STATUS) == ""
        methods = [message.get("method") for message in host.heard]
        assert methods[:2] == ["ui/initialize", "ui/notifications/initialized"]
        assert host.heard[0]["params"]["protocolVersion"] == "2026-01-26"
        assert [name for name, _ in host.called] == ["map_data"]
        size = await host.hears(method="ui/notifications/size-changed")
        assert size["params"]["width"] > 300
        await host.tell("ui/notifications/host-context-changed", theme="dark")
        await page.until("document.documentElement.dataset.theme === 'dark'")
        await host.ask("ui/resource-teardown")
        assert (await host.hears(id="host"))["result"] == {}
        assert page.thrown == []


async def test_a_click_drops_a_file_and_another_takes_it_back(
    page: Page, client: Client, tmp_path: Path
) -> None:
    async with hosting(page, client, tmp_path) as host:
        await button(page, "shop/prices.py")
        await page.until(f"{CHOSEN} === 'shop/prices.py'")
        await button(page, "Drop")
        await page.until(f"{STATUS} !== 'Working …' && {DETAILS}.includes('not shown')")
        await button(page, "Undo")
        await page.until(f"{STATUS} !== 'Working …' && {DETAILS}.includes('Shown as source')")
        told = [each for each in host.heard if each.get("method") == "ui/update-model-context"]
        assert "dropped shop/prices.py" in told[0]["params"]["content"][0]["text"]
        # The model's own `step` would note that the model was given what only the user has seen.
        assert {name for name, _ in host.called} == {"map_data"}


async def test_steering_by_the_keyboard_alone_reaches_the_model_with_its_next_step(
    page: Page, client: Client, tmp_path: Path
) -> None:
    async with hosting(page, client, tmp_path) as host:
        await tab_to(page, "find")
        await page.press(*"mail.py", "Enter")
        await page.until(f"{CHOSEN} === 'shop/mail.py'")
        await tab_to(page, "Show source")
        await page.press("Enter")
        await page.until(f"{DETAILS}.includes('Shown as source')")
        answer = await client.call_tool("step", {**host.called[0][1], "feedback": "also show the README"})
        assert "def send_receipt" in object_of(answer)["context_delta"]
        assert page.thrown == []


async def test_an_outline_is_asked_for_without_a_step(page: Page, client: Client, tmp_path: Path) -> None:
    async with hosting(page, client, tmp_path):
        await button(page, "shop/prices.py")
        await page.until(f"{CHOSEN} === 'shop/prices.py'")
        turns = await page.evaluate(STEPS)
        await button(page, "Outline")
        said = await page.until(f"{STATUS} !== 'Working …' && {STATUS}")
        assert "shop/prices.py" in said
        assert await page.evaluate(STEPS) == turns


async def test_a_host_without_server_tools_is_told_of_the_command(
    page: Page, client: Client, tmp_path: Path
) -> None:
    async with hosting(page, client, tmp_path, capabilities={}) as host:
        said = await page.until(f"{STATUS} !== 'Reading the map …' && {STATUS}")
        assert re.search(r"`repo-navigator view nav-[0-9a-f]{24} --html map.html`", said)
        assert host.called == []


async def test_what_the_server_refuses_is_told_and_the_map_stays(
    page: Page, client: Client, tmp_path: Path
) -> None:
    async with hosting(page, client, tmp_path) as host:
        known = host.called[0][1]["navigation_id"]
        await client.call_tool("step", {"navigation_id": known, "action": "cancel"})
        await button(page, "Undo")
        said = await page.until(f"{STATUS} !== 'Working …' && {STATUS}")
        assert said.startswith("That did not work: ")
        assert "cancelled" in said
        assert await page.evaluate(ITEMS) > 1
