"""Tokens that no table describes: told by how drawn they look, by the words before them and by where they stand."""

import random
import string

import pytest

from hexad.redaction.masking import Masking
from hexad.redaction.policy import project_rules
from hexad.redaction.redact import redact
from hexad.redaction.secrets.classifier import Style, accepts
from hexad.redaction.secrets.drawn_tokens import find_drawn
from hexad.redaction.secrets.known_formats import find_shapes
from hexad.redaction.secrets.names import NameClass
from hexad.redaction.secrets.randomness import random_score
from hexad.redaction.secrets.values import is_scrambled, is_typed_row

_random = random.Random(11)
RULES = project_rules()


def drawn(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(_random.choices(alphabet, k=count - 4)) + "7Qk3"


MIXED, LOWER = drawn(44), drawn(40, string.ascii_lowercase + string.digits).lower()
BASE64 = drawn(42) + "/+"
HEX = "".join(_random.choices("0123456789abcdef", k=64))
UUID = "4f1c2b7e-93ad-4c05-8e61-7ab0d9c35f12"


def test_drawn_strings_and_names_are_told_apart() -> None:
    strings = [drawn(length) for length in range(12, 40)]
    names = "getElementByIdOrThrow2 x509CertificateFromPem2 generateAccessibilityReader Verschluesselung PostgreSQL16".split()

    assert [] == [text for text in strings if random_score(text) <= 4]
    assert [] == [name for name in names if random_score(name) >= 0]


@pytest.mark.row("A129", "A130")
@pytest.mark.parametrize(
    "token",
    [
        MIXED,
        f"acme_{MIXED[:28]}",
        f"acme-{MIXED[:28]}",
        f"acme_key_{LOWER[:26]}",
        f"acme_{LOWER[:36]}",
        f"acme_{HEX}",
        f"acme_secret_{HEX[:32]}",
        f"acme-secret-{HEX[:32]}",
        f"acme_live_{MIXED[:20]}",
        f"api-{UUID}",
        f"thing_{MIXED[:22]}_secret_{MIXED[22:40]}",
        f"org_{MIXED}",
        f"{MIXED[:12]}-{MIXED[12:24]}_{MIXED[24:]}",
        BASE64,
    ],
)
def test_a_token_is_known_by_how_drawn_it_looks(token: str) -> None:
    assert [(0, len(token))] == [span[1:3] for span in find_drawn(token)]


@pytest.mark.parametrize(
    "text",
    [
        f"https://docs.example.com/document/d/{MIXED}/edit",
        f'"integrity": "sha512-{drawn(86)}=="',
        f"example.com/module v1.2.0 h1:{drawn(43)}=",
        f'etag: "{MIXED}"',
        f'"checkpoint_id": "{MIXED}"',
        f"call_{MIXED[:24]} and msg_{MIXED[:24]} and chatcmpl-{MIXED[:29]}",
        f"toolu_01{MIXED[:22]}",
        f"pk_live_{MIXED[:28]}",
        f"commit {HEX[:40]}, sha256_{HEX}, image-{HEX[:32]}",
        f"request {UUID} took 3 ms",
        f"main.{MIXED}.js",
        f"data:image/png;base64,{MIXED}",
        f"payload = b'{BASE64}{BASE64}'",
        f"{drawn(64)}\n{drawn(64)}\n{drawn(64)}\n",
        f"<CipherValue>{MIXED}</CipherValue>",
        "M1767 207v123h210v40h-256V13h248v40h-202v114h194v40zm393",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "bm90aGluZyBpbiBoZXJlIGlzIHdvcnRoIGEgc2Vjb25kIGxvb2s=",
        "test_reads_what_was_written_2_and_3_times_in_x86_64_builds",
    ],
)
def test_addresses_digests_identifiers_and_data_are_none(text: str) -> None:
    assert [] == [*find_drawn(text)]


def test_a_drawn_name_is_an_identifier_unless_it_says_that_it_is_a_token() -> None:
    masking = Masking(salt=lambda: b"salt", rules=RULES)

    assert masking.secret_in(MIXED) is None
    assert masking.secret_in(f"thing_{MIXED}") is None
    assert "token" == masking.secret_in(f"acme_key_{MIXED}")
    assert f"session {MIXED}" != masking.text(f"session {MIXED}")


def test_identifiable_keys_of_azure_are_found_by_their_mark() -> None:
    key = f"{drawn(76)}+A" + f"St{drawn(6)}=="

    assert [("azure-key", 4, 4 + len(key))] == [span[:3] for span in find_shapes(f"see {key} there")]


@pytest.mark.parametrize(
    "row", ["abcdef1234567890", "a1b2c3d4e5f6g7h8", "key_000000000000000000", "AbCdEfGhIjKlMnOp"]
)
def test_what_a_hand_types_in_a_row_is_no_key(row: str) -> None:
    assert is_typed_row(row)
    assert not accepts(NameClass.KEY, row, style=Style.SHELL, name="API_KEY")
    assert not is_typed_row(MIXED)
    assert accepts(NameClass.KEY, MIXED, style=Style.SHELL, name="API_KEY")


def test_what_begins_as_a_secret_key_does_is_one_beside_a_name_for_it() -> None:
    key = "s" + "k-secret-key-" + string.ascii_lowercase

    assert accepts(NameClass.KEY, key, style=Style.SHELL, name="API_KEY")


def test_a_password_in_a_row_is_one_all_the_same() -> None:
    assert "abcdef123456" not in redact("password: abcdef123456", rules=RULES, salt=b"salt").text


def test_letters_with_cases_as_in_no_name_are_scrambled() -> None:
    assert [] == [word for word in ("gpBgwwaPctPz", "cgXGZvqdeW", "BFvDjqEVr") if not is_scrambled(word)]
    assert [] == [
        word
        for word in ("PostgreSQL", "JavaScript", "KeePassXC", "Wachtwoord", "phpMyAdmin")
        if is_scrambled(word)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "$lang['generate random password'] = 'slumpa fram ett ord';",
        "min=$(generate_password '012345' '2')",
        "ID='1' RECORD='@' TYPE='A'\nID='2' RECORD='ftp' TYPE='A'\nID='3' RECORD='www' TYPE='A'\n",
        "HELLO=encrypted:BLAHx3Q9\nOTHER=encrypted:BLAHk7Zs\nLAST=encrypted:BLAHk7Zs\n",
        "ANY_KEY = ZHVtbXkgdGV4dCBkYXRhIGRhdGEgZGF0YQ==",
        "State[:secret2] = 'also should not copy'",
        "Never pass :data:`~app.current_app`",
        "```env\nTRACING_ENABLED=true\nDEBUG=false\n```\n",
        "value.replace(regexp, `$1$2${textInput.value}`);",
    ],
)
def test_messages_generators_records_and_switches_hold_no_secret(text: str) -> None:
    assert text == redact(text, rules=RULES, salt=b"salt").text
