"""What the environment sets: every variable, values that can't be used, and names that are no setting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.settings import (
    KNOWN,
    Settings,
    read_settings,
    unknown_settings,
)
from navigator.storage.addresses import BucketAddress, DatabaseAddress
from repo_map.errors import UserError
from repo_navigator.main import main
from tests.support.errors import refusal_of_error

Read = Callable[..., Settings]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read the settings where the environment has nothing else that begins with ``REPO_NAVIGATOR_``."""
    for name in KNOWN:
        monkeypatch.delenv(name, raising=False)

    def read(**variables: str) -> Settings:
        for name, value in variables.items():
            monkeypatch.setenv(f"REPO_NAVIGATOR_{name}", value)
        return read_settings()

    return read


def test_variables_are_read_by_their_own_names_and_parsed(read: Read, tmp_path: Path) -> None:
    settings = read(
        DATA=str(tmp_path / "data"),
        CACHE=str(tmp_path / "cache"),
        STORE="postgresql+asyncpg://ann:p%40ss@db.example/team?ssl=require&schema=nav",
        ARTIFACTS="s3://navigations/team/a",
        ALLOW=f"{tmp_path}:{tmp_path}",
        TOKEN_BUDGET="5000",
        LINE_NUMBERS="on",
        MAX_FILES="7",
        LOG_LEVEL="debug",
        TOKENS=str(tmp_path / "tokens.yaml"),
        UNMASK="*.pem, fixtures/**",
        VIEWS="off",
        HTTP_HOSTS="navigator.example",
        HTTP_ORIGINS="https://navigator.example",
        HTTP_ISSUER="https://idp.example",
        HTTP_RESOURCE="https://navigator.example/mcp",
        HTTP_JWKS="http://127.0.0.1:1/keys",
        HTTP_USER_CLAIM="email",
        OLLAMA_URL="http://gpu.example:11434/v1",
        MODEL_SECONDS="90",
        MODEL_RETRIES="0",
        MODEL_STREAM="on",
    )
    expected = {
        "data_dir": tmp_path / "data",
        "cache_dir": tmp_path / "cache",
        "store": DatabaseAddress("db.example", 5432, "team", "ann", "p@ss", "require", "nav"),
        "bucket": BucketAddress("navigations", "team/a/"),
        "allowed": (tmp_path,),
        "token_budget": 5_000,
        "line_numbers": True,
        "log_level": "DEBUG",
        "tokens": tmp_path / "tokens.yaml",
        "unmasked": ("*.pem", "fixtures/**"),
        "views": "off",
        "http_issuer": "https://idp.example",
        "http_resource": "https://navigator.example/mcp",
        "http_jwks": "http://127.0.0.1:1/keys",
        "http_user_claim": "email",
        "http_hosts": ("navigator.example",),
        "http_origins": ("https://navigator.example",),
        "model_urls": {"ollama": "http://gpu.example:11434/v1"},
        "call_timeout_s": 90.0,
        "retries": 0,
        "stream": True,
    }
    assert {name: getattr(settings, name) for name in expected} == expected
    assert settings.limits.files == 7


def test_a_bucket_is_of_the_storage_that_its_address_says(read: Read) -> None:
    assert read(ARTIFACTS=" gs://team_1.example.com/ ").bucket == BucketAddress(
        "team_1.example.com", "", "gs"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKEN_BUDGET", "many"),
        ("TOKEN_BUDGET", "7.5"),
        ("TOKEN_BUDGET", "100"),
        ("TOKEN_BUDGET", "5000000"),
        ("HTTP_MAX_CONNECTIONS", "0.5"),
        ("HTTP_HOSTS", "http://navigator.example"),
        ("HTTP_ORIGINS", "https://navigator.example/"),
        ("CALL_SECONDS", "-1"),
        ("CALL_SECONDS", "nan"),
        ("LOG_FORMAT", "xml"),
        ("MODEL_RETRIES", "-1"),
        ("MODEL_STREAM", "maybe"),
        ("STORE", "mysql://ann:hunter2@x"),
        ("ARTIFACTS", "ftp://x"),
        ("MAX_FILES", "all"),
        ("VIEWS", "yes"),
        ("MODEL", "nope"),
        ("FALLBACK_MODEL", "nope"),
        ("UNMASK", "["),
        ("PRICES", "missing.yaml"),
        ("LENDERS", "missing-folder"),
        ("SUBMODULES", "yep"),
        ("ALLOW", "missing-folder"),
        ("ALLOW", ":"),
        ("MAX_COST_USD", "1e308"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_the_name_of_its_setting(
    read: Read, name: str, value: str
) -> None:
    with pytest.raises(UserError) as caught:
        read(**{name: value})
    assert refusal_of_error(caught.value) == ("invalid_setting", f"REPO_NAVIGATOR_{name}")
    assert (value in str(caught.value)) != (name in ("STORE", "ARTIFACTS"))


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("LINE_NUMBERS", "yep", ["`on`", "`off`"]),
        ("LOG_LEVEL", "loud", ["`debug`", "`info`", "`warning`", "`error`"]),
        ("TOKEN_BUDGET", "100", ["400", "2,000,000"]),
        ("MODEL_TOKENS", "-1", ["above 0"]),
    ],
)
def test_a_refused_value_is_reported_with_the_accepted_ones(
    read: Read, name: str, value: str, accepted: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        read(**{name: value})
    assert all(each in str(caught.value) for each in (f"`{value}`", *accepted))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STORE", "ann:hunter2@db/team"),
        ("STORE", "sqlite:///hunter2"),
        ("ARTIFACTS", "s3://key:hunter2@bucket"),
        ("HTTP_HOSTS", "https://ann:hunter2@navigator.example"),
        ("HTTP_ORIGINS", "https://ann:hunter2@navigator.example"),
    ],
)
def test_a_refused_value_that_may_hold_a_password_is_not_repeated(read: Read, name: str, value: str) -> None:
    with pytest.raises(UserError) as caught:
        read(**{name: value})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("issuer", ["https://idp.example", "http://idp.example", "https://a:b@idp.example"])
def test_an_identity_provider_needs_three_safe_urls(read: Read, issuer: str) -> None:
    with pytest.raises(UserError, match="HTTP_ISSUER"):
        read(HTTP_ISSUER=issuer)


def test_the_nearest_name_is_told() -> None:
    (told,) = unknown_settings(["REPO_NAVIGATOR_TOKEN", "PATH", "REPO_NAVIGATOR_DATA"])
    assert "REPO_NAVIGATOR_TOKENS" in told
    (told,) = unknown_settings(["REPO_NAVIGATOR_XYZZY"])
    assert "docs/server.md" in told


def test_a_server_refuses_an_unknown_setting_the_doctor_tells_it_and_others_warn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_TOKEN", "hunter2-0123456789")
    (said,) = unknown_settings(["REPO_NAVIGATOR_TOKEN"])
    for arguments in (["serve"], ["serve", "--http", "127.0.0.1:0"]):
        assert main(arguments) == 2
        assert said in capsys.readouterr().err
    assert main(["doctor"]) == 1
    assert f"✗ settings: {said}" in capsys.readouterr().out
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(tmp_path))
    assert main(["forget", "nav-none"]) == 2
    out, err = capsys.readouterr()
    assert err.splitlines()[0].startswith(f"repo-navigator: {said}")
    assert "hunter2" not in out + err
