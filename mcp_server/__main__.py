"""``python -m mcp_server`` serves MCP over stdio."""

# Nothing is imported before the working folder is off the path: not even `__future__` is built in.
import os
import sys

if __name__ == "__main__":
    # `-m` puts the working folder first, which is meant where it is the checkout that this file lies in.
    if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH120
        del sys.path[0]
    from repo_navigator.main import main

    sys.exit(main(["serve", *sys.argv[1:]]))
