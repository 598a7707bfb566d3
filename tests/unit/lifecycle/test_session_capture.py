from __future__ import annotations

import random
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.lifecycle.session_capture import holds_words_alone
from hexad.redaction.masking import Masking
from hexad.redaction.pii_setting import Pii
from hexad.redaction.redact import project_rules

MASKINGS = [Masking(salt=lambda: b"s" * 32, rules=project_rules(pii, env_allow=())) for pii in Pii]
WORDS = (
    st.text(string.ascii_letters, min_size=1, max_size=24)
    | st.text(string.ascii_letters + string.digits, min_size=1, max_size=6)
    | st.from_regex(r"[A-Za-z]{4,24}[0-9]{1,3}", fullmatch=True)
)
TELLING = st.sampled_from(
    [
        "password",
        "secret",
        "token",
        "api-key",
        "AKIA",
        "ghp",
        "sk",
        "xoxb",
        "key",
        "env",
        "ssn",
        "card",
        "tel",
    ]
)
NAMES = st.lists(
    st.tuples(WORDS | TELLING, st.sampled_from(["/", ".", "_", "-", " ", ": "])), max_size=8
).map(lambda pairs: "".join(map("".join, pairs)))


@settings(max_examples=examples(400), deadline=None)
@given(NAMES)
@example("A.AAAg000.AAAAAAA.AAAAAAAAAA.")
def test_a_name_of_words_alone_is_what_redaction_makes_of_it(name):
    """Then the rules need not be loaded for it."""
    if holds_words_alone(name):
        assert [name] * len(MASKINGS) == [masking.text(name) for masking in MASKINGS]


@pytest.mark.parametrize(
    "name",
    ["", "src/module30.py", "src/db.py", "a-b_c/d.e", "/work/shop", "2026-11-22.md", "README", ".env.local"],
)
def test_names_of_files_are_words_alone(name):
    assert holds_words_alone(name)


@pytest.mark.parametrize(
    "name",
    [
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "password=hunter2",
        "mail ada@example.com",
        "4111 1111 1111 1111",
        "+49 30 1234567",
        "sk-" + "".join(random.Random(1).choices(string.ascii_letters, k=40)),
        "naïve",
        "AppKey AAAAaaaaBBBB",
        "a\nb",
    ],
)
def test_what_may_hold_a_secret_is_looked_at(name):
    assert not holds_words_alone(name)
