"""What redaction takes out of a text, what it leaves, and what it promises about both."""

import importlib
import random
import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.redaction.personal_data import DETECTORS
from hexad.redaction.redact import RedactionFinding, RedactionRules, find, redact, rules_from_policy

REPOSITORY = Path(__file__).parents[3]
RULES = RedactionRules()
ALL = RedactionRules(pii=frozenset(DETECTORS))
SALT = b"salt of one store"
_random = random.Random(20)


def chars(alphabet: str, count: int) -> str:
    """Return random characters: nothing in this file may look like a secret before it runs."""
    return "".join(_random.choice(alphabet) for _ in range(count))


ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
GITHUB = "gh" + "p_" + chars(ALNUM, 36)
AWS = "AK" + "IA" + chars(string.ascii_uppercase, 16)
OPENAI = "s" + "k-" + chars(ALNUM, 48)
MADE = "c9QeWJ" + "KY40uv" + "SwMFLZ" + "De1f8r"
HEXADECIMAL = "8f14e45f" + "ceea167a" + "5a36dedd" + "4bea2543"
PASSWORD = "Tr0ub" + "4dor" + "&3"
BEGIN, END = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"


def clean(text: str, rules: RedactionRules = RULES, path: str | None = None) -> str:
    return redact(text, rules=rules, salt=SALT, path=path).text


@pytest.mark.row("L058", "A125", "A128")
@pytest.mark.parametrize(
    ("rule", "token"),
    [
        ("github-token", GITHUB),
        ("aws-access-key-id", AWS),
        ("openai-api-key", OPENAI),
        ("anthropic-api-key", "s" + "k-ant-api03-" + chars(ALNUM, 90)),
        ("jwt", "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0In0." + chars(ALNUM, 43)),
        ("slack-token", "xo" + "xb-123456789012-1234567890123-" + chars(ALNUM, 24)),
        ("stripe-key", "sk" + "_live_" + chars(ALNUM, 24)),
        ("google-api-key", "AI" + "za" + chars(ALNUM, 35)),
        ("gitlab-token", "gl" + "pat-" + chars(ALNUM, 20)),
        (
            "age-secret-key",
            "AGE-SECRET" + "-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" + "QPZRY9X8GF2TVDW0S3JN54KHCE",
        ),
    ],
)
@pytest.mark.parametrize(
    "text", ["{}", "use {} now", 'Client("{}")', "url?k={}&x=1", "日本語 {} ключ", "`{}`."]
)
def test_a_token_with_a_providers_prefix_is_replaced_wherever_it_stands(
    rule: str, token: str, text: str
) -> None:
    assert text.format(f"[REDACTED:{rule}]") == clean(text.format(token))


@pytest.mark.row("A129", "A130")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("API_KEY={}", "API_KEY=[REDACTED:api-key]"),
        ("export DB_PASSWORD={}", "export DB_PASSWORD=[REDACTED:password]"),
        ('"client_secret": "{}",', '"client_secret": "[REDACTED:secret]",'),
        ("auth_token: {}\n", "auth_token: [REDACTED:token]\n"),
        ("const apiKey: string = '{}';", "const apiKey: string = '[REDACTED:api-key]';"),
        ('password := "{}"', 'password := "[REDACTED:password]"'),
        ("define('DB_PASSWORD', '{}');", "define('DB_PASSWORD', '[REDACTED:password]');"),
        ("- name: API_TOKEN\n  value: {}", "- name: API_TOKEN\n  value: [REDACTED:token]"),
        ("<password>{}</password>", "<password>[REDACTED:password]</password>"),
        ("password: |\n  {}\n", "password: |\n  [REDACTED:password]\n"),
        ("run --password {} --verbose", "run --password [REDACTED:password] --verbose"),
        ("run --api-key={} -v", "run --api-key=[REDACTED:api-key] -v"),
        ("Server=db;Password={};Encrypt=True", "Server=db;Password=[REDACTED:password];Encrypt=True"),
        ("the password is {}, thanks", "the password is [REDACTED:password], thanks"),
        ("GET /x?a=1&access_token={}&b=2", "GET /x?a=1&access_token=[REDACTED:token]&b=2"),
        ('"{{\\"password\\": \\"{}\\"}}"', '"{{\\"password\\": \\"[REDACTED:password]\\"}}"'),
        ('user.setPassword("{}")', 'user.setPassword("[REDACTED:password]")'),
    ],
)
def test_a_value_beside_a_telling_name_goes_and_the_name_stays(text: str, expected: str) -> None:
    value = "q7Zr" + "4Kd9" + "Xw2LmP8t"

    assert expected.replace("{{", "{").replace("}}", "}") == clean(text.format(value))


@pytest.mark.row("A125")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("postgres://app:", "@db.internal:5432/main"),
        ("mongodb+srv://app:", "@cluster0.host.net/x"),
        ("redis://:", "@cache:6379/0"),
        ("https://app:", "@host.io/repo.git"),
        ("jdbc:oracle:thin:app/", "@db1:1521:orcl"),
        ("curl -u app:", " https://host.io"),
        ("mysql -u root -p", " main"),
        ("machine host.io login app password ", "\n"),
        ("Authorization: Bearer ", "\n"),
        ("X-Api-Key: ", "\n"),
    ],
)
def test_passwords_in_connection_strings_commands_and_headers_are_found(before: str, after: str) -> None:
    value = "h8Kq" + "2Wz5" + "Tn7LbV3x"

    redacted = clean(before + value + after)

    assert value not in redacted
    assert redacted.startswith(before)
    assert redacted.endswith(after)


def test_a_basic_authorization_goes_when_it_decodes_to_user_and_password() -> None:
    assert "Authorization: Basic [REDACTED:basic-auth]" == clean(
        "Authorization: Basic " + "YXBwOmh1" + "bnRlcjI="
    )
    assert "Authorization: Basic realm" == clean("Authorization: Basic realm")


@pytest.mark.row("A129", "A130")
@pytest.mark.parametrize("value", ["16VtPPz5pE3HFmka" + "zauhuKkSZGU=", "8kPz0QmW3vXe7LtR" + "5nYa2A=="])
@pytest.mark.parametrize(
    "text",
    [
        "api key: {}", "token: {} for staging", "Secret: {}, rotated on Friday", "access key: {}.", "(token: {})",
        "- signing key: {}\n\n- region: north", "{{token: {}}}", "storage account key: {}", "password: {}",
        "The API key of the staging account is {}", "login: root / {}", "Das Passwort lautet {}",
        "I changed the password, it's now {}", "Passwort für tomasz auf harvest060 geändert: {}",
        "the password of the admin account is {}", "signing secret (prod): {}",
    ],
)  # fmt: skip
def test_base_64_goes_with_its_padding(text: str, value: str) -> None:
    text = text.format(value)
    redacted = clean(text)

    assert [*text.partition(value)[::2]] == re.split(r"\[REDACTED:[a-z-]+\]", redacted)


@pytest.mark.parametrize(
    "text",
    [
        "def call(token: str=None, key: bytes=b''):",
        "token: SecretStr= settings.token",
        "api_key: Optional[str]=None",
        "password: Annotated= Depends(read)",
        "the token of the parser is name=",
        "password for base64= and others",
    ],
)
def test_a_type_and_a_sign_behind_a_name_are_no_padded_value(text: str) -> None:
    assert text == clean(text)


def test_a_value_behind_a_name_and_its_type_still_goes() -> None:
    value = "q7Zr" + "4Kd9" + "Xw2LmP8t"

    assert "api_key: Text8bit= '[REDACTED:api-key]'" == clean(f"api_key: Text8bit= '{value}'")
    assert "api_key: String='[REDACTED:api-key]'" == clean(f"api_key: String='{value}'")


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=your-api-key-here",
        "OPENAI_API_KEY=sk-...",
        "GITHUB_TOKEN=gh" + "p_" + "x" * 36,
        'password = os.environ["DB_PASSWORD"]',
        "const token = process.env.TOKEN;",
        "token: ${TOKEN}",
        "password: ${{ secrets.DB_PASSWORD }}",
        "token=<token>",
        "password: changeme",
        "DB_PASSWORD=xxxxxxxx",
        "def login(password: str, token: Optional[str] = None):",
        "client = Client(api_key=api_key, token=self.token)",
        "The password is required and must be long.",
        "max_tokens: 4096, password_min_length = 12",
        "secretName: db-credentials\n  key: password",
        "PRIMARY KEY (user_id)",
        "commit " + chars(HEX, 40),
        "sha256: " + chars(HEX, 64),
        '"integrity": "sha512-' + chars(ALNUM, 86) + '=="',
        '"id": "8c0a2f6e-1111-4a3b-9c55-0d3f6b1e2a77"',
        "data:image/png;base64," + chars(ALNUM, 120),
        "version: 1.22.3-rc1+build.77",
        ".sk-fading-circle .sk-circle1:before",
        "postgres://user:password@localhost/db",
        "postgres://postgres:postgres@localhost/db",
        "http://localhost:3000/@scope/package",
        "Authorization: Bearer <token>",
        "-----BEGIN " + "PUBLIC KEY-----\n" + chars(ALNUM, 64) + "\n-----END PUBLIC KEY-----",
        'if "' + BEGIN + '" in text:\n    return True',
        "password_hash = hash_password(password)",
        "key: " + chars(HEX, 32),
        "パスワード password: 8文字以上で入力してください",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert text == clean(text)


@pytest.mark.row("A126")
@pytest.mark.parametrize("path", [".env", "app/.env.local", "deploy/prod.env", "C:\\app\\.env", ".envrc"])
def test_in_an_env_file_every_value_goes_but_the_allowed_ones(path: str) -> None:
    text = "# db\nPORT=3000\nexport NAME='two words'\nEMPTY=\nREF=${PORT}\nLOG=debug # loud\nKEPT=9\n"

    assert (
        "# db\nPORT=[REDACTED:env-value]\nexport NAME='[REDACTED:env-value]'\nEMPTY=\nREF=${PORT}\n"
        "LOG=[REDACTED:env-value] # loud\nKEPT=9\n"
    ) == clean(text, RedactionRules(env_allow=frozenset({"KEPT"})), path)


@pytest.mark.row("A129", "A130")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password={}", "json-Pass" + "-7788"),
        ("password: {}", "json-Pass" + "-7788"),
        ('{{"password":"{}"}}', "json-Pass" + "-7788"),
        ('{{"password": "{}"}}', "json-Pass" + "-7788"),
        ("DB_PASSWORD: {}", "prod-pass" + "-2024"),
        ("POSTGRES_PASSWORD: {}", "Tulip-77" + "-Garden"),
        ("    environment:\n      POSTGRES_PASSWORD: {}\n", "Tulip-77" + "-Garden"),
        ("api_key: {}", "Blue-Horse" + "-9921"),
        ("mysql -p{} -u root", "MyDb" + "Pass123"),
        ("mysql -u root -p{}", "MyDb" + "Pass123"),
        ("the secret key is {}", "Qw8zRt5y" + "Ui2oP"),
        ("wifi password is {}", "Tulip-77" + "-Garden"),
        ('passphrase "{}"', "correct horse " + "battery staple"),
        ("the passphrase is “{}”", "Blue moon over " + "7 hills!"),
        ("passphrase: {}", "correct horse " + "battery staple"),
        ("**Password:** {}", "Zebra" + "7Lamp"),
        ("**API key**: {}", MADE),
        ("| Password | {} |", "Zebra" + "7Lamp"),
        ("| user | password |\n|---|---|\n| ada | {} |", "Zebra" + "7Lamp"),
        ("user,password\nada,{}", "Zebra" + "7Lamp"),
        ("user\tpassword\nada\t{}", "Zebra" + "7Lamp"),
        ('{{"name":"DB_PASSWORD","value":"{}"}}', MADE),
        ("API_KEY:\n  {}", MADE),
        ("CREATE USER 'a' IDENTIFIED BY '{}'", "Zebra" + "7Lamp"),
        ("ENV API_KEY {}", MADE[:12]),
        ("setx API_KEY {}", MADE[:12]),
        ("<b>Password:</b> {}", "Zebra" + "7Lamp"),
        ("<tr><td>Password</td><td>{}</td></tr>", "Zebra" + "7Lamp"),
        ("password - {}", "Zebra" + "7Lamp"),
        ("api_key\t{}", MADE),
        ("api_key|{}", MADE),
        ("Use {} as the API key.", HEXADECIMAL),
        ("Passwort: {}", "Zebra" + "7Lamp"),
        ("contraseña: {}", "Zebra" + "7Lamp"),
        ("密码：{}", "Zebra" + "7Lamp"),
        ("password: {}", "secret" + "123"),
    ],
)
def test_a_named_secret_is_found_in_the_notations_people_use(text: str, value: str) -> None:
    redacted = clean(text.format(value))

    assert value not in redacted
    before, _, after = text.replace("{{", "{").replace("}}", "}").partition("{}")
    assert redacted.startswith(before + "[REDACTED:")
    assert redacted.endswith("]" + after)


@pytest.mark.row("A129", "A130")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("admin password: {}", "correct-horse" + "-battery"),
        ("The admin password: {}.", "correct-horse" + "-battery"),
        ("Please remember the staging password: {}", "velvet" + "-otter"),
        ("Log in with user admin, password: {}.", "sword" + "fish"),
        ("user: ada, password: {}, host: db1", "velvet" + "otter"),
        ("password: {} (change it)", "blue" + "bird"),
        ("**Default password:** {}", "blue" + "bird"),
        ("service:\n  password: {}\n  port: 1", "blue" + "bird"),
        ("db password: {}", "tulip_garden" + "_fence"),
        ("db_password={}", "velvet" + "-otter"),
        ("The password for staging is: {}", "velvet" + "-otter"),
        ("my password was {} before", "correct-horse" + "-battery"),
        ("The password is `{}` on every box", "rasp" + "berry"),
        ("password: {}", "correct horse" + " battery staple"),
        ('{{"user": "ada", "password": "{}"}}', "love" + "lace"),
        ("admin pw: {}", "correct-horse" + "-battery"),
    ],
)
def test_a_password_of_ordinary_words_is_found_where_it_is_labelled(text: str, value: str) -> None:
    before, _, after = text.replace("{{", "{").replace("}}", "}").partition("{}")

    assert f"{before}[REDACTED:password]{after}" == clean(text.format(value))


@pytest.mark.row("A129", "A130")
@pytest.mark.parametrize(
    ("text", "rule", "value"),
    [
        ("secret: {}", "secret", "correct-horse" + "-battery"),
        ("secret: {}", "secret", "sun" + "flower"),
        ("The deploy token: {}", "token", "plain" + " words"),
        ("token: {}.", "token", "velvet otter" + " garden"),
        ("api key: {}", "api-key", "plain" + " words"),
        ("API key: {}", "api-key", "correct-horse" + "-battery"),
        ("password: {}", "password", "velvet" + " otter"),
        ("My password is {}", "password", "hunter" + " two"),
        ("so our wifi password is {}, remember it", "password", "velvet" + " otter"),
        ("The router password is {}. It is on the box.", "password", "sun" + "flower"),
        ('The password is "{}".', "password", "velvet" + " otter"),
        ("Wifi password: {}, router in the hall", "password", "Velvet" + " Otter"),
        ('export PASSWORD="{}"', "password", "velvet" + " otter"),
        ("pwd = {}", "password", "velvet" + " otter"),
        ("The password for the staging box is {}.", "password", "sun" + "flower"),
        ("our password was changed to {}", "password", "velvet" + " otter"),
        ("our api token is {}", "token", "velvet" + " otter"),
    ],
)
def test_words_between_blanks_and_words_of_other_secrets_are_found(text: str, rule: str, value: str) -> None:
    before, _, after = text.partition("{}")

    assert f"{before}[REDACTED:{rule}]{after}" == clean(text.format(value))


@pytest.mark.row("A130")
def test_words_behind_a_word_for_a_password_stay_where_they_are_no_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    lookalikes = importlib.import_module("benchmarks.redaction_lookalikes")
    texts = [sample.text for sample in lookalikes.sentence_samples()]

    assert len(texts) >= 20
    assert texts == [clean(text) for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "password: str",
        "password = get_password()",
        '"password": "must-be-8-characters"',
        "token: my-service-token",
        "secret: projects/x/secrets/y",
        "password: your-password-here-123",
        "| Password | The password of the user |",
        "| password | string | yes |",
        "**Password:** at least 8 characters",
        "<td>Password</td><td>string</td>",
        "passphrase: used to encrypt the key",
        'passphrase "the phrase that opens the private key"',
        "ENV API_KEY my-api-key",
        "user,password\nada,changeme",
        "name,token\nfoo,bar",
        "password:\n  type: string",
        "API_KEY:\n  description: the key",
        "IDENTIFIED BY 'password'",
        "mysql -P3306 -u root",
        "token: us-east-1",
        "secret: app-tls-2024",
        "Password: SHA-256",
        "token: gpt-4o-mini",
        "Use commit " + HEXADECIMAL + " as the base.",
        '<input type="password" name="p1">',
    ],
)
def test_the_same_notations_without_a_secret_stay(text: str) -> None:
    assert text == clean(text)


@pytest.mark.row("A126")
@pytest.mark.parametrize(
    "path",
    ["env", "a/.flaskenv", "service.env.txt", "environment", "x/dotenv", "prod.env#part-2", ".env#part-1"],
)
def test_env_files_by_other_names_and_their_parts_are_env_files(path: str) -> None:
    assert "COLOUR=[REDACTED:env-value]\n" == clean("COLOUR=ultramarine\n", path=path)


@pytest.mark.parametrize("path", ["src/vite-env.d.ts", "app.env.py", "environment.md", "envoy", "x.env.d.ts"])
def test_code_about_the_environment_is_no_env_file(path: str) -> None:
    assert "COLOUR=ultramarine\n" == clean("COLOUR=ultramarine\n", path=path)


@pytest.mark.row("A126")
def test_env_text_is_known_without_a_path_and_ordinary_settings_are_not_env_text() -> None:
    assert "HOST=[REDACTED:env-value]\nDB_PASSWORD=[REDACTED:password]\n" == clean(
        "HOST=db1\nDB_PASSWORD=" + "hunter" + "2\n"
    )
    assert "```env\nHOST=[REDACTED:env-value]\n```\nHOST=db1\n" == clean("```env\nHOST=db1\n```\nHOST=db1\n")
    assert "NAME=linux\nVERSION=12\n" == clean("NAME=linux\nVERSION=12\n")
    assert "PORT=3000" == clean("PORT=3000", path="environment.py")


def test_a_value_of_several_lines_in_an_env_file_goes_whole() -> None:
    text = 'A="one\ntwo\nthree"\nB=4\n'

    assert 'A="[REDACTED:env-value]\n\n"\nB=[REDACTED:env-value]\n' == clean(text, path=".env")


@pytest.mark.row("A125")
def test_a_key_block_loses_its_body_and_keeps_its_lines() -> None:
    body = "\n".join(chars(ALNUM, 64) for _ in range(3))
    text = f"# mine\n{BEGIN}\n{body}\n{END}\nafter\n"

    redacted = clean(text)

    assert f"# mine\n{BEGIN}\n[REDACTED:private-key]\n\n\n{END}\nafter\n" == redacted
    assert text.count("\n") == redacted.count("\n")


def test_a_key_block_is_found_inside_a_json_string_and_without_its_end() -> None:
    line = chars(ALNUM, 64)

    assert f'"{BEGIN}\\n[REDACTED:private-key]\\n{END}\\n"' == clean(
        f'"{BEGIN}\\n{line}\\n{line}\\n{END}\\n"'
    )
    assert f"{BEGIN}\n[REDACTED:private-key]" == clean(f"{BEGIN}\n{line}")


@pytest.mark.row("A007", "A125")
def test_a_certificate_goes_too() -> None:
    begin, end = "-----BEGIN " + "CERTIFICATE-----", "-----END CERTIFICATE-----"

    assert f"{begin}\n[REDACTED:certificate]\n{end}" == clean(f"{begin}\n{chars(ALNUM, 64)}\n{end}")


def test_the_data_of_a_kubernetes_secret_goes_and_that_of_a_config_map_stays() -> None:
    data = "YWRtaW5p" + "c3RyYXRvcg=="
    manifest = f"kind: Secret\nmetadata:\n  name: db\ndata:\n  user: {data}\ntype: Opaque\n"
    config = "---\nkind: ConfigMap\ndata:\n  user: bm90aGluZw==\n"

    assert manifest.replace(data, "[REDACTED:kubernetes-secret]") + config == clean(manifest + config)


def test_a_secret_is_removed_where_it_is_repeated_without_its_name() -> None:
    value = "q7Zr" + "4Kd9" + "Xw2LmP8t"

    redacted = redact(f"token={value}\nsent {value} to the host", rules=RULES, salt=SALT)

    assert "token=[REDACTED:token]\nsent [REDACTED:token] to the host" == redacted.text
    assert [2] == [flag.count for flag in redacted.flags]


@pytest.mark.row("L059")
def test_flags_hold_a_keyed_hash_of_what_was_removed_and_how_often() -> None:
    text = f"a {GITHUB} b {AWS} c {GITHUB}"

    first, second = redact(text, rules=RULES, salt=SALT).flags
    other = redact(text, rules=RULES, salt=b"another store").flags

    assert ("github-token", "secret", 2) == (first.rule, first.kind, first.count)
    assert ("aws-access-key-id", "secret", 1) == (second.rule, second.kind, second.count)
    assert re.fullmatch(r"hmac-sha256:[0-9a-f]{32}", first.hash)
    assert first.hash == redact(GITHUB, rules=RULES, salt=SALT).flags[0].hash
    assert other[0].hash != first.hash


@pytest.mark.row("L057", "A127")
def test_personal_data_stays_unless_a_space_asks_for_it() -> None:
    text = "write to zoë.müller@exämple.de or call +49 30 901820"

    assert text == clean(text)
    assert "write to [REDACTED:email] or call +49 30 901820" == clean(
        text, rules_from_policy({"pii_redaction": ["emails"]})
    )
    assert "write to [REDACTED:email] or call [REDACTED:phone]" == clean(
        text, rules_from_policy({"pii_redaction": ["all"]})
    )


def test_the_longest_finding_names_the_rule_and_a_secret_goes_before_personal_data() -> None:
    url = "https://app:" + "h8Kq2Wz5" + "Tn7L@mail.host.io/x"

    assert "https://app:[REDACTED:url-password]@mail.host.io/x" == clean(url, ALL)
    assert "DATABASE_URL=[REDACTED:env-value]" == clean(f"DATABASE_URL={url}", ALL, ".env")
    assert "API_KEY=[REDACTED:github-token]" == clean(f"API_KEY={GITHUB}", ALL, ".env")


def test_findings_say_where_in_the_input_they_are() -> None:
    text = f"Schlüssel 🔑 → {GITHUB} ✓"
    start = text.index(GITHUB)

    assert [
        RedactionFinding(kind="secret", rule="github-token", start=start, end=start + len(GITHUB))
    ] == find(text, rules=RULES)


def test_known_values_and_spaces_without_secret_rules_are_left_alone() -> None:
    assert GITHUB == clean(GITHUB, RedactionRules(allow=(re.compile("gh" + "p_.*"),)))
    assert GITHUB == clean(GITHUB, RedactionRules(secrets=False))


def test_a_spaces_own_expression_removes_its_group_or_its_match() -> None:
    rules = rules_from_policy(
        {
            "pii_redaction": [
                {"name": "badge", "regex": r"B-\d{5}"},
                {"name": "room", "regex": r"room (?P<value>\d+)"},
            ]
        }
    )

    assert "[REDACTED:badge] in room [REDACTED:room]" == clean("B-12345 in room 7", rules)


def test_a_literal_placeholder_does_not_hide_what_stands_beside_it() -> None:
    assert "password=[REDACTED:password][REDACTED:x]" == clean("password=" + PASSWORD + "[REDACTED:x]")
    assert "password=[REDACTED:x]" == clean("password=[REDACTED:x]")


_PIECES = [
    GITHUB, AWS, OPENAI, PASSWORD, BEGIN, END, chars(ALNUM, 64), "password", "API_KEY", "token", "=", ": ", '"', "'", "\\n", '\\"', "\n",
    " ", "postgres://a:" + "b1c2d3@h", "a@b.co", "+49 30 901820", "4111 1111 1111 1111", "[REDACTED:x]", "[REDACTED:", "]", "kind: Secret\n",
    "data:\n  a: ", "-", "Authorization: Bearer ", "é", "İ", "\x00", "\ud800", ";", "&", "<a>", "</a>", "```env\n", "|", "1.2.3.44",
]  # fmt: skip
_MIXED = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=8)), max_size=14).map("".join)


@settings(max_examples=examples(100))
@given(text=_MIXED, path=st.sampled_from([None, ".env", "a.py"]))
def test_redacting_twice_changes_nothing(text: str, path: str | None) -> None:
    once = redact(text, rules=ALL, salt=SALT, path=path)

    assert once.text == clean(once.text, ALL, path)
    assert () == redact(once.text, rules=ALL, salt=SALT, path=path).flags


@settings(max_examples=examples(100))
@given(text=st.one_of(st.text(), _MIXED), path=st.one_of(st.none(), st.text(max_size=8)))
def test_any_text_is_accepted_and_findings_are_in_order_inside_it(text: str, path: str | None) -> None:
    findings = find(text, rules=ALL, path=path)

    ends = [0, *(finding.end for finding in findings)]
    assert all(
        end <= finding.start < finding.end <= len(text) for end, finding in zip(ends, findings, strict=False)
    )


@settings(max_examples=examples(100))
@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_line_breaks_survive_and_what_is_around_a_token_is_not_touched(before: str, after: str) -> None:
    text = f"{before}\n{GITHUB}\n{after}"

    redacted = redact(text, rules=RULES, salt=SALT)

    assert GITHUB not in redacted.text
    assert text.count("\n") == redacted.text.count("\n")


@pytest.mark.row("A007", "A125", "A127", "A128", "A129", "A130")
def test_the_benchmarks_samples_are_found_and_its_look_alikes_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    benchmark = importlib.import_module("benchmarks.redaction")
    secrets = [*benchmark.secret_samples(3, 2), *benchmark.lookalike_samples(3, 2)]
    personal = list(benchmark.personal_samples(3, 2))

    found, flagged, _ = benchmark.measure(secrets, RULES)
    personal_found, personal_flagged, _ = benchmark.measure(
        personal, RedactionRules(secrets=False, pii=frozenset(DETECTORS))
    )

    assert found >= 0.95
    assert flagged <= 0.03
    assert personal_found >= 0.95
    assert personal_flagged <= 0.03


def test_this_repositorys_tests_and_benchmarks_hold_nothing_to_redact() -> None:
    here = Path(__file__).parent
    for path in (*here.glob("test_*.py"), *(REPOSITORY / "benchmarks").glob("redaction*.py")):
        assert [] == find(path.read_text(encoding="utf-8"), rules=RULES, path=path.name), path
