"""The table of shapes, the notation it is written in, and the judgement of names and values."""

import random
import re
import string

import pytest

from hexad.redaction.secrets.assignments import (
    _TABLE,
    PROVIDER_KEY_LEAST,
    PROVIDERS,
    find_assignments,
    provider_rule,
)
from hexad.redaction.secrets.blocks import is_env_path
from hexad.redaction.secrets.drawn_tokens import find_drawn
from hexad.redaction.secrets.known_formats import (
    _LONG_RUN,
    _RUN,
    _compiled,
    _shapes,
    compile_template,
    expand_choices,
    find_shapes,
    literal_head,
)
from hexad.redaction.secrets.names import KEYWORDS, NameClass, classify_name
from hexad.redaction.secrets.values import is_placeholder, looks_chosen, looks_random

_random = random.Random(4)
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def chars(alphabet: str, count: int) -> str:
    return "".join(_random.choice(alphabet) for _ in range(count))


def test_a_template_is_literal_text_with_slots_and_choices() -> None:
    assert ["sk_live_<a:10+>", "rk_live_<a:10+>"] == list(expand_choices("{sk|rk}_live_<a:10+>"))
    assert "glpat-" == literal_head("glpat-<w:20>")
    assert "" == literal_head("<h:32>-us<d:1-2>")

    pattern = compile_template("x.<d:2-3>-<uuid>")

    assert pattern.match("x.123-8c0a2f6e-1111-4a3b-9c55-0d3f6b1e2a77") is not None
    assert pattern.match("xy123-8c0a2f6e-1111-4a3b-9c55-0d3f6b1e2a77") is None
    assert pattern.match("x.1-8c0a2f6e-1111-4a3b-9c55-0d3f6b1e2a77") is None


def test_a_closed_slot_ends_where_the_letters_end() -> None:
    assert compile_template("h4").fullmatch("12af") is not None
    assert compile_template("p-<h:4>").match("p-12af0") is None
    assert compile_template("p-<h:4+>").match("p-12af0") is not None


def _filled(template: str) -> str:
    """Return a value that `template` describes, with letters and digits in every slot."""
    alphabets = {
        "d": "0123456789",
        "h": HEX,
        "H": HEX,
        "l": string.ascii_lowercase + "0123456789",
        "z": string.ascii_letters,
    }
    alphabets |= {"u": string.ascii_uppercase + "0123456789", "c": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"}

    def slot(found: re.Match[str]) -> str:
        if found[0] == "<uuid>":
            return "-".join(chars(HEX, n) for n in (8, 4, 4, 4, 12))
        return chars(alphabets.get(found[1], ALNUM), int(found[2]))

    return re.sub(r"<uuid>|<([a-zA-Z]):(\d+)(?:-\d+|\+)?>", slot, template)


@pytest.mark.row("A128")
def test_every_shape_in_the_table_finds_a_value_made_from_it() -> None:
    missed = []
    for shape in _shapes():
        if shape.special:
            continue
        tries = [_filled(shape.source) for _ in range(8)]
        found = [list(find_shapes(f"is {value} here")) for value in tries]
        if not any(
            spans and (spans[0].start, spans[0].end) == (3, 3 + len(value))
            for spans, value in zip(found, tries, strict=True)
        ):
            missed.append(shape.source)

    assert [] == missed


def test_the_tables_cover_at_least_150_kinds_of_credentials() -> None:
    prefixed = {shape.rule for shape in _shapes()}

    assert len(prefixed | {f"{name}-key" for name in PROVIDERS}) >= 150


def test_a_prefix_inside_a_word_or_before_filler_is_no_token() -> None:
    assert [] == list(find_shapes("zz" + "gh" + "p_" + chars(ALNUM, 36)))
    assert [] == list(find_shapes("gh" + "p_" + "x" * 36))
    assert [] == list(find_shapes("s" + "k-your-key-goes-here-12345678"))


def test_a_run_of_rejected_prefixes_is_left_after_a_few_tries() -> None:
    assert [] == list(find_shapes("s" + "k-" * 20_000))


DRAWN = "k3VxQ9mT2bZ7rLw5Jc8NpD4sHg6YfA1eUo0iXtRvKqMzBnCdWhPjGlSyEaFu3T9x2Q7mL5b8Z4w6R1v0J3c"
DIGITS_OF_16 = "3f9a0c7e1b5d8264" * 5


@pytest.mark.parametrize(
    ("rule", "token"),
    [
        ("azure-ai-key", f"{DRAWN[:52]}JQQJ9{DRAWN[9:36]}"),
        ("azure-devops-token", f"{DRAWN[:76]}AZ" + f"DO{DRAWN[:4]}"),
        ("new-relic-license-key", f"{DIGITS_OF_16[:36]}NR" + "AL"),
        ("ubidots-token", "BB" + f"FF-{DRAWN[:30]}"),
        (
            "launchdarkly-key",
            "sdk-"
            + f"{DIGITS_OF_16[:8]}-{DIGITS_OF_16[:4]}-{DIGITS_OF_16[4:8]}-{DIGITS_OF_16[8:12]}-{DIGITS_OF_16[:12]}",
        ),
        ("zoho-token", f"1000.{DIGITS_OF_16[:32]}.{DIGITS_OF_16[16:48]}"),
    ],
)
def test_a_token_of_a_known_format_is_found_by_itself(rule: str, token: str) -> None:
    assert [(rule, 4, 4 + len(token))] == [span[:3] for span in find_shapes(f"see {token} there")]


def test_a_token_of_an_unknown_format_says_what_it_is_and_an_id_does_not() -> None:
    token = f"acme_live_{DRAWN[:28]}"

    assert [("token", 0, len(token))] == [span[:3] for span in find_drawn(token)]
    for other in (
        f"msg_{DRAWN[:28]}",
        f"pk_live_{DRAWN[:28]}",
        f"api-{DIGITS_OF_16[:40]}",
        "secret_of_the_long_forgotten_gate",
    ):
        assert [] == [*find_drawn(other)], other


def test_the_beginning_of_a_token_whose_rest_was_left_out_is_none() -> None:
    assert [] == [*find_shapes("gl" + f"pat-{DRAWN[:20]}...")]
    assert [] == [*find_shapes("gl" + "pat-" + "1231" * 8)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DB_PASSWORD", NameClass.PASSWORD),
        ("pgpassword", NameClass.PASSWORD),
        ("smtpPass", NameClass.PASSWORD),
        ("clientSecret", NameClass.SECRET),
        ("x-auth-token", NameClass.TOKEN),
        ("apiKey", NameClass.KEY),
        ("AWS_SECRET_ACCESS_KEY", NameClass.KEY),
        ("STRIPE_KEY", NameClass.WEAK),
        ("password_min_length", None),
        ("max_tokens", None),
        ("next_page_token", None),
        ("primary_key", None),
        ("public_key", None),
        ("author", None),
        ("monkey", None),
        ("secretary", None),
        ("hashed_password", None),
        ("compass", None),
    ],
)
def test_a_name_announces_a_secret_or_speaks_about_one(name: str, expected: NameClass | None) -> None:
    assert expected == classify_name(name)
    assert expected is None or any(word in name.lower() for word in KEYWORDS)


def test_random_values_look_random_and_names_do_not() -> None:
    values = [
        chars(alphabet, 24)
        for alphabet in (ALNUM, HEX, string.ascii_lowercase + string.digits)
        for _ in range(100)
    ]

    assert sum(looks_random(value) for value in values) >= 290
    for name in (
        "AbstractSingletonProxyFactoryBean",
        "my-service-2-prod-eu1",
        "sha256sum_of_file",
        "us-east-1-deployment-key",
        "utf8mb4_general_ci",
    ):
        assert not looks_random(name)


def test_a_chosen_password_has_letters_with_digits_or_signs() -> None:
    assert looks_chosen("hunter" + "2")
    assert looks_chosen("Tr0ub" + "4dor&3")
    assert not looks_chosen("my-password")
    assert not looks_chosen("settings.DB_PASSWORD1")
    assert not looks_chosen("two words 1")


@pytest.mark.parametrize(
    "value",
    [
        "",
        "xxxx",
        "${TOKEN}",
        "{{ token }}",
        "<token>",
        "%(password)s",
        "changeme",
        "null",
        "your-key",
        "********",
        "op://vault/x",
        "https://host.io/x",
    ],
)
def test_placeholders_and_references_are_told_from_values(value: str) -> None:
    assert is_placeholder(value)
    assert not is_placeholder("k7" + "Gq2Zw")


def test_a_key_of_a_provider_needs_its_name_as_a_word_and_its_exact_form() -> None:
    key = chars(HEX, 31) + "7"

    assert "algolia-key" == provider_rule("algolia", "ALGOLIA_API_KEY", key)
    assert provider_rule("algolia", "algolia_commit_sha", key) is None
    assert provider_rule("algolia", "algolia_api_key", key[1:]) is None
    assert provider_rule("okta", "rookTable", "00" + chars(ALNUM, 40)) is None


def test_a_key_of_a_provider_is_found_beside_its_name_however_short_it_is() -> None:
    keys = [
        (line.split()[0].split("|")[0], _filled(f"<{form[0]}:{form[1:]}>"))
        for line in _TABLE.strip().splitlines()
        for form in line.split()[1:]
        if re.fullmatch(r"[a-z]\d+", form)
    ]

    for name, key in keys:
        text = f"{name}_value={key}"
        found = [text[span.start : span.end] for span in find_assignments(text, text.lower())]
        assert ([key] if provider_rule(name, f"{name}_value", key) else []) == found, text
    assert PROVIDER_KEY_LEAST <= min(len(key) for _, key in keys)


def test_env_files_are_known_by_their_name() -> None:
    assert all(map(is_env_path, [".env", "a/.env", "a/.env.prod", "x.env", ".ENV", ".envrc"]))
    assert not any(map(is_env_path, [None, "environment.py", "a.envx", ".envs/x", "my.env/x.py"]))
    assert not any(
        map(is_env_path, [".env.example", "a/.env.sample#part-2", "example.env", "app.template.env"])
    )
    assert is_env_path("examples/.env")


@pytest.mark.parametrize("shape", _shapes(), ids=lambda shape: f"{shape.rule} {shape.source[:24]}")
def test_whatever_a_template_describes_has_the_run_of_characters_that_is_looked_for_first(shape) -> None:
    pattern = _compiled(shape.source, shape.special).pattern
    runs = pattern.split(r"[ \t]*")
    classes = re.findall(r"\[[^\]]*\]", "".join(runs))

    assert not re.search(r"\s|\\[sSWD]|(?<!\\)\.|\[\^", re.sub(r"\[[^\]^]*\]", "", "".join(runs)))
    assert not [each for each in classes if re.search(r"\s|\\[sSWD]", each)]
    longest = max(re._parser.parse(run).getwidth()[0] for run in runs)
    assert (_RUN if shape.head else _LONG_RUN).search("x" * longest)
