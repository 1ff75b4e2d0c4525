"""The guide of a team's server: its first commands start a server that its client's entry reaches."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx2

from tests.mcp_server.test_http import INITIALIZE, JSON, Served
from tests.support import console
from tests.support.trees import commit

PAGE = (Path(__file__).parents[2] / "docs/team.md").read_text(encoding="utf-8")


def _block(language: str, part: str) -> str:
    (found,) = (
        each for each in re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.S | re.M) if part in each
    )
    return str(found)


def test_the_first_commands_start_a_server_that_the_entry_of_a_client_reaches(tmp_path: Path) -> None:
    repository = commit(tmp_path / "web", {"prices.py": "def discount(item):\n    return 5\n"})
    commands = _block("bash", "repo-navigator serve").replace("/srv/git/web", str(repository))
    install, _, rest = commands.partition("\n")
    assert install.startswith("pipx install ")
    prepare, serve = re.split(r"^(?=REPO_NAVIGATOR_)", rest, maxsplit=1, flags=re.MULTILINE)
    folder = tmp_path / "server"
    folder.mkdir()
    token = console.run(f"{prepare}\necho $TOKEN", folder).strip()
    server = Served(folder, **dict(re.findall(r"(REPO_NAVIGATOR_\w+)=(\S+)", serve)))
    entry = json.loads(_block("json", "mcpServers"))["mcpServers"]["repo-navigator"]
    headers = {
        name.lower(): re.sub(r"\$\{env:\w+\}", token, value) for name, value in entry["headers"].items()
    }
    assert token in headers["authorization"]
    assert token not in (folder / "tokens.yaml").read_text("utf-8")
    admitted = httpx2.post(server.url, json=INITIALIZE, headers=JSON | headers)
    refused = httpx2.post(server.url, json=INITIALIZE, headers=JSON)
    server.stop()
    assert (admitted.status_code, refused.status_code) == (200, 401)
