"""Files that hold keys by their name: they stay at their path, and are never opened."""

from __future__ import annotations

import re

_KEY_FILE = re.compile(
    r"(?:^|/)(?:"
    r"\.env|\.env\.[^/]*|[^/]+\.env"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    r"|[^/]+\.(?:pem|key|p8|p12|pfx|pkcs12|jks|keystore|truststore|ppk|kdbx?|tfstate|tfstate\.backup|ovpn|agekey)"
    r"|\.?netrc|_netrc|\.pgpass|\.my\.cnf|\.htpasswd|\.pypirc|\.git-credentials"
    r"|\.s3cfg|\.boto|\.dockercfg|\.vault-token|\.terraformrc|\.databrickscfg"
    r"|credentials|credentials\.(?:json|ya?ml|toml|ini|cfg|xml|properties|csv|txt)"
    r"|(?:client_)?secrets?(?:[._-][\w.-]*)?\.(?:json|ya?ml|toml|ini|cfg|properties|txt|enc)"
    r"|service[_-]?account[\w.-]*\.json|kubeconfig|master\.key"
    r"|\.(?:aws|azure|gcloud)/[^/]+|\.docker/config\.json|\.kube/config|\.ssh/[^/]+|\.gnupg/.+"
    r")$",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"\.(?:pub|example|sample|template|tmpl|dist|defaults?)$"
    r"|[._-](?:example|sample|template)\.\w+$|\.env\.d/|(?:^|/)\.ssh/known_hosts$",
    re.IGNORECASE,
)


def is_key_file(path: str) -> bool:
    """Say whether a file holds keys by its name; a template of one, such as ``.env.example``, does not."""
    return bool(_KEY_FILE.search(path)) and not _TEMPLATE.search(path)
