"""The honeycomb: what an insertion costs as it grows, what it takes in memory and on disk, how fast a context is there
beside document 3's linear scan and a NetworkX walk, and what a walk finds at the same budget of tokens.

Nodes are points around random centres, each connected with six others of its own centre and with two anywhere.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

import hexad
from benchmarks.corpora import read_lines, write_lines
from benchmarks.quality import RememberedVectors
from benchmarks.report import Options, Report, Table, Timings, disk_bytes, percentile
from hexad.core.blas_threads import one_thread
from hexad.honeycomb.walker import MISSES_MOST
from hexad.search.vectors.quantization import EmbeddingFormat
from hexad.text.tokens import estimate_tokens

DIMENSIONS = 768
NEAR, FAR = 6, 2
CENTRES = 500
MEASURED = 1_000
NEWEST = 200
QUERIES = 200
MAX_TOKENS = 500
BUDGETS = (500, 1_000, 2_000)
THRESHOLD = 0.8
FLAT, SMALL_MS, RECALL, LARGE = 1.5, 2.0, 0.99, 100_000
MEMORY_MB = {EmbeddingFormat.FLOAT32: 330.0, EmbeddingFormat.INT8: 80.0}


def run(options: Options) -> Report:
    """Measure all of it."""
    report = Report(name="Honeycomb")
    for name in ("float32", "int8", "conversations"):
        (options.work / name).mkdir()
    sizes = (1_000, 4_000, 10_000) if options.quick else (1_000, 10_000, 100_000)
    rows = _points(sizes[-1])
    _growth(options.work / "float32", rows, sizes, report)
    _held(options.work / "int8", rows, report)
    if options.data is None:
        report.notes.append("No development data: what walks find was not measured.")
    else:
        _found(options, options.data, report)
    return report


def _points(count: int) -> NDArray[np.float32]:
    """Rows around centres: neighbours of a centre have a cosine of about 0.9."""
    source = np.random.default_rng(7)
    centres = source.normal(size=(CENTRES, DIMENSIONS))
    rows = centres[np.arange(count) % CENTRES] + 0.33 * source.normal(size=(count, DIMENSIONS))
    return rows.astype(np.float32)


def _pairs(ids: Sequence[int], first: int, source: random.Random) -> list[tuple[int, int]]:
    """Connections of the nodes from `first` on, with those before them."""
    pairs = []
    for at in range(first, len(ids)):
        same = range(at % CENTRES, at, CENTRES)
        near = source.sample(same, min(NEAR, len(same)))
        far = [source.randrange(at) for _ in range(FAR)] if at else []
        pairs += [(ids[at], ids[other]) for other in dict.fromkeys([*near, *far])]
        pairs += [(ids[other], ids[at]) for other in near]
    return pairs


# Growing ----------------------------------------------------------------------------------------------------------


def _growth(folder: Path, rows: NDArray[np.float32], sizes: Sequence[int], report: Report) -> None:
    source = random.Random(5)
    ids: list[int] = []
    inserted: dict[int, float] = {}
    newest: dict[int, float] = {}
    contexts: dict[int, _Contexts] = {}
    table = []
    with hexad.open(folder, embedder=None, background=False) as hx:
        comb = hx.honeycomb
        for size in sizes:
            _grow(hx, ids, rows, size, source)
            inserted[size], pages = _inserted(hx, [_sample(ids, source) for _ in range(3)])
            newest[size], few_pages = _inserted(hx, [_sample(ids[-NEWEST:], source) for _ in range(3)])
            durable = Timings()
            for focus, node in _sample(ids, source)[:100]:
                with durable:
                    comb.insert(focus, node, score=source.random())
            contexts[size] = found = _walks(hx, ids, rows)
            table.append(
                (
                    f"{size:,}", inserted[size], pages, newest[size], few_pages, durable.p(0.5),
                    percentile(durable.cpu_ms, 0.5), *found.ours, *found.scan, *found.networkx,
                )
            )  # fmt: skip
        stats = comb.stats()
        held = _held_mb(hx)
        report.figure("edges", stats.edges)
        report.figure("edges in overflow", stats.overflow_edges)
        report.figure("deepest overflow ring", stats.deepest_ring)
        report.at_most("float32 in memory", held, MEMORY_MB[EmbeddingFormat.FLOAT32], "MB")
    report.figure("float32 on disk", disk_bytes(folder) / 1e6, "MB")
    most, least = sizes[-1], sizes[0]
    report.at_most(
        "insertion among all nodes, largest over smallest", inserted[most] / inserted[least], FLAT, "×"
    )
    report.at_most(
        "insertion among the newest, largest over smallest", newest[most] / newest[least], FLAT, "×"
    )
    report.at_most(f"context at {least:,} nodes, p50", contexts[least].ours[0], SMALL_MS, "ms of CPU")
    ratio, name = (
        contexts[most].ours[0] / contexts[most].scan[0],
        f"context at {most:,} nodes over the linear scan, p50",
    )
    if most >= LARGE:
        report.at_most(name, ratio, 1.0, "×")
    else:
        report.figure(name, ratio, "×")
    for size in sizes:
        report.at_least(f"nearest node found at {size:,} (recall@1)", contexts[size].recall, RECALL)
    report.tables.append(
        Table(
            title=f"By nodes of {DIMENSIONS} numbers: insertions in a transaction, one that is durable, and contexts of "
            f"{MAX_TOKENS} tokens in ms of CPU",
            columns=(
                "nodes", "insert among all, CPU µs", "pages", f"among the newest {NEWEST}, CPU µs", "pages",
                "durable insert p50 ms", "CPU", "context p50", "p95", "linear scan p50", "p95", "NetworkX p50", "p95",
            ),
            rows=table,
        )
    )  # fmt: skip
    report.notes.append(
        f"Insertions are {MEASURED:,} in one transaction, the middle one of three, scores computed, and what the WAL needs after it; pages are "
        "those of 4 KiB that each writes. Linear scan: document 3's algorithm, with every vector as a row of one NumPy "
        "matrix and nodes and edges in dicts, all in the memory of the process. NetworkX: the same scan, then a walk over "
        "a `DiGraph`. Neither keeps anything when its process ends, reads from disk, or sees what another process wrote."
    )


def _sample(ids: Sequence[int], source: random.Random) -> list[tuple[int, int]]:
    return [(number, other) for number, other in (source.sample(ids, 2) for _ in range(MEASURED))]


def _inserted(hx: hexad.Hexad, samples: Sequence[Sequence[tuple[int, int]]]) -> tuple[float, float]:
    """Insert pairs, a transaction a sample, and return what each cost in the middle one: µs of CPU, and pages written."""
    con, costs = hx._services.db._connection().sqlite, []
    for pairs in samples:
        con.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE, True)
        started = time.process_time()
        hx.honeycomb.insert_many(pairs)
        spent = time.process_time() - started
        pages = con.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0]
        costs.append((spent / len(pairs) * 1e6, pages / len(pairs)))
    return sorted(costs)[len(costs) // 2]


def _grow(
    hx: hexad.Hexad,
    ids: list[int],
    rows: NDArray[np.float32],
    size: int,
    source: random.Random,
    form: str = "float32",
) -> None:
    while len(ids) < size:
        first, last = len(ids), min(len(ids) + 1_000, size)
        ids += hx.honeycomb.add_nodes(
            [(f"Node {at} of centre {at % CENTRES}. " * 3, rows[at]) for at in range(first, last)],
            format=form,
        )
        hx.honeycomb.insert_many(_pairs(ids, first, source), score=round(0.8 + 0.2 * source.random(), 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contexts:
    """Median and 95th percentile of each way to a context, and how often ours begins where the scan does."""

    ours: tuple[float, float]
    scan: tuple[float, float]
    networkx: tuple[float | None, float | None]
    recall: float


def _walks(hx: hexad.Hexad, ids: Sequence[int], rows: NDArray[np.float32]) -> _Contexts:
    source = np.random.default_rng(9)
    queries = rows[source.integers(0, len(ids), QUERIES)] + 0.2 * source.normal(size=(QUERIES, DIMENSIONS))
    ours, scan, graph = Timings(), Timings(), Timings()
    hx.honeycomb.jit_context(queries[0].tolist(), MAX_TOKENS)  # what is read once
    for query in queries:
        with ours:
            hx.honeycomb.jit_context(query.tolist(), MAX_TOKENS)
    begun = [hx.honeycomb.find_most_relevant(query.tolist())[0][0] for query in queries]
    plain = _Plain(hx, ids, rows)
    for query in queries:
        with one_thread(), scan:
            plain.context(query)
    recall = float(
        np.mean([number == plain.entry(query) for number, query in zip(begun, queries, strict=True)])
    )
    try:
        import networkx
    except ImportError:
        return _Contexts(ours=_cpu(ours), scan=_cpu(scan), networkx=(None, None), recall=recall)
    walk = plain.networkx(networkx.DiGraph())
    for query in queries:
        with one_thread(), graph:
            walk(query)
    return _Contexts(ours=_cpu(ours), scan=_cpu(scan), networkx=_cpu(graph), recall=recall)


def _cpu(timings: Timings) -> tuple[float, float]:
    """Median and 95th percentile of the CPU times: what else the machine does is not in them."""
    return percentile(timings.cpu_ms, 0.5), percentile(timings.cpu_ms, 0.95)


class _Plain:
    """Document 3, algorithm 5, over dicts and one matrix; it ends as ours does when so many texts did not fit."""

    def __init__(self, hx: hexad.Hexad, ids: Sequence[int], rows: NDArray[np.float32]) -> None:
        self.ids = list(ids)
        self.matrix = rows[: len(ids)] / np.linalg.norm(rows[: len(ids)], axis=1, keepdims=True)
        db = hx._services.db
        self.texts = dict(db.query("SELECT node_id, data FROM honeycomb_contents"))
        self.edges: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for start, end, score in db.query("SELECT from_id, to_id, score FROM honeycomb_edges WHERE ring = 0"):
            self.edges[start].append((end, score))

    def entry(self, query: NDArray[np.float64]) -> int:
        """The linear scan."""
        return self.ids[int(np.argmax(self.matrix @ (query / np.linalg.norm(query)).astype(np.float32)))]

    def context(self, query: NDArray[np.float64]) -> str:
        """The whole algorithm."""
        return self._walk(self.entry(query), lambda node: self.edges.get(node, ()))

    def networkx(self, graph) -> Callable[[NDArray[np.float64]], str]:
        """The same over a graph of NetworkX."""
        graph.add_weighted_edges_from(
            (start, end, score) for start, found in self.edges.items() for end, score in found
        )
        graph.add_nodes_from(self.ids)
        return lambda query: self._walk(
            self.entry(query), lambda node: ((end, kept["weight"]) for end, kept in graph[node].items())
        )

    def _walk(self, start: int, edges) -> str:
        seen, queue, parts, spent, misses = {start}, deque([start]), [], 0, 0
        while queue and spent < MAX_TOKENS and misses < MISSES_MOST:
            node = queue.popleft()
            cost = estimate_tokens(self.texts[node])
            misses += 1
            if spent + cost <= MAX_TOKENS:
                parts.append(self.texts[node])
                spent, misses = spent + cost, 0
            for end, score in edges(node):
                if score > THRESHOLD and end not in seen:
                    seen.add(end)
                    queue.append(end)
        return " ".join(parts)


# Holding ----------------------------------------------------------------------------------------------------------


def _held_mb(hx: hexad.Hexad) -> float:
    """What the open store keeps in memory of its graph, having been asked once."""
    parts = hx._services.honeycomb()
    hx.honeycomb.jit_context([1.0] * DIMENSIONS, MAX_TOKENS)
    return (parts.layout.nbytes() + parts.entries.nbytes()) / 1e6


def _held(folder: Path, rows: NDArray[np.float32], report: Report) -> None:
    source, ids = random.Random(5), []
    with hexad.open(folder, embedder=None, background=False) as hx:
        _grow(hx, ids, rows, len(rows), source, form="int8")
        report.at_most("int8 in memory", _held_mb(hx), MEMORY_MB[EmbeddingFormat.INT8], "MB")
        report.figure("int8: embeddings", hx.honeycomb.stats().embedding_bytes / 1e6, "MB")
    report.figure("int8 on disk", disk_bytes(folder) / 1e6, "MB")


# Finding ----------------------------------------------------------------------------------------------------------


def _found(options: Options, data: Path, report: Report) -> None:
    """Which share of questions have all of their evidence within a budget of tokens."""
    turns = read_lines(data / "conversations" / "items.jsonl")
    asked = [line for line in read_lines(data / "conversations" / "questions.jsonl") if line["evidence"]]
    names = sorted({turn["conversation"] for turn in turns})
    if options.quick:
        names = names[:2]
    asked = [entry for entry in asked if entry["conversation"] in names][:: 3 if options.quick else 1]
    embedder = RememberedVectors(keep=options.reuse_vectors)
    folder = options.work / "conversations"
    with hexad.open(folder, embedder=embedder, background=False) as hx:
        started = time.perf_counter()
        for name in names:
            lines = [turn for turn in turns if turn["conversation"] == name]
            hx.ingest(write_lines(options.work / f"{name}.jsonl", lines), space=name, embed=True)
        embedder.embed([entry["question"] for entry in asked])
        embedder.save()
        report.figure("ingest, vectors and links of the conversations", time.perf_counter() - started, "s")
        comb = hx.honeycomb
        most = BUDGETS[-1]
        ways: dict[str, Callable[[str, str], list[tuple[str | None, str]]]] = {
            "top-k of recall": lambda text, space: [
                (hit.source_id, hit.text) for hit in hx.recall(text, space=space, limit=100)
            ],
            "top-k by cosine alone": lambda text, space: _pieces(
                hx, comb.jit_context(text, most, space=space, walk="breadth", entries=100, threshold=1.0)
            ),
            "**walk from what recall finds**": lambda text, space: _pieces(
                hx, comb.jit_context(text, most, space=space)
            ),
            "the same without overflow": lambda text, space: _pieces(
                hx, comb.jit_context(text, most, space=space, overflow=False)
            ),
            "breadth first from the nearest": lambda text, space: _pieces(
                hx, comb.jit_context(text, most, space=space, walk="breadth")
            ),
            "the same, the document's 0.8": lambda text, space: _pieces(
                hx,
                comb.jit_context(
                    text, most, space=space, walk="breadth", threshold=THRESHOLD, overflow=False
                ),
            ),
        }
        results: dict[str, list[list[bool]]] = {}
        table = []
        for way, ask in ways.items():
            timings = Timings()
            results[way] = []
            for entry in asked:
                with timings:
                    found = ask(entry["question"], entry["conversation"])
                wanted = set(entry["evidence"])
                results[way].append([wanted <= _within(found, budget) for budget in BUDGETS])
            shares = np.mean(results[way], axis=0)
            hops = [
                told[1]
                for told, entry in zip(results[way], asked, strict=True)
                if entry["category"] == "multi-hop"
            ]
            table.append((way, *map(float, shares), float(np.mean(hops)), *_cpu(timings)))
    report.tables.append(
        Table(
            title=f"All evidence within the budget: share of {len(asked)} questions on conversations",
            columns=(
                "",
                *(f"{budget:,} tokens" for budget in BUDGETS),
                "multi-hop, 1,000",
                "p50 ms",
                "p95 ms",
            ),
            rows=table,
        )
    )
    top, walked = results["top-k of recall"], results["**walk from what recall finds**"]
    for place, budget in enumerate(BUDGETS):
        won = sum(two[place] and not row[place] for row, two in zip(top, walked, strict=True))
        lost = sum(row[place] and not two[place] for row, two in zip(top, walked, strict=True))
        report.notes.append(
            f"At {budget:,} tokens the walk completes {won} questions that top-k does not, and loses {lost}."
        )


def _pieces(hx: hexad.Hexad, context: hexad.JitContext) -> list[tuple[str | None, str]]:
    return [
        (hx.get(piece.memory_id).source_id, piece.text)
        for piece in context.pieces
        if piece.memory_id is not None
    ]


def _within(found: Sequence[tuple[str | None, str]], budget: int) -> set[str | None]:
    """Take in order what fits, as recall and walks do."""
    taken: set[str | None] = set()
    spent = 0
    for name, text in found:
        cost = estimate_tokens(text + " ")
        if spent + cost <= budget:
            taken.add(name)
            spent += cost
    return taken
