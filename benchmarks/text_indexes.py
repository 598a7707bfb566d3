"""Our own indexes of texts beside the FTS5 tables that could stand in their place, over the same texts in the same run.

**Bundles**: n-gram filters rule out which memories may contain a topic. Here FTS5's trigram tokenizer does it, with places
(`detail=full`: it finds phrases exactly) and without (`detail=column`: all trigrams of the topic, anywhere). Views, scores and
the reading of texts are the same, and so must be every answer.

**Events** are found by words in texts that a process keeps in memory. Here FTS5 finds them in a file of its own, by words
(split as `search_terms` splits them, for the tokenizer `ascii`) or by trigrams. What is left out favours FTS5: nothing is
erased or compressed, so that it only has to follow what was added to logs, its file is not encrypted, and no phrase in quotes
is looked for, which may begin inside of a word.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import numpy as np

import hexad
from benchmarks import bundles
from benchmarks.child import in_child
from benchmarks.corpora import Sentences, invented_words
from benchmarks.report import Options, Report, Table, Timings, percentile
from benchmarks.stream_data import EVENT_ROWS, columns
from hexad import Hexad
from hexad.experience.events import text_cache
from hexad.experience.events.reader import event_of
from hexad.experience.values.records import TICK_LIMIT, StepQuery
from hexad.layers.session.event_search import EventSearch
from hexad.memory.policy import Backend
from hexad.memory.tables import space_columns
from hexad.search.indexer import sign
from hexad.spaces.bundles.bundle import BundleOptions
from hexad.spaces.bundles.orderings.space_view import SpaceView
from hexad.text.search_terms import SearchTerms, folded, search_terms

MEMORIES, QUICK_MEMORIES = (10_000, 100_000), (1_000,)
STEPS, QUICK_STEPS = (10_000, 100_000, 1_000_000), (10_000,)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_CJK = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定"
    "行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其"
    "些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建"
    "月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接"
    "知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处理世车"
)
"""Characters of Chinese, the frequent ones first."""


def run(options: Options) -> Report:
    """Measure both at each size."""
    report = Report(name="Indexes of texts beside FTS5")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    topics = _topics(Sentences.load(options.data), 10 if options.quick else 30)
    for size in QUICK_MEMORIES if options.quick else MEMORIES:
        folder = (options.store or options.work) / f"memories-{size}"
        if not folder.exists():
            folder.mkdir(parents=True)
            in_child(_remember, folder, options.data, size)
        _bundles(folder, options.work, topics, report)
    for size in QUICK_STEPS if options.quick else STEPS:
        folder = options.work / f"events-{size}"
        folder.mkdir()
        _events(folder, size, in_child(_record, folder, options.data, size), topics, report)
    return report


def _topics(sentences: Sentences, count: int) -> dict[str, list[str]]:
    """Return topics by how many texts contain them, and by how long they are."""
    chance = random.Random(5)
    words = [re.findall(r"[a-z]+", text.lower()) for text in chance.sample(sentences.sentences, 4 * count)]
    every = sorted({word for some in words for word in some if len(word) > 5})
    return {
        "common word": "the you and that for with have this was are".split(),
        "word": chance.sample(every, count),
        "phrase of three words": [" ".join(some[1:4]) for some in words if len(some) > 4][:count],
        "nothing has it": [text.split()[0] for text in invented_words(count=count, seed=3)],
        "1 letter": list("aeiokqxz"),
        "2 letters": "th in qu zz xq kv jy ox".split(),
        "1 Chinese character": list(_CJK[:3] + _CJK[-5:]),
        "2 Chinese characters": [_CJK[at : at + 2] for at in (0, 40, 90, 150, 200)],
        "3 Chinese characters": [_chinese(number)[2:5] for number in range(8)],
    }


def _chinese(number: int) -> str:
    weights = [1 / (rank + 1) for rank in range(len(_CJK))]
    return "".join(random.Random(f"chinese {number}").choices(_CJK, weights, k=60))


# Bundles -----------------------------------------------------------------------------------------------------------

FILTERS = "n-gram filters"
_DETAILS = {"FTS5 trigrams with places": "full", "FTS5 trigrams without": "column"}


def _bundles(folder: Path, work: Path, topics: Mapping[str, Sequence[str]], report: Report) -> None:
    ways = [FILTERS, *_DETAILS]
    files = {way: work / f"{folder.name} {way}.db" for way in ways}
    written = {way: in_child(_write_ngrams, folder, way, file) for way, file in files.items()}
    asked = {way: in_child(_ask_for_topics, folder, way, file, topics) for way, file in files.items()}
    rows = {
        "written 500 at once, CPU µs a memory": {way: written[way]["together_us"] for way in ways},
        "written one by one, CPU µs a memory": {way: written[way]["alone_us"] for way in ways},
        "disk, bytes a memory": {way: written[way]["bytes"] for way in ways},
        "first topic of a process, CPU ms": {way: asked[way]["first_ms"] for way in ways},
        "a view, MB": {way: asked[way]["mb"] for way in ways},
        **{f"{kind}, CPU ms": {way: asked[way]["ms"][kind] for way in ways} for kind in asked[FILTERS]["ms"]},
    }
    report.tables.append(
        _table(f"Topics in a space of {written[FILTERS]['count']:,} memories", rows, FILTERS)
    )
    _compare(
        report,
        f"{written[FILTERS]['count']:,} memories",
        {way: entry["answers"] for way, entry in asked.items()},
    )


def _remember(folder: Path, data: Path, size: int) -> None:
    bundles.grow(folder, data, 0, size)
    with hexad.open(folder, embedder=None, background=False) as hx:
        for number in range(max(10, size // 200)):
            hx.remember_structured(
                bundles.SPACE, {"raw": f"{_chinese(number)}。", "path": f"lexon/cjk/{number}"}
            )


def _write_ngrams(folder: Path, way: str, file: Path) -> dict[str, float]:
    with hexad.open(folder, embedder=None, background=False) as hx:
        texts = list(hx._services.stores.signatures.texts(0, limit=1_000_000))
    con = _database(file)
    if way == FILTERS:
        con.execute("CREATE TABLE ngrams(no INTEGER PRIMARY KEY, path BLOB, short BLOB, long BLOB, raw BLOB)")
    else:
        con.execute(
            "CREATE VIRTUAL TABLE ngrams USING fts5(path, short, long, raw, content='', columnsize=0,"
            f" tokenize='trigram case_sensitive 1', detail={_DETAILS[way]})"
        )

    def write(some: Sequence[tuple[int, str, str | None, str | None, str]]) -> None:
        rows: list[tuple[Any, ...]] = []
        for no, path, short, long, raw in some:
            if way == FILTERS:
                made = sign(path, short, long, raw)
                rows.append((no, made.path, made.short, made.long, made.raw))
            else:
                texts = (path, *("" if text in (None, raw) else text for text in (short, long)), raw)
                rows.append((no, *map(str.lower, texts)))
        with con:
            con.executemany(
                f"INSERT INTO ngrams({'no' if way == FILTERS else 'rowid'}, path, short, long, raw)"
                " VALUES (?,?,?,?,?)",
                rows,
            )

    first, together, alone = len(texts) - min(500, len(texts) // 10), Timings(), Timings()
    for at in range(0, first, 500):
        with together:
            write(texts[at : min(at + 500, first)])
    for text in texts[first:]:
        with alone:
            write([text])
    size = _bytes_of(con, file)
    with con:
        con.execute("CREATE TABLE like_raw(no INTEGER PRIMARY KEY, short INTEGER, long INTEGER)")
        con.executemany(
            "INSERT INTO like_raw VALUES (?,?,?)",
            [(no, short in (None, raw), long in (None, raw)) for no, _, short, long, raw in texts],
        )
    return {
        "together_us": 1e3 * sum(together.cpu_ms) / first,
        "alone_us": 1e3 * sum(alone.cpu_ms) / len(alone.cpu_ms),
        "bytes": size / len(texts),
        "count": len(texts),
    }


def _ask_for_topics(
    folder: Path, way: str, file: Path, topics: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    if way != FILTERS:
        _use_trigrams(file, phrases=_DETAILS[way] == "full")
    with hexad.open(folder, embedder=None, background=False) as hx:
        orderings, space = hx._services.orderings(), hx._services.stores.spaces.get(bundles.SPACE).no
        ask = partial(orderings.topic, space, options=BundleOptions(), now=NOW, limit=bundles.LIMIT)
        before, first = bundles._resident_mb(), Timings()
        with first:
            ask("first of all", backend=Backend.BASIC)
        mb = bundles._resident_mb() - before
        questions = {kind: (Backend.BASIC, some) for kind, some in topics.items()}
        questions["phrase of three words, raptor"] = Backend.RAPTOR, topics["phrase of three words"]
        costs, answers = {}, []
        for kind, (backend, some) in questions.items():
            timings = Timings()
            for topic in some:
                with timings:
                    found = ask(topic, backend=backend)
                answers.append([(item.no, item.score) for item in found])
            costs[kind] = percentile(timings.cpu_ms, 0.5)
        return {"first_ms": first.cpu_ms[0], "mb": mb, "ms": costs, "answers": answers}


def _use_trigrams(file: Path, *, phrases: bool) -> None:
    """Let the views of this process ask an FTS5 table, and neither read nor keep filters."""
    con = apsw.Connection(str(file))
    con.execute("PRAGMA mmap_size = 1000000000; PRAGMA cache_size = -16000").fetchall()
    like_raw = np.array(con.execute("SELECT no, short, long FROM like_raw ORDER BY no").fetchall())
    space_columns._COLUMNS = space_columns._COLUMNS.replace(
        "g.path, g.short, g.long, g.raw", "x'', x'', x'', x''"
    )
    slots: dict[int, Any] = {}

    def keep_no_filters(view: SpaceView, at: Any, block: Any) -> None:
        rows = like_raw[np.searchsorted(like_raw[:, 0], block.nos)]
        view._like_raw["short"][at], view._like_raw["long"][at] = rows[:, 1], rows[:, 2]

    def slots_with(view: SpaceView, text: str, needle: str) -> Any:
        grams = [needle] if phrases else dict.fromkeys(needle[at : at + 3] for at in range(len(needle) - 2))
        match = f"{text} : ({' AND '.join(map(_quoted, grams))})"
        nos = con.execute("SELECT rowid FROM ngrams WHERE ngrams MATCH ?", (match,)).fetchall()
        if view.rev not in slots:
            slots[view.rev] = np.full(like_raw[-1, 0] + 1, -1)
            slots[view.rev][view.nos[: view.size]] = np.arange(view.size)
        found = np.zeros(view.size, dtype=bool)
        found[slots[view.rev][np.array(nos, dtype=np.int64).ravel()]] = True
        return found

    def may_hold(view: SpaceView, text: str, needle: str) -> Any:
        if len(needle) < 3:
            found = np.ones(view.size, dtype=bool)
        else:
            found = slots_with(view, text, needle)
            if text in view._like_raw:
                found |= slots_with(view, "raw", needle) & view._like_raw[text][: view.size]
        states = view._settled.get((text, needle))
        return found if states is None else found & (states[: view.size] != 1)

    SpaceView._sign, SpaceView.may_hold = keep_no_filters, may_hold  # type: ignore[method-assign]


# Events ------------------------------------------------------------------------------------------------------------

KEPT, STREAM = "texts in memory", "asked of the stream"
_TOKENIZERS = {"FTS5 words": "ascii", "FTS5 trigrams": "trigram case_sensitive 1"}
_COLUMNS = "session, event, kind, role, first_tick, last_tick, first_at, last_at, content, tokens, timesteps"
_FIRST, _LAST, _CONTENT = 4, 5, 8
_MOST = 60
"""So many events the session layer asks for, for each word."""
_COMPARED = 3
_ROWS_AT_ONCE = 20_000

Find = Callable[[str, int], Sequence[Any]]


def _events(
    folder: Path, size: int, recorded_us: float, topics: Mapping[str, Sequence[str]], report: Report
) -> None:
    files = {way: folder.with_name(f"{folder.name} {way}.db") for way in _TOKENIZERS}
    written = {way: in_child(_write_events, folder, way, file) for way, file in files.items()}
    asked, later = {}, {}
    for way in (KEPT, STREAM, *files):
        asked[way] = in_child(_ask_for_words, folder, way, files.get(way), topics)
        in_child(_record_later, folder)
        later[way] = in_child(_ask_later, folder, way, files.get(way))
    rows = {
        "written, CPU µs a timestep": {way: entry["us"] / EVENT_ROWS for way, entry in written.items()},
        "disk, bytes a timestep: index": {way: entry["index"] / size for way, entry in written.items()},
        "disk, bytes a timestep: events": {way: entry["table"] / size for way, entry in written.items()},
        "first question of a process, CPU ms": {way: entry["first_ms"] for way, entry in asked.items()},
        "the same, 50 timesteps recorded before it": later,
        "a process, MB after that": {way: entry["mb"] for way, entry in asked.items()},
        "after 50 more timesteps, CPU ms": {way: entry["again_ms"] for way, entry in asked.items()},
        **{f"{kind}, CPU ms": {way: entry["ms"][kind] for way, entry in asked.items()} for kind in topics},
    }
    report.tables.append(_table(f"Events of {size:,} timesteps", rows, KEPT))
    report.figure(f"{size:,} timesteps: recorded and sealed, CPU", recorded_us, "µs a timestep")
    whole = sum(path.stat().st_size for path in (folder / ".hexad" / "stream").rglob("*") if path.is_file())
    report.figure(f"{size:,} timesteps: files of the stream", whole / size, "bytes a timestep")
    _compare(report, f"{size:,} timesteps", {way: entry["answers"] for way, entry in asked.items()})


def _record(folder: Path, data: Path, size: int) -> float:
    """Record sentences word by word, 50 to an event, one event of 50 in Chinese; the last tenth stays in logs."""
    sentences = Sentences.load(data)
    cpu = 0.0
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("s", compaction=False)
        for first in range(0, size, min(_ROWS_AT_ONCE, size // 10)):
            count = min(_ROWS_AT_ONCE, size // 10)
            given = {**columns(first, count), "content": list(_tokens(sentences, first, count))}
            began = time.process_time()
            hx.xdb.record_many(given)
            if first + count == size * 9 // 10:
                hx.xdb.seal()
            cpu += time.process_time() - began
    return 1e6 * cpu / size


def _tokens(sentences: Sentences, first: int, count: int) -> Iterator[str]:
    for event in range(first // EVENT_ROWS, (first + count) // EVENT_ROWS):
        chance = random.Random(event)
        if event % 50 == 7:
            yield from islice(_chinese(event), EVENT_ROWS)
            continue
        words: list[str] = []
        while len(words) < EVENT_ROWS:
            words += [f" {word}" for word in chance.choice(sentences.sentences).split()]
        yield from words[:EVENT_ROWS]


def _record_later(folder: Path) -> None:
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("later", compaction=False)
        _record_event(hx, 0)


def _record_event(hx: Hexad, number: int) -> None:
    hx.xdb.record_many(
        {
            "event_type": ["output"] * EVENT_ROWS,
            "content": [f" later{number}"] * EVENT_ROWS,
            "event_id": [f"later {number}"] * EVENT_ROWS,
        }
    )


def _opened(hx: Hexad, way: str, file: Path | None) -> Callable[[], Find]:
    """Return what looks at the stream now, and gives what finds events by words."""
    said: EventSearch = hx._services.session().stream()
    if file is not None:
        return partial(_followed, said, _database(file), way)
    if way == STREAM:
        text_cache.KEPT_CHARS = 0
    return said.opened


def _ask_for_words(
    folder: Path, way: str, file: Path | None, topics: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    shared = _COMPARED if way == STREAM else None
    with hexad.open(folder, embedder=None, background=False) as hx:
        before, first, again = bundles._resident_mb(), Timings(), Timings()
        opened = _opened(hx, way, file)
        with first:
            opened()("harbour", _MOST)
        mb = bundles._resident_mb() - before
        costs, answers = {}, []
        for kind, some in topics.items():
            timings = Timings()
            for at, topic in enumerate(some[:shared]):
                with timings:
                    found = opened()(topic, _MOST)
                if at < _COMPARED:
                    answers.append([(event.start_tick, event.content) for event in found])
            costs[kind] = percentile(timings.cpu_ms, 0.5)
        hx.xdb.start_session("later", compaction=False)
        for number in range(1, 10):
            _record_event(hx, number)
            with again:
                found = opened()(f"later{number}", _MOST)
            assert len(found) == 1
        return {"first_ms": first.cpu_ms[0], "mb": mb, "ms": costs, "answers": answers,
                "again_ms": percentile(again.cpu_ms, 0.5)}  # fmt: skip


def _ask_later(folder: Path, way: str, file: Path | None) -> float:
    with hexad.open(folder, embedder=None, background=False) as hx:
        opened, first = _opened(hx, way, file), Timings()
        with first:
            found = opened()("later0", _MOST)
        assert len(found) == 1
        hx.forget(session="later", purge=True, confirm=True)
    return first.cpu_ms[0]


def _write_events(folder: Path, way: str, file: Path) -> dict[str, float]:
    con = _database(file)
    con.execute(f"CREATE TABLE events(no INTEGER PRIMARY KEY, {_COLUMNS})")
    con.execute("CREATE TABLE reached(session INTEGER PRIMARY KEY, tick INTEGER)")
    con.execute("CREATE TABLE state(revision TEXT)")
    con.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0, detail=none,"
        f" tokenize='{_TOKENIZERS[way]}')"
    )
    with hexad.open(folder, embedder=None, background=False) as hx:
        texts = hx._services.session().stream()._texts
        rows = [row for session in texts._now().sessions.values() for row in session.rows]
        timings = Timings()
        for at in range(0, len(rows), 1_000):
            with timings, con:
                _put(con, way, rows[at : at + 1_000])
        con.execute("INSERT INTO state VALUES (?)", (repr(texts._revision()),))
    whole = _bytes_of(con, file)
    ((index,),) = con.execute("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'words%'").fetchall()
    return {"us": 1e3 * sum(timings.cpu_ms) / len(rows), "index": index, "table": whole - index}


def _put(con: apsw.Connection, way: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write events under numbers in the order of sessions and first ticks."""
    numbers = [row[0] << 40 | row[_FIRST] for row in rows]
    lows = [folded(row[_CONTENT]).replace("\0", " ") for row in rows]
    if _TOKENIZERS[way] == "ascii":
        lows = [" ".join(re.findall(r"[^\W_]+", low)) for low in lows]
    con.executemany(
        f"INSERT INTO events VALUES ({','.join('?' * 12)})",
        [(no, *row) for no, row in zip(numbers, rows, strict=True)],
    )
    con.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", zip(numbers, lows, strict=True))
    con.executemany(
        "INSERT OR REPLACE INTO reached VALUES (?, ?)",
        {row[0]: (row[0], row[_LAST]) for row in rows}.values(),
    )


def _followed(said: EventSearch, con: apsw.Connection, way: str) -> Find:
    """Put into the table what was added to logs, and return what asks it."""
    said._experience.recorder.flush()
    texts = said._texts
    revision = repr(texts._revision())
    if con.execute("SELECT revision FROM state").fetchall() != [(revision,)]:
        sources = texts._reader.sources(StepQuery())
        reached = dict(con.execute("SELECT session, tick FROM reached").fetchall())
        added = {
            session
            for log in sources.logs
            for frame in log.frames
            for session in frame.numbers["session"].tolist()
        }
        with con:
            for number in added:
                own, ticks = (
                    replace(sources, session=number, paths=()),
                    (reached.get(number, 0) + 1, TICK_LIMIT),
                )
                table = texts._events.of_logs(own, None, ticks=ticks)
                if table is not None and len(table["tick"]):
                    _put(con, way, text_cache.joined(table, number))
            con.execute("UPDATE state SET revision = ?", (revision,))
    return partial(_find, said, con, way)


def _find(said: EventSearch, con: apsw.Connection, way: str, query: str, most: int) -> Sequence[Any]:
    terms = search_terms(query)
    match = _of_words(terms) if _TOKENIZERS[way] == "ascii" else _of_trigrams(terms)
    rows: Iterator[Any] = con.execute(
        f"SELECT {_COLUMNS} FROM words JOIN events ON no = words.rowid WHERE words MATCH ? ORDER BY words.rowid"
        if match
        else f"SELECT {_COLUMNS} FROM events ORDER BY no",
        (match,) if match else (),
    )
    events = said._texts._events
    hot = (event_of(row) for row in rows if terms.match(row[_CONTENT]))
    both = merge(hot, events.cold(terms), key=lambda event: (event.session, event.first_tick))
    return events.records(list(islice(both, most)), activations=False)


def _of_trigrams(terms: SearchTerms) -> str:
    grams = {needle[at : at + 3] for needle in terms.needles for at in range(len(needle) - 2)}
    return " AND ".join(map(_quoted, sorted(grams)))


def _of_words(terms: SearchTerms) -> str:
    """Return the beginnings that words with all of `terms` have: what these allow after them is looked for in the text."""
    return " AND ".join(f"{_quoted(needle)}*" for needle in terms.needles)


# Both --------------------------------------------------------------------------------------------------------------


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _database(file: Path) -> apsw.Connection:
    con = apsw.Connection(str(file))
    con.execute(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000"
    ).fetchall()
    return con


def _bytes_of(con: apsw.Connection, file: Path) -> int:
    con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return file.stat().st_size


def _compare(report: Report, what: str, answers: Mapping[str, object]) -> None:
    ours, *others = answers.values()
    report.at_most(f"{what}: ways with other answers than ours", sum(item != ours for item in others), 0)


def _table(title: str, rows: Mapping[str, Mapping[str, float]], ours: str) -> Table:
    ways = list(dict.fromkeys([ours, *(way for costs in rows.values() for way in costs)]))
    return Table(
        title=title,
        columns=("", *ways, *(f"{way}, times ours" for way in ways if way != ours)),
        rows=[
            (what, *(costs.get(way) for way in ways),
             *(costs[way] / costs[ours] if way in costs and ours in costs else None for way in ways if way != ours))
            for what, costs in rows.items()
        ],
    )  # fmt: skip
