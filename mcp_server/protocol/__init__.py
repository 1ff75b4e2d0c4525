"""The four tools, resources and prompts, and the form of their answers on the wire."""
