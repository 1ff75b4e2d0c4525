"""The agents that take steps, run by ADK: the embedded policy, and models with tools."""
