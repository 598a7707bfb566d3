"""What a context shows can be asked for by its id, whichever layer it is of; and a layer that is new is not late."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from time import sleep

import pytest

import hexad
from hexad import Hexad, MemoryItem, MemoryLayer, MemoryQuery
from hexad.errors import NotFound
from hexad.layers.context.api import ContextFilters
from hexad.layers.router.plan import RouteRequest
from layer_contexts import contexts_with
from user_projects import open_project


@pytest.fixture
def hx(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as store:
        yield store


def shown(hx: Hexad, task: str, **options: object) -> list[hexad.EvidenceBlock]:
    found = hx.context(task, wait=True, max_tokens=8_000, **options)  # type: ignore[arg-type]
    return [*found.system_items, *found.evidence_blocks]


@pytest.mark.row("A074")
def test_everything_that_a_context_shows_of_the_person_can_be_expanded_by_its_id(hx):
    hx.user.prefer("db", "Postgres")
    hx.user.exception("orm", "Drizzle", reason="it runs at the edge")
    hx.user.observe("Small pull requests")
    hx.user.set_expertise("Rust", "expert")
    hx.user.add_rule("Never deploys on Fridays.")
    blocks = [block for block in shown(hx, "What do I prefer?") if block.item.layer is MemoryLayer.USER]

    assert 5 == len(blocks)
    for block in blocks:
        whole = hx.expand(block.item.id)
        assert (whole.id, whole.text, whole.trust) == (block.item.id, block.item.text, block.item.trust)
    with pytest.raises(NotFound, match="user:preference-99"):
        hx.expand("user:preference-99")


@pytest.mark.row("A074")
def test_everything_that_a_context_shows_of_sessions_can_be_expanded_by_its_id(hx):
    hx.xdb.start_session("monday")
    hx.xdb.record("input", "The harbour crane is broken.", event_id="one", role="user")
    hx.xdb.record("output", "The harbour crane was mended.", event_id="two")
    hx.xdb.flush()
    hx.session.start("Mend the harbour crane")
    hx.session.note("The harbour crane needs oil.")
    blocks = shown(hx, "the harbour crane", layers=["session"])

    assert {"task", "scratchpad", "event"} == {block.item.kind for block in blocks}
    for block in blocks:
        whole = hx.expand(block.item.id)
        assert (whole.id, whole.text, whole.trust) == (block.item.id, block.item.text, block.item.trust)
        assert whole.layer is MemoryLayer.SESSION
    with pytest.raises(NotFound):
        hx.expand(blocks[0].item.id + "9")


def test_what_was_erased_since_it_was_shown_is_not_expanded_from_what_the_caller_holds(hx):
    memory = hx.remember("The cellar is cold.")
    (block,) = shown(hx, "how cold is the cellar?")
    hx.forget(memory.id, purge=True, confirm=True)
    for what in (block, block.item, memory.id):
        with pytest.raises(NotFound, match=memory.id):
            hx.expand(what)


def test_a_role_expands_nothing_of_the_person(hx, tmp_path, clock):
    preference = hx.user.prefer("db", "Postgres")
    hx.close()
    with open_project(tmp_path / "one", clock, actor={"role": "guest"}) as guest:
        with pytest.raises(NotFound):
            guest.expand(f"user:{preference.id}")


class Cold:
    """A layer of a test that takes long once, and says when it was made warm; or one that breaks."""

    name = MemoryLayer.SESSION

    def __init__(self, error: Exception | None = None) -> None:
        self.warmed, self.error = 0, error

    def warm(self) -> None:
        self.warmed += 1
        if self.error is not None:
            raise self.error

    def item(self, item_id: str, *, now: object) -> None:
        return None

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        assert self.warmed, "asked before it was warm"
        return ()


@pytest.mark.row("A147")
@pytest.mark.parametrize("layer", ["session", "project", "user", "governance", "vector"])
def test_every_layer_is_made_warm_before_its_first_deadline_begins(hx, layer):
    cold = Cold()
    contexts = contexts_with(hx, {MemoryLayer(layer): lambda: cold})
    try:
        for _ in range(2):
            found = contexts.context(
                "how do we deploy?",
                wanted=RouteRequest(layers=(MemoryLayer(layer),)),
                narrowed=ContextFilters(),
            )
            assert {} == found.failed
    finally:
        contexts.close()
    assert 1 == cold.warmed


class Hanging(Cold):
    """A layer of a test that does not get warm before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = Event()

    def warm(self) -> None:
        self.let.wait(60)
        super().warm()


@pytest.mark.row("A147", "A107")
def test_a_layer_that_hangs_while_it_is_made_warm_is_late_and_is_asked_when_it_is_done(hx):
    hx.remember("Deploys happen on Tuesday.")
    hanging = Hanging()
    contexts = contexts_with(hx, {MemoryLayer.SESSION: lambda: hanging})
    try:
        for _ in range(2):
            found = contexts.context("how do we deploy?", wanted=RouteRequest(), narrowed=ContextFilters())
            assert (MemoryLayer.SESSION,) == found.late
            assert "Deploys" in found.render()
        hanging.let.set()
        while contexts.busy():
            sleep(0.001)
        assert MemoryLayer.SESSION not in (
            contexts.context("how do we deploy?", wanted=RouteRequest(), narrowed=ContextFilters()).late
        )
    finally:
        hanging.let.set()
        contexts.close()
    assert 1 == hanging.warmed


@pytest.mark.row("A147")
def test_to_be_warm_the_layer_of_the_person_is_open_and_that_of_sessions_has_looked(hx):
    hx.user.prefer("db", "Postgres")
    hx.user.close()
    services = hx._services
    services.user().layer.warm()
    assert services.user().facade._access._store is not None
    statements: list[str] = []
    services.db.tracer = lambda sql, _seconds: statements.append(sql)
    services.session().layer.warm()
    assert any("working_sets" in sql for sql in statements)


@pytest.mark.row("A107")
def test_a_layer_that_breaks_while_it_is_built_or_made_warm_takes_no_other_along(hx):
    hx.remember("Deploys happen on Tuesday.")

    def unbuilt() -> Cold:
        raise OSError("no such disk")

    for source, failed in (
        (lambda: Cold(RuntimeError("cold")), {}),
        (unbuilt, {MemoryLayer.SESSION: "OSError in the layer"}),
    ):
        contexts = contexts_with(hx, {MemoryLayer.SESSION: source})
        try:
            found = contexts.context(
                "when do we deploy?", wanted=RouteRequest(wait=True), narrowed=ContextFilters()
            )
        finally:
            contexts.close()
        assert failed == found.failed
        assert ["Deploys happen on Tuesday."] == [block.text for block in found.system_items]
