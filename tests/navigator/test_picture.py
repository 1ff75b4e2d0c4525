"""The picture of a navigation: what it shows is what there is, and strangers' texts stay texts."""

from __future__ import annotations

import json
import re
import shutil
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from navigator.navigator import Navigator
from navigator.picture import page_builder
from navigator.picture.data import CHANGED, MAX_BYTES, Scene, picture_data, report_of_map
from navigator.picture.folded_tree import CLOSED, FOLDER
from navigator.picture.page import as_json, saved_page, view_page
from navigator.picture.page_builder import build_page
from navigator.settings import NavigationRequest
from navigator.state.reports import FileReport, OutlineEntry
from repo_map.index.build import build_index
from repo_map.index.store import Store
from tests.navigator.conftest import MakeNavigator
from tests.support.trees import folded_paths, git, write

SOURCES = Path(page_builder.__file__).with_name("page")
GOAL = "token_expired says that a session token is old too early"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u2028\u202e'\"&amp;"


async def flown(navigator: Navigator, repository: Path, goal: str = GOAL) -> str:
    request = NavigationRequest(goal=goal, repo_path=repository, token_budget=400)
    navigation_id = await navigator.open(request)
    await navigator.run(navigation_id)
    return navigation_id


@pytest.fixture
async def picture(make_navigator: MakeNavigator, repository: Path) -> dict[str, Any]:
    navigator = make_navigator()
    return await navigator.picture(await flown(navigator, repository))


@pytest.mark.anyio
async def test_a_picture_tells_what_is_shown_why_and_what_could_be(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await flown(navigator, repository)
    output = await navigator.context(navigation_id)
    data = await navigator.picture(navigation_id)
    assert (data["navigation_id"], data["goal"], data["repository"]) == (navigation_id, GOAL, "shop")
    assert (data["tokens"], data["token_budget"]) == (output.token_count, 400)
    assert data["sure"] == output.sufficiency
    assert data["status"] == "finished"
    told = {file["path"]: (at, file) for at, file in enumerate(data["files"])}
    assert {path for path, (_, file) in told.items() if file["level"] > 1} == {
        file.path for file in output.files if file.level > 1
    }
    at, tokens = told["src/auth/tokens.py"]
    source = (repository / "src/auth/tokens.py").read_text("utf-8").splitlines()
    assert tokens["length"] == len(source)
    place = next(each for each in data["places"] if (each["file"], each["name"]) == (at, "token_expired"))
    assert source[place["lines"][0] - 1].startswith("def token_expired")
    assert [(each["number"], each["tokens"]) for each in data["places"] if each["number"]] == [
        (each.number, each.tokens) for each in output.outline
    ]
    turns = await navigator.decisions(navigation_id)
    assert [(turn["step"], turn["tokens"]) for turn in data["turns"]] == [
        (turn.step_number, turn.map_size_tokens) for turn in turns
    ]
    tree = data["tree"]
    assert tree["files"][0] == 6
    assert len({len(column) for column in tree.values()}) == 1
    assert [data["paths"][at] for at, _ in data["turns"][-1]["shown"]] == list(turns[-1].focus_areas)
    levels = {name: level for name, level in zip(tree["names"], tree["levels"], strict=True) if name}
    assert levels["tokens.py"] == tokens["level"]


@pytest.mark.anyio
async def test_a_picture_holds_the_source_that_is_shown_and_listed_with_secrets_masked(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    path = "src/auth/tokens.py"
    text = (repository / path).read_text("utf-8")
    (repository / path).write_text(
        f'{text}\n\ndef token_of_robot() -> str:\n    return "{secret[:40]}"\n', "utf-8"
    )
    navigator = make_navigator()
    data = await navigator.picture(await flown(navigator, repository, f"{GOAL}; see token_of_robot"))
    lines = (repository / path).read_text("utf-8").split("\n")
    held = {
        chunk["first"] + at: line
        for chunk in data["source"]
        if chunk["path"] == path
        for at, line in enumerate(chunk["text"].split("\n"))
    }
    file = next(each for each in data["files"] if each["path"] == path)
    wanted = [
        *file["shown"],
        *(each["lines"] for each in data["places"] if data["files"][each["file"]] is file),
    ]
    assert {number for first, last in wanted for number in range(first, last + 1)} <= set(held)
    assert all(held[number] == lines[number - 1] for number in held if "ghp_" not in lines[number - 1])
    assert secret[:40] not in as_json(data)
    assert any("token_of_robot" in line for line in held.values())


@pytest.mark.anyio
async def test_a_picture_links_the_places_that_call_each_other(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    write(
        repository,
        {
            "src/auth/door.py": "from src.auth.tokens import token_expired\n\n\n"
            "def open_door(token):\n    return not token_expired(token)\n"
        },
    )
    navigator = make_navigator()
    data = await navigator.picture(await flown(navigator, repository, "open_door and token_expired"))
    names = [place["name"] for place in data["places"]]
    linked = {(names[source], words, names[target], line) for source, target, words, line in data["links"]}
    assert ("open_door", "calls", "token_expired", 5) in linked


@pytest.mark.anyio
async def test_a_picture_marks_what_a_change_touches_and_breaks(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    path = "src/auth/tokens.py"
    text = (repository / path).read_text("utf-8")
    caller = {"src/auth/door.py": "from src.auth.tokens import token_expired\n\nnow = token_expired(1)\n"}
    write(repository, caller)
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "one")):
        git(repository, *command)
    (repository / path).write_text(text.replace("token_expired", "token_is_old"), "utf-8")
    navigator = make_navigator()
    request = NavigationRequest(goal="", repo_path=repository, token_budget=400, changes="worktree")
    navigation_id = await navigator.open(request)
    await navigator.run(navigation_id)
    data = await navigator.picture(navigation_id)
    paths = [file["path"] for file in data["files"]]
    assert path in {paths[file] for file, _, _ in data["changed"]}
    broken = {(paths[each["file"]], each["line"]) for each in data["findings"] if each["broken"]}
    assert ("src/auth/door.py", 3) in broken


@pytest.mark.anyio
async def test_a_picture_follows_the_steps_and_leaves_alone_what_was_delivered(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await flown(navigator, repository)
    fields = {"used_at": 1.0, "token_budget": 400, "held_step": 0}
    await navigator.store.deliver(navigation_id, "local", fields)
    before = await navigator.store.known(navigation_id, "local")
    await navigator.step(navigation_id, updates={"verbosity": [{"pattern": "src/billing.py", "level": 4}]})
    data = await navigator.picture(navigation_id)
    assert ("src/billing.py", 4) in [(file["path"], file["level"]) for file in data["files"]]
    assert data["turns"][-1]["by"] == "user"
    after = await navigator.store.known(navigation_id, "local")
    assert before is not None
    assert after is not None
    assert after.delivery == before.delivery


@pytest.mark.anyio
async def test_a_tree_that_has_changed_since_is_told(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"
    first = make_navigator(data_dir=data_dir)
    navigation_id = await flown(first, repository)
    (repository / "src/auth/tokens.py").write_text("LIFETIME_S = 1\n", "utf-8")
    data = await make_navigator(data_dir=data_dir).picture(navigation_id)
    assert data["notes"][0] == CHANGED
    assert (data["source"], data["links"]) == ([], [])
    assert all(not file["shown"] for file in data["files"])


@pytest.mark.parametrize("name", ["a", "<", "\u1234"])
def test_a_picture_stays_within_its_bytes_whatever_the_names_are(tmp_path: Path, name: str) -> None:
    long = [f"{name * 40}/{name * 30}{number}/{name * 30}.py" for number in range(300)]
    write(tmp_path, {path: f"def f{at}(): ...\n" for at, path in enumerate(long)})
    index = build_index(tmp_path, store=Store(None))
    words = name * 4_000
    files = [FileReport(path=path, level=4, tokens=9, reasons=(words,) * 9) for path in index.paths]
    outline = [
        OutlineEntry(number=at, path=path, name=words, first=1, last=2, head=words, why=words, tokens=3)
        for at, path in enumerate(index.paths[:40], 1)
    ]
    many = (words,) * 30
    told = {"ended": words, "notes": many, "sufficiency": words, "impact": many}
    output = report_of_map(files, 900, 1_000, outline=outline, **told)
    data = picture_data(index, Scene("r", None, words, status="open"), output)
    assert len(as_json(data).encode()) <= MAX_BYTES
    assert data["files_more"] == 300 - len(data["files"])
    assert len(data["places"]) <= 40
    assert data["tree"]["files"][0] == 300


@pytest.mark.anyio
async def test_a_folder_that_is_folded_is_looked_into(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    write(repository, {f"data/d{at % 50}/m{at}.py": f"x = {at}\n" for at in range(3_000)})
    navigator = make_navigator()
    navigation_id = await flown(navigator, repository)

    def folder(data: dict[str, Any], path: str) -> int:
        tree = data["tree"]
        return int(tree["kinds"][folded_paths(tree["names"], tree["parents"]).index(path)])

    whole = await navigator.picture(navigation_id)
    inside = await navigator.picture(navigation_id, within="data/d49")
    assert (whole["within"], inside["within"]) == ("", "data/d49")
    assert (folder(whole, "data/d49"), folder(inside, "data/d49")) == (CLOSED, FOLDER)
    assert {name for name in inside["tree"]["names"] if name.startswith("m")} == {
        f"m{at}.py" for at in range(49, 3_000, 50)
    }
    assert inside["tree"]["files"][0] == whole["tree"]["files"][0]
    assert {**inside, "within": "", "tree": whole["tree"]} == whole
    for gone in ("data/none", "data/d49/", "/", "README.md"):
        assert await navigator.picture(navigation_id, within=gone) == whole


def test_a_deep_folder_of_long_names_is_left_where_its_way_takes_all_bytes(tmp_path: Path) -> None:
    steps = [f"{at:03}{chr(0x1234) * 20}" for at in range(45)]
    deep = "/".join(steps)
    write(tmp_path, {f"{'/'.join(steps[:at])}/f.py": "x = 1\n" for at in range(1, 46)})
    index = build_index(tmp_path, store=Store(None))
    words = "<" * 400
    many = (words,) * 8
    output = report_of_map([], 0, 1_000, impact=many, sufficiency=words, notes=many)
    data = picture_data(index, Scene("r", None, words * 5), output, within=deep)
    assert len(as_json(data).encode()) <= MAX_BYTES
    assert data["tree"]["files"][0] == 45


class Seen(HTMLParser):
    """Every element of a page, and the text of its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags:
            self.texts.setdefault(self.tags[-1][0], []).append(data)


def seen(page: str) -> Seen:
    found = Seen()
    found.feed(page)
    found.close()
    return found


def with_hostile_texts(picture: dict[str, Any]) -> dict[str, Any]:
    def hostile(value: Any) -> Any:
        if isinstance(value, str):
            return f"{value}{HOSTILE}"
        if isinstance(value, dict):
            return {name: hostile(part) for name, part in value.items()}
        return [hostile(part) for part in value] if isinstance(value, list) else value

    return {name: hostile(value) for name, value in picture.items()}


@pytest.mark.anyio
async def test_hostile_texts_add_no_element_to_the_page(picture: dict[str, Any]) -> None:
    plain, hostile = seen(saved_page(picture)), seen(saved_page(with_hostile_texts(picture)))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    text = re.search(r'id="picture">(.*?)</script>', saved_page(with_hostile_texts(picture)), re.DOTALL)
    assert text is not None
    assert json.loads(text[1])["goal"] == f"{GOAL}{HOSTILE}"


@pytest.mark.anyio
async def test_the_saved_page_lets_nothing_run_but_its_own_script_and_reaches_nothing(
    picture: dict[str, Any],
) -> None:
    page = saved_page(picture)
    (policy,) = (
        attributes["content"]
        for tag, attributes in seen(page).tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    script_hash, style_hash = (b64encode(sha256(part.encode()).digest()).decode() for part in (script, style))
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "http" not in re.sub(r"http-equiv", "", page.replace(as_json(picture), ""))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", script)


def test_hosts_get_the_page_without_a_policy_of_its_own() -> None:
    assert "Content-Security-Policy" not in view_page()
    assert '<script type="application/json" id="picture"></script>' in view_page()


@pytest.mark.parametrize(
    ("source", "text"), [("main.js", "x = '</script>';"), ("view.css", "a::after{}</style>")]
)
def test_sources_that_would_end_their_script_or_style_are_refused(
    tmp_path: Path, source: str, text: str
) -> None:
    sources = shutil.copytree(SOURCES, tmp_path / "page")
    build_page(sources)
    (sources / source).write_text(f"{text}\n")
    with pytest.raises(ValueError, match="write it in two pieces"):
        build_page(sources)


def test_numbers_of_files_and_tokens_do_not_hide_what_was_left_out(tmp_path: Path) -> None:
    write(tmp_path, {f"m{number}.py": f"x = {number}\n" for number in range(90)})
    index = build_index(tmp_path, store=Store(None))
    files = [FileReport(path=path, level=2 if at else 1, tokens=5) for at, path in enumerate(index.paths)]
    data = picture_data(index, Scene("r", None), report_of_map(files, 450, 500, left_out=7))
    assert (len(data["files"]), data["files_more"], data["left_out"]) == (60, 29, 7)
