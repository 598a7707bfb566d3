"""Questions for the stores of `data/written`, by group, and how answers are written down."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hexad
from golden.written_store import ASKED, FOLDER, PASSPHRASE
from hexad import FrozenClock, Hexad
from hexad.audit import AuditLog, AuditLogWriter, check_archive, check_incident
from hexad.testing import HashEmbedder

Answers = Iterator[tuple[str, Any]]


class Reader:
    """Opens copies of the stores under `root` at the time at which all questions are asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = FrozenClock(ASKED)
        self.ids = hexad.TimeSortedIds(self.clock, seed=21)

    def opened(self, name: str = "project", **options: Any) -> Hexad:
        return hexad.open(
            self.root / name,
            clock=self.clock,
            ids=self.ids,
            embedder=HashEmbedder(),
            background=False,
            create=False,
            user_dir=self.root / "user",
            **options,
        )

    def credential(self, name: str) -> str:
        return str(json.loads((self.root / "credential").read_text())[name])


@contextlib.contextmanager
def stopped_clock(clock: FrozenClock) -> Iterator[None]:
    """Let a command, which can be handed no clock, read this one as the machine's."""
    system = hexad.SystemClock
    with (
        patch.object(system, "now", lambda self: clock.now()),
        patch.object(system, "monotonic", lambda self: 0.0),
    ):
        yield


def line(question: str, answer: Any, root: Path) -> str:
    """Return a question and its answer as one line of JSON, in which paths of this machine begin with `<root>`."""
    text = json.dumps({"question": question, "answer": plain(answer)}, ensure_ascii=False)
    return text.replace(str(root), "<root>").replace(f"process {os.getpid()} (", "process <pid> (")


def plain(value: Any) -> Any:
    """Return a value as JSON has it: by its own `to_dict` where it has one, with the fields that this leaves out."""
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, BaseException):
        return type(value).__name__  # what it says is of the groups of texts for people
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    return _of_object(value)


def _of_object(value: Any) -> Any:
    fields = {}
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if not hasattr(value, "to_dict"):
        return plain(fields) if fields else [plain(item) for item in value]
    own = value.to_dict()
    if not isinstance(own, Mapping):
        return plain(own)
    more = {name: item for name, item in fields.items() if name not in own and not name.startswith("_")}
    return {**plain(own), **({"and": plain(more)} if more else {})}


def outcome(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return what a call answers, or how it refuses."""
    try:
        answer = call(*args, **options)
        return list(answer) if isinstance(answer, Iterator) else answer
    except hexad.HexadError as error:
        return error


def without(answer: Any, *names: str) -> Any:
    """Return an answer with `…` for values that are other ones each time, or on each machine."""
    if isinstance(answer, list | tuple):
        return [without(item, *names) for item in answer]
    if not isinstance(answer, dict):
        return answer
    return {name: "…" if name in names else without(item, *names) for name, item in answer.items()}


RECEIPT = ("key", "mac", "selection_mac")
"""What a receipt is signed with is made for it alone."""
SIZES = ("bytes", "needed_bytes", "freed", "freed_bytes")
"""Of files of the stream that were written just now: names in them are random, and packed."""


def recall(reader: Reader) -> Answers:
    """Hits with their parts, by full text and by meaning."""
    asked: tuple[tuple[str, dict[str, Any]], ...] = (
        ("When do we deploy?", {}),
        ("When do we deploy?", {"semantic": False}),
        ("When do we deploy?", {"semantic": False, "explain": True}),
        ("what must hold before we ship", {}),
        ("parseHttpHeader", {}),
        ("http header", {"kinds": ["code"]}),
        ("Why did the gateway fail?", {"follow_links": True}),
        ("how many retries", {"space": "gateway"}),
        ("retries", {"space": ["gateway", "default"], "limit": 3}),
        ("where does Ann live?", {}),
        ("where does Ann live?", {"as_of": "2021-05-05"}),
        ("where does Ann live?", {"as_of": "2023-05-05", "semantic": False}),
        ("what does Ann speak?", {}),
        ("harbour office hours", {"since": "2025-01-01", "until": "2026-02-01"}),
        ("réunion du comité", {}),
        ("heron", {"limit": 2}),
        ("heron", {"feedback": False}),
        ("where is the spare machine?", {"explain": True}),
        ("release", {"tags": ["release"], "max_tokens": 12}),
        ("brake test", {"space": "docs"}),
        ("rolling back", {"path": "docs"}),
        ("crane", {"association": 0.5}),
        ("previous instructions", {}),
        ("token of the pilot", {}),
        ("Lunde ferry", {}),
        ("which steps are open?", {"layers": ["session"]}),
        ("which editor?", {"layers": ["user"]}),
        ("what is the database?", {"layers": ["project", "user"]}),
        ("who decided on retries?", {"layers": ["governance"]}),
        ("the lake froze", {"layers": ["session"], "explain": True}),
        ("night shift", {"space": "crew"}),
        ("quantum chromodynamics", {}),
        ("", {}),
        ("x", {"space": "nowhere"}),
    )
    with reader.opened() as hx:
        for text, options in asked:
            yield f"recall {text!r} {options}", outcome(hx.recall, text, **options)
        hits = hx.recall("When do we deploy?", explain=True)
        yield "explanation", hits.explanation
        yield "modes", [hits.mode, hits.dropped, [hit.why for hit in hits], [hit.parts for hit in hits]]


def contexts(reader: Reader) -> Answers:
    """What all layers say of a task, fused, in every format; plans and items."""
    tasks = (
        "When do we deploy?", "back off between retries", "decisions about retries since January",
        "what does Ann's city mean for the post?", "layer:project kind:decision retries", "which editor do I prefer?",
        "what happened on monday?", "how did the gateway go from five to seven retries?", "crane brake test",
    )  # fmt: skip
    with reader.opened() as hx:
        for task in tasks:
            yield f"plan {task!r}", hx.plan(task)
            yield f"context {task!r}", hx.context(task, wait=True)
            yield f"query {task!r}", hx.query(task, deterministic=True)
        for format in ("toon", "json", "markdown"):
            yield f"text {format}", str(hx.context(tasks[0], wait=True, format=format))
        for options in (
            {"max_tokens": 60}, {"layers": ["project", "user"]}, {"deterministic": True}, {"details": False},
            {"space": "docs"}, {"kinds": ["decision"]}, {"since": "2026-03-01", "until": "2026-04-01"},
            {"as_of": "2021-05-05"}, {"plain": False},
        ):  # fmt: skip
            yield f"context {options}", hx.context("gateway retries and Ann's city", wait=True, **options)
        yield "expand", [hx.expand(item) for item in hx.query("gateway retries", deterministic=True)[:4]]
        yield "expand short", hx.expand("note-05", max_tokens=5)
        yield "deterministic plan", hx.plan(tasks[0], deterministic=True, max_tokens=300, layers=["project"])


def bundles(reader: Reader) -> Answers:
    """What a space knows about a topic, in all five orderings, and by kind."""
    with reader.opened() as hx:
        for backend in ("basic", "patricia", "raptor", "hybrid", "temporal"):
            for topic in ("deploy", "spare machine", "gateway retries"):
                yield f"{backend} {topic}", hx.recall_context("default", topic, backend=backend, limit=6)
        for options in (
            {"include_raw": True, "raw_limit": 2}, {"order": "strict"}, {"prefer_kinds": ["guide"]}, {"path": "project"},
            {"max_tokens": 40}, {"follow_links": True}, {"freeze_clock": "2026-04-01"}, {"include_metadata": False},
        ):  # fmt: skip
            yield f"options {options}", outcome(hx.recall_context, "default", "deploy heron", **options)
        for space in ("gateway", "docs", "crew", "project", "code", "mem0"):
            yield f"space {space}", hx.recall_context(space, "gateway deploy night Lunde")
        for kind in ("note", "decision", "guide", "code", "turn"):
            yield f"kind {kind}", hx.recall_kind("default", kind)
        yield "kind of a space", hx.recall_kind("docs", "doc", limit=3)
        yield "hook", hx.use_context("harbour", "night shift").text
        yield "hook of a space", hx.use_context("default", "deploy").text
    with reader.opened(actor={"role": "deckhand"}) as hx:
        yield "to a deckhand", hx.recall_context("crew", "night wages ropes")


def memories(reader: Reader) -> Answers:
    """Memories one by one: lists, counts, histories, links, duplicates, quarantine, feedback, quality."""
    with reader.opened() as hx:
        yield "all", hx.memories(limit=None, status=None, order="path")
        yield (
            "counts",
            [hx.count(), hx.count(status=None), hx.count(space="docs"), hx.count(tags=["release"])],
        )
        for options in (
            {"kinds": ["decision"]}, {"tags": ["release"]}, {"path": "gateway"}, {"text": "heron"}, {"pinned": True},
            {"status": "archived"}, {"status": "superseded"}, {"order": "created", "limit": 3, "offset": 2},
        ):  # fmt: skip
            yield f"list {options}", [memory.id for memory in outcome(hx.memories, **options)]
        for name in ("retries", "note-11", "release-checklist", "ann-Rome"):
            yield f"get {name}", hx.get(name)
            yield f"history {name}", hx.history(name)
            yield f"links {name}", hx.links(name)
            yield f"near {name}", hx.near_duplicates(name)
        yield "by path", hx.get("gateway/retries")
        yield "missing", outcome(hx.get, "nobody")
        yield "quarantine", [hx.quarantine.list(), hx.quarantine.count(), hx.quarantine.get("attack-2")]
        yield "feedback", hx.feedbacks()
        yield "feedback of one", hx.feedbacks("note-07")
        yield "quality", hx.memory_quality()
        yield "quality of a space", hx.memory_quality(space="default", listed=2)
        yield "erasures", hx.erasures()
        yield "forgetting", without(plain(hx.forget(subject="ada", purge=True, dry_run=True)), *RECEIPT)
        yield "forgetting a source", without(plain(hx.forget(source="mem0.json", dry_run=True)), *RECEIPT)
        yield "wiping", without(plain(hx.wipe("project", dry_run=True)), *RECEIPT)
        yield "consolidating", hx.consolidate(dry_run=True)


def spaces(reader: Reader) -> Answers:
    """Spaces with summaries, policies and metadata; what a role sees; what the files say."""
    with reader.opened() as hx:
        yield "list", hx.spaces.list()
        for name in ("default", "crew", "docs", "project", "scratch-again"):
            yield f"get {name}", hx.spaces.get(name)
            yield f"file {name}", hx.spaces.write_file(name).read_text(encoding="utf-8")
        yield "budget", [hx.spaces.budget(), hx.spaces.budget("crew")]
        yield "gc", hx.spaces.gc("crew", dry_run=True)
        yield "gc sooner", hx.spaces.gc("crew", ttl_days=1, dry_run=True)
        yield "delete", hx.spaces.delete("crew", dry_run=True)
        yield "refused", outcome(hx.spaces.delete, "docs")
        report = hx.spaces.export("talk", reader.root / "talk.json")
        yield "export", report
        yield "exported", (reader.root / "talk.json").read_text(encoding="utf-8")
        yield "verify", hexad.verify_export(reader.root / "talk.json")
        earlier = reader.root / "project" / "scratch.json"
        yield "verify what was exported", [hexad.verify_export(earlier), hx.spaces.verify(earlier)]
        yield "restore", hx.spaces.restore(earlier, name="scratch-again", merge=True, dry_run=True)
    for role in ("lead", "deckhand", "stranger"):
        with reader.opened(actor={"role": role}) as hx:
            yield f"as {role}: list", hx.spaces.list()
            yield f"as {role}: crew", outcome(hx.memories, space="crew")
            yield f"as {role}: recall", outcome(hx.recall, "night shift wages ropes")
            yield f"as {role}: delete", outcome(hx.spaces.delete, "crew", dry_run=True)


def knowledge(reader: Reader) -> Answers:
    """Facts over time, what the project is made of, and what was decided."""
    with reader.opened() as hx:
        yield "current", hx.facts.current()
        yield "current of ann", hx.facts.current("ann", "city")
        for when in ("2019-01-01", "2021-01-01", "2023-01-01", "2026-06-01"):
            yield f"as of {when}", hx.facts.as_of(when)
        yield (
            "known then",
            [
                hx.facts.as_of("2026-02-20", "ann", known_at=at)
                for at in ("2026-01-23T04:00:00Z", "2026-02-20")
            ],
        )
        yield "history", hx.facts.history("ann", "city")
        yield "whole history", hx.facts.history()
        yield "contradictions", hx.facts.contradictions()
        yield "declared", hx.facts.declared()
        yield "to review", hx.facts.needs_review()
        yield "changed", hx.facts.what_changed("2026-01-01")
        yield "changed lately", hx.facts.what_changed("2026-03-01", "2026-06-01")
        project = hx.project
        yield "project", project.get()
        yield "sure", project.get("pattern", min_confidence=0.5, drafts=False)
        yield "stack", project.get_tech_stack()
        yield "conventions", project.get_conventions()
        yield "patterns", project.get_patterns()
        yield "todos", [project.get_todos(), project.get_todos(component="gateway")]
        yield "components", [project.components(), project.component("gateway")]
        yield "decisions", project.get_decisions()
        yield "detect", project.detect(reader.root / "project", dry_run=True)
        governance = hx.governance
        yield "decided", governance.query()
        yield "decided in force", governance.query(in_force=True, by="Bea")
        yield "decided about", governance.query("retry pool")
        every = governance.query(in_force=None)
        yield "lines", [governance.history(decision.id) for decision in every]
        yield "one", governance.get(every[0].memory_id)
        for topic in ("src/harbour/gateway.py", "src", "logging retries", "walnuts"):
            yield f"why {topic}", hx.governance.why(topic)


def sessions(reader: Reader) -> Answers:
    """What was being worked on, and going on with it."""
    with reader.opened() as hx:
        yield "list", hx.session.list()
        yield "ended", hx.session.list(ended=True)
        for name in ("work-1", "work-2"):
            yield f"get {name}", hx.session.get(name)
        yield "here", hx.session.list(everywhere=False)
        yield "state", [hx.session.current, hx.session.inactive_after]
        yield "resumable", [hx.session.resumable(), hx.session.resumable(folder=FOLDER)]
        yield (
            "place",
            [hx.session.place(), hx.session.place(FOLDER), hx.session.list(folder=FOLDER, everywhere=False)],
        )
        yield "resumed", hx.session.resume("work-2")
        yield "task", [hx.session.current, hx.session.state]
        yield "line of it", str(hx.context("what is left to do?", layers=["session"], wait=True))
        yield "step", hx.session.mark_step("parser")
        yield "said", hx.session.add_turn("user", "Now the docs.")
        yield "end", hx.session.end("Backs off.")
        yield "started", hx.session.start("grease the crane", ticket="CRANE-8", session_id="work-3")
        yield "snapshot", hx.session.snapshot()


def user(reader: Reader) -> Answers:
    """What is known of the user across projects."""
    with reader.opened() as hx:
        layer = hx.user
        yield "counts", layer.counts()
        yield "held", list(layer.held())
        yield "preferences", layer.preferences()
        yield "sure", layer.preferences(min_confidence=0.7)
        for key in ("editor", "db", "orm", "language", "tests", "shell"):
            yield f"preference {key}", layer.preference(key)
        yield "patterns", layer.patterns()
        yield "antipatterns", layer.patterns("antipattern")
        yield "expertise", [layer.expertise(), layer.expertise("sqlite")]
        yield "rules", layer.rules()
        yield "suggestions", [layer.suggestions(), layer.offer()]
        yield "suppressions", layer.suppressions()
        yield "exceptions", [layer.exceptions(), layer.exceptions(everywhere=True)]
        yield "stated", layer.stated()
        yield "learning", layer.learn(dry_run=True)
        yield "weighing", [layer.rescored_at, layer.rescore(dry_run=True)]
        yield "check", layer.check()
        yield "wiping", layer.wipe(dry_run=True)
        yield "context", str(hx.context("which editor and database?", layers=["user"], wait=True))


def experience(reader: Reader) -> Answers:
    """What happened: timesteps, events, windows, totals, whatever detail is left."""
    with reader.opened() as hx:
        xdb = hx.xdb
        yield "sessions", xdb.sessions()
        yield "totals", xdb.session_totals()
        yield "state", xdb.get_state()
        for name in ("winter", "monday", "talk"):
            yield f"events of {name}", xdb.recall_events(session_id=name)
            yield f"context of {name}", xdb.context(name)
            yield f"context text of {name}", str(xdb.context(name))
            yield f"windows of {name}", xdb.windows(session_id=name)
        yield "timesteps", xdb.recall(session_id="monday")
        yield "everywhere", xdb.recall(session_id="*", limit=20, offset=5)
        lens = "example.org/workshop::"
        for options in (
            {"text_search": "deploy"}, {"tags": ["planning"]}, {"tags": ["planning", "words"], "match": "any"},
            {"concepts": {f"{lens}Deployment": (0.5, 1.0)}}, {"concepts": [f"{lens}Testing"]}, {"tick_range": (3, 8)},
            {"event_types": ["tool_call", "tool_response"]}, {"event_id": "reply-1"},
            {"time_range": ("2026-01-01", "2026-12-01")}, {"limit": 3, "offset": 2},
        ):  # fmt: skip
            yield f"recall {options}", xdb.recall(session_id="*", **options)
            renamed = {"text" if name == "text_search" else name: value for name, value in options.items()}
            yield f"recall events {options}", xdb.recall_events(session_id="*", **renamed)
        yield (
            "events by words",
            [xdb.recall_events("Tuesday", session_id="*"), xdb.recall_events("lake", session_id="*")],
        )
        yield "by concept", xdb.recall_by_concept(f"{lens}Deployment", min_activation=0.3, session_id="*")
        yield "surprising", xdb.recall_surprising(session_id="*")
        yield (
            "timestep",
            [xdb.get_timestep("ts-monday-3"), xdb.get_timestep("ts-winter-3"), xdb.get_timestep("ts-x-1")],
        )
        for unit in ("hour", "day", "week", "month"):
            yield f"activity by {unit}", xdb.activity(by=unit, session_id="*")
        yield "activity of concepts", xdb.activity(by="month", concepts=[f"{lens}Testing"], session_id="*")
        yield "states", xdb.get_context_states()
        yield "log", xdb.experience_log.query(session_id="monday", limit=4)


def package_texts(package: Path) -> dict[str, Any]:
    """Return a package's texts by name, its manifest without the Parquet files' size and digest and its own digest:
    these change with every release of the library that writes such a file, whose version it names."""
    texts: dict[str, Any] = {
        str(file.relative_to(package)): file.read_text(encoding="utf-8")
        for file in sorted(package.rglob("*"))
        if file.suffix in (".json", ".jsonl", ".md", ".txt")
    }
    manifest = texts["manifest.json"] = json.loads(texts["manifest.json"])
    parquet = {name: {} for name in manifest["files"] if name.endswith(".parquet")}
    assert parquet and manifest.pop("sha256")
    manifest["files"].update(parquet)
    return texts


def tiers(reader: Reader) -> Answers:
    """What is kept of experience, and why: windows, COLD records, compactions, submissions, the contract, usage."""
    with reader.opened() as hx:
        xdb = hx.xdb
        yield "windows", xdb.windows()
        yield "pinned", xdb.windows(pinned=True)
        yield "submitted", xdb.windows(fidelity="submitted")
        yield "window", [xdb.get_window(window.id) for window in xdb.windows()]
        yield "warm", xdb.warm_tokens()
        yield "cold", xdb.compressed_records()
        yield "replies", xdb.compressed_records(level="REPLY", limit=3)
        yield "cold of winter", xdb.compressed_records(session_id="winter")
        yield "one", xdb.get_compressed_record(xdb.compressed_records()[0].id)
        yield "compactions", [xdb.compactions("talk"), xdb.compactions("*")]
        yield "submissions", [xdb.submissions(), xdb.submissions("open")]
        for name in ("graft-1", "graft-2"):
            yield f"evidence {name}", xdb.get_windows_for_submission(name)
        package = xdb.export_submission("graft-1", reader.root / "package")
        yield "package", package_texts(package)
        yield "verified", xdb.verify_export(package)
        yield "contract", xdb.contract
        yield "usage", xdb.usage()
        yield "compressed further", xdb.check_and_compress(max_storage_bytes=1)
        yield "coarse", xdb.compressed_records()
        yield "coarse events", xdb.recall_events(session_id="winter")


def tags(reader: Reader) -> Answers:
    """Tags and their uses, comments, buds, concepts, documents."""
    with reader.opened() as hx:
        xdb, index = hx.xdb, hx.xdb.tag_index
        yield "tags", [tag for tag in xdb.find_tags(limit=500) if tag.tag_type != "concept"]
        yield "some", [xdb.find_tags(name_pattern="p*n*"), xdb.find_tags(entity_type="person")]
        yield "counts", index.count()
        for name in ("planning", "words", "weather", "Curiosity", "Ada"):
            yield f"uses of {name}", xdb.tag_applications(name, session_id="*")
            yield f"windows of {name}", xdb.get_windows_for_tag(name)
        yield "on a timestep", xdb.get_tags_for_timestep("ts-monday-4", inherited=True)
        yield "uses on a timestep", xdb.get_applications_for_timestep("ts-monday-4", inherited=True)
        yield "comments", xdb.get_comments_for_range("monday", 1, 30)
        yield "buds", xdb.get_buds()
        yield "examples", xdb.get_bud_examples("Curiosity")
        yield "roots", xdb.browse_concepts()
        top = xdb.browse_concepts()[0]
        yield "below", xdb.browse_concepts(top.concept_id or top.id)
        yield "found", [xdb.find_concept("cach"), xdb.find_concept("Rollback")]
        yield "related", index.get_related_concepts(index.find_concept("Rollback")[0].id)
        yield "parents", index.get_concept_parents(index.find_concept("Rollback")[0].id)
        documents = xdb.documents
        yield "documents", [documents.all(), documents.count(), xdb.list_documents("reference")]
        yield "document", [xdb.get_document("ops/runbook"), xdb.get_document("nowhere")]
        yield "versions", documents.versions(documents.all()[0].id)
        yield "every version", [documents.versions(document.id) for document in documents.all()]
        yield "search", [xdb.search_documents("brake"), documents.search(tags=["ops"])]
        yield "removed", documents.removed_documents()
        yield "copies", documents.copies()


def honeycomb(reader: Reader) -> Answers:
    """The association graph: nodes, rings, walks."""
    with reader.opened() as hx:
        comb = hx.honeycomb
        yield "stats", comb.stats()
        yield "rules", comb.rules
        for name in ("note-05", "note-11", "retries", "release-checklist"):
            yield f"node {name}", comb.get(name)
            yield f"around {name}", comb.neighbors(name)
            yield f"beyond {name}", comb.overflow(name)
        own = [node for node, _ in comb.find_most_relevant([1.0, 0.0, 0.25], limit=9)]
        yield "own", [comb.get(node) for node in own]
        yield "rings", [[comb.neighbors(node), comb.overflow(node)] for node in own]
        yield "nearest", comb.find_most_relevant("spare machine", limit=5)
        for options in (
            {"query": "gateway retries"}, {"query": "spare machine", "max_tokens": 60}, {"start": "note-11"},
            {"query": "deploy", "entries": 3, "overflow": False}, {"query": "heron", "space": "default"},
            {"query": [1.0, 0.0, 0.25]}, {"query": "deploy", "session": "walk"},
        ):  # fmt: skip
            yield f"walk {options}", outcome(comb.jit_context, **options)
        yield "safety", [comb.check_safety(node, session="walk") for node in own]


def audit(reader: Reader) -> Answers:
    """The store's ledger and one of its own: records, proofs, incidents, archives."""
    for name in ("project", "ledger"):
        rita = reader.credential(name)
        with AuditLog(reader.root / name, clock=reader.clock) as log:
            checkpoint = (reader.root / name / "checkpoint").read_text(encoding="utf-8")
            archives = [reader.root / name / "archive"] if name == "ledger" else []
            yield f"{name}: verify", log.verify(checkpoints=[checkpoint], archives=archives)
            yield f"{name}: checkpoint", log.checkpoint()
            yield f"{name}: records", log.query(reviewer_credential=rita, limit=400)
            yield (
                f"{name}: some",
                log.query(reviewer_credential=rita, tick_range=(3, 5), event_types=["output"]),
            )
            yield f"{name}: wrong", outcome(log.query, reviewer_credential="rita:wrong")
            first = log.query(reviewer_credential=rita, kinds=["timestep"])[0].id
            yield f"{name}: leaf", log.leaf(first)
            yield f"{name}: inclusion", outcome(log.inclusion_proof, first, size=30)
            yield f"{name}: consistency", [outcome(log.consistency_proof, 3, 11), outcome(log.root, 11)]
            yield f"{name}: whole tree", [outcome(log.consistency_proof, 20), outcome(log.root, 20)]
            yield f"{name}: reviewers", log.reviewers.list()
            yield f"{name}: incidents", log.incidents.list(reviewer_credential=rita)
            file = reader.root / f"{name}-outage.jsonl"
            yield (
                f"{name}: incident",
                log.incidents.export("outage", file, reviewer_credential=rita, archives=archives),
            )
            yield f"{name}: incident file", file.read_text(encoding="utf-8").splitlines()
            yield f"{name}: checked", check_incident(file, verifiers=[log.public_key])
            yield f"{name}: retention", log.retention.policy
            if archives:
                yield "archived", log.query(reviewer_credential=rita, archive=archives[0], limit=5)
                yield "archive", check_archive(archives[0], verifiers=(log.public_key,))
            yield f"{name}: erasing", log.erase(reviewer_credential=rita, session_id="monday", dry_run=True)
    with AuditLogWriter(reader.root / "ledger", "being-2", clock=reader.clock) as writer:
        yield "next", writer.record("later", 1, "output", "On it goes.", {"p::Seen": 0.5}, [])
    with AuditLog(reader.root / "ledger", clock=reader.clock) as log:
        (chained,) = log.query(reviewer_credential=reader.credential("ledger"), session_id="later")
        yield "chained", without(plain(chained), "record_hash", "nonce")
        yield "still whole", without(plain(log.verify()), "root")


def store(reader: Reader) -> Answers:
    """The store as a whole: status, damage, exports, maintenance, indexes built anew."""
    with reader.opened() as hx:
        yield "check", hx.check()
        yield "status", without(plain(hx.status()), "sqlite", "openers", "caches")
        for options in (
            {"scope": "project"},
            {"scope": "user"},
            {"subject": "ada"},
            {"scope": "session", "session": "monday"},
        ):
            yield f"export {options}", list(hexad.export_json(hx.export(**options)))
        yield "maintain", hx.maintain()
        yield "reindex", hx.reindex()
        yield "reindexed", hx.recall("When do we deploy?", explain=True)
        yield "reindex vectors", hx.reindex(vectors=True)
        yield "consolidate", hx.consolidate()
        yield "ingest again", hx.ingest(reader.root / "project" / "docs", space="docs")
        yield "check again", hx.check()


def encryption(reader: Reader) -> Answers:
    """The encrypted store."""
    yield "without a key", outcome(reader.opened, "sealed")
    yield "with a wrong key", outcome(reader.opened, "sealed", key="the heron stands elsewhere")
    yield "state", hexad.encryption_state(reader.root / "sealed")
    with reader.opened("sealed", key=PASSPHRASE) as hx:
        yield "check", hx.check()
        yield "status", without(plain(hx.status()), "sqlite", "openers", "caches")
        yield "memories", hx.memories(limit=None, status=None, order="path")
        yield "recall", hx.recall("When do we deploy?", explain=True)
        yield "context", str(hx.context("When do we deploy?", wait=True))
        yield "why", hx.governance.why("closed")
        yield "experience", hx.xdb.recall_events(session_id="*")
        yield "tags", hx.xdb.tag_applications("quiet", session_id="*")
        yield "document", hx.xdb.get_document("Hatches")
        yield "copy", b"".join(hx.decrypted(hx.xdb.documents.file(hx.xdb.documents.all()[0].id)))
        yield "session", hx.session.list()
        hx.xdb.record("output", "Go on.", session_id="night")
        hx.maintain()
        yield "gone on", hx.xdb.recall_events(session_id="night")
    report = hexad.decrypt(reader.root / "sealed", key=PASSPHRASE, clock=reader.clock)
    yield "decrypt", without(plain(report), *SIZES)
    with reader.opened("sealed") as hx:
        yield "plain", hx.memories(limit=None, status=None, order="path")
        yield "plain check", hx.check()


QUESTIONS: Mapping[str, Callable[[Reader], Answers]] = {
    group.__name__: group
    for group in (
        recall, contexts, bundles, memories, spaces, knowledge, sessions, user, experience, tiers, tags, honeycomb, audit,
        store, encryption,
    )
}  # fmt: skip
