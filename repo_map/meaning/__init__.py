"""Words that mean the same: a small embedding of our own, so that ``login`` finds ``authenticate``."""
