"""Which files hold keys by their name."""

from __future__ import annotations

from repo_map.secrets.names import is_key_file

KEY_FILES = """
    .env deploy/.env.production prod.env id_rsa home/.ssh/id_ed25519 certs/server.key
    certs/server.pem keys/release.P12 android/app/release.jks .netrc .aws/credentials
    config/credentials.yml config/secrets.yml client_secret_123.json gcp/service-account-prod.json
    terraform.tfstate .git-credentials .docker/config.json .env.dist .envrc env.prod
    config/env.production terraform.tfvars infra/prod.auto.tfvars kubeconfig.yaml docker/config.json
    vault_pass.txt .vault_pass .npmrc .pypirc .pgpass app.keystore team.kdbx deploy_id_rsa
    terraform.tfstate.backup serviceAccountKey.json db-secret.yaml
"""
OTHERS = """
    .env.example env.py src/environment.ts id_rsa.pub src/secrets.py credentials.go docs/secrets.md
    keyboard.js monkey.c config/secrets.example.yml api/key.ts package.json application.properties
    appsettings.json settings.py wp-config.php src/tokens.txt auth.json terraform.tfvars.example
    env.js docs/identity.md config/environment.yml secret_santa.rb
"""


def test_key_files_are_told_by_name_and_code_docs_and_templates_are_not() -> None:
    assert [path for path in KEY_FILES.split() if not is_key_file(path)] == []
    assert [path for path in OTHERS.split() if is_key_file(path)] == []
