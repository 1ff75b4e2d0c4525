"""``repo-navigator hook``: what is said beside an assistant's own work, at the right moment or not at all.

Hosts start it after each tool call and wait for it, so what answers imports no more than it needs: neither
numpy nor the engine. What takes longer is done by ``background``, which the host does not wait for.
"""
