"""Models behind the Agent Development Kit's one interface."""
