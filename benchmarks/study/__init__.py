"""The registered study: agents without the navigator, with its tool, with its hooks, and with both."""
