"""Who may see what: every public way to read is tried against a memory that is hidden from the actor's role."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import AccessDenied, Conflict, FrozenClock, Hexad, NotFound
from hexad.interfaces.cli.app.main import main
from hexad.memory.draft import Draft
from opener import Opener
from tables import everything_stored

SECRET = "The merger with Zanzibar closes in the spring of next year."
OPEN = "The canteen serves soup on the first floor every single day."
HIDDEN = ("hidden", "zanzibar", "merger")

POLICY = {"visibility": [{"kinds": ["decision"], "roles": ["lead", "board"]}]}

pytestmark = pytest.mark.row("L043", "L170")


@pytest.fixture
def owner(opened: Opener) -> Hexad:
    """A store with one memory for everybody and one that only leads and the board may see."""
    hx = opened()
    hx.spaces.create("plans")
    hx.spaces.set_policy("plans", POLICY)
    hx.remember(OPEN, space="plans", id="open", path="plans/canteen", tags=["office"])
    hx.remember(
        SECRET, space="plans", id="hidden", path="plans/merger", kind="decision", tags=["zanzibar-tag"]
    )
    hx.embed_pending()
    return hx


@pytest.fixture
def dev(owner: Hexad, opened: Opener) -> Hexad:
    return opened(role="dev")


def said(value: object) -> str:
    """Return everything that a result says, as one text."""
    converted = getattr(value, "to_dict", lambda: value)()
    return json.dumps(converted, default=repr, ensure_ascii=False).lower() + repr(value).lower()


READS: dict[str, Callable[[Hexad], object]] = {
    "recall": lambda hx: hx.recall("when does the merger close?", explain=True),
    "recall in the space": lambda hx: hx.recall("Zanzibar", space="plans", explain=True),
    "recall by kind": lambda hx: hx.recall("Zanzibar", kinds=["decision"], explain=True),
    "recall by tag": lambda hx: hx.recall("Zanzibar", tags=["zanzibar-tag"], explain=True),
    "recall by path": lambda hx: hx.recall("closes in spring", path="plans", explain=True),
    "recall by words alone": lambda hx: hx.recall("merger zanzibar spring", semantic=False, explain=True),
    "recall with links": lambda hx: hx.recall("canteen soup", follow_links=True, explain=True),
    "memories": lambda hx: hx.memories(limit=None, status=None),
    "memories of the kind": lambda hx: hx.memories(kinds=["decision"], status=None),
    "memories by text": lambda hx: hx.memories(text="zanzibar"),
    "near duplicates of another": lambda hx: hx.near_duplicates("open"),
    "links of another": lambda hx: hx.links("open"),
    "spaces": lambda hx: hx.spaces.list(),
    "a space": lambda hx: hx.spaces.get("plans"),
    "a bundle": lambda hx: hx.recall_context("plans", "merger zanzibar", include_raw=True, limit=100),
    "a kind": lambda hx: hx.recall_kind("plans", "decision", limit=100),
    "a context": lambda hx: hx.use_context("plans", "merger zanzibar"),
}
QUESTIONS = {"recall", "a bundle", "a kind", "a context"}  # which say back what was asked


@pytest.mark.parametrize("name", READS)
def test_no_way_to_read_shows_a_hidden_memory(owner: Hexad, dev: Hexad, name: str) -> None:
    owner.link("open", "hidden")
    shown = READS[name](dev)

    ids = said(shown)
    assert "'hidden'" not in ids
    assert '"hidden"' not in ids
    assert SECRET.lower() not in ids
    assert "plans/merger" not in ids
    assert "hidden" in said([READS["memories"](owner)]), "the owner sees it"


@pytest.mark.parametrize("name", [name for name in READS if name not in {"spaces", "a space"}])
def test_what_is_read_does_not_depend_on_whether_the_hidden_memory_is_there(
    owner: Hexad, dev: Hexad, name: str
) -> None:
    def ids() -> list[str]:
        shown = READS[name](dev)
        return sorted(part for part in ("open", "hidden") if f"'{part}'" in repr(shown))

    before = ids()
    owner.forget("hidden")

    assert before == ids()


BY_NAME: dict[str, Callable[[Hexad, str], object]] = {
    "get": lambda hx, name: hx.get(name),
    "get in the space": lambda hx, name: hx.get(name, space="plans"),
    "history": lambda hx, name: hx.history(name),
    "near_duplicates": lambda hx, name: hx.near_duplicates(name),
    "links": lambda hx, name: hx.links(name),
    "link": lambda hx, name: hx.link("open", name),
    "link back": lambda hx, name: hx.link(name, "open"),
    "unlink": lambda hx, name: hx.unlink("open", name),
    "pin": lambda hx, name: hx.pin(name),
    "pin in the space": lambda hx, name: hx.pin("plans", name),
    "unpin": lambda hx, name: hx.unpin("plans", name),
    "forget": lambda hx, name: hx.forget(name),
    "restore": lambda hx, name: hx.restore(name),
    "tag": lambda hx, name: hx.tag(name, add=["seen"]),
}


@pytest.mark.parametrize("given", ["hidden", "plans/merger"])
@pytest.mark.parametrize("name", BY_NAME)
def test_a_hidden_memory_is_not_found_by_id_or_path(owner: Hexad, dev: Hexad, name: str, given: str) -> None:
    before = everything_stored(owner)

    with pytest.raises(NotFound) as hidden:
        BY_NAME[name](dev, given)
    with pytest.raises(NotFound) as missing:
        BY_NAME[name](dev, "nothing-has-this-name")

    assert str(missing.value).replace("nothing-has-this-name", given) == str(hidden.value)
    assert before == everything_stored(owner)


WHOLE: dict[str, Callable[[Hexad, Path], object]] = {
    "gc": lambda hx, _: hx.spaces.gc("plans", ttl_days=1),
    "gc, dry": lambda hx, _: hx.spaces.gc("plans", ttl_days=1, dry_run=True),
    "delete": lambda hx, _: hx.spaces.delete("plans"),
    "delete, dry": lambda hx, _: hx.spaces.delete("plans", dry_run=True),
    "reset": lambda hx, _: hx.spaces.create("plans", reset=True),
    "set_policy": lambda hx, _: hx.spaces.set_policy("plans", {}),
    "write_file": lambda hx, _: hx.spaces.write_file("plans"),
    "export": lambda hx, folder: hx.spaces.export("plans", folder / "plans.json"),
    "check": lambda hx, _: hx.check(),
    "reindex": lambda hx, _: hx.reindex(),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_about_a_whole_space_is_the_owners(
    owner: Hexad, dev: Hexad, tmp_path: Path, name: str
) -> None:
    owner.spaces.set_policy("plans", {"allow_delete": True, "ttl_days": 1}, merge=True)
    before = everything_stored(owner)

    with pytest.raises(AccessDenied, match="role dev is not its owner"):
        WHOLE[name](dev, tmp_path)

    assert before == everything_stored(owner)
    assert not (tmp_path / "plans.json").exists()


def test_counts_are_of_what_the_actor_sees(owner: Hexad, dev: Hexad) -> None:
    space = dev.spaces.get("plans")

    assert (1, {"note": 1}, {}) == (space.memories, space.kinds, space.policies)
    assert (1, 1, 1) == (dev.status().memories, dev.status().chunks, dev.status().vectors)
    assert (1, 2) == (dev.count(), owner.count())


@pytest.mark.parametrize("role", ["lead", "board", "owner"])
def test_admitted_roles_see_it(owner: Hexad, opened: Opener, role: str) -> None:
    hx = opened(role=role)

    assert SECRET == hx.get("hidden").raw
    assert "hidden" in [hit.id for hit in hx.recall("when does the merger close?")]


def test_an_actor_without_a_role_sees_what_everybody_sees(owner: Hexad) -> None:
    with hexad.open(owner.path, embedder=None, background=False, actor="ada") as hx:
        assert ["open"] == [memory.id for memory in hx.memories()]


# Writing beside what is hidden -----------------------------------------------------------------------------------


def test_the_text_of_a_hidden_memory_is_new_to_whoever_writes_it(owner: Hexad, dev: Hexad) -> None:
    own = dev.remember(SECRET, space="plans")

    assert own.receipt is not None
    assert ("created", (), 1) == (own.receipt.outcome.value, own.receipt.near_duplicates, own.evidence)
    assert own.id != "hidden"
    assert 1 == owner.get("hidden").evidence


def test_words_that_another_role_was_handed_are_no_echo(owner: Hexad, dev: Hexad) -> None:
    owner.recall("when does the merger close?")
    owner.maintain()

    own = dev.remember(SECRET, space="plans")

    assert own.receipt is not None
    assert "created" == own.receipt.outcome.value


def test_a_near_duplicate_of_a_hidden_memory_is_not_told(owner: Hexad, dev: Hexad) -> None:
    long = " ".join(f"word{n}" for n in range(60))
    owner.remember(long, space="plans", id="long", kind="decision")

    own = dev.remember(long + " more", space="plans")

    assert own.receipt is not None
    assert () == own.receipt.near_duplicates
    assert [] == list(dev.near_duplicates(own.id))


@pytest.mark.parametrize("space", ["plans", "default"])
def test_the_id_of_a_hidden_memory_is_taken_without_saying_by_what(
    owner: Hexad, dev: Hexad, space: str
) -> None:
    before = owner.get("hidden")

    with pytest.raises(Conflict) as refused:
        dev.remember("Mine now.", id="hidden", space=space)

    assert "plans" not in str(refused.value)
    assert "merger" not in str(refused.value)
    assert before == owner.get("hidden")


def test_the_source_id_of_a_hidden_memory_is_taken_too(owner: Hexad, dev: Hexad) -> None:
    owner.remember("By its source.", space="plans", source_id="doc-1", kind="decision")

    with pytest.raises(Conflict, match="'doc-1'"):
        dev.remember("Mine now.", space="plans", source_id="doc-1")


def test_a_structured_memory_does_not_meet_a_hidden_one_at_its_place(owner: Hexad, dev: Hexad) -> None:
    own = dev.remember_structured("plans", {"raw": SECRET, "path": "plans/merger", "kind": "decision"})

    assert own.id != "hidden"
    assert 2 == owner.count(path="plans/merger")


def test_one_may_write_what_one_may_not_read(owner: Hexad, dev: Hexad) -> None:
    own = dev.remember("Into the box.", space="plans", kind="decision")

    assert "Into the box." == own.raw
    with pytest.raises(NotFound):
        dev.get(own.id)
    assert "Into the box." == owner.get(own.id).raw


def test_an_ingest_leaves_items_alone_that_are_hidden(owner: Hexad, dev: Hexad) -> None:
    folder = owner.path.parent / "notes"
    folder.mkdir()
    (folder / "secret.md").write_text("# Zanzibar\n\nThe first version.\n")
    (folder / "plain.md").write_text("# Soup\n\nThe first version.\n")
    owner.ingest(folder, space="plans")
    owner.spaces.set_policy("plans", {"visibility": [{"paths": ["**/secret*"], "roles": ["lead"]}]})
    (folder / "secret.md").write_text("# Zanzibar\n\nAnother version.\n")
    (folder / "plain.md").write_text("# Soup\n\nAnother version.\n")

    report = dev.ingest(folder, space="plans")

    texts = {m.source_id: m.raw for m in owner.memories(space="plans") if m.source_id}
    assert "first" in texts["secret.md"]
    assert "Another" in texts["plain.md"]
    assert ["secret.md"] == [skip.source_id for skip in report.skipped]
    (folder / "secret.md").unlink()
    assert 0 == dev.ingest(folder, space="plans").archived
    assert "secret.md" in {m.source_id for m in owner.memories(space="plans")}
    assert 1 == owner.ingest(folder, space="plans").archived


def test_a_folders_summary_says_nothing_of_what_is_hidden(owner: Hexad, dev: Hexad) -> None:
    folder = owner.path.parent / "notes"
    folder.mkdir()
    (folder / "README.md").write_text("# Zanzibar\n\nThe plan for the merger.\n")
    (folder / "plain.md").write_text("# Soup\n\nEvery day.\n")
    owner.ingest(folder, space="plans")
    assert "Zanzibar" in next(m.raw for m in dev.memories(space="plans") if m.source_id == "./")

    owner.spaces.set_policy("plans", {"visibility": [{"paths": ["**/README*"], "roles": ["lead"]}]})

    assert "./" not in {m.source_id for m in dev.memories(space="plans", status=None)}
    (folder / "plain.md").write_text("# Soup\n\nEvery other day.\n")
    owner.ingest(folder, space="plans")
    (summary,) = [m.raw for m in dev.memories(space="plans") if m.source_id == "./"]
    assert "Zanzibar" not in summary
    assert "1 file" in summary


def test_who_queues_a_source_sets_what_its_ingest_may_do(owner: Hexad, dev: Hexad) -> None:
    folder = owner.path.parent / "notes"
    folder.mkdir()
    (folder / "secret.md").write_text("# Zanzibar\n\nThe first version.\n")
    owner.ingest(folder, space="plans")
    owner.spaces.set_policy("plans", {"visibility": [{"paths": ["**/secret*"], "roles": ["lead"]}]})
    (folder / "secret.md").write_text("# Zanzibar\n\nAnother version.\n")

    dev.enqueue(folder, space="plans")
    assert 1 == owner.maintain().ingested

    assert "first" in next(m.raw for m in owner.memories(space="plans") if m.source_id == "secret.md")


def test_a_queued_source_is_refused_when_its_space_was_closed_meanwhile(owner: Hexad, dev: Hexad) -> None:
    folder = owner.path.parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nText.\n")
    dev.enqueue(folder, space="plans")
    owner.spaces.set_policy("plans", {"roles": ["lead"]})

    assert 0 == owner.maintain().ingested

    assert (0, 1) == ((status := owner.status()).queue_waiting, status.queue_failed)
    assert 2 == owner.count(space="plans")


# Whole spaces ----------------------------------------------------------------------------------------------------


@pytest.fixture
def closed(owner: Hexad) -> Hexad:
    owner.remember(SECRET, space="board", id="closed")
    owner.spaces.set_policy("board", {"roles": ["board"]})
    return owner


def test_a_space_that_does_not_admit_the_role_is_not_there(closed: Hexad, dev: Hexad, opened: Opener) -> None:
    assert ["plans"] == [space.name for space in dev.spaces.list()]
    assert ["board", "plans"] == [space.name for space in opened(role="board").spaces.list()]
    for call in (
        lambda: dev.spaces.get("board"),
        lambda: dev.recall("merger", space="board"),
        lambda: dev.memories(space="board"),
        lambda: dev.recall_context("board", "merger"),
        lambda: dev.spaces.gc("board", dry_run=True),
        lambda: dev.spaces.delete("board"),
        lambda: dev.spaces.set_policy("board", {}),
        lambda: dev.spaces.write_file("board"),
    ):
        with pytest.raises(NotFound):
            call()


def test_writing_into_a_space_that_does_not_admit_the_role_is_refused(closed: Hexad, dev: Hexad) -> None:
    folder = closed.path.parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nText.\n")
    before = everything_stored(closed)
    for call in (
        lambda: dev.remember("Mine.", space="board"),
        lambda: dev.remember_structured("board", {"raw": "Mine."}),
        lambda: dev.remember_raw("board", "note", "Mine."),
        lambda: dev.ingest(folder, space="board"),
        lambda: dev.enqueue(folder, space="board"),
        lambda: dev.spaces.create("board"),
        lambda: dev.spaces.create("board", reset=True),
    ):
        with pytest.raises(AccessDenied, match="'board' is not open to dev"):
            call()
    assert before == everything_stored(closed)


def test_an_actor_cannot_set_what_others_may_see(dev: Hexad) -> None:
    dev.remember("Ours.", space="open")

    with pytest.raises(AccessDenied):
        dev.spaces.set_policy("open", {"roles": ["dev"]})

    assert {} == dev.spaces.get("open").policies
    assert {"ttl_days": 3} == dev.spaces.set_policy("open", {"ttl_days": 3}).policies


# Changes of a policy ---------------------------------------------------------------------------------------------


def test_a_changed_policy_holds_for_what_is_there_in_every_open_store(
    owner: Hexad, dev: Hexad, opened: Opener
) -> None:
    lead = opened(role="lead")
    for hx in (dev, lead):
        hx.recall("merger")
    assert ["hidden", "open"] == sorted(m.id for m in lead.memories())

    owner.spaces.set_policy("plans", {"visibility": [{"tags": ["office"], "roles": ["dev"]}]})

    assert ["hidden"] == [m.id for m in lead.memories()]
    assert "open" not in [hit.id for hit in lead.recall("canteen soup")]
    assert "hidden" in [hit.id for hit in dev.recall("when does the merger close?")]

    owner.spaces.set_policy("plans", {"roles": ["lead"]})

    assert [] == dev.memories()
    assert ["hidden", "open"] == sorted(m.id for m in lead.memories())

    owner.spaces.set_policy("plans", {})

    assert ["hidden", "open"] == sorted(m.id for m in dev.memories())


def test_a_tag_that_a_rule_names_hides_and_shows_at_once(owner: Hexad, dev: Hexad) -> None:
    owner.spaces.set_policy("plans", {"visibility": [{"tags": ["private"], "roles": ["lead"]}]})

    owner.tag("open", add=["private"])
    assert ["hidden"] == [m.id for m in dev.memories()]

    owner.tag("open", remove=["private"])
    assert ["hidden", "open"] == sorted(m.id for m in dev.memories())


def test_a_memory_that_changes_its_kind_changes_its_audience(owner: Hexad, dev: Hexad) -> None:
    owner.remember(SECRET, id="hidden", space="plans", kind="note")

    assert SECRET == dev.get("hidden").raw


def test_two_stores_of_one_process_share_no_filtered_view(owner: Hexad, opened: Opener) -> None:
    stores = {role: opened(role=role) for role in ("dev", "lead", "board")}
    for _ in range(3):
        for role, hx in stores.items():
            found = [hit.id for hit in hx.recall("when does the merger close?")]
            assert ("hidden" in found) == (role != "dev")


def test_hidden_neighbours_of_a_turn_stay_hidden(opened: Opener) -> None:
    hx = opened()
    file = hx.path.parent / "chat.jsonl"
    lines = [
        ("Ada", "The merger closes in spring."),
        ("Bob", "Good to know about soup."),
        ("Eve", "Zanzibar it is."),
    ]
    file.write_text(
        "".join(
            json.dumps({"conversation": "c", "session": "s", "speaker": who, "text": text, "id": f"t{n}"})
            + "\n"
            for n, (who, text) in enumerate(lines)
        )
    )
    hx.ingest(file, space="chat")
    turns = {m.source_id: m for m in hx.memories(space="chat")}
    assert 3 == len(turns)
    hx.spaces.create("x")
    hx.spaces.set_policy("chat", {"visibility": [{"tags": ["private"], "roles": ["lead"]}]})
    hx.tag(turns["t0"].id, add=["private"])
    hx.tag(turns["t2"].id, add=["private"])
    hx.embed_pending()
    dev = opened(role="dev")

    shown = dev.recall("what did Ada and Eve say about soup?", explain=True)

    assert [turns["t1"].id] == [hit.id for hit in shown]
    assert "merger" not in said(shown)
    assert "zanzibar" not in said(shown)
    assert shown.explanation is not None
    assert () == shown.explanation.speakers


def test_vectors_are_computed_whoever_has_the_store_open(owner: Hexad, dev: Hexad, opened: Opener) -> None:
    owner.remember("Another secret of the board.", space="plans", kind="decision", id="later")

    assert 1 == dev.embed_pending()

    assert owner._services.stores.db.query_one(
        "SELECT count(*) FROM vectors v JOIN memories m ON m.no = v.memory_no WHERE m.id = 'later'"
    ) == (1,)
    assert [] == owner.check()


def test_a_check_finds_a_memory_that_is_open_to_the_wrong_roles(owner: Hexad) -> None:
    db = owner._services.stores.db
    with db.transaction() as con:
        con.execute("UPDATE memories SET audience_no = NULL WHERE id = 'hidden'")

    (problem,) = owner.check()

    assert "plans/merger" in problem
    assert "everybody instead of board, lead" in problem
    owner.spaces.set_policy("plans", {})
    owner.spaces.set_policy("plans", POLICY)
    assert [] == owner.check()


def test_a_policy_over_many_memories_is_set_in_one_step(owner: Hexad, dev: Hexad) -> None:
    writer = owner._services.ingest().writer
    writer.write([Draft(text=f"Line {n}.", space="many", tags=(f"t{n % 3}",)) for n in range(600)])

    owner.spaces.set_policy("many", {"visibility": [{"tags": ["t0"], "roles": ["lead"]}]})

    assert 400 == dev.count(space="many")


def test_the_settings_name_a_role_for_whoever_names_none(
    owner: Hexad, monkeypatch: pytest.MonkeyPatch, clock: FrozenClock
) -> None:
    monkeypatch.setenv("HEXAD_ROLE", "dev")

    with hexad.open(owner.path, embedder=None, background=False) as hx:
        assert ["open"] == [memory.id for memory in hx.memories()]
    with hexad.open(owner.path, embedder=None, background=False, actor={"role": "lead"}) as hx:
        assert ["hidden", "open"] == sorted(memory.id for memory in hx.memories())
    monkeypatch.delenv("HEXAD_ROLE")


def test_a_command_acts_in_the_role_that_is_given(
    owner: Hexad, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def seen(*args: str) -> tuple[int, str]:
        code = main(["--store", str(owner.path), *args])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    monkeypatch.setenv("HEXAD_EMBEDDER", "none")

    assert "hidden" in seen("memory", "list", "--role", "lead")[1]
    for args in (
        ("memory", "list"),
        ("recall", "merger Zanzibar"),
        ("spaces", "list"),
        ("spaces", "show", "plans"),
    ):
        code, said_there = seen("--role", "dev", *args)
        assert (0, False, False) == (code, "hidden" in said_there, "lead" in said_there)
    assert 3 == seen("--role", "dev", "memory", "show", "hidden")[0]
    assert 4 == seen("--role", "dev", "remember", "Mine.", "--id", "hidden")[0]
    code, refused = seen("--role", "dev", "check")
    assert (1, True) == (code, "role dev is not its owner" in refused)
    assert 2 == seen("--role", "No Role", "memory", "list")[0]
    assert 2 == seen("--role", "", "memory", "list")[0]
