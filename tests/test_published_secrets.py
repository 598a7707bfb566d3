"""The readers of published test data: what of a repository becomes a sample, and of which half."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def published() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY))
        yield importlib.import_module("benchmarks.published_secrets")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_literals_of_a_list_in_go_are_read_and_what_is_put_together_is_not(
    tmp_path: Path, published: Any
) -> None:
    source = (
        "tps := []string{`other`}\n"
        'fps := []string{\n\t// a comment, with `quotes`\n\t`raw`, "a \\"b\\"",\n'
        '\t"left" + secrets.New("x"),\n\tfmt.Sprint("y"), // and another\n\t`last`,\n}\n'
    )
    write(tmp_path / "cmd/generate/config/rules/some.go", source)

    texts = [*published.gitleaks_negatives(tmp_path)]

    assert ["raw", 'a "b"', "last"] == [text.text for text in texts]
    assert {(None, "gitleaks/some")} == {(text.secret, text.source) for text in texts}


def test_a_token_counts_where_its_rule_finds_it_without_the_words_around_it(
    tmp_path: Path, published: Any
) -> None:
    rules = (
        "rules:\n"
        "- {name: Some Token, pattern: '\\b(tok_[a-z0-9]{16})\\b', examples: ['x = tok_0123456789abcdef']}\n"
        "- {name: Other, pattern: 'other = ([a-z0-9]{16})', examples: ['other = 0123456789abcdef']}\n"
        "- {name: Some Public Key, pattern: '(pub_[a-z0-9]{16})', examples: ['pub_0123456789abcdef']}\n"
    )
    write(tmp_path / "data/rules/some.yml", rules)

    assert ["tok_0123456789abcdef"] == [text.secret for text in published.bare_tokens(tmp_path)]


def test_a_message_that_tells_a_password_gets_one_in_the_place_of_its_own_language(
    tmp_path: Path, published: Any
) -> None:
    folder = tmp_path / "wiki"
    english = {"told": 'Account for $1 with password "$2".', "short": "Passwords must have $1 characters."}
    turkish = {"told": 'Parola "$2" ile $1 hesabı.', "short": "Parolalar $1 karakter olmalı."}
    write(folder / "i18n/en.json", json.dumps(english))
    write(folder / "i18n/tr.json", json.dumps(turkish))

    told, short = sorted(published.translations(folder), key=lambda text: text.secret is None)

    assert told.text.startswith(f'Parola "{told.secret}" ile ')
    assert ("harmless", None, "tr") == (short.kind, short.secret, short.language)
    assert "$" not in told.text + short.text


def test_a_source_belongs_to_one_half_as_a_whole(published: Any) -> None:
    halves = {published.Text("tokens", f"rules/{at}", "a").half for at in range(40)}

    assert {"development", "unseen"} == halves
    assert "unseen" == published.Text("spoken", "mediawiki", "a", language="tr").half
    assert "development" == published.Text("spoken", "wordpress-l10n", "a", language="tr").half
