"""Secrets of known formats become asterisks; nothing else changes."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_map.secrets.masking import mask, mask_text
from tests.support.secrets import CARRIERS, KINDS, NAMED, PRIVATE_KEY_BODY, SECRETS

ORDINARY = """
url = "http://user:password@localhost/"; other = "https://{user}:{password}@host"
DSN = "postgres://postgres:postgres@db/test"; api_key = get_secret_key()
token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"  # a placeholder
sha = "3f786850e387550fdab836ed7e6dc881de23001b"; uuid = "123e4567-e89b-12d3-a456-426614174000"
integrity = "sha512-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"
def test_the_begin_line(pem): assert "-----BEGIN PRIVATE KEY-----" in pem
class APCompliance: pass
"""


CODE = """\
password = os.environ["DB_PASSWORD"]
password = getpass.getpass("Password: ")
password = config.get("db", "password1")
const token = await getToken(user2, "oauth2");
this.password = password2;
String password = request.getParameter("password1");
PASSWORD = "password"
PASSWORD_FIELD = "password_field_2"
DB_PASSWORD=changeme
DB_PASSWORD=${DB_PASSWORD}
DB_PASSWORD=$(cat /run/secrets/db1)
DB_PASSWORD=<your-password-1>
DB_PASSWORD: "{{ vault_db_password2 }}"
POSTGRES_PASSWORD: postgres
password: ${{ secrets.NPM_TOKEN2 }}
password: !vault |
password: Enter your password (8 characters)
password = "hunter2"
password = "password123"
password = "secret"
login("user1", password="test1234")
"password": "Passwort eingeben",
"confirm_password": "must be 8 characters",
<input type="password" name="password2" autocomplete="new-password">
<password>${env.NEXUS_PASSWORD1}</password>
token = "sha256"
token_url = "https://auth1.internal/oauth2/token"
token_type = "Bearer"
token: "string.quoted.double2"
token = tokens[i1]
token = make_token(user1, key2,
token: Token2Of3[str] = make(
token = (user2 or admin3)
token = get(a1) or get(b2)
password = one ? "level1" : level2b
password: assets/level1/stage2b/name3
<Token>{token2of3}</Token>
# password: the 2nd of 3
auth=(user1, password2)
client.login("user", password2b)
next_page_token = "CAUQAA7f8e9d0c1b2a3f4e5d6c"
PublicKeyToken=b77a5c561934e089
secret_name = "projects/p1/secrets/db2"
secretName: shop-tls-2024
api_key = settings.api_key2
api_key: "YOUR_API_KEY_1234"
api_key = "sk-your-key-here-1234567890"
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx1
Authorization: Bearer <token1>
Authorization: Bearer ${TOKEN_2}
Authorization: Basic dXNlcjpwYXNzd29yZA==
curl -u user:password https://host.internal
curl -u "$USER1:$PASSWORD2" https://host.internal
redis-cli -u redis://default:PASSWORD@localhost:6379/0
postgres://user:password@localhost:5432/db
https://user1:pass1@example.com/
MLKEM768X25519PrivateKey = openssl.hpke.MLKEM768X25519PrivateKey
the file's size:AAbout-what-a-long-heading-of-it-is-called-here
AGE = 1; sk = 2; hf_hub_download(repo_id, hf_transfer_enabled_by_default)
.sk-folding-cube-and-other-long-names-of-classes { color: red }
def test_access_token_is_refreshed_before_it_expires_2(): pass
COMPAT = "a1b2c3d4e5f6a7b8"
compat: a1b2c3d4e5f6a7b8c9
pat = r"(\\d{4})-(?:a1|b2c3)[x-z]+"
sacred: a1b2c3d4e5f6a7b8c9
http://localhost:8080/packages/@scope1x/name2b
https://registry.internal:4873/@scope1x/na2b
git+ssh://git@github.com:org1x/repo2b.git@9f8e7d6c5b4a
docker://registry.internal:5000/alpine3b1@sha256:5b0bcabd1ed2
see https://host1.internal:443/a1b/c2d?mail=me2x@shop.internal
postgres://app:app@db1.internal/shop?owner=a1b2c3@d4
name: task-d41d8cd98f00b204e9800998ecf8427e
test: disk-proj-a1b2c3d4e5f6a7b8c9d0e1f2
lib/favico-d41d8cd98f00b204e9800998ecf8427e.png
sha256=Afw_gDGmcrP119isJi5DLz6oEoCfVpfWvFsnC_ZEZWE
h1:hSWxHoqTgW2S2qGc0LTAI563KZ5YKYRhT3MFKZMbjag=
src: url(data:font/woff2;base64,d09GMgABAAAAAlecABEAAAAF1vgAAlc1)
<Token type="a">{token2of3b4c}</Token>
<label for="password2">Enter it</label>
<password>/run/secrets/db1/x2</password>
integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"
"""


def test_a_secret_of_a_known_format_is_masked_byte_for_byte() -> None:
    for kind, secret in SECRETS.items():
        masked = mask(f'first = 1\nkey = "{secret}"\nlast = 2\n'.encode())
        assert masked.kinds == (kind,)
        assert masked.source.decode() == f'first = 1\nkey = "{"*" * len(secret)}"\nlast = 2\n'


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_token_is_masked_to_its_end_wherever_it_stands(carrier: str) -> None:
    text = CARRIERS[carrier]
    for kind, secret in KINDS.items():
        masked = mask_text(text.format(secret))
        assert masked == text.format(secret).replace(secret, "*" * len(secret)), kind


def test_a_value_that_its_name_calls_secret_is_masked_whole() -> None:
    for what, (text, secret) in NAMED.items():
        masked = mask(text.format(secret).encode())
        assert len(masked.source) == len(text.format(secret)), what
        message = masked.source.decode()
        assert not [at for at in range(len(secret) - 4) if secret[at : at + 5] in message], what
        assert masked.kinds, what


_MARKED = re.split(
    r",\s+",
    """GitHub token, GitHub OAuth token, GitHub server token, GitHub fine-grained token, GitLab token,
    npm token, PyPI token, DigitalOcean token, Slack bot token, Stripe key, Anthropic key, Square secret,
    Shopify token, Vault token, AWS key, AWS temporary key""",
)


@pytest.mark.parametrize("before", ["x", "token", "KEY", "v1", "aws_", "KEY_", "_", "é"])
def test_a_token_with_a_mark_in_its_fixed_text_is_masked_within_a_word(before: str) -> None:
    for kind in _MARKED:
        text = f"value: {before}{KINDS[kind]}\n"
        assert mask_text(text) == text.replace(KINDS[kind], "*" * len(KINDS[kind])), kind


@pytest.mark.parametrize("kind", ["Google key", "Alibaba key", "Tencent key"])
def test_a_token_of_letters_alone_is_masked_behind_an_underscore(kind: str) -> None:
    assert mask_text(f"KEY_{KINDS[kind]}\n") == f"KEY_{'*' * len(KINDS[kind])}\n"


_GOING_ON = ("Str", "VALUE", "text", "Prod", "base", "dev", "Live")


@pytest.mark.parametrize(
    "line",
    [
        *(f'{name}{end} = "{{}}"' for name in ("password", "authtok", "db_secret") for end in _GOING_ON),
        'secretor "{}"',
        '<entry key="passwordOfMine">{}</entry>',
        "curl --password {}",
        "\\npassword={}",
        "%3Ddbpass={}",
    ],
)
def test_a_name_may_go_on_before_its_value(line: str) -> None:
    value = "k7Tz4Qw9" + "Lm2Xp5Rv"
    assert value not in mask_text(line.replace("{}", value))


def test_code_that_reads_a_secret_and_what_stands_for_one_stay() -> None:
    assert [line for line in CODE.splitlines() if mask_text(f"{line}\n") != f"{line}\n"] == []


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\\n"])
@pytest.mark.parametrize("name", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"])
def test_a_private_key_keeps_its_frame_and_counts_once(name: str, line_break: str) -> None:
    text = f"-----BEGIN {name}-----\n{PRIVATE_KEY_BODY}\n-----END {name}-----\n".replace("\n", line_break)
    masked = mask(text.encode())
    assert masked.kinds == ("private key",)
    message = masked.source.decode()
    assert message.startswith(f"-----BEGIN {name}-----{line_break}*")
    assert message.endswith(f"*{line_break}-----END {name}-----{line_break}")
    assert set(message.split("-----")[2]) <= set("*\r\n\\n")


def test_ordinary_code_stays_as_it_is() -> None:
    assert mask(ORDINARY.encode()) == (ORDINARY.encode(), ())


def test_masking_what_is_masked_changes_nothing() -> None:
    text = "\n".join(SECRETS.values()).encode()
    once = mask(text).source
    assert mask(once) == (once, ())


def test_a_secret_in_a_line_without_end_is_found_wherever_it_stands() -> None:
    secret = SECRETS["GitHub token"]
    for place in (0, 1_490, 3_000, 70_000):
        line = "ghp_ " * (place // 5) + secret + " ghp_" * 1_000
        assert secret not in mask_text(line)


@given(st.binary(max_size=400), st.sampled_from([*SECRETS.values()]), st.binary(max_size=400))
def test_any_bytes_keep_their_length_and_lines(before: bytes, secret: str, after: bytes) -> None:
    source = before + b"\n" + secret.encode() + b"\n" + after
    masked = mask(source)
    assert len(masked.source) == len(source)
    assert [at for at, byte in enumerate(source) if byte in b"\r\n"] == [
        at for at, byte in enumerate(masked.source) if byte in b"\r\n"
    ]
    assert secret.encode() not in masked.source


# fmt: off
_PIECES = [
    b'eyJ', b'eyJ-', b'://a:b', b'://a:', b'_authToken=//', b'-----BEGIN PRIVATE KEY-----abcd ', b'SG.',
    b':', b'xoxb-1-', b'glrt-', b'password=', b'token=', b'token=a1', b'secret="', b'secret=\'\\"',
    b'password\n value:', b'\nsecret_key_base=x1y2z3w4', b'authorization: basic ', b'mysql -p',
    b'softlayer      ', b'sk-', b'.abcdef.', b'token=(\n', b'token || ', b'auth=(a,', b'token: a1b2=',
    b'</key> <string>', b'-----BEGIN OpenVPN Static key V1-----\n',
]
# fmt: on


@pytest.mark.parametrize("piece", _PIECES)
def test_a_hostile_file_costs_time_in_proportion_to_its_size(piece: bytes) -> None:
    started = time.process_time()
    mask(piece * (50_000 // len(piece)))
    # A quadratic search takes minutes here; the bound is loose, for a slow machine.
    assert time.process_time() - started < 10
