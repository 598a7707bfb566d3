"""Texts in which nothing is secret, and personal data in texts and what only looks like it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.redaction_samples import BASE64, DIGIT, HEX, LOWER, Maker, Sample

_LOOKALIKES: dict[str, Callable[[Maker], str]] = {
    "git commit": lambda m: f"commit {m.chars(HEX, 40)}\nAuthor: A. Person\n",
    "short commit": lambda m: f"Reverts {m.chars(HEX, 8)} because of a slow query.",
    "md5 sum": lambda m: f"{m.chars(HEX, 32)}  release.tar.gz",
    "sha256 sum": lambda m: f"sha256: {m.chars(HEX, 64)}",
    "docker digest": lambda m: f"image: registry.io/app@sha256:{m.chars(HEX, 64)}",
    "lock file": lambda m: f'"integrity": "sha512-{m.base64(64)}",\n"resolved": "https://registry.io/a/-/a-1.2.3.tgz"',
    "pip hash": lambda m: f"requests==2.31.0 --hash=sha256:{m.chars(HEX, 64)}",
    "go sum": lambda m: f"github.com/pkg/errors v0.9.1 h1:{m.base64(32)}",
    "uuid": lambda m: f'"request_id": "{m.uuid()}", "user_id": "{m.uuid()}"',
    "trace id": lambda m: f"trace_id={m.chars(HEX, 32)} span_id={m.chars(HEX, 16)}",
    "etag": lambda m: f'ETag: "{m.chars(HEX, 32)}"',
    "image data": lambda m: f'<img src="data:image/png;base64,{m.base64(90)}">',
    "base64 blob": lambda m: f'payload = b"{m.base64(60)}"',
    "version": lambda m: f"version: {m.chars(DIGIT, 1)}.{m.chars(DIGIT, 2)}.{m.chars(DIGIT, 1)}-rc1+build.{m.chars(DIGIT, 4)}",
    "placeholder env": lambda m: m.random.choice(["API_KEY=your-api-key-here", "SECRET_KEY=<your secret>", "TOKEN=xxxxxxxxxxxx", "DB_PASSWORD=changeme", "API_KEY=", "OPENAI_API_KEY=sk-...", "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "PASSWORD=********"]),
    "reference": lambda m: m.random.choice(['password = os.environ["DB_PASSWORD"]', "const token = process.env.AUTH_TOKEN;", "token: ${AUTH_TOKEN}", "api_key: {{ .Values.apiKey }}", "password: !vault db/password", "TOKEN=$(cat /run/secrets/token)", "secret = settings.SECRET_KEY", "password = getpass.getpass()", "api_key = config.get('api_key')", "export TOKEN=$OTHER_TOKEN", "password: ${{ secrets.DB_PASSWORD }}", 'key = "op://vault/item/key"', "password = var.db_password", "apiKey: import.meta.env.VITE_KEY,"]),
    "signature": lambda m: m.random.choice(["def login(user: str, password: str) -> Token:", "function auth(token: string, secret?: string): void {", "func New(apiKey string, opts ...Option) *Client {", "public boolean check(String password) {", "async def rotate(self, *, token: SecretStr | None = None) -> None:", "fn sign(key: &[u8], secret: String) -> Vec<u8> {"]),
    "call": lambda m: m.random.choice(["login(user, password=password)", "client = Client(api_key=api_key, token=self.token)", "user.set_password(form.password)", "token = tokens[0].value", "password = hash_password(password, salt)", "if token == expected_token:", "token=next_token()", "secret = secrets.token_hex(16)", "auth=HTTPBasicAuth(user, password)", "key=lambda item: item.score"]),
    "prose": lambda m: m.random.choice(["The password is required and must have 12 characters.", "A token is a piece of a word; 1000 tokens are about 750 words.", "Rotate the API key every 90 days and store the secret in a vault.", "Your password was changed. If this was not you, contact support.", "The secret to fast builds is caching.", "Set the access token to expire after 3600 seconds.", "Pass --token when the key is missing.", "The key idea: keep the password out of the repository.", "Use a password manager; never reuse a password.", "Bearer authentication sends the token in a header."]),
    "labels": lambda m: m.random.choice(['"password": "Password"', '"passwordHint": "At least 8 characters"', '"token_label": "Access token"', 'placeholder="Enter your password"', '"forgotPassword": "Forgot your password?"', "password_confirmation: Confirm password", 'type="password" name="password"', "'secret': 'Secret'", '<label for="password">Password</label>']),
    "limits": lambda m: m.random.choice(["max_tokens: 4096", "password_min_length = 12", "token_expiry_seconds: 86400", "tokens_used=15234 total_tokens=20311", "key_size = 2048", "secret_version: 3", "PASSWORD_RESET_TIMEOUT=259200", "num_key_value_heads: 8", "n_tokens=512"]),
    "other keys": lambda m: m.random.choice(["PRIMARY KEY (user_id, created_at)", 'cache_key = f"user:{user_id}:v2"', "key: 'ArrowDown', code: 40", '"partition_key": "tenant#2024-05"', f'"public_key": "{m.base64(32)}"', f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{m.chars(BASE64, 43)} me@host", "sort_key: updated_at", 'dict_key = "first_name"', "keyboard_key = 'ctrl+shift+p'", f"cache-key: deps-{m.chars(HEX, 40)}", f'"key": "{m.chars(HEX, 32)}"']),
    "names of secrets": lambda m: m.random.choice(["secretName: db-credentials", "secretKeyRef:\n  name: db\n  key: password", "token_type: Bearer", "token_url: https://auth.service.io/oauth/token", "private_key_path: /etc/ssl/private/server.key", "password_file: /run/secrets/db_password", "api_key_header = 'X-Api-Key'", "credentials_id: ci-deploy-key", "tokenizer: cl100k_base", "key_id: alias/app-signing", "secret_arn: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db"]),
    "css and packages": lambda m: m.random.choice(["sk-fading-circle sk-circle1", ".sk-toggleable__label-arrow:before", "npm install npm_config_loglevel", "import sk_learn_helpers_for_tests", "pk_user_accounts_pkey", "from authlib.integrations import token_endpoint", "pat-matching-library", "hf_hub_download(repo_id, filename)", "xoxo-love-letters", "gho_st_town"]),
    "urls": lambda m: m.random.choice(["https://service.io:8443/path/@scope/pkg", "http://localhost:3000/login?next=/home", "postgres://localhost:5432/app", "redis://cache:6379/0", "postgres://user:password@localhost/db", "mysql://user:${PASSWORD}@db/app", "https://user@service.io/repo.git", "mongodb://<user>:<password>@cluster0/db", "git@github.com:org/repo.git", "https://service.io/docs/authentication#token"]),
    "headers": lambda m: m.random.choice(["Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Authorization: Basic realm=files", "X-Api-Key: YOUR_API_KEY", "WWW-Authenticate: Bearer realm=\"api\"", 'headers = {"Authorization": f"Bearer {token}"}', "Cookie: theme=dark; lang=en", "X-Request-Id: " + m.uuid(), "-H 'Authorization: token ${GITHUB_TOKEN}'"]),
    "public pem": lambda m: m.pem("PUBLIC KEY"),
    "empty key block": lambda m: m.random.choice(["-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", 'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n    return True', "-----BEGIN PRIVATE KEY-----\nYOUR KEY HERE\n-----END PRIVATE KEY-----"]),
    "identifiers": lambda m: m.random.choice(["tokenTypeToHandlerFactory2Map = build()", "const passwordFieldValidatorV2 = require('x')", "AbstractSingletonProxyFactoryBean", "self.secret_santa_names = ['Ann', 'Bob']", "token = TokenType.IDENTIFIER2", "keyMapping = KeyBindings.vim2", "passwordless = true", "author: jane2doe", "bypass_cache = yes1", "compass: north45"]),
    "dates": lambda m: f"2026-03-{m.random.randint(10, 28)}T10:11:12.{m.chars(DIGIT, 6)}Z token refreshed in {m.chars(DIGIT, 3)} ms",
    "special tokens": lambda m: m.random.choice(['eos_token = "<|endoftext|>"', 'pad_token: "[PAD]"', 'next_page_token = ""', "stop_token: '</s>'", "unk_token=<unk>", "csrf_token: {{ csrf_token() }}", 'sep_token="[SEP]"']),
    "tests": lambda m: m.random.choice(['password = "test"', "api_key='test-key'", "token='fake-token'", 'secret="secret"', "password='password'", 'API_KEY = "dummy"', 'token = "my-token"', "client_secret='client-secret'", "user, password = 'user', 'pass'"]),
    "minified": lambda m: "!function(e,t){var n=e.key,r=t.token;for(var o=0;o<n.length;o++)r+=n[o]}(window,{key:a,token:b});",
    "colors and sizes": lambda m: f"--key-color: #{m.chars(HEX, 6)}; width: {m.chars(DIGIT, 3)}px; /* token */",
}  # fmt: skip


def lookalike_samples(seed: int, per_kind: int) -> Iterator[Sample]:
    """Yield texts in which nothing is secret."""
    m = Maker(seed + 1)
    for kind, make in _LOOKALIKES.items():
        for _ in range(per_kind * 2):
            yield Sample(kind, "look-alike", make(m), None)


def _luhn(digits: str) -> str:
    total = sum(int(d) if at % 2 else sum(divmod(2 * int(d), 10)) for at, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def _iban(m: Maker, country: str, body: str) -> str:
    number = "".join(str(int(char, 36)) for char in f"{body}{country}00")
    return f"{country}{98 - int(number) % 97:02d}{body}"


def _grouped(digits: str, size: int, sign: str) -> str:
    return sign.join(digits[at : at + size] for at in range(0, len(digits), size))


_PERSONAL: dict[str, Callable[[Maker], str]] = {
    "email": lambda m: f"{m.chars(LOWER, 6)}.{m.chars(LOWER, 5)}@{m.chars(LOWER, 7)}.{m.random.choice(['com', 'de', 'co.uk', 'io'])}",
    "email plus": lambda m: f"{m.chars(LOWER, 4)}+news@mail.{m.chars(LOWER, 5)}.org",
    "phone international": lambda m: m.random.choice([f"+49 30 {m.chars(DIGIT, 7)}", f"+44 20 7946 0{m.chars(DIGIT, 3)}", f"+1 415-555-0{m.chars(DIGIT, 3)}", f"+33 6 {_grouped(m.chars(DIGIT, 8), 2, ' ')}", f"+4917{m.chars(DIGIT, 9)}"]),
    "phone national": lambda m: m.random.choice([f"(415) 555-0{m.chars(DIGIT, 3)}", f"212-555-0{m.chars(DIGIT, 3)}", f"06 {_grouped(m.chars(DIGIT, 8), 2, ' ')}", f"0171/{m.chars(DIGIT, 7)}", f"020 7946 0{m.chars(DIGIT, 3)}"]),
    "card": lambda m: m.random.choice([_luhn("4" + m.chars(DIGIT, 14)), _grouped(_luhn("53" + m.chars(DIGIT, 13)), 4, " "), _luhn("37" + m.chars(DIGIT, 12)), _grouped(_luhn("6011" + m.chars(DIGIT, 11)), 4, "-")]),
    "iban": lambda m: m.random.choice([_iban(m, "DE", m.chars(DIGIT, 18)), _grouped(_iban(m, "FR", m.chars(DIGIT, 23)), 4, " "), _iban(m, "GB", "NWBK" + m.chars(DIGIT, 14)), _grouped(_iban(m, "NL", "ABNA" + m.chars(DIGIT, 10)), 4, " ")]),
    "ssn": lambda m: f"{m.random.randint(100, 665)}-{m.random.randint(10, 99)}-{m.random.randint(1000, 9999)}",
    "ipv4": lambda m: f"{m.random.randint(11, 223)}.{m.random.randint(0, 255)}.{m.random.randint(0, 255)}.{m.random.randint(10, 254)}",
    "ipv6": lambda m: m.random.choice([":".join(m.chars(HEX, 4) for _ in range(8)), f"2001:db8:{m.chars(HEX, 4)}::{m.chars(HEX, 4)}", f"fe80::{m.chars(HEX, 4)}:{m.chars(HEX, 4)}:{m.chars(HEX, 3)}"]),
}  # fmt: skip
_PERSONAL_PLACES = (
    "Please write to {v} until Friday.", '{{"contact": "{v}", "id": 7}}', "contact: {v}\n", "{v}", "2026-03-02 10:11 INFO user {v} logged in",
    "name,contact\nAnn,{v}\n", "Grüße, Zoë ({v})", "value = '{v}'",
)  # fmt: skip
_IMPERSONAL: dict[str, Callable[[Maker], str]] = {
    "version": lambda m: m.random.choice(["version 1.22.33.44", "v10.20.30.40", "pkg==12.3.4.5", "Chrome/120.0.6099.109", "firmware: 10.2.13.7"]),
    "local address": lambda m: m.random.choice(["127.0.0.1:8080", "0.0.0.0:80", "listen ::1", "255.255.255.0", "1.1.1.1"]),
    "decorator": lambda m: "@app.route('/x')\n@pytest.fixture\n",
    "package": lambda m: m.random.choice(["@babel/core@7.1.2", "react@18.2.0", "git@github.com:org/repo.git", "logo@2x.png", "foo@sha.json"]),
    "date and time": lambda m: f"2026-03-1{m.chars(DIGIT, 1)} 12:{m.random.randint(10, 59)}:45, 20260301{m.chars(DIGIT, 6)}",
    "number": lambda m: f"order {m.chars('123456789', 12)}, total 1.234.567,89, rows 10 000 000, id 17{m.chars(DIGIT, 8)}",
    "failed checksum": lambda m: "4111 1111 1111 1112 and DE00 3704 0044 0532 0130 00",
    "timestamps": lambda m: f'"ts": 17{m.chars(DIGIT, 8)}.{m.chars(DIGIT, 6)}, "ns": 17{m.chars(DIGIT, 17)}',
    "hex": lambda m: f"{m.chars(HEX, 40)} {':'.join(m.chars(HEX, 2) for _ in range(6))} {m.uuid()}",
    "paths": lambda m: "std::vec::Vec ab::cd::ef face::bad::add a::b",
    "invalid ssn": lambda m: "000-12-3456 666-12-3456 900-12-3456 123-00-4567 part 12-345-67",
    "isbn and range": lambda m: "ISBN 978-3-16-148410-0, pages 120-145, 2020-2024, RFC 2606",
    "coordinates": lambda m: f"lat 52.{m.chars(DIGIT, 6)} lon 13.{m.chars(DIGIT, 6)}, 0.25 0.50 0.75 1.00",
}  # fmt: skip


def personal_samples(seed: int, per_kind: int) -> Iterator[Sample]:
    """Yield personal data in texts, and texts with none."""
    m = Maker(seed + 2)
    for kind, make in _PERSONAL.items():
        for _ in range(per_kind * 3):
            value = make(m)
            yield Sample(kind, "personal", m.random.choice(_PERSONAL_PLACES).format(v=value), value)
    for kind, make in _IMPERSONAL.items():
        for _ in range(per_kind * 2):
            yield Sample(kind, "impersonal", make(m), None)


_NO_VALUES = (
    "password: reset it at https://service.io/reset", "Password: please choose another one", "password: required", "the password is case-sensitive",
    "The password is end-to-end encrypted.", "password: stored in the vault", "Forgot your password: contact support", "Change the password: it is old.",
    "password: rotate every ninety days", "Enter admin password: ", "password: must be long", "password: see 1Password", "login(user: user, password: pw)",
    "const {password: hashed} = user", "def f(user: str, password: Password) -> None:", "connect(\n  password=newPassword\n)", "password: user.password",
    "interface User { name: string; password: string; }", "  user: name,\n  password: hashed,\n}", "password_policy: strong-passwords-only",
    "error: wrong password: try again later", "Tests: pass: all-unit-tests", "secret: web-tls-cert", "password: none, user: none",
    "Password: Kerberos", "Password: Bitwarden", "Password: mandatory", "Password: missing", "Password: bcrypt", "Reset password: Friday",
    "Reset password: Dana", "Password: case sensitive", "My password is too short", "my password is expired", "The user password is hashed.",
    "The password is stored in Bitwarden.", "API key: see the vault", "api key: ask Bob", "token: access granted", "Token: required for all requests",
    "The secret: practice every day", "    token: lexical item", "secret: payment-service-db", "secret: grafana-admin-credentials",
    "The trick to security: strong passwords", "Token: opaque pagination cursor",
    "our password is secure enough", "my password was working yesterday", "our password was stolen last week", "the wifi password is printed underneath",
    "Token: string literal", "token: identifier", "access key: alt shift s", "Secret: keyboard shortcuts", "the database password is rotated weekly",
)  # fmt: skip


def sentence_samples() -> Iterator[Sample]:
    """Yield sentences and code in which words, and no password, stand behind a word for one."""
    for text in _NO_VALUES:
        yield Sample("no value", "words", text, None)


_NUMBERS: dict[str, Callable[[Maker], str]] = {
    "row with ids": lambda m: f"user_id={m.chars('123456789', 16)} order_id={m.chars('123456789', 16)} took {m.chars(DIGIT, 3)} ms",
    "JSON ids": lambda m: f'{{"id": {m.chars("123456789", 16)}, "parent_id": "{m.chars("123456789", 16)}"}}',
    "snowflakes": lambda m: f"message {m.chars('123456789', 18)} in channel {m.chars('123456789', 19)}",
    "bare 16 digits": lambda m: f"Ticket {m.chars('123456789', 16)} was closed.",
    "nanoseconds": lambda m: f"ts: 17{m.chars(DIGIT, 17)} level=info",
    "table of numbers": lambda m: " ".join(m.chars("123456789", n) for n in (3, 2, 4, 3, 2, 4, 5)),
    "part numbers": lambda m: f"part {m.chars(DIGIT, 3)}-{m.chars(DIGIT, 3)}-{m.chars(DIGIT, 4)}, lot {m.chars(DIGIT, 4)}-{m.chars(DIGIT, 2)}-{m.chars(DIGIT, 2)}",
    "hex and uuid": lambda m: f"{m.uuid()} {m.chars(HEX, 32)}",
}  # fmt: skip


def number_samples(seed: int, per_kind: int) -> Iterator[Sample]:
    """Yield texts full of numbers, none of which is anybody's."""
    m = Maker(seed + 3)
    for kind, make in _NUMBERS.items():
        for _ in range(per_kind * 8):
            yield Sample(kind, "number", make(m), None)


_ENV_NAMES = (
    "APP_REGION",
    "CACHE_HOST",
    "LOG_LEVEL",
    "MOTTO",
    "QUEUE_NAME",
    "FEATURE_FLAGS",
    "PORT",
    "ORG_NAME",
)
_ENV_WORDS = ("harbour", "velvet", "tundra", "willow", "copper", "quartz", "meadow", "falcon")
_ENV_PLACES: dict[str, tuple[str, str | None]] = {
    "the file": ("{lines}", "app/.env"),
    "another file": ("{lines}", "deploy/prod.env"),
    "only the lines": ("{lines}", None),
    "marked block": ("```dotenv\n{lines}```\n", None),
    "pasted": ("My .env:\n```\n{lines}```\nWhat is wrong with it?", None),
    "a tool's answer": ("$ cat prod.env\n{lines}", None),
}
_NO_ENV = (
    "Put the settings into .env, and restart.", "const host = process.env.CACHE_HOST;", "RETRIES=3 make test",
    "import.meta.env.VITE_APP_TITLE", "A=1\nB=2", "width=80 height=24", "WHERE ID=7 AND NAME=x",
)  # fmt: skip


def env_samples(seed: int, per_kind: int) -> Iterator[Sample]:
    """Yield lines of env files with values that are ordinary words, and texts that only speak of such files."""
    m = Maker(seed + 4)
    for kind, (place, path) in _ENV_PLACES.items():
        for _ in range(per_kind * 4):
            names = m.random.sample(_ENV_NAMES, 4)
            values = [f"{m.random.choice(_ENV_WORDS)}{m.random.choice(_ENV_WORDS)}" for _ in names]
            lines = "".join(f"{name}={value}\n" for name, value in zip(names, values, strict=True))
            yield Sample(kind, "env", place.format(lines=lines), values[0], path)
    for text in _NO_ENV:
        for _ in range(per_kind):
            yield Sample("no env file", "env", text, None)
