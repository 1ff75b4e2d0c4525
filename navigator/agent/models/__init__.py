"""The models behind ADK's interface."""
