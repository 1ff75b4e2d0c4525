"""Agents with a shell, without the navigator, with it installed, and with it always loaded."""
