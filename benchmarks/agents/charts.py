"""The report's figure, drawn as SVG: cost against success, and the tokens of each stage."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.agents.journal import RunRow
from benchmarks.agents.report import MEASURES, stage_mean, stages_of
from benchmarks.svg import colour, document, text

_WIDTH, _HEIGHT, _LEFT, _TOP = 720, 300, 90, 40
_PLOT, _BAR = 560, 26


def chart(rows: Sequence[RunRow], model: str) -> str:
    """Return the figure of one model's runs."""
    runs = [row for row in rows if row.key.model == model]
    variants = list(dict.fromkeys(row.key.variant for row in runs))
    stages = [
        stage for stage in stages_of(runs) if any(_tokens(runs, variant, stage) for variant in variants)
    ]
    bars_at = _TOP + _HEIGHT + 70
    legend_at = bars_at + len(variants) * (_BAR + 10) + 20
    height = legend_at + 22 * len(stages) + 20
    body = [
        *_scatter(runs, variants),
        *_bars(runs, variants, stages, bars_at),
        *_legend(stages, legend_at),
    ]
    return document(_WIDTH, height, body)


def _scatter(runs: Sequence[RunRow], variants: Sequence[str]) -> list[str]:
    """Draw a point for each variant: US cents of a run to the right, share of runs solved upwards."""
    points = {variant: _point(runs, variant) for variant in variants}
    most = max((cents for cents, _ in points.values()), default=0.0) * 1.15 or 1.0
    base = _TOP + _HEIGHT
    lines = [text(_LEFT, 24, "Success against cost", bold=True)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = base - share * _HEIGHT
        lines.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _PLOT}" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(text(_LEFT - 8, y + 4, f"{share:.0%}", anchor="end"))
    for step in range(5):
        x = _LEFT + step / 4 * _PLOT
        lines.append(text(x, base + 18, f"{most * step / 4:.3f}", anchor="middle"))
    lines.append(text(_LEFT + _PLOT / 2, base + 38, "US cents a run", anchor="middle"))
    for number, (variant, (cents, solved)) in enumerate(points.items()):
        x, y = _LEFT + cents / most * _PLOT, base - solved * _HEIGHT
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour(number)}"/>')
        lines.append(text(x + 10, y - 8, variant))
    return lines


def _bars(runs: Sequence[RunRow], variants: Sequence[str], stages: Sequence[str], top: float) -> list[str]:
    """Draw a bar for each variant: the tokens of a run, stage by stage."""
    totals = {variant: sum(_tokens(runs, variant, stage) for stage in stages) for variant in variants}
    most = max(totals.values(), default=0.0) or 1.0
    lines = [text(_LEFT, top - 12, "Tokens a run, by stage", bold=True)]
    for row, variant in enumerate(variants):
        x, y = float(_LEFT), top + row * (_BAR + 10)
        lines.append(text(_LEFT - 8, y + 18, variant, anchor="end"))
        for number, stage in enumerate(stages):
            width = _tokens(runs, variant, stage) / most * (_PLOT - 60)
            lines.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BAR}" fill="{colour(number)}"/>'
            )
            x += width
        lines.append(text(x + 6, y + 18, f"{totals[variant]:,.0f}"))
    return lines


def _legend(stages: Sequence[str], top: float) -> list[str]:
    lines: list[str] = []
    for number, stage in enumerate(stages):
        y = top + number * 22
        lines.append(f'<rect x="{_LEFT}" y="{y:.1f}" width="14" height="14" fill="{colour(number)}"/>')
        lines.append(text(_LEFT + 22, y + 12, stage.replace("_", " ")))
    return lines


def _point(runs: Sequence[RunRow], variant: str) -> tuple[float, float]:
    mine = [row for row in runs if row.key.variant == variant]
    cents = sum(map(MEASURES["US cents"], mine)) / len(mine)
    return cents, sum(map(MEASURES["solved"], mine)) / len(mine)


def _tokens(runs: Sequence[RunRow], variant: str, stage: str) -> float:
    return sum(stage_mean(runs, variant, stage, kind) for kind in ("fresh", "cached", "out"))
