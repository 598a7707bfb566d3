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


@pytest.fixture(scope="module")
def messages() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY))
        yield importlib.import_module("benchmarks.published_messages")


@pytest.fixture(scope="module")
def rules() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY))
        yield importlib.import_module("benchmarks.published_rules")


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
    assert {(None, f"{tmp_path.name}/some")} == {(text.secret, text.source) for text in texts}


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
    tmp_path: Path, messages: Any
) -> None:
    folder = tmp_path / "wiki"
    english = {"told": 'Account for $1 with password "$2".', "short": "Passwords must have $1 characters."}
    turkish = {"told": 'Parola "$2" ile $1 hesabı.', "short": "Parolalar $1 karakter olmalı."}
    write(folder / "i18n/en.json", json.dumps(english))
    write(folder / "i18n/tr.json", json.dumps(turkish))

    told, short = sorted(messages.translations(folder), key=lambda text: text.secret is None)

    assert told.text.startswith(f'Parola "{told.secret}" ile ')
    assert ("harmless", None, "tr") == (short.kind, short.secret, short.language)
    assert "$" not in told.text + short.text


def test_a_source_belongs_to_one_half_as_a_whole(published: Any) -> None:
    halves = {published.Text("tokens", f"rules/{at}", "a").half for at in range(40)}

    assert {"development", "unseen"} == halves
    assert "unseen" == published.Text("spoken", "qBittorrent", "a", language="tr").half
    assert "development" == published.Text("spoken", "wordpress-l10n", "a", language="tr").half


def test_a_catalog_is_read_in_the_encoding_that_it_names(tmp_path: Path, messages: Any) -> None:
    file = tmp_path / "program/locale/de/some.po"
    file.parent.mkdir(parents=True)
    entry = 'msgid "Password: %s"\nmsgstr "Schlüsselwort: %s"\n'
    file.write_bytes(
        f'msgid ""\nmsgstr "Content-Type: text/plain; charset=iso-8859-1"\n\n{entry}'.encode("latin-1")
    )

    assert ["Schlüsselwort"] == [
        text.text.split(":")[0] for text in messages.translations(tmp_path / "program")
    ]


def test_a_detector_gives_the_tokens_of_its_test_that_it_finds_by_themselves(
    tmp_path: Path, rules: Any
) -> None:
    pattern = "package x\nvar (\n\tkeyPat = regexp.MustCompile(`\\b(tok_[a-z0-9]{16})\\b`)\n\tidPat = regexp.MustCompile(`[0-9]{16}`)\n)\n"
    test = 'input: `key = tok_0123456789abcdef id = 1234567890123456`, bad: "tok_0123"\n'
    write(tmp_path / "some/some.go", pattern)
    write(tmp_path / "some/some_test.go", test)
    write(tmp_path / "named/named.go", pattern.replace("`\\b", 'detectors.PrefixRegex([]string{"x"}) + `\\b'))
    write(tmp_path / "named/named_test.go", test)

    assert ["tok_0123456789abcdef"] == [text.secret for text in rules.detector_tokens(tmp_path)]


def test_a_result_gives_the_token_that_is_all_of_its_match(tmp_path: Path, rules: Any) -> None:
    rows = [
        ("A", "tok_0123456789abcdef", "tok_0123456789abcdef"),
        ("B", "key=tok_fedcba9876543210", "tok_fedcba9876543210"),
    ]
    written = [
        f"- {{rule.id: {rule}, match: '{match}', secret: '{secret}'}}\n" for rule, match, secret in rows
    ]
    write(tmp_path / "testdata/leaktk-scanner-results.yaml", "".join(written))

    assert ["tok_0123456789abcdef"] == [text.secret for text in rules.scan_results(tmp_path)]


def test_a_snapshot_gives_tokens_that_fill_a_line_and_files_in_which_nothing_is_found(
    tmp_path: Path, rules: Any
) -> None:
    folder = tmp_path / "packages/@secretlint/secretlint-rule-some/test/snapshots"
    content = "tok_0123456789abcdef\nkey = tok_fedcba9876543210\n"
    found = [{"range": [0, 20]}, {"range": [27, 47]}]
    write(folder / "bad/output.json", json.dumps({"sourceContent": content, "messages": found}))
    write(folder / "ok/output.json", json.dumps({"sourceContent": "key = <token>", "messages": []}))

    assert [("tok_0123456789abcdef", "tokens"), (None, "negatives")] == [
        (text.secret, text.kind) for text in rules.snapshots(tmp_path)
    ]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (
            "locale/tr/some.po",
            'msgid ""\n"Your password is: "\n"%(password)s"\nmsgstr "Parolanız: %(password)s"\n',
        ),
        (
            "lang/some_tr.ts",
            "<TS><context><message><source>Password: %1</source><translation>Parola: %1</translation></message></context></TS>",
        ),
        ("languages/tr.php", "<?php return array(\n\t'mail:body' => \"Parola: %s\",\n);"),
    ],
)
def test_catalogs_as_translators_write_them_are_read(
    tmp_path: Path, messages: Any, name: str, written: str
) -> None:
    write(tmp_path / "program" / name, written)
    write(
        tmp_path / "program/languages/en.php", "<?php return array(\n\t'mail:body' => \"Password: %s\",\n);"
    )

    (text,) = messages.translations(tmp_path / "program")

    assert ("spoken", "tr") == (text.kind, text.language)
    assert text.text.startswith("Parola")
    assert text.text.endswith(f": {text.secret}")
