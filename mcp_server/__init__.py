"""The MCP server: four tools around the navigator."""


def package_version() -> str:
    """Return the installed version, or ``0`` when running from a bare tree."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - looked up only when it is asked for

    try:
        return version("repo-navigator")
    except PackageNotFoundError:
        return "0"
