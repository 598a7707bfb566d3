"""Personal data: what each detector takes, and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.redaction.personal_data import DETECTORS, DIGITS_LEAST, digits_of, iban_valid, luhn_valid


def found(name: str, text: str) -> list[str]:
    return [text[span.start : span.end] for span in DETECTORS[name](text)]


@pytest.mark.row("L057", "A127")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("email", "jane.doe+news@mail.example.co.uk"),
        ("email", "zoë.müller@exämple.de"),
        ("phone", "+49 30 901820"),
        ("phone", "+44 (0)20 7946 0958"),
        ("phone", "(415) 555-2671"),
        ("phone", "212-555-0123"),
        ("phone", "06 12 34 56 78"),
        ("phone", "0171/1234567"),
        ("phone", "020 7946 0958"),
        ("card", "4111 1111 1111 1111"),
        ("card", "378282246310005"),
        ("card", "5555-5555-5555-4444"),
        ("card", "4111.1111.1111.1111"),
        ("card", "4111\u00a01111\u202f1111\u20111111"),
        ("card", "4111\u200b1111\u200b1111\u200b1111"),
        ("card", "４１１１１１１１１１１１１１１１"),
        ("iban", "DE89 3704 0044 0532 0130 00"),
        ("iban", "GB82WEST12345698765432"),
        ("iban", "DE89-3704-0044-0532-0130-00"),
        ("iban", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000"),
        ("iban", "de89370400440532013000"),
        ("ssn", "123-45-6789"),
        ("ssn", "123\u201145\u20116789"),
        ("ipv4", "203.0.113.77"),
        ("ipv6", "2001:db8:85a3::8a2e:370:7334"),
        ("ipv6", "fe80::1ff:fe23:4567:890a"),
    ],
)
@pytest.mark.parametrize("text", ["{}", "call or write: {}, thanks", "('{}')", "日本 {} ✓"])
def test_personal_data_is_found_in_any_surroundings(name: str, value: str, text: str) -> None:
    assert [value] == found(name, text.format(value))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("email", "git@github.com:org/repo.git"),
        ("email", "@app.route and react@18.2.0 and logo@2x.png"),
        ("email", "https://user:pass@host.com/x"),
        ("email", "a @ b.co and @b.co"),
        ("phone", "2026-03-02 10:11:12 and 20260302101112"),
        ("phone", "1234567890 and 1.234.567,89"),
        ("phone", "+1.12345679"),
        ("phone", "Boston, MA 02110-1301"),
        ("card", "4111 1111 1111 1112"),
        ("card", "1700000000000000 and 17999999999999999"),
        ("card", "4220315081820346526"),
        ("iban", "DE00 3704 0044 0532 0130 00"),
        ("iban", "XX89370400440532013000"),
        ("iban", "de89370400440532013001 and gb82westabcdef12ghijkl"),
        ("card", "4111.11111.111.1111 and 1.4111.1111.1111.1111"),
        ("ssn", "000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000"),
        ("ssn", "1123-45-67890"),
        ("ipv4", "version 11.22.33.44, v10.20.30.40, pkg==12.3.4.5"),
        ("ipv4", "127.0.0.1 0.0.0.0 255.255.255.0 10.0.0.0/8 1.1.1.1"),
        ("ipv4", "2.5.29.15 and 300.1.1.1 and 1.2.3.4.5"),
        ("ipv6", "std::vec::Vec and a[1::2] and ::1 and ab::cd"),
        ("ipv6", "12:34:56 and 00:1a:2b:3c:4d:5e"),
    ],
)
def test_what_only_looks_like_personal_data_is_not_found(name: str, text: str) -> None:
    assert [] == found(name, text)


def test_digits_after_the_word_phone_are_a_number_and_a_word_makes_an_ssn() -> None:
    assert ["4155552671"] == found("phone", "phone: 4155552671")
    assert ["123456789"] == found("ssn", "SSN 123456789")


def test_checksums_hold_for_known_numbers_and_fail_for_one_wrong_digit() -> None:
    assert luhn_valid("79927398713")
    assert not luhn_valid("79927398714")
    assert iban_valid("GB82WEST12345698765432")
    assert not iban_valid("GB82WEST12345698765433")


@pytest.mark.parametrize("unit", ["1", "1 ", "a@", "+1 ", "::", "1.", "a.", "DE12 ", "(0", "@a.", "123-45-"])
def test_repetitive_text_is_read_to_its_end(unit: str) -> None:
    for name in DETECTORS:
        found(name, unit * 5_000)


@given(
    pieces=st.lists(
        st.sampled_from(
            [
                "call",
                "phone",
                "+49",
                "30",
                "0",
                "1",
                "4",
                "41",
                "411",
                "(415)",
                "GB82WEST",
                "ab12",
                "ssn",
                "1.2.3.4",
                "10.",
            ]
        ),
        max_size=9,
    ),
    joint=st.sampled_from(["", " ", "-"]),
)
def test_a_text_of_too_few_digits_has_nothing_for_a_detector(pieces: list[str], joint: str) -> None:
    text = joint.join(pieces)

    for name, least in DIGITS_LEAST.items():
        if digits_of(text) < least:
            assert [] == found(name, text)


def test_digits_of_every_script_count():
    assert (4, 4, 0) == (
        digits_of("at 10:45"),
        digits_of("at \u0967\u0966:\uff14\uff15"),
        digits_of("\u00b2 squared"),
    )
