"""Invented secrets in the formats of real issuers, put together here so that no file holds one."""

from __future__ import annotations

_LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0fR"


def _run(length: int, characters: str = _LETTERS) -> str:
    return (characters * (length // len(characters) + 1))[:length]


PRIVATE_KEY_BODY = "\n".join([f"MIIEow{_run(58)}"] * 3 + [f"{_run(21)}=="])
SECRETS = {
    "AWS key": "AKIA" + _run(16, "IOSF2ODN7NEX4AMP"),
    "Anthropic key": "sk-ant-" + _run(60),
    "Azure storage key": "AccountKey=" + _run(86) + "==",
    "Discord token": "M" + _run(23) + "." + _run(6) + "." + _run(27),
    "GitHub token": "ghp_" + _run(36),
    "GitLab token": "glpat-" + _run(20),
    "Google key": "AIza" + _run(35),
    "Hugging Face token": "hf_" + _run(34),
    "JSON web token": "eyJ" + _run(33) + ".eyJ" + _run(40) + "." + _run(43),
    "Mailchimp key": _run(32, "0a1b2c3d4e5f6789") + "-us12",
    "OpenAI key": "sk-" + _run(20) + "T3Blbk" + "FJ" + _run(20),
    "PyPI token": "pypi-AgEIcHlwaS5v" + "cmc" + _run(80),
    "SendGrid key": "SG." + _run(22) + "." + _run(43),
    "Shopify token": "shp" + "at_" + _run(32, "0a1b2c3d4e5f6789"),
    "Slack token": "xoxb-" + "123456789012-" + _run(24),
    "Square secret": "sq0" + "csp-" + _run(43),
    "Stripe key": "sk_" + "live_" + _run(24),
    "Telegram token": "123456789:" + "AA" + _run(33),
}
"""Format → a secret of it, of which every byte is masked."""
IN_CONTEXT = {
    "AWS key": f'aws_secret_access_key = "{{}}"|{_run(40)}',
    "npm token": f"//packages.example/:_authToken={{}}|npm_{_run(36)}",
    "password in a URL": f"postgres://app:{{}}@db.internal:5432/prod|{_run(12)}",
}
"""Format → a line around the secret, and the secret."""
