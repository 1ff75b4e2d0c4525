"""Which files hold keys by their name."""

from __future__ import annotations

import pytest

from repo_map.secrecy.key_files import is_key_file


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "deploy/.env.production",
        "prod.env",
        "id_rsa",
        "home/.ssh/id_ed25519",
        "certs/server.key",
        "certs/server.pem",
        "keys/release.P12",
        "android/app/release.jks",
        ".netrc",
        ".aws/credentials",
        "config/credentials.yml",
        "config/secrets.yml",
        "client_secret_123.json",
        "gcp/service-account-prod.json",
        "terraform.tfstate",
        ".git-credentials",
        ".docker/config.json",
    ],
)
def test_key_files_are_told_by_name(path: str) -> None:
    assert is_key_file(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        "env.py",
        "src/environment.ts",
        "id_rsa.pub",
        "src/secrets.py",
        "credentials.go",
        "docs/secrets.md",
        "keyboard.js",
        "monkey.c",
        "config/secrets.example.yml",
        "api/key.ts",
        "package.json",
        ".npmrc",
    ],
)
def test_code_docs_and_templates_are_not(path: str) -> None:
    assert not is_key_file(path)
