"""How many real-shaped secrets and personal data the redaction rules find, what they flag by mistake, how fast.

    python benchmarks/redaction.py [--per-kind 12] [--seed 7] [--json results.json]

Everything is generated from a seed by the tables below, which know nothing of the rules: each entry builds a value
in the shape that its provider documents, and puts it where such values turn up (code, env files, YAML, JSON, logs,
chat, URLs, headers). The look-alikes are what such texts hold besides. When `detect-secrets` is installed it is run
over the same samples.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import string
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hexad.text.redact import RedactionRules, find, redact

LOWER, UPPER, DIGIT = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGIT
BASE36 = LOWER + DIGIT
UPPER36 = UPPER + DIGIT
HEX = DIGIT + "abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
DETECTORS = frozenset({"email", "phone", "card", "iban", "ssn", "ipv4", "ipv6"})
SECRET_TARGET, LOOKALIKE_TARGET, SPEED_TARGET_US_PER_KB = 0.95, 0.03, 1000.0


@dataclass(frozen=True)
class Sample:
    """One text, the value in it that must go (None for a look-alike), and what it was made from."""

    kind: str
    context: str
    text: str
    secret: str | None
    path: str | None = None


class Maker:
    """Draws values of a given shape from one seeded source."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def chars(self, alphabet: str, count: int) -> str:
        """Return `count` characters, never without a digit where the alphabet has one."""
        while True:
            text = "".join(self.random.choice(alphabet) for _ in range(count))
            if not set(alphabet) & set(DIGIT) or set(text) & set(DIGIT) or count < 6:
                return text

    def uuid(self) -> str:
        """Return a random UUID."""
        return "-".join(self.chars(HEX, n) for n in (8, 4, 4, 4, 12))

    def base64(self, size: int) -> str:
        """Return the base 64 of `size` random bytes."""
        return base64.b64encode(self.random.randbytes(size)).decode()

    def json64(self, value: object) -> str:
        """Return `value` as JSON in URL-safe base 64 without padding."""
        return (
            base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")
        )

    def jwt(self) -> str:
        """Return a JSON Web Token."""
        header = self.json64({"alg": "HS256", "typ": "JWT"})
        claims = self.json64({"sub": self.chars(DIGIT, 10), "name": "A. Person", "iat": 1_700_000_000})
        return f"{header}.{claims}.{self.chars(URLSAFE, 43)}"

    def password(self) -> str:
        """Return a password as people and generators make them."""
        word = self.random.choice(
            ["Harbor", "velvet", "Quartz", "tundra", "Mango", "falcon", "Copper", "willow"]
        )
        other = self.random.choice(["Train", "moss", "Lamp", "Cedar", "drift", "Pixel"])
        return self.random.choice(
            [
                f"{word}{self.chars(DIGIT, 3)}!",
                f"{word}{other}{self.chars(DIGIT, 2)}",
                f"{word.replace('a', '@').replace('o', '0')}#{self.chars(DIGIT, 4)}",
                self.chars(ALNUM, 12),
                self.chars(ALNUM + "!#%*-_", 16),
                self.chars(BASE36, 10),
            ]
        )

    def pem(self, label: str) -> str:
        """Return a PEM block of random bytes."""
        body = self.base64(300)
        lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
        return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----"


# What the providers document: prefix and the alphabets and lengths behind it. Built from parts, so that neither a
# scanner nor Hexad itself takes this file for a leak.
_SHAPED: dict[str, Callable[[Maker], str]] = {
    "aws access key": lambda m: "AK" + "IA" + m.chars(UPPER + "234567", 16),
    "aws session key": lambda m: "AS" + "IA" + m.chars(UPPER + "234567", 16),
    "github classic": lambda m: "gh" + "p_" + m.chars(ALNUM, 36),
    "github oauth": lambda m: "gh" + "o_" + m.chars(ALNUM, 36),
    "github app": lambda m: "gh" + "s_" + m.chars(ALNUM, 36),
    "github fine-grained": lambda m: "github" + "_pat_" + m.chars(ALNUM, 22) + "_" + m.chars(ALNUM, 59),
    "gitlab personal": lambda m: "gl" + "pat-" + m.chars(URLSAFE, 20),
    "gitlab runner": lambda m: "gl" + "rt-" + m.chars(URLSAFE, 20),
    "gitlab deploy": lambda m: "gl" + "dt-" + m.chars(URLSAFE, 20),
    "gitlab trigger": lambda m: "gl" + "ptt-" + m.chars(HEX, 40),
    "slack bot": lambda m: "xo" + f"xb-{m.chars(DIGIT, 12)}-{m.chars(DIGIT, 13)}-{m.chars(ALNUM, 24)}",
    "slack user": lambda m: (
        "xo" + f"xp-{m.chars(DIGIT, 12)}-{m.chars(DIGIT, 12)}-{m.chars(DIGIT, 12)}-{m.chars(HEX, 32)}"
    ),
    "slack app": lambda m: "xa" + f"pp-1-A{m.chars(UPPER36, 10)}-{m.chars(DIGIT, 13)}-{m.chars(HEX, 64)}",
    "slack webhook": lambda m: (
        "https://hooks.sla"
        + f"ck.com/services/T{m.chars(UPPER36, 8)}/B{m.chars(UPPER36, 10)}/{m.chars(ALNUM, 24)}"
    ),
    "stripe live": lambda m: "sk" + "_live_" + m.chars(ALNUM, 24),
    "stripe restricted": lambda m: "rk" + "_live_" + m.chars(ALNUM, 24),
    "stripe long": lambda m: "sk" + "_test_51" + m.chars(ALNUM, 97),
    "stripe webhook": lambda m: "wh" + "sec_" + m.chars(ALNUM, 32),
    "openai legacy": lambda m: "s" + "k-" + m.chars(ALNUM, 20) + "T3BlbkFJ" + m.chars(ALNUM, 20),
    "openai project": lambda m: "s" + "k-proj-" + m.chars(URLSAFE, 74) + "T3BlbkFJ" + m.chars(URLSAFE, 74),
    "anthropic": lambda m: "s" + "k-ant-api03-" + m.chars(URLSAFE, 93) + "AA",
    "google api": lambda m: "AI" + "za" + m.chars(URLSAFE, 35),
    "google oauth secret": lambda m: "GOC" + "SPX-" + m.chars(URLSAFE, 28),
    "google access token": lambda m: "ya" + "29.a0" + m.chars(URLSAFE, 120),
    "sendgrid": lambda m: "S" + "G." + m.chars(URLSAFE, 22) + "." + m.chars(URLSAFE, 43),
    "twilio key": lambda m: "S" + "K" + m.chars(HEX, 32),
    "mailgun": lambda m: "ke" + "y-" + m.chars(HEX, 32),
    "mailchimp": lambda m: m.chars(HEX, 32) + "-us" + m.chars(DIGIT, 2),
    "brevo": lambda m: "xkey" + "sib-" + m.chars(HEX, 64) + "-" + m.chars(ALNUM, 16),
    "npm": lambda m: "np" + "m_" + m.chars(ALNUM, 36),
    "pypi": lambda m: "py" + "pi-AgEIcHlwaS5vcmc" + m.chars(URLSAFE, 130),
    "rubygems": lambda m: "ruby" + "gems_" + m.chars(HEX, 48),
    "docker hub": lambda m: "dckr" + "_pat_" + m.chars(URLSAFE, 27),
    "digitalocean": lambda m: "do" + "p_v1_" + m.chars(HEX, 64),
    "heroku": lambda m: "HR" + "KU-AA" + m.chars(URLSAFE, 58),
    "netlify": lambda m: "nf" + "p_" + m.chars(ALNUM, 36),
    "fly.io": lambda m: "fm" + "2_" + m.chars(BASE64, 140),
    "supabase": lambda m: "sb" + "p_" + m.chars(HEX, 40),
    "planetscale": lambda m: "pscale" + "_tkn_" + m.chars(URLSAFE, 43),
    "databricks": lambda m: "da" + "pi" + m.chars(HEX, 32),
    "hugging face": lambda m: "h" + "f_" + m.chars(LOWER + UPPER, 34),
    "replicate": lambda m: "r" + "8_" + m.chars(ALNUM, 37),
    "groq": lambda m: "gs" + "k_" + m.chars(ALNUM, 52),
    "perplexity": lambda m: "pp" + "lx-" + m.chars(ALNUM, 48),
    "openrouter": lambda m: "s" + "k-or-v1-" + m.chars(HEX, 64),
    "nvidia": lambda m: "nv" + "api-" + m.chars(URLSAFE, 64),
    "langsmith": lambda m: "lsv" + "2_pt_" + m.chars(HEX, 32) + "_" + m.chars(HEX, 10),
    "pinecone": lambda m: "pc" + "sk_" + m.chars(ALNUM, 70),
    "tavily": lambda m: "tv" + "ly-" + m.chars(ALNUM, 32),
    "atlassian": lambda m: "AT" + "ATT3" + m.chars(URLSAFE, 180) + "=" + m.chars(UPPER36, 8),
    "bitbucket": lambda m: "AT" + "BB" + m.chars(ALNUM, 32),
    "linear": lambda m: "lin" + "_api_" + m.chars(ALNUM, 40),
    "notion": lambda m: "nt" + "n_" + m.chars(DIGIT, 11) + m.chars(ALNUM, 35),
    "airtable": lambda m: "pa" + "t" + m.chars(ALNUM, 14) + "." + m.chars(HEX, 64),
    "figma": lambda m: "fi" + "gd_" + m.chars(URLSAFE, 40),
    "dropbox": lambda m: "s" + "l." + m.chars(URLSAFE, 138),
    "hubspot": lambda m: "pa" + "t-na1-" + m.uuid(),
    "shopify": lambda m: "shp" + "at_" + m.chars(HEX, 32),
    "square": lambda m: "sq" + "0atp-" + m.chars(URLSAFE, 22),
    "plaid": lambda m: "access" + "-production-" + m.uuid(),
    "sentry user": lambda m: "snt" + "ryu_" + m.chars(HEX, 64),
    "new relic": lambda m: "NR" + "AK-" + m.chars(UPPER36, 27),
    "grafana": lambda m: "gl" + "sa_" + m.chars(ALNUM, 32) + "_" + m.chars(HEX, 8),
    "dynatrace": lambda m: "dt0" + "c01." + m.chars(UPPER36, 24) + "." + m.chars(UPPER36, 64),
    "posthog": lambda m: "ph" + "x_" + m.chars(ALNUM, 43),
    "vault": lambda m: "hv" + "s." + m.chars(URLSAFE, 92),
    "terraform cloud": lambda m: m.chars(ALNUM, 14) + ".atl" + "asv1." + m.chars(URLSAFE, 67),
    "doppler": lambda m: "dp" + ".pt." + m.chars(ALNUM, 43),
    "1password": lambda m: "A3-" + "-".join(m.chars(UPPER36, n) for n in (6, 6, 5, 5, 5, 5)),
    "age": lambda m: "AGE-SECRET" + "-KEY-1" + m.chars("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "pulumi": lambda m: "pu" + "l-" + m.chars(HEX, 40),
    "postman": lambda m: "PM" + "AK-" + m.chars(HEX, 24) + "-" + m.chars(HEX, 34),
    "typeform": lambda m: "tf" + "p_" + m.chars(URLSAFE, 59),
    "telegram": lambda m: m.chars("123456789", 10) + ":A" + "A" + m.chars(URLSAFE, 33),
    "discord bot": lambda m: (
        base64.b64encode(m.chars("123456789", 18).encode()).decode()
        + "."
        + m.chars(ALNUM, 6)
        + "."
        + m.chars(URLSAFE, 38)
    ),
    "tailscale": lambda m: "tsk" + "ey-auth-" + m.chars(ALNUM, 12) + "CNTRL-" + m.chars(ALNUM, 32),
    "buildkite": lambda m: "bk" + "ua_" + m.chars(HEX, 40),
    "sonarqube": lambda m: "sq" + "p_" + m.chars(HEX, 40),
    "artifactory": lambda m: "AK" + "Cp" + m.chars(ALNUM, 69),
    "azure ad secret": lambda m: m.chars(ALNUM, 3) + "8" + "Q~" + m.chars(URLSAFE + "~.", 34),
    "alibaba": lambda m: "LT" + "AI" + m.chars(ALNUM, 20),
    "openshift": lambda m: "sha" + "256~" + m.chars(URLSAFE, 43),
    "easypost": lambda m: "EZ" + "AK" + m.chars(ALNUM, 54),
    "maxmind": lambda m: m.chars(ALNUM, 6) + "_" + m.chars(ALNUM, 29) + "_m" + "mk",
    "json web token": lambda m: m.jwt(),
}

# Keys without a prefix: the name of the provider and the value.
_NEAR: dict[str, Callable[[Maker], str]] = {
    "algolia": lambda m: m.chars(HEX, 32),
    "datadog": lambda m: m.chars(HEX, 40),
    "cloudflare": lambda m: m.chars(URLSAFE, 40),
    "okta": lambda m: "00" + m.chars(URLSAFE, 40),
    "snyk": lambda m: m.uuid(),
    "heroku": lambda m: m.uuid(),
    "twitch": lambda m: m.chars(BASE36, 30),
    "mattermost": lambda m: m.chars(BASE36, 26),
    "zendesk": lambda m: m.chars(ALNUM, 40),
    "coinbase": lambda m: m.chars(URLSAFE, 64),
    "circleci": lambda m: m.chars(HEX, 40),
    "rapidapi": lambda m: m.chars(URLSAFE, 50),
    "confluent": lambda m: m.chars(ALNUM, 64),
    "facebook": lambda m: m.chars(HEX, 32),
    "pagerduty": lambda m: m.chars(URLSAFE, 20),
    "splunk": lambda m: m.uuid(),
    "wandb": lambda m: m.chars(HEX, 40),
    "intercom": lambda m: m.chars(URLSAFE + "=", 60),
    "launchdarkly": lambda m: m.chars(URLSAFE, 40),
    "cohere": lambda m: m.chars(ALNUM, 40),
}
_GENERIC: dict[str, Callable[[Maker], str]] = {
    "base62 key": lambda m: m.chars(ALNUM, m.random.choice([20, 24, 32, 40, 64])),
    "hex key": lambda m: m.chars(HEX, m.random.choice([32, 40, 48, 64])),
    "base64 key": lambda m: m.base64(m.random.choice([24, 32, 48])),
    "url-safe key": lambda m: m.chars(URLSAFE, m.random.choice([22, 32, 43])),
    "uuid key": lambda m: m.uuid(),
}
_TOKEN_NAMES = (
    "API_KEY", "SECRET_KEY", "ACCESS_TOKEN", "AUTH_TOKEN", "CLIENT_SECRET", "WEBHOOK_SECRET", "SESSION_SECRET", "JWT_SECRET",
    "ENCRYPTION_KEY", "SIGNING_KEY", "REFRESH_TOKEN", "BOT_TOKEN", "DEPLOY_TOKEN", "SERVICE_ACCOUNT_KEY", "APP_SECRET",
)  # fmt: skip
_PASSWORD_NAMES = (
    "PASSWORD",
    "DB_PASSWORD",
    "REDIS_PASSWORD",
    "SMTP_PASS",
    "ADMIN_PASSWD",
    "POSTGRES_PASSWORD",
    "ROOT_PWD",
)


def _camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


# Places where a value stands beside a name: N in capitals, n in lower case, c in camel case, v the value.
_NAMED_PLACES: dict[str, str] = {
    "env": "PORT=8080\n{N}={v}\nDEBUG=false\n",
    "env quoted": 'export {N}="{v}"\n',
    "yaml": "service:\n  name: api\n  {n}: {v}\n  replicas: 2\n",
    "yaml quoted": "service:\n  {n}: '{v}'\n",
    "json": '{{"host": "db1", "{c}": "{v}", "port": 5432}}',
    "json in json": '{{"body": "{{\\"{n}\\": \\"{v}\\"}}"}}',
    "toml": '[service]\n{n} = "{v}"\nretries = 3\n',
    "ini": "[db]\nhost = db1\n{n} = {v}\n",
    "python": 'import os\n\n{N} = "{v}"\nclient = Client({N})\n',
    "python argument": 'client = connect("db1", {n}="{v}", timeout=5)\n',
    "python dict": "settings = {{'{n}': '{v}', 'retries': 3}}\n",
    "javascript": "const {c} = '{v}';\nmodule.exports = {{ {c} }};\n",
    "typescript": 'private readonly {c}: string = "{v}";\n',
    "go": '\t{c} := "{v}"\n',
    "java": 'private static final String {N} = "{v}";\n',
    "ruby": "config.{n} = '{v}'\n",
    "php": "define('{N}', '{v}');\n",
    "shell flag": "deploy --env prod --{k} {v} --verbose\n",
    "shell flag with =": "deploy --{k}={v} --verbose\n",
    "docker run": "docker run -e {N}={v} -p 8080:80 app:1.2\n",
    "dockerfile": "FROM python:3.12\nENV {N}={v}\nRUN make\n",
    "compose": "    environment:\n      - {N}={v}\n      - LOG=info\n",
    "kubernetes env": "        - name: {N}\n          value: {v}\n",
    "url query": "GET https://api.service.io/v1/items?page=2&{n}={v}&sort=asc HTTP/1.1\n",
    "log": "2026-03-02T10:11:12Z INFO connecting with {n}={v} to db1\n",
    "xml": "<server><id>1</id><{c}>{v}</{c}></server>\n",
    "properties": "spring.datasource.{n}={v}\n",
    "chat": "hey, for the staging box the {p} is {v}, please rotate it later\n",
    "chat colon": "here you go, {p}: {v}\n",
    "terraform": 'resource "x" "y" {{\n  {n} = "{v}"\n}}\n',
}
# Places for a value that needs no name.
_FREE_PLACES: dict[str, str] = {
    "alone": "{v}",
    "chat bare": "use this one for now: {v} and tell me when it works",
    "log bare": "2026-03-02 10:11:12 WARN retry 2 (cred {v}) status=401\n",
    "code bare": 'client = Client("{v}")\n',
    "markdown": "1. Log in.\n2. Paste `{v}` into the field.\n",
    "bearer": "Authorization: Bearer {v}\n",
    "csv": "id,name,cred\n17,ci,{v}\n",
    "non-ascii": "Übergabe für Zoë – Schlüssel\u00a0→ {v} ✓\n",
    "argument list": '["--verbose", "{v}", "--dry-run"]',
}


def _connection_strings(m: Maker) -> Iterator[tuple[str, str, str]]:
    password = m.chars(ALNUM, 14)
    for scheme in (
        "postgres",
        "postgresql+asyncpg",
        "mysql",
        "mongodb+srv",
        "redis",
        "amqp",
        "https",
        "ftp",
        "smtp",
        "clickhouse",
    ):
        yield f"{scheme} url", f"{scheme}://app:{password}@db1.internal:5432/main", password
    yield "redis url without user", f"redis://:{password}@cache:6379/0", password
    yield "jdbc", f"jdbc:postgresql://db1/main?user=app&password={password}&ssl=true", password
    yield "ado.net", f"Server=db1;Database=main;User Id=app;Password={password};Encrypt=True", password
    key = m.base64(64)
    yield (
        "azure storage",
        f"DefaultEndpointsProtocol=https;AccountName=acct;AccountKey={key};EndpointSuffix=core.windows.net",
        key,
    )
    key = m.base64(32)
    yield (
        "azure service bus",
        f"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={key}",
        key,
    )
    yield "jdbc oracle", f"jdbc:oracle:thin:app/{password}@db1:1521:orcl", password
    yield "curl user", f"curl -u app:{password} https://api.service.io/v1", password
    yield "mysql flag", f"mysql -h db1 -u app -p{password} main", password
    yield "netrc", f"machine api.service.io login app password {password}", password
    basic = base64.b64encode(f"app:{password}".encode()).decode()
    yield "basic header", f"Authorization: Basic {basic}", basic
    yield "key header", f"X-Api-Key: {password}{password[::-1]}", f"{password}{password[::-1]}"
    yield "cookie", f"Cookie: theme=dark; sessionid={password}{password[::-1]}", f"{password}{password[::-1]}"
    yield "password hash", f"app:$2b$12${m.chars(ALNUM, 53)}:1000", f"{'$2b$12$'}"
    yield "sql", f"CREATE USER app WITH PASSWORD '{password}';", password
    data = base64.b64encode(password.encode()).decode()
    yield (
        "kubernetes secret",
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  field: {data}\n",
        data,
    )


def _blocks(m: Maker) -> Iterator[tuple[str, str, str]]:
    for label in (
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
        "ENCRYPTED PRIVATE KEY",
    ):
        block = m.pem(label)
        yield label.lower(), f"# key\n{block}\n", block.split("\n")[2]
    block = m.pem("PRIVATE KEY")
    yield (
        "service account json",
        json.dumps({"type": "service_account", "private_key": block}),
        block.split("\n")[3],
    )
    yield "cut key block", block[:260], block.split("\n")[1][:40]


def secret_samples(seed: int, per_kind: int) -> Iterator[Sample]:
    """Yield `per_kind` samples of every kind of secret, each in a place drawn at random."""
    m = Maker(seed)
    free, named = list(_FREE_PLACES.items()), list(_NAMED_PLACES.items())
    for kind, make in _SHAPED.items():
        for _ in range(per_kind):
            value = make(m)
            if m.random.random() < 0.5:
                place, form = m.random.choice(free)
                yield Sample(kind, place, form.replace("{v}", value), value)
            else:
                yield _named(m, kind, m.random.choice(_TOKEN_NAMES), value, named)
    for provider, make in _NEAR.items():
        for _ in range(per_kind):
            name = f"{provider.upper()}_{m.random.choice(['API_KEY', 'TOKEN', 'SECRET', 'KEY'])}"
            yield _named(m, f"{provider} key", name, make(m), named)
    for kind, make in _GENERIC.items():
        for _ in range(per_kind * 4):
            yield _named(m, kind, m.random.choice(_TOKEN_NAMES), make(m), named)
    for _ in range(per_kind * 12):
        yield _named(m, "password", m.random.choice(_PASSWORD_NAMES), m.password(), named)
    for _ in range(per_kind):
        for kind, text, secret in (*_connection_strings(m), *_blocks(m)):
            yield Sample(kind, "structure", text, secret)
    for _ in range(per_kind * 2):
        value = m.random.choice(["3000", "debug", "db1.internal", m.chars(ALNUM, 9)])
        yield Sample(
            "env file",
            "env file",
            f"# settings\nSETTING_{m.chars(UPPER, 4)}={value}\n",
            value,
            path="app/.env.local",
        )


def _named(m: Maker, kind: str, name: str, value: str, places: list[tuple[str, str]]) -> Sample:
    place, form = m.random.choice(places)
    words = name.lower().replace("_", " ")
    text = form.format(
        N=name, n=name.lower(), c=_camel(name), k=name.lower().replace("_", "-"), p=words, v=value
    )
    return Sample(kind, place, text, value)


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


def measure(samples: list[Sample], rules: RedactionRules) -> tuple[float, float, list[Sample]]:
    """Return the found share of what must go, the flagged share of the rest, and the samples that went wrong."""
    wrong = []
    counts: Counter[tuple[bool, bool]] = Counter()
    for sample in samples:
        redacted = redact(sample.text, rules=rules, salt=b"benchmark", path=sample.path)
        good = (sample.secret not in redacted.text) if sample.secret else not redacted.flags
        counts[sample.secret is not None, good] += 1
        if not good:
            wrong.append(sample)
    found = counts[True, True] / max(1, counts[True, True] + counts[True, False])
    flagged = counts[False, False] / max(1, counts[False, True] + counts[False, False])
    return found, flagged, wrong


def speed(samples: list[Sample], rules: RedactionRules) -> dict[str, float]:
    """Return microseconds of CPU per KiB for short and long texts and for texts made to be slow."""
    source = Path(__file__).read_text(encoding="utf-8")
    prose = " ".join(sample.text for sample in samples if sample.secret is None)
    texts = {
        "short samples": [sample.text for sample in samples][:2000],
        "1 KiB of code": [source[at : at + 1024] for at in range(0, 20_480, 1024)] * 5,
        "look-alikes, one text": [prose],
        "whole file": [source] * 3,
    }
    mib = 1 << 20
    for name, unit in {
        "a": "a", "=": "=", "base64": "QUJDREVGabcdefgh0123", "sk-": "sk-", "key=": "key=", "password ": "password ", "@": "a@", "://": "://a:",
        "digits": "4", "digit pairs": "4 ", "eyJ.": "eyJ.", "quotes": "token='", "BEGIN": "-----BEGIN PRIVATE KEY-----", "spaces": " ", "1.": "1.", "::": "a::",
    }.items():  # fmt: skip
        texts[f"1 MiB of {name!r}"] = [(unit * (mib // len(unit) + 1))[:mib]]
    result = {}
    for name, group in texts.items():
        started = time.process_time()
        for text in group:
            find(text, rules=rules)
        result[name] = (time.process_time() - started) * 1e6 / (sum(map(len, group)) / 1024)
    return result


def detect_secrets(samples: list[Sample]) -> dict[str, float] | None:
    """Return what `detect-secrets` finds and flags, line by line with its default plugins, or None without it."""
    try:
        from detect_secrets.core.scan import scan_line
        from detect_secrets.settings import default_settings
    except ImportError:
        return None
    counts: Counter[tuple[bool, bool]] = Counter()
    started = time.process_time()
    with default_settings():
        for sample in samples:
            hit = any(True for line in sample.text.splitlines() for _ in scan_line(line))
            counts[sample.secret is not None, hit] += 1
    seconds = time.process_time() - started
    return {
        "found": counts[True, True] / (counts[True, True] + counts[True, False]),
        "flagged": counts[False, True] / (counts[False, True] + counts[False, False]),
        "us_per_kib": seconds * 1e6 / (sum(len(sample.text) for sample in samples) / 1024),
    }


def main() -> int:
    """Print the measurements; the exit code is 1 when a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--per-kind", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", action="store_true", help="print every sample that went wrong")
    args = parser.parse_args()
    secrets = [*secret_samples(args.seed, args.per_kind), *lookalike_samples(args.seed, args.per_kind)]
    personal = list(personal_samples(args.seed, args.per_kind))
    found, flagged, wrong = measure(secrets, RedactionRules())
    pii_found, pii_flagged, pii_wrong = measure(personal, RedactionRules(secrets=False, pii=DETECTORS))
    times = speed(secrets, RedactionRules(pii=DETECTORS))
    peer = detect_secrets(secrets)
    counts = Counter(sample.secret is not None for sample in secrets)
    print(
        f"secrets     found {found:.2%} of {counts[True]}, look-alikes flagged {flagged:.2%} of {counts[False]}"
    )
    print(f"personal    found {pii_found:.2%}, others flagged {pii_flagged:.2%}, of {len(personal)} in all")
    for name, value in times.items():
        print(f"speed       {value:8.1f} us/KiB  {name}")
    if peer:
        print(
            f"detect-secrets found {peer['found']:.2%}, flagged {peer['flagged']:.2%}, {peer['us_per_kib']:.0f} us/KiB"
        )
    for sample in [*wrong, *pii_wrong] if args.show else []:
        print(
            f"{'MISSED ' if sample.secret else 'FLAGGED'} {sample.kind} | {sample.context} | {sample.text[:200]!r}"
        )
    result = {
        "seed": args.seed, "secrets": {"found": found, "flagged": flagged}, "personal": {"found": pii_found, "flagged": pii_flagged},
        "us_per_kib": times, "detect_secrets": peer,
    }  # fmt: skip
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    usual = max(value for name, value in times.items() if not name.startswith("1 MiB"))
    missed = found < SECRET_TARGET or flagged > LOOKALIKE_TARGET or usual > SPEED_TARGET_US_PER_KB
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
