"""What a map says of the secrets that it masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_MOST_NAMED = 3


def secrets_note(index: RepoIndex, file_ids: Sequence[int]) -> str:
    """Count the secrets in files that a map shows by more than their path; ``""`` where there are none."""
    found = {file_id: index.secrets(file_id) for file_id in file_ids}
    holding = sorted(index.paths[file_id] for file_id, kinds in found.items() if kinds)
    if not holding:
        return ""
    kinds = Counter(kind for each in found.values() for kind in each)
    number = kinds.total()
    named = ", ".join(f"`{path}`" for path in holding[:_MOST_NAMED])
    more = f" and {len(holding) - _MOST_NAMED} more" if len(holding) > _MOST_NAMED else ""
    what = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return (
        f"{number} secret{'s' if number > 1 else ''} masked in {named}{more} ({what}); "
        "REPO_NAVIGATOR_UNMASK names files to show as they are."
    )
