"""What is shipped to run a team's server in containers, and to watch it: it names what there is."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from mcp_server.settings import KNOWN

DEPLOY = Path(__file__).parents[2] / "packaging/deploy"
UID = 10_001


def test_each_setting_that_is_shipped_is_one_and_no_name_is_misspelt() -> None:
    files = [path for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for path in files for name in re.findall(r"REPO_NAVIGATOR_[A-Z_]+", path.read_text())}
    assert {"REPO_NAVIGATOR_DATA", "REPO_NAVIGATOR_CACHE"} <= named
    assert named <= KNOWN


def test_the_image_runs_as_nobody_that_matters_and_says_whether_it_lives() -> None:
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    assert re.search(rf"^USER {UID}:{UID}$", text, re.MULTILINE)
    assert text.index("USER ") < text.index("ENTRYPOINT ")
    assert "/healthz" in text
    assert text.rstrip().endswith('CMD ["serve", "--http", "0.0.0.0:8321"]')
    kept = {
        line[1:] for line in (DEPLOY / "docker/Dockerfile.dockerignore").read_text().split() if line[0] == "!"
    }
    # Whatever is built needs, and nothing else: no tests, no history, no secrets that lie about.
    assert kept == {
        *("LICENSE", "README.md", "constraints.txt", "packaging/hatch_build.py", "pyproject.toml"),
        *("mcp_server", "navigator", "repo_map", "repo_navigator"),
    }


def test_the_compose_file_has_the_servers_that_nginx_calls_each_with_a_root_that_is_read_only() -> None:
    services = yaml.safe_load((DEPLOY / "docker" / "compose.yaml").read_text())["services"]
    called = re.findall(
        r"^    server ([\d.]+):8321", (DEPLOY / "nginx/repo-navigator.conf").read_text(), re.MULTILINE
    )
    servers = {name: each for name, each in services.items() if name.startswith("navigator-")}
    assert [each["networks"]["inside"]["ipv4_address"] for each in servers.values()] == called
    for each in servers.values():
        assert each["read_only"]
        assert each["cap_drop"] == ["ALL"]
        assert each["security_opt"] == ["no-new-privileges:true"]
        # The drain of 50 seconds, and a little more.
        assert each["stop_grace_period"] == "60s"
    assert [name for name, each in services.items() if "ports" in each] == ["nginx"]
