"""From a space's policy to rules: names, groups, own expressions, and what is refused."""

import re

import pytest

from hexad.errors import InvalidInput
from hexad.redaction.linear_pattern import PATTERN_LIMIT, linear_pattern
from hexad.redaction.personal_data import DETECTORS
from hexad.redaction.policy import (
    PATTERNS_LIMIT,
    RedactionRules,
    compile_guarded,
    rules_from_policy,
)


@pytest.mark.row("L045")
@pytest.mark.parametrize(
    ("entries", "detectors"),
    [
        (None, set()),
        ([], set()),
        (["email"], {"email"}),
        (["Emails", "credit-cards"], {"email", "card"}),
        (["ips"], {"ipv4", "ipv6"}),
        (["keys"], set()),
        (["all"], set(DETECTORS)),
    ],
)
def test_names_and_groups_switch_detectors_on(entries: list[object] | None, detectors: set[str]) -> None:
    rules = rules_from_policy({"pii_redaction": entries})

    assert detectors == rules.pii
    assert rules.secrets


def test_an_empty_policy_gives_the_defaults() -> None:
    assert RedactionRules() == rules_from_policy({})


def test_own_expressions_and_allowed_variables_are_taken_over() -> None:
    rules = rules_from_policy(
        {"pii_redaction": [{"name": "badge", "regex": r"B-\d{5}"}], "env_allow": ["PORT"]}
    )

    assert (("badge", linear_pattern(r"B-\d{5}")),) == rules.patterns
    assert frozenset({"PORT"}) == rules.env_allow


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"pii_redaction": ["emial"]}, "'emial' is not known: detectors are card, email"),
        ({"pii_redaction": "emails"}, "must be a list"),
        ({"pii_redaction": [7]}, "7 is neither a name nor a mapping"),
        ({"pii_redaction": [{"name": "a"}]}, "must be"),
        ({"pii_redaction": [{"name": "A b", "regex": "x"}]}, "name 'A b' must be"),
        ({"pii_redaction": [{"name": "a", "regex": "x", "flags": 1}]}, "must be"),
        ({"pii_redaction": [{"name": "a", "regex": "("}]}, "is not valid"),
        ({"pii_redaction": [{"name": f"n{n}", "regex": "x"} for n in range(PATTERNS_LIMIT + 1)]}, "at most"),
        ({"env_allow": [1]}, "variable names"),
    ],
)
def test_a_bad_entry_is_refused_with_its_value_and_what_is_allowed(
    policy: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        rules_from_policy(policy)


@pytest.mark.parametrize(
    "source",
    [
        r"(?:a*b*)*c",
        r"(a)\1",
        r"(?P<q>['\"]).*(?P=q)",
        r"a*",
        r"x?y*",
        r"(?>a+)b.*c",
        r"a++b.*c",
        r"(a)?(?(1)b|c).*d",
        r"(?=.*x)y.*z",
        r"(?:\w{1,200}-){1,9}x",
        "x" * (PATTERN_LIMIT + 1),
    ],
)
def test_an_expression_that_could_run_for_very_long_is_refused(source: str) -> None:
    with pytest.raises(InvalidInput, match="redaction rule 'r'"):
        compile_guarded(source, name="r")


@pytest.mark.parametrize(
    "source",
    [
        r"B-\d{5}",
        r"(?i)emp(?:loyee)?[ -]?\d+",
        r"[(a+)+]{3}",
        r"\(a+\)+",
        r"(?:ab|cd)-\w{1,40}",
        r"x{2,30}y+",
        r"(a+)+$",
        r"(x|xx)+y",
        r"((ab)*c){2,}",
        r"(\w+\s?)*end",
        r".*.*.*.*.*=",
        r"name.*value.*!",
        r"(?<![\w-])ACME-\d+(?!\d)",
    ],
)
def test_an_ordinary_expression_is_taken(source: str) -> None:
    assert source == compile_guarded(source, name="r").pattern
