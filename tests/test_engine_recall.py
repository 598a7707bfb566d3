"""What `recall` answers: its filters, its limits, the record of a hit, and when it answers nothing."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

import hexad
from hexad import FrozenClock, Hexad, ProviderError
from hexad.testing import HashEmbedder
from opener import Opener
from tables import BEFORE_CODE_GRAPH

ANIMALS = ("otter", "badger", "heron", "marten", "osprey", "weasel", "falcon", "beaver")


def ids(hits: hexad.Hits) -> list[str]:
    return [hit.id for hit in hits]


def fill(hx: Hexad) -> None:
    """Eight memories about the river, told apart by every filter there is."""
    for number, animal in enumerate(ANIMALS):
        hx.remember(
            f"The {animal} was seen at the river bend, entry {number} of the observation log.",
            id=animal,
            space="north" if number < 4 else "south/east",
            kind="log" if number % 2 == 0 else "note",
            tags=["river", "bird" if animal in {"heron", "osprey", "falcon"} else "mammal", f"day-{number}"],
            path=f"nature/{'land' if number % 3 else 'water'}/{animal}",
            valid_from=f"2026-03-{number + 1:02d}T12:00:00Z",
        )
    hx.maintain()


@pytest.fixture
def river(hx: Hexad) -> Hexad:
    fill(hx)
    return hx


# Filters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, set(ANIMALS)),
        ({"space": "north"}, {"otter", "badger", "heron", "marten"}),
        ({"space": ["north", "south/east"]}, set(ANIMALS)),
        ({"space": []}, set()),
        ({"kinds": ["log"]}, {"otter", "heron", "osprey", "falcon"}),
        ({"kinds": ["log", "note"]}, set(ANIMALS)),
        ({"kinds": ["guide"]}, set()),
        ({"tags": ["bird"]}, {"heron", "osprey", "falcon"}),
        ({"tags": ["River", "BIRD"]}, {"heron", "osprey", "falcon"}),
        ({"tags": ["bird", "mammal"]}, set()),
        ({"tags": []}, set(ANIMALS)),
        ({"path": "nature/water"}, {"otter", "marten", "falcon"}),
        ({"path": "nature/water/"}, {"otter", "marten", "falcon"}),
        ({"path": "nature/wat"}, set()),
        ({"path": "nature/water/otter"}, {"otter"}),
        ({"path": "nature/*/o*"}, {"otter", "osprey"}),
        ({"path": "nature/?and/*"}, {"badger", "heron", "osprey", "weasel", "beaver"}),
        ({"since": "2026-03-07T12:00:00Z"}, {"falcon", "beaver"}),
        ({"until": "2026-03-02T12:00:00Z"}, {"otter"}),
        ({"since": "2026-03-03", "until": "2026-03-05"}, {"heron", "marten"}),
        ({"since": "2027-01-01"}, set()),
        ({"space": "north", "kinds": ["log"], "tags": ["bird"]}, {"heron"}),
        ({"space": "north", "path": "nature/water", "until": "2026-03-03"}, {"otter"}),
        ({"space": "south/east", "kinds": ["note"], "since": "2026-03-08", "path": "nature/*"}, {"beaver"}),
    ],
)
@pytest.mark.parametrize("semantic", [None, False])
def test_filters_of_different_kind_must_all_let_a_memory_pass(
    river: Hexad, filters: dict[str, object], expected: set[str], semantic: bool | None
) -> None:
    hits = river.recall("seen at the river bend", semantic=semantic, **filters)  # type: ignore[arg-type]

    assert expected == set(ids(hits))
    assert len(expected) == len(hits)


def test_since_and_until_ask_when_a_memory_was_written_where_nothing_else_is_known(
    hx: Hexad, clock: FrozenClock
) -> None:
    hx.remember("The first sighting of the otter.", id="first")
    clock.advance(days=1)
    hx.remember("The second sighting of the otter.", id="second")
    hx.remember("An old sighting of the otter.", id="old", valid_from="2025-01-01")

    assert {"second"} == set(ids(hx.recall("otter sighting", since=clock.now())))
    assert {"first", "old"} == set(ids(hx.recall("otter sighting", until=clock.now())))
    assert {"first"} == set(ids(hx.recall("otter sighting", since=datetime(2026, 1, 1), until=clock.now())))


def test_a_path_filter_also_takes_the_id_that_a_source_gave(hx: Hexad, project: Path) -> None:
    for name in ("a.md", "deep/b.md", "deep/er/c.md", "deepest/d.md"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"# The river\n\nNotes on the river in {name}.\n")
    hx.ingest(project)

    found = hx.recall("notes on the river", path="deep", semantic=False)

    assert {"deep/b.md", "deep/er/c.md"} == {hit.source_id for hit in found}


def test_names_with_the_signs_of_patterns_and_of_sql_are_only_names(hx: Hexad) -> None:
    for path in ("a%b/c", "a_b/c", "axb/c", "o'brien/x"):
        hx.remember(f"The river at {path}.", id=path, path=path)

    assert ["a%b/c"] == ids(hx.recall("river", path="a%b", semantic=False))
    assert ["a_b/c"] == ids(hx.recall("river", path="a_b", semantic=False))
    assert ["o'brien/x"] == ids(hx.recall("river", path="o'brien", semantic=False))


@pytest.mark.parametrize(
    "question",
    [
        '"',
        "'",
        "a AND",
        "NEAR(",
        "river*",
        "^river",
        "body:river",
        "-river",
        "(",
        "river OR",
        "%",
        "\\",
        "🦦",
    ],
)
def test_signs_of_a_query_language_mean_nothing_in_a_question(river: Hexad, question: str) -> None:
    hits = river.recall(question, semantic=False)

    assert all("river" in hit.text for hit in hits)
    assert ("river" in question) == bool(hits)


# Limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 3, 8, 1000])
def test_limit_bounds_the_hits_and_keeps_the_best(river: Hexad, limit: int) -> None:
    every = ids(river.recall("the otter at the river bend", limit=1000))

    assert every[:limit] == ids(river.recall("the otter at the river bend", limit=limit))
    assert "otter" == every[0]


def test_max_tokens_bounds_the_texts_together_and_says_what_did_not_fit(river: Hexad) -> None:
    cost = max(-(-len(hit.text) // 4) for hit in river.recall("river bend"))

    hits = river.recall("river bend", max_tokens=3 * cost)

    assert 3 <= len(hits) < 8
    assert 3 * cost >= sum(-(-len(hit.text) // 4) for hit in hits)
    assert set(ANIMALS) == set(ids(hits)) | {dropped.memory_id for dropped in hits.dropped}
    assert [] == [d for d in hits.dropped if "max_tokens" not in d.reason or d.score is None]


def test_a_hit_that_does_not_fit_leaves_room_for_smaller_ones(hx: Hexad) -> None:
    hx.remember("The otter and the river, the otter and the river. " * 9, id="long")
    hx.remember("One otter, far away from everything.", id="short")

    hits = hx.recall("otter river", max_tokens=20)

    assert (["short"], ["long"]) == (ids(hits), [dropped.memory_id for dropped in hits.dropped])


def test_nothing_dropped_is_nothing_reported(river: Hexad) -> None:
    assert () == river.recall("river bend", limit=3).dropped
    assert () == river.recall("river bend", max_tokens=10_000).dropped


# The record of a hit --------------------------------------------------------------------------------------------


def test_hits_are_sorted_by_score_and_each_score_is_the_sum_of_its_parts(river: Hexad) -> None:
    for question in ("the otter at the river bend", "which birds were seen?", "entry 3", "osprey falcon"):
        for semantic in (None, False):
            hits = river.recall(question, limit=100, semantic=semantic)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            for hit in hits:
                assert hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-9)


def test_why_says_in_words_what_each_arm_saw(river: Hexad) -> None:
    best = river.recall("osprey")[0]

    assert "osprey" == best.id
    assert best.why[0].startswith("full text rank 1 (bm25 ")
    assert best.why[1].startswith("vector rank 1 (cosine ")
    assert 1 == len(river.recall("osprey", semantic=False)[0].why)


@pytest.mark.row("L003", "L140")
def test_a_hit_names_the_chunk_and_the_lines_that_answer(hx: Hexad, project: Path) -> None:
    page = "\n\n".join(
        f"## Chapter {n}\n\n" + " ".join(f"Here the {animal} is described, part {m}." for m in range(30))
        for n, animal in enumerate(ANIMALS)
    )
    (project / "page.md").write_text(page)
    hx.ingest(project / "page.md")

    for semantic in (None, False):
        hit = hx.recall("where is the osprey described?", semantic=semantic)[0]
        assert hit.chunk is not None
        assert hit.lines is not None
        assert hit.chunk.chunk_id in [chunk.chunk_id for chunk in hit.memory.chunks]
        assert "osprey" in hit.text
        assert "heron" not in hit.text
        first, last = hit.lines
        assert hit.text.strip() in "\n".join(page.split("\n")[first - 1 : last])
        assert hit.location == (f"page.md:{first}" if first == last else f"page.md:{first}-{last}")


@pytest.mark.row("L022")
def test_the_layer_of_a_hit_is_told_by_its_origin(hx: Hexad, project: Path) -> None:
    (project / "river.md").write_text("The river is described in a file.")
    hx.ingest(project / "river.md")
    hx.remember("The river was mentioned in passing.")
    hx.remember("We keep away from the river.", kind="decision")
    hx.remember("A page on the river.", source_id="wiki/river")

    layers = {hit.text: hit.layer for hit in hx.recall("the river")}

    assert {
        "The river is described in a file.": "vector",
        "The river was mentioned in passing.": "project",
        "We keep away from the river.": "governance",
        "A page on the river.": "project",
    } == layers


def test_an_answer_is_a_sequence_and_json(river: Hexad) -> None:
    hits = river.recall("the otter", explain=True)

    assert hits[0] is next(iter(hits)) is hits[:1][0]
    assert len(hits) == len(list(hits))
    record = json.loads(json.dumps(hits.to_dict(), allow_nan=False))
    assert ids(hits) == [hit["id"] for hit in record["hits"]]
    assert hits[0].memory.to_dict() == record["hits"][0]["memory"]


def test_explain_shows_the_question_the_arms_and_what_was_left_out(river: Hexad) -> None:
    hits = river.recall("what did the otter do in March 2026?", limit=2, explain=True)

    assert hits.explanation is not None
    assert "otter" in hits.explanation.terms
    assert "what" in hits.explanation.ignored_terms
    assert ("2026-03-01", "2026-04-01") == (
        hits.explanation.since.date().isoformat() if hits.explanation.since else None,
        hits.explanation.until.date().isoformat() if hits.explanation.until else None,
    )
    assert 8 == hits.explanation.arms["vector"]
    assert ids(hits) == [row["id"] for row in hits.explanation.considered][:2]
    assert set(ANIMALS) == set(ids(hits)) | {dropped.memory_id for dropped in hits.dropped}
    assert {"embed", "search", "total"} == set(hits.explanation.timings_ms)
    assert river.recall("what did the otter do?").explanation is None


# Semantic or not ------------------------------------------------------------------------------------------------


def test_semantic_chooses_the_arms(river: Hexad) -> None:
    assert "hybrid" == river.recall("otter").mode
    assert "hybrid" == river.recall("otter", semantic=True).mode
    lexical = river.recall("otter", semantic=False)
    assert ("lexical", ()) == (lexical.mode, lexical.notes)
    assert {"vector"}.isdisjoint(lexical[0].parts)


def test_the_vector_arm_finds_what_no_whole_word_matches(hx: Hexad) -> None:
    words = "amber birch cedar dahlia elder fennel garlic hazel indigo jasmine kelp lilac mint nettle olive".split()
    for first, second in pairwise(words):
        hx.remember(f"{first} {second}")
        hx.remember(f"{second} {first} leaves")
    hx.remember("osprey feathers", id="osprey")
    hx.maintain()

    assert [] == ids(hx.recall("ospreyfeathers", semantic=False))
    assert "osprey" == ids(hx.recall("ospreyfeathers", semantic=True))[0]


def test_what_waits_for_its_vector_is_counted_in_the_spaces_that_are_asked(opened: Opener) -> None:
    with opened() as hx:
        hx.remember("The otter of the shop.", space="shop")
        for number in range(5):
            hx.remember(f"The otter {number} of the river.", space="river")

        asked = {name: hx.recall("otter", space=name).notes for name in ("shop", "river")}
        assert "Searched by meaning: 0 % of 1 memory; the rest by words. " in asked["shop"][0]
        assert "Searched by meaning: 0 % of 5 memories; the rest by words. " in asked["river"][0]
        assert " of 6 memories" in hx.recall("otter").notes[0]
        assert " of 6 memories" in hx.recall("otter", space=["shop", "river"]).notes[0]


def test_semantic_insists_on_vectors_and_says_how_to_get_them(opened: Opener) -> None:
    with opened() as without_vectors:
        without_vectors.remember("The otter.")
        with pytest.raises(ProviderError, match=r"hexad maintain"):
            without_vectors.recall("otter", semantic=True)
        hits = without_vectors.recall("otter")
        assert (1, "hybrid") == (len(hits), hits.mode)
        assert hits.notes[0].startswith("Searched by meaning: 0 % of 1 memory; the rest by words.")
        without_vectors.maintain()
    without_embedder = opened(embedder=None)
    with pytest.raises(ProviderError, match=r"no embedder"):
        without_embedder.recall("otter", semantic=True)
    assert ("lexical", 1) == (without_embedder.recall("otter").mode, len(without_embedder.recall("otter")))


# Nothing relevant ------------------------------------------------------------------------------------------------


def test_an_empty_store_answers_nothing(hx: Hexad) -> None:
    assert [] == list(hx.recall("anything at all"))
    assert [] == list(hx.recall("anything at all", explain=True))


def test_when_nothing_is_relevant_the_answer_is_empty(river: Hexad) -> None:
    for question in ("quantum chromodynamics lattice", "Wie spät ist es?", "xyzzy", "???"):
        assert [] == ids(river.recall(question)), question


def test_word_for_word_repeats_of_a_source_are_one_hit(hx: Hexad) -> None:
    for number in range(3):
        hx.remember("Yes, the otter came on Tuesday.", source_id=f"turn-{number}")

    hits = hx.recall("did the otter come?", explain=True)

    assert 1 == len(hits)
    assert [True, True] == ["word for word" in dropped.reason for dropped in hits.dropped]


def test_words_inside_identifiers_and_other_forms_of_a_word_are_found(hx: Hexad) -> None:
    hx.remember("def parseHttpHeader(raw_bytes): ...", id="code")
    hx.remember("We deployed it on Tuesday.", id="deploy")

    assert ["code"] == ids(hx.recall("http header", semantic=False))
    assert ["code"] == ids(hx.recall("raw bytes", semantic=False))
    assert ["code"] == ids(hx.recall("parseHttpHeader", semantic=False))
    assert ["deploy"] == ids(hx.recall("deploying", semantic=False))


def test_one_telling_word_outweighs_many_common_ones(hx: Hexad, project: Path) -> None:
    rows = [{"id": f"r{n}", "text": f"ordinary report number{n} about station {n % 7}"} for n in range(120)]
    rows.append({"id": "odd", "text": "a line about the quokka"})
    source = project / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hx.ingest(source, embed=False)

    assert "odd" == hx.recall("ordinary report about the quokka at station", semantic=False)[0].source_id


# Conversations ---------------------------------------------------------------------------------------------------


@pytest.fixture
def talk(hx: Hexad, project: Path) -> Hexad:
    turns = [
        ("Ada", "Where did you go last weekend?"),
        ("Bob", "To the lake with my sister."),
        ("Ada", "Was it cold?"),
        ("Bob", "Freezing, but we saw a heron."),
        ("Ada", "I baked bread instead, a dark rye."),
        ("Bob", "I would love the recipe."),
    ]
    lines = [
        {
            "conversation": "c1",
            "session": "s1",
            "speaker": who,
            "text": text,
            "id": f"t{n}",
            "time": "2026-02-01T10:00:00Z",
        }
        for n, (who, text) in enumerate(turns)
    ]
    source = project / "talk.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    hx.ingest(source)
    return hx


def test_a_turn_is_recalled_with_its_speaker_and_session(talk: Hexad) -> None:
    hit = talk.recall("Who baked dark rye bread?")[0]

    assert hit.memory.turn is not None
    assert ("Ada", "s1", 4) == (hit.memory.turn.speaker, hit.memory.turn.session, hit.memory.turn.position)
    assert ("t4", "s1 turn 5") == (hit.source_id, hit.location)
    assert ("Ada", "c1") == (hit.memory.metadata["speaker"], hit.memory.metadata["conversation"])


def test_naming_a_speaker_speaks_for_the_turns_of_that_speaker(talk: Hexad) -> None:
    hits = talk.recall("What did Bob see?", explain=True, limit=6)

    assert hits.explanation is not None
    assert ("bob",) == hits.explanation.speakers
    named = {hit.source_id for hit in hits if "speaker" in hit.parts}
    assert {"t1", "t3", "t5"} >= named
    assert named
    assert [] == [hit for hit in hits if hit.source_id in named and "names its speaker" not in hit.why[-1]]


def test_a_turn_is_heard_through_its_neighbours(talk: Hexad) -> None:
    found = {
        hit.source_id: hit.parts for hit in talk.recall("last weekend", semantic=False, limit=6, explain=True)
    }

    assert "t0" in found
    assert found["t0"]["session"] > 0


# Dates, pins and other forms of the same question ------------------------------------------------------------------


def test_the_same_question_gets_the_same_answer(river: Hexad) -> None:
    first = river.recall("the otter at the bend", explain=True).to_dict()

    for _ in range(3):
        assert first == river.recall("the otter at the bend", explain=True).to_dict()


def test_recall_does_not_change_what_it_answers(opened: Opener, clock: FrozenClock) -> None:
    with opened() as hx:
        fill(hx)
        before = [memory.to_dict() for memory in hx.memories(limit=100)]
        hx.recall("the otter")
    clock.advance(seconds=1)
    hx = opened()

    used = {memory.id for memory in hx.memories(limit=100) if memory.last_used_at is not None}
    assert "otter" in used
    for old, new in zip(before, hx.memories(limit=100), strict=True):
        assert {**old, "last_used_at": None} == {**new.to_dict(), "last_used_at": None}


def test_a_failing_embedder_leaves_the_answer_of_full_text_and_is_reported(opened: Opener) -> None:
    class Down(HashEmbedder):
        down = False

        def embed_query(self, text: str):  # type: ignore[no-untyped-def]
            if self.down:
                raise ProviderError("The endpoint does not answer.")
            return super().embed_query(text)

    embedder = Down()
    hx = opened(embedder=embedder)
    fill(hx)
    embedder.down = True

    hits = hx.recall("the otter")

    assert ("otter", "lexical", ("vector",)) == (hits[0].id, hits.mode, hits.late)
    assert "does not answer" in hits.notes[0]
    with pytest.raises(ProviderError, match=r"does not answer"):
        hx.recall("the otter", semantic=True)
    embedder.down = False
    assert ("hybrid", ()) == (hx.recall("the otter").mode, hx.recall("the otter").late)


def test_timings_follow_the_clock_that_was_handed_in(river: Hexad) -> None:
    hits = river.recall("otter", explain=True)

    assert hits.explanation is not None
    assert {"embed": 0.0, "search": 0.0, "total": 0.0} == dict(hits.explanation.timings_ms)
    assert timedelta(0) == timedelta(seconds=river.clock.monotonic())


def test_a_word_that_most_memories_hold_still_finds_them(hx: Hexad) -> None:
    for number in range(60):
        hx.remember(f"The ibex number {number} climbs.", id=f"i{number}")
    for number in range(6):
        hx.remember(f"A ferry number {number} sails.", id=f"f{number}")

    assert {"i"} == {hit.id[0] for hit in hx.recall("ibex", semantic=False)}


def test_what_has_no_vector_yet_is_found_by_full_text_beside_what_has_one(hx: Hexad) -> None:
    for number in range(40):
        hx.remember(f"A note about the harbour and its ship number {number}.", kind="guide")
    hx.embed_pending()
    hx.remember("The word splitter takes camel case identifiers apart.", kind="code")
    for number in range(40):
        hx.remember(f"Other program text, part {number}, about bells and lamps.", kind="code")

    hits = hx.recall("what splits camel case into several separate smaller lower case words?", kinds=["code"])

    assert ["The word splitter takes camel case identifiers apart."] == [hit.text for hit in hits][:1]


# Relevance ------------------------------------------------------------------------------------------------------


def test_min_relevance_cuts_hits_and_nothing_gives_everything_in_order(river: Hexad) -> None:
    question = "Which animal was entry 3 of the observation log, the marten?"
    everything = river.recall(question, min_relevance=0)
    some = river.recall(question, min_relevance=0.5)

    assert len(ANIMALS) == len(everything)
    assert all(0 <= hit.relevance <= 1 for hit in everything)
    assert "marten" == everything[0].id
    assert [hit.id for hit in everything if hit.relevance >= 0.5] == ids(some)
    assert 0 < len(some) < len(everything)
    assert () == tuple(river.recall(question, min_relevance=1))


def test_what_was_below_is_listed_when_an_explanation_is_asked_for(river: Hexad) -> None:
    hits = river.recall("Which marten was seen?", min_relevance=0.5, explain=True)

    assert any("relevance is below 0.5" in dropped.reason for dropped in hits.dropped)
    assert hits.explanation is not None
    assert all("relevance" in considered for considered in hits.explanation.considered)


def test_a_silent_answer_says_how_to_see_what_is_nearest(river: Hexad) -> None:
    question = "xylophone zeppelin quartz"

    assert [] == ids(river.recall(question))
    silent = river.recall(question, explain=True, semantic=None)
    assert all("min_relevance=0" in dropped.reason for dropped in silent.dropped)


@pytest.mark.parametrize("value", [-0.1, 1.1, "high", True, float("nan")])
def test_a_relevance_that_cannot_be_is_refused(river: Hexad, value: object) -> None:
    with pytest.raises(hexad.InvalidInput, match="min_relevance"):
        river.recall("marten", min_relevance=value)  # type: ignore[arg-type]


def test_since_after_until_is_refused(river: Hexad) -> None:
    with pytest.raises(hexad.InvalidInput, match="is before ") as error:
        river.recall("marten", since="2026-03-05", until="2026-03-04")
    assert "until" == error.value.argument


# What is named literally ----------------------------------------------------------------------------------------


def test_an_exact_version_decides_among_near_equals(hx: Hexad) -> None:
    for number in range(60):
        hx.remember(
            f"The gateway ran version {number // 12}.{number % 12}.{number % 5} that week.", id=f"v{number}"
        )
    hx.maintain()

    for number in (0, 17, 42, 59):
        version = f"{number // 12}.{number % 12}.{number % 5}"
        for question in (f"When did the gateway run {version}?", f"v{version}"):
            hits = hx.recall(question)
            assert f"v{number}" == hits[0].id, question
            assert any("as written" in why for why in hits[0].why)


def test_numbers_of_a_version_are_not_found_apart(hx: Hexad) -> None:
    hx.remember('A path: <path d="M 8 2 L 0 3"/>, then 2,0 and 8.')
    for number in range(40):
        hx.remember(f"Entry {number} of the log says nothing new about the heron.")
    hx.maintain()

    assert [] == ids(hx.recall("8.2.0", semantic=False))


def test_a_phrase_in_quotation_marks_is_found_as_it_is_written(hx: Hexad) -> None:
    hx.remember("Now ship what it is.", id="apart")
    hx.remember("He said: ship it now, or never.", id="phrase")
    hx.maintain()

    assert ["phrase"] == ids(hx.recall('who said "ship it now"?'))
    missing = hx.recall('who said "sail it now"?')
    assert any("“sail it now”" in note for note in missing.notes)


SYMBOLS = {
    "pyproject.toml": '[project]\nname = "tidal"\nrequires-python = ">=3.11"\n\n[tool.ruff]\nline-length = 100\n',
    "CHANGES.md": "# Changes\n\n## 8.3.0\n\nUp from 8.2.0: pools close.\n\n## Version 8.2.0\n\nFaster gauges.\n",
    "docs/errors.md": "# Errors\n\nMost people meet E4012 first; E4013 is rare.\n\n## Network\n\n"
    "- E4012: the gauge does not answer. Check its cable.\n- E4013: two gauges answer.\n",
    "docs/python.md": "# Python\n\nWhat requires-python says is checked by pip, or requires-python fails a build.\n",
    "docs/package.md": "# A package of your own\n\nWhich Python it requires stands in its project file:\n\n"
    '```toml\n[project]\nname = "yours"\nrequires-python = ">=3.12"\n```\n',
    "tidal/pool.py": 'class Pool:\n    """Keeps gauges open."""\n\n    def close(self) -> None:\n        drain_all(self)\n'
    + "        # gone\n" * 40
    + '\n    def drain(self, gauge: object) -> object:\n        """Empty it."""\n        return gauge\n',
    "tidal/use.py": "from tidal.pool import Pool\n\n\ndef tide() -> None:\n    pool = Pool()\n    Pool.drain(pool)\n"
    "    # Pool.drain, then Pool.drain again: parseTide wants Pool.drain twice\n    parseTide(pool.drain)\n",
    "tidal/parse.py": "LIMIT_MM = 40\n\n\ndef parseTide(text: object) -> object:\n    return text\n",
    "tidal/state.py": "from __future__ import annotations\n\nimport typing as t\nfrom threading import local\n\n_kept = local()\n"
    "\n\n@t.overload\ndef current_tide(quiet: t.Literal[False] = False) -> float: ...\n"
    "\n\n@t.overload\ndef current_tide(quiet: bool = ...) -> float | None: ...\n"
    "\n\ndef current_tide(quiet: bool = False) -> float | None:\n"
    '    """Return how high the water stands, of this thread alone.\n\n'
    "    A gauge that was never read has no height, and whoever asks is told, or gets None where that is wanted.\n"
    '    """\n    try:\n        return t.cast(float, _kept.heights[-1])\n'
    "    except (AttributeError, IndexError) as error:\n        if not quiet:\n"
    '            raise RuntimeError("There is no gauge that was read.") from error\n    return None\n',
    "web/chart.ts": "export async function drawChart(levels: number[]) {\n  return levels\n}\n",
    "web/page.ts": "import { drawChart } from './chart'\n// drawChart, drawChart: drawChart is called\ndrawChart([])\n",
}


@pytest.fixture
def symbols(hx: Hexad, tmp_path: Path) -> Hexad:
    for name, text in SYMBOLS.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    hx.ingest(tmp_path / "checkout")
    hx.maintain()
    return hx


def test_what_defines_a_symbol_stands_before_what_uses_it(symbols: Hexad) -> None:
    for question, source, begins in (
        ("requires-python", "pyproject.toml", "requires-python ="),
        ("8.2.0", "CHANGES.md", "## Version 8.2.0"),
        ("What does E4012 mean?", "docs/errors.md", "- E4012:"),
        ("Pool.drain", "tidal/pool.py", "def drain"),
        ("tidal.pool.Pool.drain()", "tidal/pool.py", "def drain"),
        ("what does drain() do", "tidal/pool.py", "def drain"),
        ("where is parseTide defined?", "tidal/parse.py", "def parseTide"),
        ("LIMIT_MM", "tidal/parse.py", "LIMIT_MM ="),
        ("current_tide", "tidal/state.py", '"""Return how high'),  # and not the chunk of its overloads
        ("Pool", "tidal/pool.py", "class Pool"),
        ("drawChart", "web/chart.ts", "export async function drawChart"),
        ("line-length", "pyproject.toml", "line-length ="),
    ):
        for semantic in (None, False):
            hit = symbols.recall(question, semantic=semantic)[0]
            assert source == hit.source_id, question
            assert begins in hit.text, question
            assert any(why.startswith("defines ") for why in hit.why), question
            assert hit.parts["defines"] > 0


def test_who_speaks_defines_nothing(hx: Hexad) -> None:
    hx.remember(
        [
            {"role": "user", "name": name, "content": f"The heron stood at the {place}."}
            for name, place in zip(
                ("Ines", "Otto") * 4, "weir lock mill pond dam quay reed bank".split(), strict=True
            )
        ]
    )
    hx.maintain()

    for question in ("Ines", "What did Ines see?"):
        assert not any("defines" in hit.parts for hit in hx.recall(question)), question


# How an answer is shown -----------------------------------------------------------------------------------------


def test_an_answer_prints_on_a_screen(hx: Hexad) -> None:
    for number in range(30):
        hx.remember(f"The heron log, entry {number}. " + "It stood in the water for an hour. " * 40)
    hx.maintain()

    lines = repr(hx.recall("heron log", limit=30)).splitlines()

    assert 22 == len(lines)
    assert "10 more" in lines[-1]
    assert max(map(len, lines)) < 200


def test_passages_fit_a_number_of_bytes_and_say_what_was_cut(hx: Hexad) -> None:
    for number in range(12):
        hx.remember(
            f"The heron log, entry {number}. " + "Es stand im Fluß und wartete. " * 60, id=f"log{number}"
        )
    hx.remember("The heron log is kept by Ada.", id="short")
    hx.maintain()
    hits = hx.recall("heron log", limit=13)

    whole = len(json.dumps(hits.passages(max_bytes=10**9), ensure_ascii=False, indent=2).encode())

    for room in (whole - 1, whole * 3 // 4):
        passages = hits.passages(max_bytes=room)
        assert ids(hits)[: len(passages)] == [passage["id"] for passage in passages]
        assert len(json.dumps(passages, ensure_ascii=False, indent=2).encode()) <= room
        assert any(passage.get("cut") for passage in passages)
        assert [("The heron log is kept by Ada.", None)] == [
            (passage["text"], passage.get("cut")) for passage in passages if passage["id"] == "short"
        ]
    assert [] == hits.passages(max_bytes=10)


def test_what_is_named_literally_stays_before_what_took_its_place(hx: Hexad) -> None:
    hx.remember("The gateway answers at 10.0.3.7 in staging.", id="old")
    hx.remember("The gateway answers at 10.0.9.9 in staging.", id="new")
    hx.maintain()

    assert ["new", "old"] == ids(hx.recall("Where does the gateway answer in staging?"))
    named = hx.recall("What answers at 10.0.3.7?")
    assert "old" == named[0].id
    assert named[0].superseded_by is not None


def test_the_current_value_is_as_relevant_as_if_the_old_one_were_not_there(hx: Hexad) -> None:
    for number in range(40):
        hx.remember(f"Entry {number} of the log of the harbour tells of the weather.")
    hx.remember("The API rate limit is 100 requests a minute.", id="old")
    hx.remember("The API rate limit is 250 requests a minute now.", id="new")
    hx.maintain()
    hits = hx.recall("API rate limit")
    hx.forget("old")
    alone = hx.recall("API rate limit")[0]

    assert ["new", "old"] == ids(hits)[:2]
    assert hits[0].relevance > 0.8 * alone.relevance


ORDER = "Always put the imports first when you show me some code."
LIKING = "I prefer the train to flying."


@pytest.fixture
def chat(opened: Opener, tmp_path: Path) -> Hexad:
    """Two conversations with an assistant; the user of the first says what holds for answers."""
    said = [
        "Hello there.",
        ORDER,
        "The harbour service is due in March.",
        LIKING,
        "The harbour logo is a boat.",
    ]
    turns = [("first", "user", text) for text in said] + [
        ("first", "assistant", "Never use tabs, I would say.")
    ]
    turns += [("first", "user", f"Note {number} about the harbour and its ships.") for number in range(40)]
    turns += [("second", "user", f"Note {number} about gardens and their trees.") for number in range(40)]
    turns += [("second", "user", "Never mention roses when we talk about gardens.")]
    lines = [
        {"id": f"t{at}", "conversation": name, "speaker": speaker, "text": text}
        for at, (name, speaker, text) in enumerate(turns)
    ]
    source = tmp_path / "chat.jsonl"
    source.write_text("\n".join(map(json.dumps, lines)))
    hx = opened()
    hx.ingest(source, embed=True)
    return hx


def test_a_request_brings_what_its_user_wants_of_answers_whatever_its_words(chat: Hexad) -> None:
    hits = chat.recall("Could you write a parser for the harbour notes?", limit=5, explain=True)

    assert {ORDER, LIKING} <= {hit.text for hit in hits}
    placed = next(hit for hit in hits if hit.text == LIKING)
    assert placed.parts["standing"] > 0
    assert placed.score == pytest.approx(sum(placed.parts.values()))
    assert any("wants of answers" in why for why in placed.why)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_what_is_to_be_remembered_brings_no_instruction(chat: Hexad) -> None:
    hits = chat.recall("When is the harbour service due?", limit=10)

    assert hits[0].text == "The harbour service is due in March."
    assert not any("standing" in hit.parts for hit in hits)


def test_an_instruction_holds_in_its_own_conversation_and_for_who_asks_there(chat: Hexad) -> None:
    garden = chat.recall("Could you write a poem about the gardens and trees?", limit=10)
    placed = {hit.text for hit in garden if "standing" in hit.parts}

    assert placed == {"Never mention roses when we talk about gardens."}


def test_a_changed_or_forgotten_turn_holds_no_longer(chat: Hexad, tmp_path: Path) -> None:
    source = tmp_path / "chat.jsonl"
    source.write_text(source.read_text().replace(ORDER, "I went home."))
    chat.ingest(source, embed=True)
    (liking,) = [memory.id for memory in chat.memories(limit=None) if memory.raw == LIKING]
    chat.forget(liking, purge=True, confirm=True)

    hits = chat.recall("Could you write a parser for the harbour notes?", limit=10)
    assert not any("standing" in hit.parts for hit in hits)


def test_a_store_from_before_the_marks_gets_them_when_it_is_opened(
    chat: Hexad, opened: Opener, tmp_path: Path
) -> None:
    place = chat.path / "memory.db"
    chat.close()
    con = apsw.Connection(str(place))
    con.execute(BEFORE_CODE_GRAPH + "DROP TABLE standing; ALTER TABLE vectors DROP COLUMN sentences")
    con.execute("DELETE FROM schema_migrations WHERE number >= 16")
    con.close()

    hits = opened().recall("Could you write a parser for the harbour notes?", limit=5)
    assert {ORDER, LIKING} <= {hit.text for hit in hits}


ASIDE = "The ferry to Arran was late again because of the fog over the firth."
SAID = "My sister Beth keeps four alpacas behind the old mill near Selkirk."
TELLING = f"{ASIDE} {SAID} Could you look at the table of the tides for me?"


@pytest.fixture
def sundays(opened: Opener, tmp_path: Path) -> Hexad:
    source = tmp_path / "talk.jsonl"
    texts = [TELLING, *(f"{about} is what I read about on Sunday evening." for about in MANY_SUBJECTS)]
    turns = [
        {"id": str(at), "conversation": "c", "session": "s", "speaker": "user", "text": text}
        for at, text in enumerate(texts)
    ]
    source.write_text("\n".join(map(json.dumps, turns)))
    hx = opened()
    hx.ingest(source, embed=True)
    return hx


MANY_SUBJECTS = [f"{what} of {where}" for what in ("The weather", "The trains", "A castle", "The wool")
                 for where in ("Peebles", "Oban", "Ayr", "Perth", "Dundee", "Leith", "Kelso", "Skye", "Mull")]  # fmt: skip
ASKED = "What animals does my sister look after?"


def test_a_sentence_that_stands_among_others_speaks_for_its_turn(sundays: Hexad) -> None:
    hit = sundays.recall(ASKED, limit=1, min_relevance=0).items[0]

    assert TELLING == hit.text
    assert hit.parts["sentence"] > 0
    assert "a sentence of it comes nearer than the whole" in hit.why
    assert sum(hit.parts.values()) == pytest.approx(hit.score)


def test_a_store_from_before_sentences_answers_as_it_did_until_it_is_reindexed(
    sundays: Hexad, opened: Opener
) -> None:
    before = sundays.recall(ASKED, limit=10, min_relevance=0).items
    place = sundays.path / "memory.db"
    sundays.close()
    con = apsw.Connection(str(place))
    con.execute(BEFORE_CODE_GRAPH + "ALTER TABLE vectors DROP COLUMN sentences")
    con.execute("DELETE FROM schema_migrations WHERE number >= 17")
    con.close()

    hx = opened()
    old = {hit.id: hit for hit in hx.recall(ASKED, limit=10, min_relevance=0)}
    assert len(old) == 10
    for hit in before:
        if hit.id in old:
            parts = {name: amount for name, amount in hit.parts.items() if name != "sentence"}
            assert old[hit.id].parts == pytest.approx(parts)
    hx.reindex(vectors=True)
    hx.embed_pending()
    anew = hx.recall(ASKED, limit=10, min_relevance=0).items
    assert [(hit.id, pytest.approx(hit.score)) for hit in before] == [(hit.id, hit.score) for hit in anew]
