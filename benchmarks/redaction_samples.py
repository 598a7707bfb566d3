"""Secrets in the shapes that their providers document, in the places where such values turn up.

The tables know nothing of the redaction rules. Values are drawn from a seed and their prefixes are put together
from parts, so that neither a scanner nor Hexad itself takes this file for a leak.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

LOWER, UPPER, DIGIT = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGIT
BASE36 = LOWER + DIGIT
UPPER36 = UPPER + DIGIT
HEX = DIGIT + "abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


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


_WORDS: Final = (
    "harbour",
    "velvet",
    "tundra",
    "willow",
    "copper",
    "quartz",
    "meadow",
    "falcon",
    "lantern",
    "juniper",
)
_WORD_PLACES: dict[str, str] = {
    "alone": "{p}: {v}",
    "sentence": "The {p}: {v}. Change it after the first login.",
    "end of a sentence": "Please remember the staging {p}: {v}",
    "list of labels": "Log in as user: ada, {p}: {v}, host: db1",
    "remark behind it": "{p}: {v} (change it before the release)",
    "markdown": "**Default {p}:** {v}\n",
    "backticks": "The {p} is `{v}` on every box.",
    "yaml": "service:\n  name: api\n  {n}: {v}\n  replicas: 2\n",
    "yaml quoted": "service:\n  {n}: '{v}'\n",
    "json": '{{"host": "db1", "{c}": "{v}", "port": 5432}}',
    "properties": "{n}={v}\nretries=3\n",
}


def word_samples(seed: int, per_kind: int) -> Iterator[Sample]:
    """Yield passwords that are nothing but ordinary words, one to three, labelled as people label them."""
    m = Maker(seed + 5)
    for count in (1, 2, 3):
        for _ in range(per_kind * 4):
            value = "-".join(m.random.sample(_WORDS, count))
            name = m.random.choice(["PASSWORD", "DB_PASSWORD", "ADMIN_PASSWORD", "WIFI_PASSWORD"])
            yield _named(m, f"{count} words", name, value, list(_WORD_PLACES.items()))


def _named(m: Maker, kind: str, name: str, value: str, places: list[tuple[str, str]]) -> Sample:
    place, form = m.random.choice(places)
    words = name.lower().replace("_", " ")
    text = form.format(
        N=name, n=name.lower(), c=_camel(name), k=name.lower().replace("_", "-"), p=words, v=value
    )
    return Sample(kind, place, text, value)
