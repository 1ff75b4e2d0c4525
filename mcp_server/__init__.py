"""The MCP server: four tools around the navigator."""
