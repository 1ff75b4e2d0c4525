"""The same map as a picture that needs no script: for a README, a pull request, a build's artefacts."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, NamedTuple

from navigator.picture.text import PictureData, clipped, totals
from navigator.picture.treemap import Box, layout
from repo_map.drawing.outline import CLOSED, FILE, REST, paths_of
from repo_map.messages import counted
from repo_map.plan.levels import level_word

WIDTH, MAP_HEIGHT = 960, 540
_TOP = 62
_LINE = 17
_LETTER = 6.1
"""Width of a letter of a name, about."""
_FEWEST_LETTERS = 7
_ROWS = 8
"""Files that are listed below the map."""
LEVELS = ("not shown", *map(level_word, range(1, 5)))


class _Colours(NamedTuple):
    """Those of the page: ``view/src/view.css`` has them too."""

    page: str
    ink: str
    faint: str
    line: str
    mark: str
    levels: tuple[str, ...]
    inks: tuple[str, ...]


LIGHT = _Colours(
    *("#ffffff", "#1b2229", "#4d5965", "#c3ccd5", "#0b57a8"),
    levels=("#eceff2", "#cfe1f4", "#9cc4ec", "#2f6cb0", "#0d3663"),
    inks=("#3d4853", "#0c2238", "#0c2238", "#ffffff", "#ffffff"),
)
DARK = _Colours(
    *("#0f1419", "#dfe7ef", "#a3b1bf", "#3a4856", "#8cc2ff"),
    levels=("#1d262f", "#23394f", "#2c5580", "#78b0e6", "#d8eafd"),
    inks=("#b4c1cd", "#e6eff8", "#ffffff", "#06131f", "#06131f"),
)


def svg_of(data: PictureData) -> str:
    """Return the picture as SVG, light or dark as its reader prefers; the same data give the same bytes."""
    tree = data["tree"]
    rows = list(_listed(data))
    height = _TOP + MAP_HEIGHT + 34 + _LINE * len(rows) + (12 if rows else 0)
    name = f"Map of {data['repository']}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="t d">',
        f'<title id="t">{_text(name, 200)}</title>',
        f'<desc id="d">{_text(_described(data), 600)}</desc>',
        f"<style>{_style()}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="8" y="22">{_text(name, 90)}</text>',
        f'<text class="faint" x="{WIDTH - 8}" y="22" text-anchor="end">{_text(totals(data), 90)}</text>',
        f'<text x="8" y="43">{_text(data["goal"], 140)}</text>',
        f'<g transform="translate(0 {_TOP - 8})">',
        *_drawn(data, tree),
        "</g>",
        *_legend(_TOP + MAP_HEIGHT + 12),
    ]
    for at, row in enumerate(rows):
        parts.append(f'<text x="8" y="{_TOP + MAP_HEIGHT + 46 + at * _LINE}">{_text(row, 150)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _style() -> str:
    return (
        "text{font:13px system-ui,sans-serif}.title{font-size:17px;font-weight:600}.n{font-size:11px}"
        ".offered{fill:none;stroke-width:2;stroke-dasharray:4 3}"
        f"{_rules(LIGHT)}@media(prefers-color-scheme:dark){{{_rules(DARK)}}}"
    )


def _rules(colours: _Colours) -> str:
    levels = "".join(
        f".l{level}{{fill:{fill}}}.i{level}{{fill:{ink}}}"
        for level, (fill, ink) in enumerate(zip(colours.levels, colours.inks, strict=True))
    )
    return (
        f".page,.folder{{fill:{colours.page}}}text{{fill:{colours.ink}}}.faint{{fill:{colours.faint}}}"
        f".folder{{stroke:{colours.line}}}.leaf{{stroke:{colours.page}}}.offered{{stroke:{colours.mark}}}{levels}"
    )


def _drawn(data: PictureData, tree: dict[str, Any]) -> Iterator[str]:
    offered = {each["path"] for each in (*data["menu"], *data["deeper"])}
    paths = paths_of(tree["names"], tree["parents"])
    for node, box, is_open in layout(tree["parents"], tree["areas"], WIDTH, MAP_HEIGHT):
        if node and (box.w < 1 or box.h < 1):
            continue
        kind, level = tree["kinds"][node], tree["levels"][node]
        name = tree["names"][node] or data["repository"]
        if kind == REST:
            name = f"{tree['files'][node]:,} more"
        has_title = not is_open and (level or paths[node] in offered)
        if has_title:
            path = _text(paths[node] or data["repository"], 300)
            yield f"<g><title>{path}: {LEVELS[level]}, {counted(tree['tokens'][node], 'token')}</title>"
        yield _rect(box, "folder" if is_open else f"leaf l{level}")
        if kind == FILE and paths[node] in offered:
            yield _rect(Box(box.x + 1, box.y + 1, box.w - 2, box.h - 2), "offered")
        if is_open and node == 0:
            name = ""
        elif not is_open and level:
            name = f"{level} {name}" if kind not in (CLOSED, REST) else f"{level}… {name}"
        yield from _name(box, name, "faint" if is_open else f"i{level}", level=0 if is_open else level)
        if has_title:
            yield "</g>"


def _name(box: Box, name: str, ink: str, level: int) -> Iterator[str]:
    """Yield the name in a box, or its level alone where there is room for no more."""
    room = int((box.w - 6) / _LETTER)
    if name and box.h >= 14 and (room >= _FEWEST_LETTERS or (level and box.w >= 11)):
        label = _text(name, room) if room >= _FEWEST_LETTERS else str(level)
        yield f'<text class="n {ink}" x="{box.x + 3:.1f}" y="{box.y + 12:.1f}">{label}</text>'


def _rect(box: Box, kind: str) -> str:
    place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{max(box.w, 0):.1f}" height="{max(box.h, 0):.1f}"'
    return f'<rect class="{kind}" {place}/>'


def _legend(top: int) -> Iterator[str]:
    x = 8
    for level, words in enumerate(LEVELS):
        yield f'<rect class="leaf l{level}" x="{x}" y="{top}" width="18" height="14"/>'
        if level:
            yield f'<text class="n i{level}" x="{x + 6}" y="{top + 11}">{level}</text>'
        yield f'<text class="n" x="{x + 23}" y="{top + 11}">{words}</text>'
        x += 36 + round(len(words) * _LETTER) + 8
    yield f'<rect class="offered" x="{x}" y="{top}" width="18" height="14"/>'
    yield f'<text class="n" x="{x + 23}" y="{top + 11}">a next step could show it</text>'


def _listed(data: PictureData) -> Iterator[str]:
    for file in data["shown"][:_ROWS]:
        why = f": {'; '.join(file['reasons'])}" if file["reasons"] else ""
        yield f"{file['level']} {file['path']}, {counted(file['tokens'], 'token')}{why}"
    more = len(data["shown"]) - _ROWS + data["shown_more"]
    if more > 0:
        yield f"and {counted(more, 'more file')}"


def _described(data: PictureData) -> str:
    return ". ".join(filter(None, (totals(data), data["goal"], data["sure"])))


def _text(text: str, characters: int) -> str:
    return escape(clipped(text, max(characters, 1)))
