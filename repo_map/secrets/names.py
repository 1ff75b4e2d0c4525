"""Names: mask secrets in those of files, and recognize files that hold keys.

The patterns of secrets are loaded only if one is likely. A file that holds keys by its name is listed by path
and never opened. A file of ordinary settings, such as ``application.properties``, is read: work on the code
needs it, and its passwords are masked by their names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LIKELY = re.compile(r"[=:@]|(?<![^\s/])(?=[^\s/]{16})[^\s/\d]*\d|(?<![A-Za-z])[A-Za-z]{30}")
"""Part of every name with a secret: a long run with a digit, a long run of letters, or an assignment."""


def mask_names(names: Sequence[str]) -> list[str]:
    """Return the names of files without secrets, in the same order."""
    # A name that holds a line break itself is masked alone.
    masked = [mask_name(name) if "\n" in name else name for name in names]
    likely = [at for at, name in enumerate(names) if "\n" not in name and _LIKELY.search(name)]
    if not likely:
        return masked
    message = _mask("\n".join(names[at] for at in likely)).split("\n")
    for at, name in zip(likely, message, strict=True):
        masked[at] = name
    return masked


def mask_name(text: str) -> str:
    """Return a short text without secrets."""
    return _mask(text) if _LIKELY.search(text) else text


def _mask(text: str) -> str:
    from repo_map.secrets.masking import mask_text  # noqa: PLC0415 - most trees have no name that needs it

    return mask_text(text)


_DATA = r"(?:json|ya?ml|toml|ini|cfg|conf|xml|properties|csv|txt|env|sh)"
_KEY_FILE = re.compile(
    r"(?:^|/)(?:"
    r"\.env|\.env[.-][^/]*|[^/]+\.env|env\.(?:prod|production|stage|staging|live|dev|development|local|test|secrets?)"
    r"|\.envrc(?:\.[^/]*)?|\.flaskenv|\.secrets?|\.dev\.vars"
    r"|(?:[^/]+_)?id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-](?:bak|old|prod|deploy|key))?|ssh_host_\w+_key"
    r"|[^/]+\.(?:pem|key|p8|p12|pfx|pkcs12|jks|jceks|bks|keystore|truststore|ppk|kdbx?|ovpn|agekey|keytab|keychain"
    r"|mobileprovision|publishsettings|pkr|skr|psafe3|agilekeychain|opvault)(?:\.(?:bak|old|orig))?"
    r"|[^/]*\.(?:auto\.)?tfvars(?:\.json)?|[^/]+\.tfstate(?:\.[^/]*)?"
    r"|\.?netrc|_netrc|\.authinfo|\.pgpass|pgpass\.conf|\.my\.cnf|\.mylogin\.cnf|\.htpasswd|htpasswd|\.htdigest"
    r"|\.pypirc|\.npmrc|\.gem/credentials|\.git-credentials|\.gitcookies|\.cargo/credentials(?:\.toml)?"
    r"|\.s3cfg|\.boto|\.dockercfg|\.docker/config\.json|docker/config\.json|\.dockerconfigjson"
    r"|\.vault-token|\.vault[_-]pass(?:word)?|\.?vault[_-]pass(?:word)?(?:_file)?(?:\.(?:txt|sh))?|\.ansible_vault_pass"
    r"|\.terraformrc|terraform\.rc|credentials\.tfrc\.json|\.databrickscfg|\.snowsql/config|\.rclone\.conf|rclone\.conf"
    r"|\.esmtprc|\.msmtprc|\.fetchmailrc|\.mutt_secrets|\.muttrc\.local|\.irssi/config|\.kaggle/kaggle\.json|kaggle\.json"
    rf"|credentials|credentials\.(?:[\w.-]+\.)?(?:{_DATA}|enc|yml\.enc|db)|[\w-]+[._-]credentials\.(?:json|ya?ml|csv|txt)"
    rf"|(?:client_)?secrets?(?:[._-][\w.-]*)?\.(?:{_DATA}|enc)|[\w-]+[._-]secrets?\.(?:json|ya?ml|toml|env|txt)"
    r"|passwords?\.(?:txt|csv|json|ya?ml|xml|kdb|db)|api[_-]?keys?\.(?:txt|csv)"
    r"|service[_-]?account[\w.-]*\.json|[\w-]*firebase-adminsdk[\w-]*\.json|gcloud[\w.-]*key\.json"
    r"|\.?kubeconfig(?:\.[\w-]+)?(?:\.ya?ml|\.json|\.conf)?|[\w-]+[._-]kubeconfig(?:\.ya?ml)?"
    r"|master\.key|[\w-]+\.enc\.key|local\.settings\.json|appsettings\.secrets?\.json"
    r"|\.m2/settings(?:-security)?\.xml|gradle\.properties\.local|\.sentryclirc|\.codeclimate_token|\.cloudflared/.+"
    r"|\.(?:aws|azure|gcloud|oci|bluemix|aliyun|config/gcloud|config/gh|config/doctl|password-store)/[^/]+"
    r"|\.kube/config|\.ssh/[^/]+|\.gnupg/.+"
    r")$",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"(?:\.pub|\.pub\.pem|[._-](?:example|sample|template|tmpl|tpl|defaults?|skel|schema)s?)(?:\.\w+)?$"
    r"|(?:^|/)(?:example|sample|template)[._-][^/]*$|\.env\.d/|(?:^|/)\.ssh/(?:known_hosts|config)$"
    r"|(?:^|/)(?:test|tests|spec)_?tokens?\.txt$|\.(?:py|js|ts|rb|go|php|java|rs|md)\.env$",
    re.IGNORECASE,
)


def is_key_file(path: str) -> bool:
    """Return True if a file holds keys by its name; a template, such as ``.env.example``, does not."""
    return bool(_KEY_FILE.search(path)) and not _TEMPLATE.search(path)
