"""The only code that knows the Agent Development Kit; imported on first use, because it is slow to load."""
