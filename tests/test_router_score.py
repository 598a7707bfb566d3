"""Scores that sum up, contradictions that are resolved, duplicates that go, quotas that are kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from math import exp

import pytest

from hexad import MemoryItem, MemoryLayer, Trust
from hexad.errors import InvalidInput
from hexad.layers.context.selection import allot, deduplicate, reconcile
from hexad.layers.context.toon import encode
from hexad.layers.router.plan import QUOTAS, parse_settings
from hexad.layers.scoring import AUTHORITY, DEFAULT_WEIGHTS, normalise, rank, relevance_of, score

NOW = datetime(2026, 1, 31, tzinfo=UTC)


def item(name: str, layer: str = "project", *, days: float = 0.0, **fields) -> MemoryItem:
    values = {"text": f"{name} says something of its own.", "relevance": 0.5, "kind": "note", **fields}
    return MemoryItem(
        id=name, layer=MemoryLayer(layer), recency=days, at=NOW - timedelta(days=days), **values
    )


# The score ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("A057", "A061", "A062", "A063", "A064", "A065", "A108", "A112")
def test_a_score_is_the_weighted_sum_of_its_five_parts():
    found = score(item("a", "user", days=60, relevance=0.8, confidence=0.5, importance=0.4), DEFAULT_WEIGHTS)
    weights = DEFAULT_WEIGHTS

    assert found.score == sum(found.parts.values())
    assert found.parts["relevance"] == pytest.approx(weights.relevance * 0.8)
    assert found.parts["recency"] == pytest.approx(weights.recency * exp(-weights.decay * 60))
    assert found.parts["recency"] == pytest.approx(weights.recency / 4)  # two half-lives of thirty days
    assert found.parts["authority"] == pytest.approx(weights.authority * AUTHORITY[MemoryLayer.USER])
    assert found.parts["confidence"] == pytest.approx(weights.confidence * 0.5)
    assert found.parts["importance"] == pytest.approx(weights.importance * 0.4)


@pytest.mark.row("A063", "A065")
def test_of_items_that_are_alike_the_layer_of_higher_authority_comes_first():
    ranked = rank([item(layer.value, layer.value) for layer in reversed(MemoryLayer)], DEFAULT_WEIGHTS)

    assert [entry.item.layer.value for entry in ranked] == [
        "session", "project", "user", "governance", "graph", "vector",
    ]  # fmt: skip


@pytest.mark.row("A108")
def test_items_are_ranked_by_score_then_authority_then_age_then_id():
    flat = replace(DEFAULT_WEIGHTS, authority=0.0, recency=0.0)
    items = [
        item("better", "vector", days=9, relevance=0.9),
        item("of-the-project", "project", days=9),
        item("of-the-user", "user", days=1),
        item("younger", "vector", days=2),
        item("a", "vector", days=3),
        item("b", "vector", days=3),
    ]
    expected = ["better", "of-the-project", "of-the-user", "younger", "a", "b"]

    for order in permutations(items):
        assert expected == [entry.item.id for entry in rank(order, flat)]
    scores = [entry.score for entry in rank(items, flat)]
    assert scores[0] > scores[1] == scores[-1]


@pytest.mark.row("A062")
def test_age_lowers_a_note_but_hides_no_decision_no_pin_and_nothing_cited():
    from hexad import Citation

    def recency(**fields) -> float:
        return score(item("a", days=3_000, **fields), DEFAULT_WEIGHTS).parts["recency"]

    assert recency() < 1e-9
    assert recency(pinned=True) == DEFAULT_WEIGHTS.recency
    assert recency(citations=(Citation(path="a.py"),)) == DEFAULT_WEIGHTS.recency
    assert recency(layer="governance") == DEFAULT_WEIGHTS.recency


@pytest.mark.row("A061")
def test_relevance_keeps_the_order_of_a_recall_and_never_leaves_its_bounds():
    scores = [-1e12, -40, -3, 0, 0.1, 2, 9, 30, 1e12]
    values = [relevance_of(score) for score in scores]

    assert values == sorted(values)
    assert len(set(values[1:-1])) == len(values[1:-1])
    assert 0 <= values[0] <= values[-1] <= 1


@pytest.mark.row("A004")
def test_weights_are_made_parts_of_one_and_bad_ones_are_refused():
    settings = parse_settings(
        {"weights": {"relevance": 6, "recency": 2, "authority": 2, "confidence": 0, "importance": 0}}
    )

    assert settings.weights.relevance == pytest.approx(0.6)
    with pytest.raises(InvalidInput, match="All weights"):
        normalise(replace(DEFAULT_WEIGHTS, relevance=0, recency=0, authority=0, confidence=0, importance=0))
    with pytest.raises(InvalidInput, match=r"weights\.recency = -1"):
        parse_settings({"weights": {"recency": -1}})
    with pytest.raises(InvalidInput, match="unknown quotas 'sesion'"):
        parse_settings({"quotas": {"sesion": 0.5}})


# Contradictions -------------------------------------------------------------------------------------------------------


def resolved(*items: MemoryItem):
    return reconcile(rank(items, DEFAULT_WEIGHTS))


@pytest.mark.row("A113", "A114")
def test_of_two_values_of_a_key_the_younger_goes_on_with_a_note_of_the_other():
    found = resolved(
        item("old", days=90, key="db", value="MySQL"), item("new", days=1, key="db", value="Postgres")
    )

    assert [entry.item.id for entry in found.items] == ["new"]
    assert "MySQL" in found.items[0].notes[0]
    assert found.gave_way[0][1] == "contradicted by new, which is more recent"


@pytest.mark.row("A113")
@pytest.mark.parametrize(
    ("best", "other", "reason"),
    [
        ({"confidence": 0.9}, {"confidence": 0.6}, "is surer"),
        ({"evidence_count": 5}, {"evidence_count": 2}, "has more evidence"),
        ({"trust": Trust.USER, "days": 90}, {"trust": Trust.WEB}, "is better vouched for"),
    ],
)
def test_then_the_surer_then_the_one_with_more_evidence_and_never_a_stranger(best, other, reason):
    first, two = item("z", key="db", value=1, **best), item("a", key="db", value=2, **other)

    for order in ((first, two), (two, first)):
        found = resolved(*order)
        assert [kept.item.id for kept in found.items] == ["z"]
        assert found.gave_way[0][1].endswith(reason)


@pytest.mark.row("A114")
def test_what_this_project_chose_is_an_exception_to_what_its_user_usually_does():
    found = resolved(
        item("usual", "user", key="orm", value="Prisma", confidence=0.9, evidence_count=7),
        item("here", days=200, key="orm", value="Drizzle", group="shop", kind="tech-stack"),
    )

    assert [entry.item.id for entry in found.items] == ["here"]
    assert "usually has orm: Prisma" in found.items[0].notes[0]
    assert "exception" in found.items[0].notes[0]


def test_what_is_of_another_subject_or_a_list_or_the_same_contradicts_nothing():
    items = (
        item("s", key="port", value=1, space="other", group="web"),
        item("a", key="port", value=80, group="web"),
        item("b", key="port", value=443, group="api"),
        item("c", key="tools", value=["x"]),
        item("d", key="tools", value=["y"]),
        item("e", key="lang", value="Python"),
        item("f", key="Lang", value=" python "),
    )

    assert len(resolved(*items).items) == len(items)


# Duplicates -----------------------------------------------------------------------------------------------------------

LONG = (
    "The importer reads every file of the folder in parallel. It keeps one connection for each worker. "
    "When a file fails it is tried three times, and after that it is listed in the report with its reason. "
    "The report is written at the end and holds the time that each file took, in milliseconds."
)


@pytest.mark.row("A072", "A110", "A143")
def test_exact_and_near_duplicates_become_one_and_count_as_evidence():
    found = deduplicate(
        rank(
            [
                item("exact", "vector", text=LONG),
                item("near", "vector", text=LONG.replace("three times", "four times")),
                item("kept", "project", text=LONG.upper()),
                item("other", "vector", text="Something else is said here, in words of its own."),
            ],
            DEFAULT_WEIGHTS,
        )
    )

    assert [entry.item.id for entry in found.items] == ["kept", "other"]
    assert found.items[0].duplicates == ("exact", "near")
    assert found.items[0].item.evidence_count == 3
    assert {reason for _, reason in found.duplicates} == {"repeats kept", "says nearly the same as kept"}


@pytest.mark.row("A073")
def test_of_duplicates_the_higher_layer_stays_then_the_younger_then_the_lower_id_in_any_order():
    items = [
        item("vector", "vector", text=LONG, relevance=1.0),
        item("old", "project", days=9, text=LONG, relevance=0.9),
        item("young-b", "project", days=1, text=LONG),
        item("young-a", "project", days=1, text=LONG),
    ]

    for some in permutations(items):
        assert [entry.item.id for entry in deduplicate(rank(some, DEFAULT_WEIGHTS)).items] == ["young-a"]


def test_texts_that_are_alike_and_state_other_values_or_are_vouched_for_otherwise_stay_apart():
    kept = deduplicate(
        rank(
            [
                item("a", text=LONG, key="tries", value=3),
                item("b", text=LONG, key="tries", value=4),
                item("c", "session", text=LONG, trust=Trust.WEB),
            ],
            DEFAULT_WEIGHTS,
        )
    )

    assert {entry.item.id for entry in kept.items} == {"a", "b", "c"}


# Quotas ---------------------------------------------------------------------------------------------------------------


def allotted(counts: dict[str, int], *, tokens: int = 1_000, price: int = 10, shares=QUOTAS):
    items = [item(f"{layer}-{n:03}", layer) for layer, count in counts.items() for n in range(count)]
    return allot(rank(items, DEFAULT_WEIGHTS), shares=shares, tokens=tokens, cost=lambda _: price)


@pytest.mark.row("A004", "A066", "A067", "A068", "A069", "A070", "A071", "A109")
def test_layers_with_more_than_enough_take_exactly_their_quotas():
    found = allotted({layer.value: 100 for layer in MemoryLayer})

    assert {layer.value: spent for layer, spent in found.spent.items()} == {
        "session": 400, "project": 200, "user": 100, "governance": 50, "graph": 100, "vector": 150,
    }  # fmt: skip
    assert len(found.left_out) == 500
    assert all(item.tokens == 10 and "of 1000 are left" in item.reason for item in found.left_out)


@pytest.mark.row("A058", "A109")
def test_what_a_layer_leaves_flows_on_in_the_order_of_authority():
    assert allotted({"project": 100, "vector": 100}).spent[MemoryLayer.PROJECT] == 600
    found = allotted({"session": 100, "vector": 2})
    assert found.spent[MemoryLayer.SESSION] == 980
    assert found.spent[MemoryLayer.VECTOR] == 20


@pytest.mark.row("A071")
def test_decisions_that_nobody_asked_for_get_only_what_all_others_leave():
    items = rank(
        [item("law", layer="governance", relevance=1.0), item("note", layer="vector", relevance=0.1)],
        DEFAULT_WEIGHTS,
    )
    shares = {MemoryLayer.GOVERNANCE: 0.0, MemoryLayer.VECTOR: 0.1}

    def taken(tokens: int) -> list[str]:
        return [
            entry.item.id for entry in allot(items, shares=shares, tokens=tokens, cost=lambda _: 60).taken
        ]

    assert ["note"] == taken(100)
    assert {"law", "note"} == set(taken(120))


@pytest.mark.row("A071")
def test_a_layer_without_a_share_gets_nothing_even_when_there_is_room():
    shares = {layer: share for layer, share in QUOTAS.items() if layer is not MemoryLayer.GOVERNANCE}
    found = allotted({"governance": 1, "project": 1}, shares=shares)

    assert [item.item.layer.value for item in found.taken] == ["project"]
    assert found.left_out[0].reason == "its layer has no share here"


@pytest.mark.row("A058")
def test_a_large_item_that_does_not_fit_does_not_keep_smaller_ones_out():
    items = rank([item("large", relevance=0.9), item("small", relevance=0.1)], DEFAULT_WEIGHTS)
    found = allot(
        items, shares=QUOTAS, tokens=100, cost=lambda entry: 500 if entry.item.id == "large" else 20
    )

    assert [entry.item.id for entry in found.taken] == ["small"]
    assert [scored_item.id for scored_item in found.left_out] == ["large"]


# The notation ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("A059")
@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"a": 1, "b": "x y"}, "a: 1\nb: x y"),
        ({"a": []}, "a: []"),
        ({"a": [1, "2", "x,y"]}, 'a[3]: 1,"2","x,y"'),
        ({"r": [{"i": 1, "t": "a\nb"}, {"i": 2, "t": "-"}]}, 'r[2]{i,t}:\n  1,"a\\nb"\n  2,"-"'),
        ({"r": [{"i": 1}, {"t": 2}]}, "r[2]:\n  - i: 1\n  - t: 2"),
        ({"x y": {"n": None, "t": True}}, '"x y":\n  n: null\n  t: true'),
        (
            {"s": ["", "true", "+5", "#c", " x", 'say "a"', 1.5, 1e21]},
            's[8]: "","true","+5","#c"," x","say \\"a\\"",1.5,1000000000000000000000',
        ),
    ],
)
def test_data_are_written_as_the_notation_has_them(value, written):
    assert encode(value) == written


@pytest.mark.row("A059")
def test_the_reference_implementation_reads_what_is_written():
    toons = pytest.importorskip("toons")
    rows = [{"id": f"m{n}", "text": f'line {n}\n"quoted", {{a: [b]}} \\ #', "n": n / 3} for n in range(20)]
    value = {"task": "a: b", "rows": rows, "none": None, "empty": [], "nested": {"list": [[1, 2], ["x"]]}}

    assert toons.loads(encode(value)) == value
    assert toons.dumps(value) == encode(value)
