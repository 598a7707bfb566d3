"""A cached view follows every change, of any process, and equals what would be read anew."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from example_counts import SHARED_FIXTURES, examples
from hexad import FrozenClock, Hexad
from hexad.database.change_counters import ChangeReader
from hexad.memory.draft import Draft
from hexad.memory.policy import Backend
from hexad.memory.store import Stores
from hexad.memory.tables.ngram_filters import TextSignatures
from hexad.services import memory_tables
from hexad.spaces.bundles.bundle import BundleOptions
from hexad.spaces.bundles.orderings.all import VIEWS_MOST, Orderings
from hexad.spaces.bundles.orderings.raptor import CLUSTER_WORDS_MOST
from hexad.spaces.retention import Purger

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TOPICS = ("gate", "lexon/gate way", "Größe", "of", "")


def space_no(hx: Hexad, space: str = "s") -> int:
    return hx._services.stores.spaces.get(space).no


def anew(hx: Hexad, roles: tuple[str, ...] | None = None) -> Orderings:
    """Return orderings that have read nothing yet."""
    return Orderings(Stores(hx._services.db, roles=roles), ChangeReader(hx._services.db))


def everything(orderings: Orderings, no: int) -> list[object]:
    """Return all that orderings say of a space."""
    options = BundleOptions(prefer_tags=("gate", "way"), prefer_kinds=("guide",))
    return [
        orderings.topic(no, topic, chosen, backend=backend, now=NOW, limit=100)
        for backend in Backend
        for topic in TOPICS
        for chosen in (options, BundleOptions(path="lexon/gate", order="strict"))
    ] + [
        orderings.kind(no, kind, options, backend=backend, now=NOW, limit=100)
        for backend in Backend
        for kind in ("guide", "note")
    ]


def basic(hx: Hexad, topic: str, space: str = "s") -> list[str]:
    found = hx._services.orderings().topic(
        space_no(hx, space), topic, BundleOptions(), backend=Backend.BASIC, now=NOW, limit=100
    )
    memories = hx._services.stores.memories.by_no([entry.no for entry in found])
    return [memories[entry.no].id for entry in found]


word = st.sampled_from(["gate", "way", "Größe", "lexon", "of", "時間"])
step = st.tuples(
    st.sampled_from(
        ["write", "write", "pin", "unpin", "forget", "restore", "tags", "purge", "ask", "other space"]
    ),
    st.integers(0, 7),
    st.lists(word, min_size=1, max_size=4),
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Iterator[tuple[Hexad, Hexad]]:
    """A store that is open twice: what one writes, the other has to notice."""
    folder = tmp_path_factory.mktemp("pair")
    clock = FrozenClock()  # all of one time, so that paths and ids decide
    with hexad.open(folder, embedder=None, background=False, clock=clock) as hx:
        hx.remember("A first text.", space="s", id="first")
        hx.remember("Somewhere else.", space="elsewhere")
        with hexad.open(folder, embedder=None, background=False, clock=clock) as other:
            yield hx, other
            assert [] == other.check()


@pytest.mark.row("L118", "L119", "L122", "L138")
@settings(
    max_examples=examples(20),
    derandomize=True,
    suppress_health_check=SHARED_FIXTURES,
)
@given(steps=st.lists(step, min_size=1, max_size=12))
def test_after_any_changes_a_view_equals_one_that_is_read_anew(pair: tuple[Hexad, Hexad], steps) -> None:
    writer, reader = pair
    no = space_no(reader)
    everything(reader._services.orderings(), no)
    for what, number, words in steps:
        name = f"m{number}"
        known = {memory.id for memory in writer.memories(space="s", status=None, limit=None)}
        if what == "write":
            writer.remember(
                " ".join(words),
                space="s",
                id=name,
                path="/".join(words),
                kind="guide" if number % 2 else "note",
                tags=words,
                pinned=number % 3 == 0,
                metadata={"owner": words[0]},
            )
        elif what == "other space":
            writer.remember(" ".join(words), space="elsewhere")
        elif what == "ask":
            everything(reader._services.orderings(), no)
        elif name in known:
            _change(writer, what, name, words)
        if number % 2:
            basic(reader, "gate")  # the view follows in steps, too

    assert everything(anew(reader), no) == everything(reader._services.orderings(), no)
    assert anew(reader).under(no, "") == reader._services.orderings().under(no, "")
    held = reader._services.orderings()._views[no]
    assert (
        reader._services.stores.memories.count() >= len(held) == len(reader.memories(space="s", limit=None))
    )


def _purge(hx: Hexad, name: str) -> None:
    stores = hx._services.stores
    Purger(
        stores,
        hx._services.fulltext,
        key=lambda: b"key",
        disconnect=lambda _numbers: None,
        tables=memory_tables,
    ).purge([stores.memories.number(name)], reason="test", at=NOW)


def _change(hx: Hexad, what: str, name: str, words: list[str]) -> None:
    if what == "tags":
        hx.remember(hx.get(name).raw, space="s", id=name, tags=words)
    elif what == "purge":
        _purge(hx, name)
    else:
        getattr(hx, what)(name)


@pytest.mark.row("L138")
def test_a_write_of_another_process_is_seen_by_the_next_call(hx):
    hx.remember("gate and way", space="s", id="here")
    assert ["here"] == basic(hx, "gate")

    code = f"""
import hexad
with hexad.open({str(hx.path.parent)!r}, embedder=None, background=False) as hx:
    hx.remember("the gate", space="s", id="there", pinned=True)
    hx.forget("here")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    assert ["there"] == basic(hx, "gate")


@pytest.mark.row("L138", "L016")
def test_an_unchanged_space_is_not_read_again(hx):
    hx.remember("gate", space="s", id="a")
    basic(hx, "gate")
    statements: list[str] = []
    hx._services.db.tracer = lambda sql, _seconds: statements.append(sql)

    assert ["a"] == basic(hx, "gate")

    assert [] == [sql for sql in statements if "signatures" in sql or "rev >" in sql]
    hx.remember("way", space="s", id="b")
    statements.clear()
    basic(hx, "gate")
    assert 1 == sum("rev >" in sql for sql in statements)
    assert 0 == sum("signatures g ON" in sql and "json_each" not in sql for sql in statements)


def test_a_reader_that_stands_before_a_change_is_answered_as_of_then(hx):
    for number in range(5):
        hx.remember(f"gate {number}", space="s", id=f"m{number}")
    no, orderings = space_no(hx), hx._services.orderings()
    before = everything(orderings, no)

    def change_and_ask() -> None:
        hx.forget("m1")
        hx.pin("m2")
        hx.remember("the gate again", space="s", id="m3")
        hx.remember("gate", space="s", id="new")
        _purge(hx, "m4")
        after.extend(everything(orderings, no))

    after: list[object] = []
    with hx._services.db.read():
        hx._services.stores.memories.count()  # from here on this thread stands still
        thread = threading.Thread(target=change_and_ask)
        thread.start()
        thread.join()
        assert before != after
        assert before == everything(orderings, no)
    assert after == everything(orderings, no) == everything(anew(hx), no)


def test_what_a_transaction_undoes_was_never_in_a_view(hx):
    hx.remember("gate", space="s", id="a")
    no, db = space_no(hx), hx._services.db
    before = everything(hx._services.orderings(), no)

    with pytest.raises(RuntimeError), db.transaction():
        hx._services.stores.memories.set_pinned(hx._services.stores.memories.number("a"), True, at=NOW)
        assert before != everything(hx._services.orderings(), no)
        raise RuntimeError

    assert before == everything(hx._services.orderings(), no)


def test_threads_that_ask_while_others_write_get_whole_answers(hx):
    for number in range(20):
        hx.remember(f"gate {number}", space="s", id=f"m{number:02}")
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(20):
                with hx._services.db.read():
                    found = hx._services.orderings().topic(
                        space_no(hx), "gate", BundleOptions(), backend=Backend.HYBRID, now=NOW, limit=100
                    )
                    active = hx._services.stores.memories.count()
                    assert active == len(found)
                    assert len(found) == len(
                        hx._services.stores.memories.by_no([record.no for record in found])
                    )
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(15):
        hx.remember(f"gate once more {number}", space="s")
        hx.forget(f"m{number:02}")
    for thread in threads:
        thread.join()

    assert [] == failures
    assert everything(anew(hx), space_no(hx)) == everything(hx._services.orderings(), space_no(hx))


def test_a_large_change_is_read_anew(hx):
    hx._services.ingest().writer.write([_draft(number, "gate") for number in range(3)])
    basic(hx, "gate")
    hx._services.ingest().writer.write([_draft(number, "way") for number in range(3, 1110)])

    assert everything(anew(hx), space_no(hx)) == everything(hx._services.orderings(), space_no(hx))
    assert 100 == len(basic(hx, "way"))


def _draft(number: int, text: str) -> Draft:
    return Draft(text=f"{text} {number}", space="s", id=f"m{number:04}", path=f"lexon/{number % 7}/{number}")


def test_only_the_last_used_spaces_keep_a_view(hx):
    for number in range(VIEWS_MOST + 3):
        hx.remember(f"gate {number}", space=f"space-{number}", id=f"m{number}")
        assert [f"m{number}"] == basic(hx, "gate", f"space-{number}")

    assert VIEWS_MOST == len(hx._services.orderings()._views)
    assert ["m0"] == basic(hx, "gate", "space-0")


def test_hidden_memories_are_neither_ordered_nor_counted(hx):
    hx.remember("open", space="s", id="open", path="x/alpha")
    hx.remember("hidden", space="s", id="hidden", path="y/alpha/alpha", pinned=True)
    alone = everything(anew(hx), space_no(hx))
    hx.spaces.set_policy("s", {"visibility": [{"paths": ["y"], "roles": ["lead"]}]})

    reviewer, no = anew(hx, roles=("reviewer",)), space_no(hx)
    found = reviewer.topic(no, "alpha", BundleOptions(), backend=Backend.HYBRID, now=NOW, limit=9)

    # Neither does the hidden one make `alpha` less rare, nor does its pin lend anything.
    assert [2.5 + 3.0 + 2.5 / 1] == [entry.score for entry in found]
    assert [hx._services.stores.memories.number("open")] == reviewer.under(no, "")
    assert alone == everything(anew(hx, roles=("lead",)), no)
    # What becomes visible is seen by a view that is there already.
    hx.spaces.set_policy("s", {"visibility": [{"paths": ["y"], "roles": ["lead", "reviewer"]}]})
    assert alone == everything(reviewer, no)


def test_a_memory_without_signatures_is_found_as_well(hx):
    for number in range(30):
        hx.remember(f"gate {number} of Größe", space="s", id=f"m{number}")
    before = everything(anew(hx), space_no(hx))
    for number in range(0, 30, 2):
        hx._services.stores.signatures.drop(hx._services.stores.memories.number(f"m{number}"))

    assert before == everything(anew(hx), space_no(hx))
    hx.reindex()
    assert hx._services.stores.signatures.get(hx._services.stores.memories.number("m0")) is not None
    assert before == everything(anew(hx), space_no(hx))


def test_a_view_does_not_go_on_with_signatures_that_were_mended(hx):
    hx.remember("the gate", space="s", id="a")
    no, stores = hx._services.stores.memories.number("a"), hx._services.stores
    stores.signatures.put([(no, TextSignatures(*(4 * [bytes(8)])))])  # as if nothing were in it
    options = BundleOptions()

    def score() -> float:
        orderings = hx._services.orderings()
        return orderings.topic(space_no(hx), "gate", options, backend=Backend.BASIC, now=NOW, limit=1)[
            0
        ].score

    assert 2.5 == score()
    hx.reindex()
    assert 2.5 + 2.0 + 1.5 + 3.0 == score()


def test_signatures_follow_what_a_memory_says(hx):
    hx.remember("gate", space="s", id="a")
    assert ["a"] == basic(hx, "gate")
    hx.remember("something of another kind", space="s", id="a", path="lexon/way")

    view = hx._services.orderings()
    scores = {
        topic: view.topic(space_no(hx), topic, BundleOptions(), backend=Backend.BASIC, now=NOW, limit=1)[
            0
        ].score
        for topic in ("gate", "another kind", "lexon/way")
    }

    assert {"gate": 2.5, "another kind": 6.0, "lexon/way": 5.5} == scores


def test_few_texts_are_read_to_settle_a_topic(hx):
    hx._services.ingest().writer.write([_draft(number, "way and gate") for number in range(400)])
    hx.remember("the very phrase", space="s", id="this")
    basic(hx, "gate")
    statements: list[str] = []
    hx._services.db.tracer = lambda sql, _seconds: statements.append(sql)
    found = hx._services.orderings().topic(
        space_no(hx), "very phrase", BundleOptions(), backend=Backend.BASIC, now=NOW, limit=5
    )

    assert 5 == len(found)
    assert 0 < sum(sql.count("?") for sql in statements if "raw" in sql) < 20


@pytest.mark.row("L111", "L112")
def test_the_environment_names_the_ordering_of_a_bundle(opened, monkeypatch):
    hx = opened()
    hx.remember("gate", space="s", path="lexon/gate")
    hx.close()
    monkeypatch.setenv("HEXAD_MEMORY_BACKEND", "Patricia")
    named = opened().recall_context("s", "lexon gate")
    monkeypatch.setenv("HEXAD_MEMORY_BACKEND", "fancy")
    unknown = opened().recall_context("s", "lexon gate")

    assert ("patricia", (2.5 + 2.0 * 2,), ()) == (named.backend, named.scores, named.notes)
    assert ("basic", (2.5,)) == (unknown.backend, unknown.scores)
    assert any("'fancy'" in note for note in unknown.notes)


def test_what_a_text_said_about_a_topic_is_kept_until_the_text_changes(hx):
    hx._services.ingest().writer.write([_draft(number, "way and gate") for number in range(60)])
    no, orderings = space_no(hx), hx._services.orderings()
    statements: list[str] = []

    def asked() -> tuple[int, list[float]]:
        statements.clear()
        found = orderings.topic(no, "zq", BundleOptions(), backend=Backend.BASIC, now=NOW, limit=3)
        return sum(sql.count("?") for sql in statements if "raw" in sql and "IN (?" in sql), [
            item.score for item in found
        ]

    hx._services.db.tracer = lambda sql, _seconds: statements.append(sql)
    # No signature rules out two characters, so every text has to be looked at, once.
    assert (60, [2.5, 2.5, 2.5]) == asked()
    assert (0, [2.5, 2.5, 2.5]) == asked()
    hx.remember("A zq in it.", space="s", id="m0007")
    assert (1, [6.0, 2.5, 2.5]) == asked()
    hx.remember("None any more.", space="s", id="m0007")
    assert (1, [2.5, 2.5, 2.5]) == asked()


@pytest.mark.row("L138")
def test_writes_to_other_spaces_leave_nothing_behind_in_a_view(hx: Hexad) -> None:
    hx.remember("The gate opens at six.", space="s")
    basic(hx, "gate")
    for number in range(20):
        hx.remember(f"Elsewhere {number}.", space="other")
        basic(hx, "gate")

    view = hx._services.orderings()._views[space_no(hx)]
    assert view.rev == hx._services.orderings()._changes.current("memories")
    assert 0 == len(view._journal)


@pytest.mark.row("L106", "L138")
def test_the_longest_question_is_answered_without_the_texts_when_it_is_asked_again(hx: Hexad) -> None:
    hx._services.ingest().writer.write([_draft(number, f"w{number} way") for number in range(40)])
    no, orderings = space_no(hx), hx._services.orderings()
    words, tags = (tuple(f"{letter}{n}" for n in range(CLUSTER_WORDS_MOST)) for letter in "wn")

    def ask() -> object:
        options = BundleOptions(prefer_tags=tags)
        return orderings.topic(no, " ".join(words), options, backend=Backend.RAPTOR, now=NOW, limit=100)

    first = ask()
    statements: list[str] = []
    hx._services.db.tracer = lambda sql, _seconds: statements.append(sql)
    assert first == ask()
    assert [] == [sql for sql in statements if "raw" in sql]
