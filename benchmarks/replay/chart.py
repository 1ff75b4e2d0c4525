"""The replay's figure, drawn as SVG: the change in cost against the tokens of the packet."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.figures import NAVIGATOR, SENT, bootstrap
from benchmarks.replay.replaying import Row
from benchmarks.replay.report import Measure, arms, generous, mean, of, strict
from benchmarks.svg import colour, document, text

_WIDTH, _LEFT, _TOP, _PLOT, _HEIGHT = 720, 80, 60, 560, 300
_LEGEND = 24
_STEP = 0.05
_RULES: tuple[tuple[str, Measure], ...] = (("strict", strict), ("generous", generous))


def chart(rows: Sequence[Row]) -> str:
    """Return the figure of the tasks that the navigator was asked about, with its 95 % intervals."""
    measured = {row.id for row in rows if row.system in (NAVIGATOR, SENT)}
    rows = [row for row in rows if row.id in measured and row.budget]
    systems = list(dict.fromkeys(system for system, _ in arms(rows)))
    points = {
        (system, name): sorted(
            (mean(row.tokens for row in mine), mean(map(rule, mine)), *bootstrap([*map(rule, mine)]))
            for arm in arms(rows)
            if arm[0] == system and (mine := of(rows, arm))
        )
        for system in systems
        for name, rule in _RULES
    }
    values = [value for line in points.values() for point in line for value in point[1:2]]
    marks = [value for line in points.values() for point in line for value in point[2:]] + values + [0.0]
    low, high = min(marks) // _STEP * _STEP, -(-max(marks) // _STEP) * _STEP
    widest = max((point[0] for line in points.values() for point in line), default=1.0) * 1.05

    def x_of(sent: float) -> float:
        return _LEFT + sent / widest * _PLOT

    def y_of(change: float) -> float:
        return _TOP + (high - change) / (high - low) * _HEIGHT

    title = "Replayed runs: change in cost against the packet's tokens"
    body = [text(_LEFT, 22, title, bold=True)]
    body += [text(_LEFT, 42, "full line: strict; broken line: generous; below 0 % the run costs less")]
    for step in range(round((high - low) / _STEP) + 1):
        y = y_of(low + step * _STEP)
        stroke = "#888" if abs(low + step * _STEP) < _STEP / 2 else "#ddd"
        body.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _PLOT}" y2="{y:.1f}" stroke="{stroke}"/>')
        body.append(text(_LEFT - 8, y + 4, f"{low + step * _STEP:+.0%}", anchor="end"))
    for tick in range(0, int(widest) + 1, 2000):
        body.append(text(x_of(tick), _TOP + _HEIGHT + 18, f"{tick:,}", anchor="middle"))
    body.append(text(_LEFT + _PLOT / 2, _TOP + _HEIGHT + 38, "tokens of the packet", anchor="middle"))
    for number, system in enumerate(systems):
        for name, _ in _RULES:
            line = points[system, name]
            dash = ' stroke-dasharray="6 4"' if name == "generous" else ""
            path = " ".join(f"{x_of(point[0]):.1f},{y_of(point[1]):.1f}" for point in line)
            body.append(f'<polyline points="{path}" fill="none" stroke="{colour(number)}"{dash}/>')
            for sent, change, least, most in line:
                x = x_of(sent)
                body.append(f'<circle cx="{x:.1f}" cy="{y_of(change):.1f}" r="4" fill="{colour(number)}"/>')
                if system in (NAVIGATOR, SENT):
                    ends = f'y1="{y_of(least):.1f}" y2="{y_of(most):.1f}"'
                    body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" {ends} stroke="{colour(number)}"/>')
        y = _TOP + _HEIGHT + 60 + number * _LEGEND
        body.append(f'<rect x="{_LEFT}" y="{y:.1f}" width="14" height="14" fill="{colour(number)}"/>')
        tasks = len({row.id for row in rows if row.system == system})
        body.append(text(_LEFT + 22, y + 12, f"{system} ({tasks} tasks)"))
    return document(_WIDTH, _TOP + _HEIGHT + 70 + _LEGEND * len(systems), body)
