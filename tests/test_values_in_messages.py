"""How a message shows the value that was wrong: as Python writes it, so that it can be read, printed and told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.interfaces.cli.output import progress
from ran import Run

STEERING = ("\x1b[2Jboo", "a\0b", "\ud800", "\x9b2J", "\u202eboo")
CALLS: dict[str, Callable[[Hexad, str], object]] = {
    "metadata": lambda hx, text: hx.remember("A text.", metadata=text),  # type: ignore[arg-type]
    "ingest": lambda hx, text: hx.ingest(text),
    "recall": lambda hx, text: hx.recall("text", space=text),
    "get": lambda hx, text: hx.get(text),
    "policy": lambda hx, text: hx.spaces.set_policy("default", {text: 1}),
    "value of a policy": lambda hx, text: hx.spaces.set_policy("default", {"ttl_days": text}),
    "document": lambda hx, text: hx.xdb.documents.update_document(text, content="New."),
    "space file": lambda hx, text: hx.spaces.read_file(text),
    "export": lambda hx, text: hx.spaces.verify(text),
    "pack": lambda hx, text: hx.xdb.load_concept_pack(text),
    "contract": lambda hx, text: hx.xdb.set_contract(text),
    "session": lambda hx, text: hx.session.resume(text),
    "stream": lambda hx, text: hx.xdb.record(
        "output", "Hello.", session_id=text, concept_activations={text: 2}
    ),
    "tag": lambda hx, text: hx.xdb.untag(text),
    "fact": lambda hx, text: hx.facts.history("billing", text, space=text),
    "graph": lambda hx, text: hx.graph.query("uses", text),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("text", STEERING, ids=ascii)
def test_no_message_steers_a_terminal_or_cannot_be_printed(hx: Hexad, call: str, text: str) -> None:
    hx.remember("A text that is there.")
    try:
        CALLS[call](hx, text)
    except hexad.HexadError as error:
        for said in (str(error), error.reason, error.remedy):
            assert said.isprintable(), ascii(said)


def test_an_error_of_a_path_can_be_printed(hx: Hexad, tmp_path: Path) -> None:
    """Paths stand in many messages without quotation marks."""
    folder = tmp_path / "\x1b[2J"
    folder.mkdir()

    with pytest.raises(hexad.InvalidInput) as caught:
        hx.xdb.set_contract(folder)

    assert "\\x1b[2J" in str(caught.value) and str(caught.value).isprintable()


@pytest.mark.parametrize("value", ["", "boo", 5, ["a"]])
def test_metadata_that_is_no_object_is_quoted(hx: Hexad, value: object) -> None:
    with pytest.raises(hexad.InvalidMemory) as caught:
        hx.remember("A text.", metadata=value)  # type: ignore[arg-type]

    assert f"metadata = {value!r} is not an object; give names with values." == str(caught.value)


@pytest.mark.parametrize(("value", "shown"), [(-1, "-1"), ("week", "'week'"), ([1], "[1]"), (True, "true")])
def test_a_policys_value_is_shown_as_what_it_is(hx: Hexad, value: object, shown: str) -> None:
    hx.spaces.create("shop")
    with pytest.raises(hexad.InvalidSpace, match="Invalid space policy") as caught:
        hx.spaces.set_policy("shop", {"ttl_days": value})  # type: ignore[dict-item]

    assert f"policy 'ttl_days': {shown} cannot be used;" in str(caught.value)


def test_what_ends_before_it_begins_says_what_helps(hx: Hexad) -> None:
    with pytest.raises(hexad.InvalidMemory, match=r"valid_from .*; give a later valid_to, or leave it out\."):
        hx.remember("A text.", valid_from="2026-05-01", valid_to="2026-04-01")


def test_a_plain_store_is_not_asked_about_before_it_is_named_as_one(run: Run) -> None:
    run("init")
    refused = run("decrypt")

    assert (4, True) == (refused.code, "is not encrypted; `hexad encrypt`" in refused.err)
    assert "--yes" not in refused.err


def test_no_more_is_read_than_there_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SHOWN_AFTER_S", 0.0)
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    run("init")

    assert "of 0 items" not in run("ingest", ".").err


def test_words_that_are_none_are_refused_by_a_search_of_documents(hx: Hexad, run: Run) -> None:
    with pytest.raises(hexad.InvalidInput, match="text_query = '' says nothing to look for; give words"):
        hx.xdb.documents.search(text_query="")
    run("init")
    refused = run("docs", "search", "")

    assert (2, True) == (refused.code, "WORDS '' says nothing to look for" in refused.err)


def test_a_question_and_a_topic_that_are_empty_say_what_each_takes(hx: Hexad, run: Run) -> None:
    run("init")
    recalled, explained = run("recall", "").err, run("why", "").err

    assert "say what to recall. `hexad memory list` shows everything." in recalled and "hx." not in recalled
    assert "give a file, a commit or a subject. `hexad memory list --kind decision`" in explained
    with pytest.raises(hexad.InvalidInput, match="topic = '' names nothing that was decided about"):
        hx.governance.why("")
