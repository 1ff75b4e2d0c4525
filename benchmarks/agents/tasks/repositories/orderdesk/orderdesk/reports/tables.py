"""Tables of plain text."""

from collections.abc import Sequence


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return how wide each column has to be."""
    return [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]


def render(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first column is left and whose others are right aligned."""
    everything = [header, *rows]
    widths = column_widths(everything)
    lines = []
    for row in everything:
        first = row[0].ljust(widths[0])
        others = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([first, *others]).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)
