"""Secrets that are written so that they read the same and are other characters: found, and taken out as written."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from hexad.redaction.redact import find, project_rules, redact
from hexad.redaction.secrets.readings import Reading, encoded, readings

RULES = project_rules("all")
RANDOM = "kT9vQ2" + "zLp7"
KEY = "gh" + "p_16C7e42F292c6912" + "E7710c838347Ae178B4a"

WRITTEN = [
    ("pass\u200bword: {}", RANDOM),  # zero-width space
    ("pass\u00adword: {}", RANDOM),  # soft hyphen
    ("\u200epassword: \u200f{}", RANDOM),
    ("ｐａｓｓｗｏｒｄ：{}", RANDOM),
    ("𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: {}", RANDOM),
    ("pаsswоrd: {}", RANDOM),  # two letters are Cyrillic
    ("p̲a̲s̲s̲w̲o̲r̲d: {}", RANDOM),
    ("p a s s w o r d : {}", RANDOM),
    ("**pass**word: {}", RANDOM),
    ("db%5Fpassword%3D{}", RANDOM),
    ("&#112;ass&#119;ord: {}", RANDOM),
    ("\\u0070ass\\u0077ord: {}", RANDOM),
    ("p\\x61ssword: {}", RANDOM),
    ("{}", KEY[:9] + "\u200b" + KEY[9:]),
    ("{}", KEY.translate({ord(char): ord(char) + 0xFEE0 for char in KEY})),
    ("{}", KEY.replace("p", "р", 1)),  # a Cyrillic letter
    ("{}", quote(KEY).replace("_", "%5F")),
    ("see {} there", base64.b64encode(f"password: {RANDOM}".encode()).decode()),
    ("see {} there", base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("=")),
    ("see {} there", base64.b64encode(base64.b64encode(f"password: {RANDOM}".encode())).decode()),
    ("see {} there", base64.b32encode(f"password: {RANDOM}".encode()).decode()),
    ("see {} there", f"password: {RANDOM}".encode().hex()),
]


@pytest.mark.parametrize(("text", "value"), WRITTEN)
def test_a_disguised_secret_goes_and_the_words_around_it_stay(text: str, value: str) -> None:
    before, _, after = text.partition("{}")

    redacted = redact(text.format(value), rules=RULES, salt=b"salt").text

    assert value not in redacted
    assert redacted.startswith(before)
    assert redacted.endswith(after)
    assert redacted == redact(redacted, rules=RULES, salt=b"salt").text


@pytest.mark.parametrize("join", ["\n", "\n    ", "\r\n", "\\\n", "=\n"])
def test_a_key_that_was_wrapped_goes_on_both_lines(join: str) -> None:
    redacted = redact(f"Key:\n{KEY[:22]}{join}{KEY[22:]}\nregion: eu\n", rules=RULES, salt=b"salt").text

    assert KEY[:22] not in redacted
    assert KEY[22:] not in redacted
    assert "region: eu" in redacted


def test_the_line_behind_a_key_is_no_part_of_it() -> None:
    text = f"api_key={KEY}\nregion\neu-central-1\n"

    assert [KEY] == [text[finding.start : finding.end] for finding in find(text, rules=RULES)]


@pytest.mark.parametrize(
    "text",
    [
        "Ünal fährt nach Köln, das Passwort kennt er nicht.",
        "100% of the passwords were reset, 20%25 more than last year.",
        "https://example.org/a%20b?next=%2Faccount%2Fpassword",
        "That&#39;s the password&#58; nobody knows it.",
        "data:image/png;base64," + base64.b64encode(f"password: {RANDOM}".encode()).decode(),
        base64.b64encode(b"nothing in here is worth a second look").decode(),
        "the passwords\nwere reset2\n",
        "Plan B: a b c d e f",
        "sha256:" + "0a1b2c3d" * 8,
    ],
)
def test_what_is_written_in_codes_and_is_no_secret_stays(text: str) -> None:
    assert [] == find(text, rules=RULES)


def test_a_place_of_a_reading_is_found_in_what_was_written() -> None:
    reading = Reading("a%5Fb\u200bcd", [(1, 4, "_"), (5, 6, "")])

    assert "a_bcd" == reading.text
    assert (1, 5) == reading.written_span(1, 3)
    assert (4, 7) == reading.written_span(2, 4)
    assert (6, 8) == reading.written_span(3, 5)


def test_a_plain_text_has_no_other_reading_and_no_code_in_it() -> None:
    text = "The password is stored in Vault, and 100 % of them are.\nIt has 12 characters."

    assert [] == [*readings(text)]
    assert [] == [*encoded(text)]
