"""A small corpus of our own, written in any order and by any number of processes, and questions about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import hexad
from hexad import FrozenClock, Hexad
from hexad.testing import HashEmbedder

START = datetime(2026, 3, 1, 8, tzinfo=UTC)

_NOTES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Ship when recall answers in under 200 ms on the old laptop.", {"kind": "decision", "tags": ["release"]}),
    ("We deploy on Tuesdays, never on Fridays.", {"kind": "decision", "tags": ["release", "rule"], "pinned": True}),
    ("The cache is keyed by a change counter, so a reader never sees a stale matrix.", {"kind": "guide"}),
    ("def parse_http_header(raw: bytes) -> Header:\n    return Header(*raw.split(b': ', 1))", {"kind": "code"}),
    ("retry_limit = 5\nbackoff_ms = 250", {"kind": "config", "path": "gateway/config/retries"}),
    ("The gateway returned 503 for nine minutes because the pool of connections ran dry.", {"kind": "log"}),
    ("Ada is allergic to walnuts; order the cake without them.", {"subject": "ada", "attribute": "allergy", "value": "walnuts"}),
    ("The harbour office opens at six and closes at ten in the evening.", {"valid_from": "2025-06-01"}),
    ("Should we move the office to the harbour?", {}),
    ("La réunion du comité est déplacée au jeudi à quinze heures.", {"tags": ["Réunion"]}),
    ("Backups run at 03:30 and are restored to a spare machine every month.", {"kind": "guide", "relevance": "high"}),
    ("The spare machine is called heron and stands under the stairs.", {}),
)  # fmt: skip

_TALK = (
    ("Bea", "Did the heron come back from repair?"),
    ("Carl", "Yes, on Monday, with a new fan."),
    ("Bea", "Good. Then tonight's restore can run on it."),
    ("Carl", "I would wait until the fan has run a night."),
)

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("When do we deploy?", {}),
    ("what must hold before we ship", {}),
    ("parseHttpHeader", {}),
    ("http header parsing", {"kinds": ["code"]}),
    ("Why did the gateway fail?", {}),
    ("how many retries", {"semantic": False}),
    ("what is Ada allergic to?", {}),
    ("harbour office hours", {"since": "2025-01-01", "until": "2026-01-01"}),
    ("réunion du comité", {}),
    ("Where is the spare machine for the restore?", {}),
    ("What did Carl say about the fan?", {}),
    ("heron", {"limit": 2}),
    ("release", {"tags": ["release"], "max_tokens": 12}),
    ("quantum chromodynamics", {}),
)


def drafts() -> list[dict[str, Any]]:
    """Every memory as arguments of `remember`, all with ids and times of their own."""
    found: list[dict[str, Any]] = []
    for number, (text, more) in enumerate(_NOTES):
        found.append({"text": text, "id": f"note-{number:02}", **more})
    for number, (speaker, text) in enumerate(_TALK):
        found.append(
            {"text": f"{speaker}: {text}", "id": f"talk-{number:02}", "space": "talk", "kind": "turn"}
        )
    for number, draft in enumerate(found):
        draft["freeze_clock"] = (START + timedelta(hours=number)).isoformat()
    return found


def write(hx: Hexad, *, numbers: list[int] | None = None) -> None:
    """Remember the corpus, or the memories with these numbers in this order."""
    every = drafts()
    for number in range(len(every)) if numbers is None else numbers:
        hx.remember(**every[number])


def opened(path: Any) -> Hexad:
    """Open a store as every golden run does."""
    clock = FrozenClock(START + timedelta(days=30))
    return hexad.open(
        path,
        clock=clock,
        ids=hexad.TimeSortedIds(clock, seed=7),
        embedder=HashEmbedder(),
        background=False,
    )


def answers(hx: Hexad, *, scores: bool = True) -> list[dict[str, Any]]:
    """All questions with their answers, as JSON; without scores only what does not hang on weights."""
    rows: list[dict[str, Any]] = []
    for question, options in QUESTIONS:
        hits = hx.recall(question, **options)
        row: dict[str, Any] = {"question": question, "options": options, "mode": hits.mode}
        row["hits"] = [
            {
                "id": hit.id,
                "chunk": hit.chunk.chunk_id if hit.chunk else None,
                "layer": hit.layer,
                **(
                    {
                        "score": float(f"{hit.score:.9g}"),
                        "parts": {name: float(f"{part:.9g}") for name, part in hit.parts.items()},
                        "why": list(hit.why),
                    }
                    if scores
                    else {}
                ),
            }
            for hit in hits
        ]
        row["dropped"] = [(dropped.memory_id, dropped.reason) for dropped in hits.dropped]
        rows.append(row)
    return rows
