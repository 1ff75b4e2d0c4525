"""What the environment sets, and how a value that can't be used is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_server.settings import (
    IdentitySettings,
    log_level,
    read_settings,
)
from navigator.storage.addresses import GCS, BucketAddress, DatabaseAddress
from repo_map.errors import UserError
from tests.support.errors import refusal_of_error


def test_without_variables_everything_has_a_default() -> None:
    settings = read_settings({"HOME": "/home/someone"})
    assert settings.token_budget is None
    assert settings.allowed == ()
    assert settings.data_dir is not None


def test_every_variable_is_read(tmp_path: Path) -> None:
    settings = read_settings(
        {
            "REPO_NAVIGATOR_DATA": str(tmp_path / "data"),
            "REPO_NAVIGATOR_CACHE": str(tmp_path / "cache"),
            "REPO_NAVIGATOR_STORE": "postgresql+asyncpg://ann:p%40ss@db.example/team?ssl=require&schema=nav",
            "REPO_NAVIGATOR_ARTIFACTS": "s3://navigations/team/a",
            "REPO_NAVIGATOR_HTTP_DRAIN_SECONDS": "50",
            "REPO_NAVIGATOR_ALLOW": f"{tmp_path}:{tmp_path}",
            "REPO_NAVIGATOR_MODEL": "gemini-2.5-flash",
            "REPO_NAVIGATOR_FALLBACK_MODEL": "gemini-2.5-pro",
            "REPO_NAVIGATOR_PRICES": str(tmp_path / "prices.yaml"),
            "REPO_NAVIGATOR_TOKEN_BUDGET": "5000",
            "REPO_NAVIGATOR_LINE_NUMBERS": "on",
            "REPO_NAVIGATOR_MAX_COST_USD": "0.5",
            "REPO_NAVIGATOR_CALL_SECONDS": "20",
            "REPO_NAVIGATOR_KEEP_DAYS": "7",
            "REPO_NAVIGATOR_LOG_LEVEL": "debug",
            "REPO_NAVIGATOR_LOG_FORMAT": "json",
            "REPO_NAVIGATOR_TOKENS": str(tmp_path / "tokens.yaml"),
            "REPO_NAVIGATOR_REPOSITORIES": str(tmp_path / "repositories.yaml"),
            "REPO_NAVIGATOR_METRICS": "on",
            "REPO_NAVIGATOR_HTTP_USER_CLAIM": "email",
            "REPO_NAVIGATOR_HTTP_HOSTS": "navigator.example",
            "REPO_NAVIGATOR_HTTP_ISSUER": "https://idp.example",
            "REPO_NAVIGATOR_HTTP_RESOURCE": "https://navigator.example/mcp",
            "REPO_NAVIGATOR_HTTP_JWKS": "http://127.0.0.1:1/keys",
            "REPO_NAVIGATOR_HTTP_ORIGINS": "https://navigator.example",
            "REPO_NAVIGATOR_HTTP_MAX_BODY": "2000",
            "REPO_NAVIGATOR_HTTP_MAX_CONNECTIONS": "20",
            "REPO_NAVIGATOR_GRACE_SECONDS": "5",
            "REPO_NAVIGATOR_OLLAMA_URL": "http://gpu.example:11434/v1",
            "REPO_NAVIGATOR_MODEL_SECONDS": "90",
            "REPO_NAVIGATOR_MODEL_RETRIES": "0",
            "REPO_NAVIGATOR_MODEL_STREAM": "on",
            "REPO_NAVIGATOR_EMBEDDED_FALLBACK": "off",
        }
    )
    assert settings.data_dir == tmp_path / "data"
    assert settings.cache_dir == tmp_path / "cache"
    assert settings.store == DatabaseAddress("db.example", 5432, "team", "ann", "p@ss", "require", "nav")
    assert settings.bucket == BucketAddress("navigations", "team/a/")
    assert settings.http.drain_seconds == 50.0
    assert settings.allowed == (tmp_path,)
    assert settings.model == "gemini-2.5-flash"
    assert settings.fallback_model == "gemini-2.5-pro"
    assert settings.prices == tmp_path / "prices.yaml"
    assert (settings.token_budget, settings.max_cost_usd, settings.call_seconds) == (5_000, 0.5, 20.0)
    assert settings.line_numbers
    assert (settings.keep_days, settings.log_level, settings.log_format) == (7.0, "DEBUG", "json")
    assert settings.http.tokens == tmp_path / "tokens.yaml"
    assert settings.repositories == tmp_path / "repositories.yaml"
    assert settings.http.identity == IdentitySettings(
        "https://idp.example", "https://navigator.example/mcp", "http://127.0.0.1:1/keys", "email"
    )
    assert settings.http.metrics
    assert settings.http.allowed_hosts == ("navigator.example",)
    assert settings.http.allowed_origins == ("https://navigator.example",)
    assert (settings.http.max_body_bytes, settings.http.max_connections) == (2_000, 20)
    assert settings.grace_seconds == 5.0
    assert settings.model_urls == {"ollama": "http://gpu.example:11434/v1"}
    assert (settings.call_timeout_s, settings.retries, settings.stream) == (90.0, 0, True)
    assert settings.embedded_fallback is False


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("s3://navigations", BucketAddress("navigations")),
        (" gs://team_1.example.com/ ", BucketAddress("team_1.example.com", "", GCS)),
    ],
)
def test_a_bucket_is_of_the_storage_that_its_address_says(text: str, address: BucketAddress) -> None:
    found = read_settings({"REPO_NAVIGATOR_ARTIFACTS": text}).bucket
    assert found == address
    assert str(found).rstrip("/") == text.strip().rstrip("/")


def test_every_model_setting_reaches_the_navigator() -> None:
    environ = {
        "HOME": "/home/someone",
        "REPO_NAVIGATOR_OPENAI_URL": "http://127.0.0.1:1234/v1",
        "REPO_NAVIGATOR_MODEL_SECONDS": "90",
        "REPO_NAVIGATOR_MODEL_RETRIES": "5",
        "REPO_NAVIGATOR_MODEL_STREAM": "on",
        "REPO_NAVIGATOR_EMBEDDED_FALLBACK": "off",
    }
    message = read_settings(environ)
    assert message.model_urls == {"openai": "http://127.0.0.1:1234/v1"}
    assert (message.call_timeout_s, message.retries, message.stream) == (90.0, 5, True)
    assert message.embedded_fallback is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKEN_BUDGET", "many"),
        ("TOKEN_BUDGET", "7.5"),
        ("HTTP_MAX_CONNECTIONS", "0.5"),
        ("HTTP_HOSTS", "http://navigator.example"),
        ("HTTP_ORIGINS", "https://navigator.example/"),
        ("CALL_SECONDS", "-1"),
        ("LOG_FORMAT", "xml"),
        ("MODEL_RETRIES", "-1"),
        ("MODEL_STREAM", "yes"),
        ("STORE", "mysql://x"),
        ("MAX_FILES", "all"),
        ("VIEWS", "yes"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_the_name_of_its_setting(name: str, value: str) -> None:
    variable = f"REPO_NAVIGATOR_{name}"
    with pytest.raises(UserError) as caught:
        read_settings({variable: value, "HOME": "/home/someone"})
    assert refusal_of_error(caught.value) == ("invalid_setting", variable)
    assert value in str(caught.value) or "://" in value


def test_log_levels_are_named_in_any_case() -> None:
    assert log_level("Info") == "INFO"
