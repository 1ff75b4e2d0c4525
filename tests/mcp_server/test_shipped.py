"""What is shipped to run a team's server in containers, and to watch it: it names what there is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcp_server.app import build_server
from mcp_server.setting_names import KNOWN
from mcp_server.settings import HttpSettings, Settings
from navigator.workspaces.catalogue import Catalogue

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "helm" / "repo-navigator"
UID = 10_001


def rendered(template: str, values: dict[str, Any]) -> str:
    """Return a template with its values, as Helm renders the few forms that the chart uses; others fail."""
    known: dict[str, Any] = {"Values": values, "Release": {"Name": "nav"}}

    def value(match: re.Match[str]) -> str:
        how, path, to, width = match.groups()
        found: Any = known
        for part in path.split("."):
            found = found[part]
        if how == "toJson":
            return json.dumps(found)
        if how == "toYaml":
            assert to == "indent"
            lines = yaml.safe_dump(found, sort_keys=False).rstrip("\n").splitlines()
            return "\n".join(" " * int(width) + line for line in lines)
        assert not isinstance(found, dict | list)
        return json.dumps(found) if to == "quote" else str(found)

    form = r"\{\{ (?:(toYaml|toJson) )?\.([\w.]+)(?: \| (quote|indent)(?: (\d+))?)? \}\}"
    text = re.sub(form, value, template)
    assert "{{" not in text
    return text


def chart() -> dict[str, dict[str, Any]]:
    """Return what the chart makes with its own values, by kind and name."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    text = rendered((CHART / "templates" / "server.yaml").read_text(), values)
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in yaml.safe_load_all(text)}


def test_each_setting_that_is_shipped_is_one_and_no_name_is_misspelt() -> None:
    files = [path for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for path in files for name in re.findall(r"REPO_NAVIGATOR_[A-Z_]+", path.read_text())}
    assert {"REPO_NAVIGATOR_DATA", "REPO_NAVIGATOR_MAX_INDEXES"} <= named
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
        *("LICENSE", "README.md", "constraints.txt", "pyproject.toml"),
        *("mcp_server", "navigator", "repo_map", "repo_navigator"),
    }


def test_the_compose_file_has_the_servers_that_nginx_calls_each_with_a_root_that_is_read_only() -> None:
    services = yaml.safe_load((DEPLOY / "docker" / "compose.yaml").read_text())["services"]
    called = re.findall(
        r"^    server ([\d.]+):8321", (DEPLOY / "nginx/repo-navigator.conf").read_text(), re.MULTILINE
    )
    servers = {name: each for name, each in services.items() if name.startswith("navigator-")}
    assert [each["networks"]["inside"]["ipv4_address"] for each in servers.values()] == called
    for each in (*servers.values(), services["fetch"]):
        assert each["read_only"]
        assert each["cap_drop"] == ["ALL"]
        assert each["security_opt"] == ["no-new-privileges:true"]
        # The drain of 50 seconds, and a little more.
        assert each["stop_grace_period"] == "60s"
    assert [name for name, each in services.items() if "ports" in each] == ["nginx"]


def test_the_chart_renders_to_what_kubernetes_takes_without_rights(tmp_path: Path) -> None:
    made = chart()
    pod = made["StatefulSet/nav"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] == UID
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"]
        assert not rights["allowPrivilegeEscalation"]
        assert rights["capabilities"] == {"drop": ["ALL"]}
        # What is mounted is there.
        volumes = {each["name"] for each in pod["volumes"]} | {
            each["metadata"]["name"] for each in made["StatefulSet/nav"]["spec"]["volumeClaimTemplates"]
        }
        assert {each["name"] for each in container["volumeMounts"]} <= volumes
    server = pod["containers"][0]
    assert [server[f"{kind}Probe"]["httpGet"]["path"] for kind in ("liveness", "readiness")] == [
        "/healthz",
        "/readyz",
    ]
    labels = made["StatefulSet/nav"]["spec"]["template"]["metadata"]["labels"]
    assert made["Service/nav"]["spec"]["selector"] == labels
    assert made["PodDisruptionBudget/nav"]["spec"]["selector"]["matchLabels"] == labels
    paths = [each["path"] for each in made["Ingress/nav"]["spec"]["rules"][0]["http"]["paths"]]
    assert paths == ["/mcp", "/webhooks/", "/.well-known/oauth-protected-resource"]
    configured = {each["configMapRef"]["name"] for each in server["envFrom"] if "configMapRef" in each}
    assert all(f"ConfigMap/{name}" in made for name in configured)
    assert all(isinstance(value, str) for value in made["ConfigMap/nav-settings"]["data"].values())
    file = tmp_path / "repositories.yaml"
    file.write_text(made["ConfigMap/nav-repositories"]["data"]["repositories.yaml"])
    assert list(Catalogue(file, tmp_path).entries()) == ["api"]


def expressions() -> Iterator[str]:
    """Yield what the alarms and the dashboard ask Prometheus for."""
    alerts = yaml.safe_load((DEPLOY / "monitoring" / "alerts.yaml").read_text())
    for rule in alerts["groups"][0]["rules"]:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]
        yield rule["expr"]
    for panel in json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


@pytest.mark.anyio
async def test_alarms_and_dashboard_ask_for_metrics_that_there_are(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    settings = Settings(data_dir=tmp_path, http=HttpSettings(metrics_token="metrics-0123456789"))
    server = build_server(settings)
    assert server.metrics is not None
    await server.navigations.navigator()
    try:
        text = (await server.metrics.text()).decode()
    finally:
        await server.navigations.aclose()
    # A histogram has its buckets once something was observed.
    told = {name.removesuffix("_info") for name in re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)}
    asked = {name for each in expressions() for name in re.findall(r"\b(?:repo_navigator|process)_\w+", each)}
    assert len(asked) > 10
    assert {re.sub(r"_(?:bucket|info)$", "", name) for name in asked} <= told
