"""Models of providers behind ADK's ``BaseLlm``, with fallback, cost limit and untrusted responses."""
