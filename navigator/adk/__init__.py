"""The only code that knows Google ADK."""
