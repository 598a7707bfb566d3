"""Questions to the experience stream as it grows, beside the same questions to document 2's literal schema.

One store and one file of DuckDB are filled in steps and asked at each size by fresh processes: 1 and 10 million timesteps,
and 50 million with `--timesteps 50000000`. Both hold the same tokens with the same tags.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table
from benchmarks.stream_data import EVENT_ROWS, START, STEP_MS, Cost, asked, columns, fill_peer, peer, size

CONCEPT_BUDGET_MS = 50.0
SIZES = (1_000_000, 10_000_000, 50_000_000)
QUICK_SIZES = (50_000, 200_000)
PEER_LIMIT = 10_000_000
"""The peer is not filled further: its key in memory and its JSON take too much time and room."""
_FILL_ROWS = 100_000
_TAGGED_EVENTS = 200
CONCEPT, WORD, WORDS = "pack::Concept7", "word4999", ("word812", "word1204")


def run(options: Options) -> Report:
    """Ask everything at each size up to `options.timesteps`."""
    sizes = QUICK_SIZES if options.quick else [number for number in SIZES if number <= options.timesteps]
    report = Report(name="Experience stream: questions")
    ours: dict[int, dict[str, Cost]] = {}
    theirs: dict[int, dict[str, Cost]] = {}
    store, other = options.work / "questions", options.work / "questions-peer"
    stored: list[tuple[str | int | float | None, ...]] = []
    for at, count in enumerate(sizes):
        first = sizes[at - 1] if at else 0
        spent = in_child(_fill, store, first, count)
        ours[count] = in_child(_ask, store, count)
        peer_spent = None
        if count <= PEER_LIMIT:
            peer_spent = in_child(_fill_peer, other, first, count)
            theirs[count] = in_child(_ask_peer, other, count)
        stored.append(
            (
                count,
                size(store / ".hexad") / count,
                size(other) / count if peer_spent else None,
                (count - first) / spent,
                (count - first) / peer_spent if peer_spent else None,
            )
        )
    report.tables.append(
        Table(
            title="As it grows",
            columns=(
                "timesteps", "bytes a timestep, all files", "document 2's schema",
                "recorded and sealed per CPU-second", "document 2's schema",
            ),
            rows=stored,
        )
    )  # fmt: skip
    for count in sizes:
        report.tables.append(_at(count, ours[count], theirs.get(count)))
    if len(sizes) > 1:
        report.tables.append(_growth(ours))
    largest = max(ours)
    report.at_most(
        f"concept's top 100 among {largest:,}",
        ours[largest]["concept's top 100"].wall_ms,
        CONCEPT_BUDGET_MS,
        "ms",
    )
    report.notes.append(
        "Medians of seven questions to a process that was asked once before; of three where one takes more than a second. "
        "The hourly aggregate of document 2's schema reads one concept out of JSON, ours one concept and, in a question of "
        "its own, the ten strongest. Its full text joins the tokens of an event first; it has no index of words."
    )
    return report


def _at(count: int, ours: dict[str, Cost], theirs: dict[str, Cost] | None) -> Table:
    rows: list[tuple[str | int | float | None, ...]] = []
    for name, cost in ours.items():
        other = None if theirs is None else theirs.get(name)
        rows.append(
            (name, cost.wall_ms, cost.cpu_ms, other and other.wall_ms, other and other.cpu_ms,
             other and other.wall_ms / cost.wall_ms)
        )  # fmt: skip
    return Table(
        title=f"{count:,} timesteps",
        columns=("", "ms", "CPU-ms", "document 2's schema, ms", "CPU-ms", "times slower"),
        rows=rows,
    )


def _growth(ours: dict[int, dict[str, Cost]]) -> Table:
    sizes = list(ours)
    steps = list(pairwise(sizes))
    return Table(
        title="How many times longer a question takes",
        columns=("", *(f"{after:,} after {before:,}" for before, after in steps)),
        rows=[
            (name, *(ours[after][name].wall_ms / ours[before][name].wall_ms for before, after in steps))
            for name in ours[sizes[0]]
        ],
    )


def _fill(folder: Path, first: int, count: int) -> float:
    """Record and seal up to `count` timesteps; return the CPU-seconds of both, without the making of the data."""
    import time

    folder.mkdir(parents=True, exist_ok=True)
    spent = 0.0
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("s", compaction=False)
        for at in range(first, count, _FILL_ROWS):
            given = columns(at, min(_FILL_ROWS, count - at))
            cpu = time.process_time()
            hx.xdb.record_many(given)
            spent += time.process_time() - cpu
        cpu = time.process_time()
        hx.xdb.seal()
        spent += time.process_time() - cpu
        for event in _tagged(first, count):
            hx.xdb.tag("marked", event_id=f"event {event}")
    return spent


def _tagged(first: int, count: int) -> list[int]:
    """Return the events that this step tags, spread over what it adds."""
    events = range(first // EVENT_ROWS, count // EVENT_ROWS)
    return [*events[:: max(len(events) // (_TAGGED_EVENTS // 2), 1)]]


def _ask(folder: Path, count: int) -> dict[str, Cost]:
    half = count // 2
    hour = (
        START + timedelta(milliseconds=STEP_MS * half),
        START + timedelta(milliseconds=STEP_MS * half, hours=1),
    )
    with hexad.open(folder, embedder=None, background=False) as hx:
        xdb = hx.xdb
        xdb.start_session("s", compaction=False)
        questions: dict[str, Callable[[], object]] = {
            "point": lambda: xdb.get_timestep(f"ts-s-{half}"),
            "500 ticks": lambda: xdb.recall(tick_range=(half, half + 499), limit=500),
            "100 of an hour": lambda: xdb.recall(time_range=hour, limit=100),
            "tag": lambda: xdb.recall(tags=["marked"], limit=100),
            "concept's top 100": lambda: xdb.recall_by_concept(CONCEPT, min_activation=0.4, limit=100),
            "text in a token": lambda: xdb.recall(text_search=WORD, limit=100),
            "full text of events": lambda: xdb.recall_events(" ".join(WORDS), limit=20),
            "by the hour": lambda: xdb.activity(by="hour", concepts=[]),
            "by the hour, one concept": lambda: xdb.activity(by="hour", concepts=[CONCEPT]),
            "by the hour, the ten strongest": lambda: xdb.activity(by="hour"),
        }
        return {name: asked(question) for name, question in questions.items()}


def _fill_peer(folder: Path, first: int, count: int) -> float:
    con = peer(folder)
    spent = fill_peer(con, first, count - first)
    con.execute("INSERT OR IGNORE INTO tags(id, name, tag_type) VALUES ('tag-marked', 'marked', 'custom')")
    con.executemany(
        "INSERT INTO tag_applications(id, tag_id, session_id, target_type, event_id) VALUES (?, 'tag-marked', 's', 'event', ?)",
        [(f"a-{event}", f"event {event}") for event in _tagged(first, count)],
    )
    con.close()
    return spent


def _ask_peer(folder: Path, count: int) -> dict[str, Cost]:
    con = peer(folder)
    half = count // 2
    since = START + timedelta(milliseconds=STEP_MS * half)
    until = since + timedelta(hours=1)
    score = f"CAST(concept_activations->>'$.\"{CONCEPT}\"' AS FLOAT)"
    hour = "SELECT date_trunc('hour', ts) AS hour, count(*)"
    whole = " AND ".join(f"contains(text, '{word}')" for word in WORDS)
    statements = {
        "point": f"SELECT * FROM timesteps WHERE id = 'ts-s-{half}'",
        "500 ticks": f"SELECT * FROM timesteps WHERE session_id = 's' AND tick BETWEEN {half} AND {half + 499} ORDER BY tick",
        "100 of an hour": f"SELECT * FROM timesteps WHERE ts >= '{since:%F %T.%f}' AND ts < '{until:%F %T.%f}'"
        " ORDER BY session_id, tick LIMIT 100",
        "tag": "SELECT t.* FROM timesteps t JOIN tag_applications a ON a.session_id = t.session_id AND a.event_id = t.event_id"
        " JOIN tags g ON g.id = a.tag_id WHERE g.name = 'marked' ORDER BY t.session_id, t.tick LIMIT 100",
        "concept's top 100": f"SELECT * FROM timesteps WHERE {score} >= 0.4 ORDER BY {score} DESC LIMIT 100",
        "text in a token": f"SELECT * FROM timesteps WHERE content ILIKE '%{WORD}%' ORDER BY session_id, tick LIMIT 100",
        "full text of events": "SELECT * FROM (SELECT session_id, event_id, min(tick) AS tick, string_agg(content, '' ORDER BY"
        f" tick) AS text FROM timesteps GROUP BY session_id, event_id) WHERE {whole} ORDER BY session_id, tick LIMIT 20",
        "by the hour": f"{hour} FROM timesteps GROUP BY hour ORDER BY hour",
        "by the hour, one concept": f"{hour}, count({score}), avg({score}), max({score}) FROM timesteps GROUP BY hour"
        " ORDER BY hour",
    }
    found = {}
    for name, sql in statements.items():
        found[name] = asked(_execute(con, sql))
    con.close()
    return found


def _execute(con: Any, sql: str) -> Callable[[], object]:
    return lambda: con.execute(sql).fetchall()
