"""Each ordering's scores, computed by hand, over memories of a real store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from hexad import Hexad
from hexad.errors import InvalidInput
from hexad.memory.policy import Backend
from hexad.spaces.bundles.bundle import BundleOptions
from hexad.spaces.bundles.orderings.question import resolve_backend
from tables import everything_stored

NOW = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday; where the tests' clock stands
SECONDS = 1767225600
EPOCH = SECONDS * 1000 / 1e9


def topic(hx: Hexad, about: str, backend: str = "basic", *, now: datetime = NOW, limit: int = 10, **given):
    found = hx._services.orderings().topic(
        hx._services.stores.spaces.get("s").no,
        about,
        BundleOptions(**given),
        backend=Backend(backend),
        now=now,
        limit=limit,
    )
    return _named(hx, found)


def kind(hx: Hexad, name: str, backend: str = "basic", *, now: datetime = NOW, limit: int = 10, **given):
    found = hx._services.orderings().kind(
        hx._services.stores.spaces.get("s").no,
        name,
        BundleOptions(**given),
        backend=Backend(backend),
        now=now,
        limit=limit,
    )
    return _named(hx, found)


def _named(hx: Hexad, found):
    memories = hx._services.stores.memories.by_no([item.no for item in found])
    return [(memories[item.no].id, item.score) for item in found]


def put(hx: Hexad, name: str, **fields):
    """Store a memory of medium relevance with texts that say nothing, unless told otherwise."""
    payload = {"id": name, "path": f"p/{name}", "kind": "note", "raw": f"{name}.", "tags": []}
    payload |= {"summary_short": "-", "summary_long": "-", "summary_micro": "-"}
    at = fields.pop("at", None)
    return hx.remember_structured("s", payload | fields, freeze_clock=at)


# basic ----------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L016", "L099", "L103")
def test_relevance_alone_orders_memories_that_have_nothing_else(hx):
    for name, relevance in (("a", "low"), ("b", "high"), ("c", "medium")):
        put(hx, name, relevance=relevance)

    assert [("b", 5.0), ("c", 2.5), ("a", 1.0)] == topic(hx, "elsewhere")


@pytest.mark.row("L100")
def test_a_pin_is_worth_four(hx):
    put(hx, "a", relevance="high")
    put(hx, "b", pinned=True)

    assert [("b", 6.5), ("a", 5.0)] == topic(hx, "elsewhere")


@pytest.mark.row("L101", "L016")
def test_the_whole_topic_counts_where_it_stands(hx):
    put(hx, "path", path="lexon/Release-Plan/x")
    put(hx, "short", summary_short="About the RELEASE-plan.")
    put(hx, "raw", raw="we have a release-plan")
    put(hx, "all", path="release-plan", summary_short="release-plan", raw="Release-Plan!")
    put(hx, "words", raw="release and plan")

    assert [("all", 9.0), ("path", 5.5), ("short", 4.5), ("raw", 4.0), ("words", 2.5)] == topic(
        hx, "  Release-PLAN "
    )


@pytest.mark.row("L101")
def test_an_empty_topic_is_found_nowhere(hx):
    put(hx, "a", raw="anything")

    assert [("a", 2.5)] == topic(hx, "") == topic(hx, " \n")


@pytest.mark.row("L102")
def test_preferred_kinds_and_tags_add_up(hx):
    put(hx, "a", kind="guide", tags=["x", "y", "z"])
    put(hx, "b", kind="guide")
    put(hx, "c", tags=["y"])

    assert [("a", 2.5 + 1.0 + 0.8 * 2), ("b", 3.5), ("c", 3.3)] == topic(
        hx, "t", prefer_kinds=("guide", "log", "Guide"), prefer_tags=("Y", "x", "x", "other", "")
    )


@pytest.mark.row("L103", "L117")
def test_equal_scores_go_by_time_then_path_then_id(hx):
    put(hx, "old", path="a", at=NOW - timedelta(microseconds=1))
    put(hx, "m2", path="b")
    put(hx, "m1", path="b")
    put(hx, "m3", path="B")

    assert ["m3", "m1", "m2", "old"] == [name for name, _ in topic(hx, "~~")]
    assert ["m3", "m1"] == [name for name, _ in topic(hx, "~~", limit=2)]
    assert [] == topic(hx, "~~", limit=0)


@pytest.mark.row("L017")
def test_a_kind_is_ordered_by_time(hx):
    put(hx, "a", kind="log", at=NOW - timedelta(days=1))
    put(hx, "b", kind="log")
    put(hx, "c", kind="guide")

    assert [("b", EPOCH), ("a", (SECONDS - 86400) * 1000 / 1e9)] == kind(hx, "Log")
    assert [] == kind(hx, "decision")


# patricia ---------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L105", "L016")
def test_each_leading_part_that_goes_along_is_worth_two(hx):
    put(hx, "three", path="Lexon/runtime/release")
    put(hx, "two", path="lexon/runtime/other")
    put(hx, "one", path="lexon/runtimes")
    put(hx, "late", path="x/lexon/runtime")
    put(hx, "split", path="lexon runtime/x")

    expected = [("three", 8.5), ("two", 6.5), ("one", 4.5), ("split", 2.5), ("late", 2.5)]
    # The whole topic stands in no path: its parts are separated by white space.
    assert expected == topic(hx, "lexon  Runtime\trelease", "patricia")
    assert [("three", 11.5), ("two", 6.5)] == topic(hx, "lexon/runtime/release", "patricia")[:2]


@pytest.mark.row("L105", "L017")
def test_a_kind_has_its_short_paths_first(hx):
    put(hx, "deep", path="a/b/c")
    put(hx, "flat", path="a")
    put(hx, "pinned", path="a/b/c/d", pinned=True)
    put(hx, "tagged", path="a/b", tags=["x", "y"])

    assert [("pinned", 2.25), ("tagged", 1.5), ("flat", 1.0), ("deep", 1 / 3)] == kind(
        hx, "note", "patricia", prefer_tags=("x", "y")
    )


@pytest.mark.row("L104", "L118")
def test_a_prefix_of_whole_parts_finds_what_is_under_it(hx):
    for name, path in (
        ("a", "lexon/run"),
        ("b", "lexon/runtime/x"),
        ("c", "Lexon/runtime"),
        ("d", "lexon/runtime"),
    ):
        put(hx, name, path=path)
    orderings, no = hx._services.orderings(), hx._services.stores.spaces.get("s").no

    def under(prefix: str) -> list[str]:
        found = orderings.under(no, prefix)
        memories = hx._services.stores.memories.by_no(found)
        return [memories[each].id for each in found]

    assert ["d", "b"] == under("lexon/runtime") == under("/lexon/runtime/")
    assert ["b"] == under("lexon/*/*") == under("**/x")
    assert ["c", "a", "d", "b"] == under("")
    hx.forget("b")
    assert ["d"] == under("lexon/runtime")


# raptor -----------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L106")
def test_the_better_cluster_counts_once_per_word_that_is_a_tag_or_in_the_long_summary(hx):
    put(hx, "tags", tags=["runtime", "parser"])
    put(hx, "long", summary_long="The RUNTIMES of parsers.")
    put(hx, "both", tags=["runtime"], summary_long="runtime")
    put(hx, "other", tags=["x"])

    # All are new: 1.0 for being fresh.
    assert [("long", 6.5), ("tags", 6.5), ("both", 5.0), ("other", 3.5)] == topic(
        hx, "Runtime parser runtime", "raptor"
    )
    found = dict(topic(hx, "runtime parser", "raptor", prefer_tags=("x",)))
    assert 2.5 + 0.8 + 1.5 + 1.0 == found["other"]
    assert 6.5 == found["tags"]


@pytest.mark.row("L107", "L121")
def test_what_is_younger_than_thirty_days_gets_a_bonus_that_melts(hx):
    for name, days in (("new", 0), ("half", 15), ("old", 30), ("older", 400)):
        put(hx, name, at=NOW - timedelta(days=days), pinned=name == "older")

    assert [("older", 6.5), ("new", 3.5), ("half", 3.0), ("old", 2.5)] == topic(hx, "~~", "raptor")
    # A clock that is frozen before a change does not make it younger than new.
    assert ("new", 3.5) in topic(hx, "~~", "raptor", now=NOW - timedelta(days=7))


@pytest.mark.row("L107", "L017")
def test_a_kind_goes_by_time_cluster_and_pin(hx):
    put(hx, "a", tags=["x"], summary_long="y")
    put(hx, "b", pinned=True)
    put(hx, "c")

    assert [("b", EPOCH + 5.0), ("a", EPOCH + 3.0), ("c", EPOCH)] == kind(
        hx, "note", "raptor", prefer_tags=("x", "y")
    )


@pytest.mark.row("L119", "L120")
def test_an_update_that_arrives_twice_leaves_one_member_in_a_cluster(hx):
    put(hx, "a", tags=["runtime"])
    view = _view(hx)
    for _ in range(2):
        put(hx, "a", tags=["runtime", "parser"], raw="changed")
        hx.unpin("a")
        view.follow(hx._services.orderings()._changes.current("memories"))
        view._apply([int(no) for no in view.nos[: view.size]])

    assert {"runtime": 1, "parser": 1} == {tag: len(slots) for tag, slots in view.tags.tags().items()}
    assert [("a", 2.5 + 1.5 + 1.0)] == topic(hx, "parser", "raptor")


# hybrid -----------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L108", "L109", "L122")
def test_rare_entity_tokens_of_path_tags_and_metadata_count_for_more(hx):
    put(hx, "path", path="p/alpha-one")
    put(hx, "tags", path="p/t", tags=["alpha", "beta-two"])
    put(hx, "text", path="p/m", metadata={"owner": "Gamma_team/beta"})
    put(
        hx,
        "list",
        path="p/l",
        metadata={"parts": ["gamma", 7, "gamma gamma"], "deep": {"x": "delta"}, "n": 3},
    )

    # alpha occurs twice, gamma four times, beta once (a tag is one token, `beta-two`).
    found = dict(topic(hx, "alpha GAMMA/beta alpha", "hybrid"))
    assert 2.5 + 2.5 / 2 == found["path"] == found["tags"]
    assert 2.5 + (2.5 / 4 + 2.5 / 1) == found["text"]
    assert 2.5 + 2.5 / 4 == found["list"]
    assert {2.5} == {score for _, score in topic(hx, "delta", "hybrid")}
    assert 5.0 == dict(topic(hx, "beta-two x", "hybrid"))["text"] == dict(topic(hx, "beta", "hybrid"))["text"]


@pytest.mark.row("L122")
def test_the_entity_map_is_built_when_it_is_first_asked_for_follows_changes_and_is_never_stored(hx):
    put(hx, "a", tags=["alpha"])
    put(hx, "b", tags=["beta"])
    stored = everything_stored(hx)
    topic(hx, "alpha")
    view = hx._services.orderings()._views[hx._services.stores.spaces.get("s").no]
    assert view._entities is None

    before = dict(topic(hx, "alpha", "hybrid"))
    entity_map = view._entities
    assert stored == everything_stored(hx)

    put(hx, "c", tags=["alpha"])
    after = dict(topic(hx, "alpha", "hybrid"))
    assert entity_map is view._entities is not None
    assert before["a"] - 2.5 / 1 + 2.5 / 2 == after["a"] == after["c"]
    hx.forget("a")
    assert before["a"] == dict(topic(hx, "alpha", "hybrid"))["c"]


@pytest.mark.row("L110")
def test_tokens_that_another_pinned_memory_has_count_each_once(hx):
    put(hx, "pin", path="q/alpha/beta", pinned=True)
    put(hx, "near", path="z/alpha-beta-alpha")
    put(hx, "far", path="z/gamma")

    # All have the tokens of their project and their space, which Hexad wrote: nothing that they share.
    assert 2.5 + 1.5 * 2 == dict(topic(hx, "~~", "hybrid"))["near"]
    assert 2.5 == dict(topic(hx, "~~", "hybrid"))["far"]
    # A pin has of its own what it gives to others.
    assert 6.5 + 1.5 * 2 == dict(topic(hx, "~~", "hybrid"))["pin"]
    hx.pin("near")
    assert 6.5 + 1.5 * 3 == dict(topic(hx, "~~", "hybrid"))["near"]
    hx.unpin("pin")
    assert 2.5 + 1.5 * 2 == dict(topic(hx, "~~", "hybrid"))["pin"]
    assert 2.5 + 1.5 == dict(topic(hx, "~~", "hybrid"))["far"]  # `z` of `near`


@pytest.mark.row("L110")
def test_what_hexad_writes_itself_is_nothing_that_memories_share(hx):
    hx.remember("The gateway retries three times.", id="one", kind="note", space="s")
    hx.remember("The gateway logs in JSON.", id="two", kind="note", space="s", metadata={"team": "Payments"})
    hx.remember("Retries are logged.", id="three", kind="note", space="s", tags=["payments"], pinned=True)
    hx.remember("The gateway is pinned.", id="four", kind="note", space="s", pinned=True)

    # The paths that Hexad made have `gateway` and `note` in common, all metadata the project and the space.
    assert {"one": 2.5, "two": 4.0, "three": 8.0, "four": 6.5} == dict(topic(hx, "~~", "hybrid"))


words = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), max_size=4)


@pytest.mark.row("L110")
@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    memories=st.lists(st.tuples(words, words, st.booleans(), st.booleans()), min_size=2, max_size=7),
    asked=words,
)
def test_a_pin_never_lets_another_memory_pass(memories, asked):
    with hexad.open(":memory:", embedder=None) as hx:
        for number, (path, tags, pinned, made) in enumerate(memories):
            where = {} if made else {"path": "/".join(["p", *path, str(number)])}
            hx.remember(
                f"Text {' '.join(path)} {number}.",
                id=f"m{number}",
                space="s",
                tags=tags,
                pinned=pinned,
                **where,
            )
        hx.unpin("m0")
        for question in (" ".join(asked), "alpha"):
            before = [name for name, _ in topic(hx, question, "hybrid")]
            hx.pin("m0")
            after = [name for name, _ in topic(hx, question, "hybrid")]
            hx.unpin("m0")
            assert after.index("m0") <= before.index("m0")


@pytest.mark.row("L109", "L017")
def test_a_kind_goes_by_time_rarity_and_pin(hx):
    put(hx, "a", path="x/y", metadata={})
    put(hx, "b", path="x/x", pinned=True)

    # `project` and `s` occur twice, `x` three times, `y` once, and the hashes of the texts once each.
    def added(*frequencies: int) -> float:
        total = 0.0
        for frequency in frequencies:
            total += 1 / frequency
        return total

    a, b = added(2, 2, 1, 3, 1), added(2, 2, 1, 3)  # in the order of the tokens: project, s, sha256:…, x, y
    assert [("b", EPOCH + b + 5.0), ("a", EPOCH + a)] == kind(hx, "note", "hybrid")


# temporal ---------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L166")
def test_what_lies_in_near_weeks_months_and_years_comes_first(hx):
    for name, day in (
        ("today", "2026-01-01"),
        ("monday", "2025-12-29"),  # the same week, another month and year
        ("sunday", "2025-12-28"),
        ("summer", "2025-07-01"),
        ("ahead", "2026-02-10"),
    ):
        put(hx, name, at=datetime.fromisoformat(day).replace(tzinfo=UTC))

    summer = 1.0 * 0.5 + 1.5 * 0.5**6 + 2.0 * 0.5**26
    decays = {
        "today": 4.5,
        "ahead": 4.5,
        "monday": 0.5 + 0.75 + 2.0,
        "sunday": 0.5 + 0.75 + 1.0,
        "summer": summer,
    }
    assert ["ahead", "today", "monday", "sunday", "summer"] == [
        name for name, _ in topic(hx, "~~", "temporal")
    ]
    assert {name: 2.5 + decay for name, decay in decays.items()} == dict(topic(hx, "~~", "temporal"))
    hx.pin("summer")
    found = dict(kind(hx, "note", "temporal"))
    assert 9.5 == found["summer"]  # a pin is a change: it is of today now
    assert 3.25 == found["monday"]


# Filters, strictness, choice ----------------------------------------------------------------------------------------------


def test_filters_choose_and_leave_the_frequencies_as_they_are(hx):
    put(hx, "a", path="x/alpha", relevance="high")
    put(hx, "b", path="y/alpha")

    assert [("a", 5.0 + 3.0 + 2.5 / 2)] == topic(hx, "alpha", "hybrid", require_high_relevance=True)
    assert [("b", 2.5 + 3.0 + 2.5 / 2)] == topic(hx, "alpha", "hybrid", path="y")
    assert [] == topic(hx, "alpha", path="Y")
    assert ["b"] == [name for name, _ in kind(hx, "note", path="[yz]/*", limit=1)]


def test_strict_order_puts_pins_and_relevance_before_scores(hx):
    put(hx, "low-pin", relevance="low", pinned=True, raw="nothing")
    put(hx, "high", relevance="high", raw="nothing")
    put(hx, "medium", path="topic/x", raw="topic", summary_short="topic")

    assert [("medium", 9.0), ("high", 5.0), ("low-pin", 5.0)] == topic(hx, "topic")
    assert ["low-pin", "high", "medium"] == [name for name, _ in topic(hx, "topic", order="strict")]
    assert ["low-pin", "high"] == [name for name, _ in topic(hx, "topic", order="strict", limit=2)]
    with pytest.raises(InvalidInput, match="strict"):
        topic(hx, "topic", order="loose")


def test_no_ordering_changes_what_is_stored(hx):
    put(hx, "a", tags=["x"], metadata={"owner": "ann"})
    before = hx.get("a").to_dict()

    for backend in Backend:
        topic(hx, "a", backend.value)
        kind(hx, "note", backend.value)

    assert before == hx.get("a").to_dict()


@pytest.mark.row("L111", "L168")
@pytest.mark.parametrize(
    ("per_call", "policy", "setting", "expected"),
    [
        (None, None, "basic", Backend.BASIC),
        (None, None, None, Backend.BASIC),
        (None, None, " Patricia ", Backend.PATRICIA),
        (None, Backend.RAPTOR, "patricia", Backend.RAPTOR),
        ("GraphRAG", Backend.RAPTOR, "patricia", Backend.HYBRID),
        (Backend.TEMPORAL, "raptor", "patricia", Backend.TEMPORAL),
        ("memtree", None, "basic", Backend.HYBRID),
        ("TemporalTree", None, "basic", Backend.TEMPORAL),
    ],
)
def test_the_call_goes_before_the_space_and_the_space_before_the_setting(per_call, policy, setting, expected):
    assert (expected, None) == resolve_backend(per_call, policy, setting)


@pytest.mark.row("L112")
def test_an_unknown_backend_is_replaced_by_basic_with_a_warning(caplog):
    backend, note = resolve_backend("fancy", Backend.RAPTOR, "patricia")

    assert Backend.BASIC is backend
    assert "'fancy'" in note
    assert "basic, patricia, raptor, hybrid, temporal" in note
    (warned,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "ordered by 'basic'" in warned
    assert "fancy" not in warned  # logs have nothing of what was given


def _view(hx: Hexad):
    topic(hx, "~~", "hybrid")
    return hx._services.orderings()._views[hx._services.stores.spaces.get("s").no]
