"""What tests read of the result of a tool call."""

from __future__ import annotations

import re
from typing import Any

from mcp_types import CallToolResult, TextContent

FENCE = re.compile(r"(?:# )?<<<repository text (\w{8})\n(.*?)\n(?:# )?repository text \1>>>", re.DOTALL)
"""Text of a repository between its markers."""


def object_of(result: CallToolResult) -> dict[str, Any]:
    """Return the structured content of a result that is no error."""
    assert not result.is_error, result.content
    assert result.structured_content is not None
    content: dict[str, Any] = result.structured_content
    return content


def text_of(result: CallToolResult) -> str:
    """Return the one text of a result that is no error."""
    assert not result.is_error, result.content
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text
