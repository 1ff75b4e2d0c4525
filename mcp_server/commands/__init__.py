"""The commands of ``repo-navigator``; each has ``add_arguments(parser)`` and ``run(options, settings)``."""
