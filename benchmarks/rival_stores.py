"""One class for each system of `rivals`: open a folder, add notes, ask, close; vectors are handed in, never computed.

Each is written as its own documentation says, with its defaults, and runs in the environment of its system: a class
imports that system when it is opened, so nothing of it is needed to read this module. What a system answers must
bring the notes' texts, as a caller needs them.
"""

from __future__ import annotations

import asyncio
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS: Final = 384
WORDS, VECTORS, BOTH = "words", "vectors", "both"


class Vectors:
    """The vectors of all notes and questions, computed before."""

    def __init__(self, texts: Sequence[str], rows: NDArray[np.float32], model: str) -> None:
        self.model = model
        self._at = {text: at for at, text in enumerate(texts)}
        self._rows = rows

    def rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length one for each text; raises `KeyError` for a text that nobody announced."""
        return self._rows[[self._at[text] for text in texts]]

    def __contains__(self, text: str) -> bool:
        return text in self._at

    def row(self, text: str) -> NDArray[np.float32]:
        """Return the row of one text."""
        return self._rows[self._at[text]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note and its number, which is its id wherever a system takes ids."""

    number: int
    text: str


class RivalStore(ABC):
    """A system with a store in a folder. Making it opens the store, and makes one where there is none.

    `computed` counts the vectors that it had a model compute beyond those that were handed in.
    """

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self.folder, self.vectors = folder, vectors
        self.computed = 0
        self.open()

    @abstractmethod
    def open(self) -> None:
        """Open the store, or make it."""

    @abstractmethod
    def add(self, notes: Sequence[Note]) -> None:
        """Store notes, in the way that is meant for many; `finish` follows."""

    def add_single(self, note: Note) -> None:
        """Store one note, as an agent does that remembers something."""
        self.add([note])

    def finish(self) -> None:  # noqa: B027 - most systems have nothing left to do
        """Do what a system still has to do before all that was added is found as it should be."""

    @abstractmethod
    def search(self, question: str, limit: int) -> list[str]:
        """Return the texts of the best notes, best first."""

    def close(self) -> None:  # noqa: B027 - some systems cannot be closed
        """Let go of the store."""


def _parts(notes: Iterable[Note], size: int) -> Iterable[list[Note]]:
    source = iter(notes)
    while part := list(islice(source, size)):
        yield part


# Hexad and the floors -------------------------------------------------------------------------------------------


class _Hexad(RivalStore):
    def open(self) -> None:
        import hexad

        vectors, store = self.vectors, self

        class _Given:
            """Names the model whose vectors these are, as the thresholds of that model hold for them.

            Of notes that are much alike Hexad compares single sentences; nobody announced these, so the model computes them.
            """

            name, dimensions = vectors.model, DIMENSIONS

            def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
                if all(text in vectors for text in texts):
                    return vectors.rows(texts)
                from hexad.providers.embedders.base import resolve

                model = resolve("default")
                assert model is not None
                rows = model.embed(texts)
                store.computed += len(texts)
                return rows

            def embed_query(self, text: str) -> NDArray[np.float32]:
                return vectors.row(text)

        self._hx = hexad.open(self.folder, embedder=_Given())

    def add(self, notes: Sequence[Note]) -> None:
        lines = self.folder.parent / f"{self.folder.name}-{notes[0].number}.jsonl"
        records = ({"id": str(note.number), "text": note.text} for note in notes)
        lines.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        done = self._hx.ingest(lines, embed=False)
        if done.created != len(notes):
            raise RuntimeError(f"{done.created} of {len(notes)} notes were created: {done.skipped[:3]}")

    def add_single(self, note: Note) -> None:
        self._hx.remember(note.text)

    def finish(self) -> None:
        self._hx.wait_for_background()
        self._hx.embed_pending()

    def search(self, question: str, limit: int) -> list[str]:
        return [hit.text for hit in self._hx.recall(question, limit=limit)]

    def close(self) -> None:
        self._hx.close()


class _Fts5(RivalStore):
    """FTS5 as it comes, for any word of the question; each call is a transaction that is synced."""

    def open(self) -> None:
        import apsw

        self._con = apsw.Connection(str(self.folder / "notes.db"))
        self._con.execute("PRAGMA journal_mode = WAL").fetchall()
        self._con.execute("PRAGMA synchronous = FULL").fetchall()
        self._con.execute("CREATE VIRTUAL TABLE IF NOT EXISTS notes USING fts5(text)")

    def add(self, notes: Sequence[Note]) -> None:
        rows = [(note.number + 1, note.text) for note in notes]
        with self._con:
            self._con.executemany("INSERT INTO notes(rowid, text) VALUES(?,?)", rows)

    def numbered(self, question: str, limit: int) -> list[tuple[int, str]]:
        """Return numbers and texts, best first."""
        from benchmarks.corpora import words

        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(question)))
        sql = "SELECT rowid - 1, text FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?"
        return list(self._con.execute(sql, (match, limit)))

    def search(self, question: str, limit: int) -> list[str]:
        return [text for _, text in self.numbered(question, limit)]

    def close(self) -> None:
        self._con.close()


class _NumPy(RivalStore):
    """A file of rows and one of texts, both in memory when asked: exact cosines of all."""

    def open(self) -> None:
        import numpy as np

        self._np = np
        self._rows_file, self._texts_file = self.folder / "rows.f4", self.folder / "texts.jsonl"
        self._texts: list[str] = []
        self._matrix: NDArray[np.float32] = np.zeros((0, DIMENSIONS), dtype=np.float32)
        if self._rows_file.exists():
            self._matrix = np.fromfile(self._rows_file, dtype="<f4").reshape(-1, DIMENSIONS)
            self._texts = [
                json.loads(line) for line in self._texts_file.read_text(encoding="utf-8").splitlines()
            ]

    def add(self, notes: Sequence[Note]) -> None:
        texts = [note.text for note in notes]
        lines = "".join(json.dumps(text) + "\n" for text in texts).encode()
        for path, content in (
            (self._rows_file, self.vectors.rows(texts).astype("<f4").tobytes()),
            (self._texts_file, lines),
        ):
            with path.open("ab") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())

    def numbered(self, question: str, limit: int) -> list[tuple[int, str]]:
        """Return numbers and texts, best first."""
        np = self._np
        cosines = self._matrix @ self.vectors.row(question)
        best = np.argpartition(-cosines, min(limit, len(cosines) - 1))[:limit]
        return [(int(at), self._texts[at]) for at in best[np.argsort(-cosines[best])]]

    def search(self, question: str, limit: int) -> list[str]:
        return [text for _, text in self.numbered(question, limit)]


class _Fts5NumPy(RivalStore):
    """Both floors one after the other, joined by reciprocal ranks of the first fifty."""

    def open(self) -> None:
        self._words, self._exact = _Fts5(self.folder, self.vectors), _NumPy(self.folder, self.vectors)

    def add(self, notes: Sequence[Note]) -> None:
        self._words.add(notes)
        self._exact.add(notes)

    def search(self, question: str, limit: int) -> list[str]:
        scores: dict[int, float] = {}
        texts: dict[int, str] = {}
        for ranking in (self._words.numbered(question, 50), self._exact.numbered(question, 50)):
            for place, (number, text) in enumerate(ranking, start=1):
                scores[number] = scores.get(number, 0.0) + 1 / (60 + place)
                texts[number] = text
        best = sorted(scores, key=lambda number: -scores[number])[:limit]
        return [texts[number] for number in best]

    def close(self) -> None:
        self._words.close()


# Others, each in an environment of its own ------------------------------------------------------------------------


class _SqliteVec(RivalStore):
    def open(self) -> None:
        import apsw
        import sqlite_vec

        self._con = apsw.Connection(str(self.folder / "notes.db"))
        self._con.enable_load_extension(True)
        self._con.load_extension(sqlite_vec.loadable_path())
        self._con.execute("PRAGMA journal_mode = WAL").fetchall()
        self._con.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS notes USING"
            f" vec0(vector float[{DIMENSIONS}] distance_metric=cosine, +text TEXT)"
        )

    def add(self, notes: Sequence[Note]) -> None:
        rows = self.vectors.rows([note.text for note in notes])
        with self._con:
            self._con.executemany(
                "INSERT INTO notes(rowid, vector, text) VALUES(?,?,?)",
                [(note.number + 1, row.tobytes(), note.text) for note, row in zip(notes, rows, strict=True)],
            )

    def search(self, question: str, limit: int) -> list[str]:
        sql = "SELECT text FROM notes WHERE vector MATCH ? AND k = ? ORDER BY distance"
        return [text for (text,) in self._con.execute(sql, (self.vectors.row(question).tobytes(), limit))]

    def close(self) -> None:
        self._con.close()


class _LanceDb(RivalStore):
    def open(self) -> None:
        import lancedb
        import pyarrow as pa

        self._db = lancedb.connect(str(self.folder))
        schema = pa.schema(
            [
                pa.field("number", pa.int64()),
                pa.field("text", pa.string()),
                pa.field("vector", pa.list_(pa.float32(), DIMENSIONS)),
            ]
        )
        self._table = self._db.create_table("notes", schema=schema, exist_ok=True)

    def add(self, notes: Sequence[Note]) -> None:
        rows = self.vectors.rows([note.text for note in notes])
        self._table.add(
            [
                {"number": note.number, "text": note.text, "vector": row}
                for note, row in zip(notes, rows, strict=True)
            ]
        )

    def search(self, question: str, limit: int) -> list[str]:
        found = self._table.search(self.vectors.row(question)).distance_type("cosine").limit(limit)
        return [row["text"] for row in found.select(["text"]).to_list()]


class _LanceDbHybrid(_LanceDb):
    def open(self) -> None:
        from lancedb.rerankers import RRFReranker

        super().open()
        self._joined = RRFReranker()

    def finish(self) -> None:
        if not any(index.index_type == "FTS" for index in self._table.list_indices()):
            self._table.create_fts_index("text")
        self._table.optimize()

    def search(self, question: str, limit: int) -> list[str]:
        found = self._table.search(query_type="hybrid").vector(self.vectors.row(question)).text(question)
        return [row["text"] for row in found.rerank(self._joined).limit(limit).to_list()]


class _Chroma(RivalStore):
    def open(self) -> None:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(path=str(self.folder), settings=settings)
        self._notes = self._client.get_or_create_collection(
            "notes", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, notes: Sequence[Note]) -> None:
        for part in _parts(notes, self._client.get_max_batch_size()):
            texts = [note.text for note in part]
            ids = [str(note.number) for note in part]
            self._notes.add(ids=ids, documents=texts, embeddings=self.vectors.rows(texts))

    def search(self, question: str, limit: int) -> list[str]:
        row = self.vectors.row(question)
        found = self._notes.query(query_embeddings=[row], n_results=limit, include=["documents"])
        return list(found["documents"][0])

    def close(self) -> None:
        self._client.close()


class _Qdrant(RivalStore):
    def open(self) -> None:
        from qdrant_client import QdrantClient, models

        self._models = models
        self._client = QdrantClient(path=str(self.folder))
        if not self._client.collection_exists("notes"):
            size = models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
            self._client.create_collection("notes", vectors_config=size)

    def add(self, notes: Sequence[Note]) -> None:
        for part in _parts(notes, 64):
            rows = self.vectors.rows([note.text for note in part])
            self._client.upsert(
                "notes",
                [
                    self._models.PointStruct(id=note.number, vector=row.tolist(), payload={"text": note.text})
                    for note, row in zip(part, rows, strict=True)
                ],
            )

    def search(self, question: str, limit: int) -> list[str]:
        found = self._client.query_points(
            "notes", query=self.vectors.row(question).tolist(), limit=limit, with_payload=True
        )
        return [point.payload["text"] for point in found.points]

    def close(self) -> None:
        self._client.close()


class _Zvec(RivalStore):
    def open(self) -> None:
        import zvec

        self._zvec = zvec
        path = self.folder / "notes"
        if path.exists():
            self._notes = zvec.open(str(path))
            return
        cosine = zvec.HnswIndexParam(metric_type=zvec.MetricType.COSINE)
        schema = zvec.CollectionSchema(
            "notes",
            fields=[zvec.FieldSchema("text", zvec.DataType.STRING, index_param=zvec.FtsIndexParam())],
            vectors=[zvec.VectorSchema("vector", zvec.DataType.VECTOR_FP32, DIMENSIONS, cosine)],
        )
        self._notes = zvec.create_and_open(str(path), schema)

    def add(self, notes: Sequence[Note]) -> None:
        for part in _parts(notes, 1_000):
            rows = self.vectors.rows([note.text for note in part])
            done = self._notes.insert(
                [
                    self._zvec.Doc(str(note.number), vectors={"vector": row}, fields={"text": note.text})
                    for note, row in zip(part, rows, strict=True)
                ]
            )
            for status in done:
                if not status.ok():
                    raise RuntimeError(status.message())

    def finish(self) -> None:
        self._notes.optimize()
        self._notes.flush()

    def search(self, question: str, limit: int) -> list[str]:
        queries = [
            self._zvec.Query("vector", vector=self.vectors.row(question)),
            self._zvec.Query("text", fts=self._zvec.Fts(match_string=question)),
        ]
        found = self._notes.query(
            queries, topk=limit, output_fields=["text"], reranker=self._zvec.RrfReRanker()
        )
        return [doc.fields["text"] for doc in found]

    def close(self) -> None:
        self._notes.close()


class _Mem0(RivalStore):
    """`add(infer=False)` stores the text as it is. The keys are never used: no model is asked."""

    def open(self) -> None:
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase

        vectors = self.vectors

        class _Given(EmbeddingBase):
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return vectors.row(text).tolist()

        unused = {"provider": "openai", "config": {"api_key": "never used"}}
        store = {
            "path": str(self.folder / "qdrant"),
            "on_disk": True,
            "embedding_model_dims": DIMENSIONS,
            "collection_name": "notes",
        }
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(self.folder / "history.db"),
                "llm": unused,
                "embedder": unused,
            }
        )
        self._memory.embedding_model = _Given()

    def add(self, notes: Sequence[Note]) -> None:
        for part in _parts(notes, 100):
            messages = [{"role": "user", "content": note.text} for note in part]
            self._memory.add(messages, user_id="ada", infer=False)

    def search(self, question: str, limit: int) -> list[str]:
        found = self._memory.search(question, top_k=limit, filters={"user_id": "ada"})
        return [row["memory"] for row in found["results"]]

    def close(self) -> None:
        self._memory.close()
        self._memory.vector_store.client.close()


class _LangGraph(RivalStore):
    """The store of LangGraph (and LangMem) over SQLite, with vectors."""

    def open(self) -> None:
        from langgraph.store.base import PutOp
        from langgraph.store.sqlite import SqliteStore

        self._put = PutOp
        index = {
            "dims": DIMENSIONS,
            "embed": lambda texts: [row.tolist() for row in self.vectors.rows(texts)],
            "text_fields": ["text"],
        }
        self._context = SqliteStore.from_conn_string(str(self.folder / "notes.db"), index=index)
        self._store = self._context.__enter__()
        self._store.setup()

    def add(self, notes: Sequence[Note]) -> None:
        for part in _parts(notes, 100):
            puts = [self._put(("notes",), str(note.number), {"text": note.text}) for note in part]
            self._store.batch(puts)

    def search(self, question: str, limit: int) -> list[str]:
        return [item.value["text"] for item in self._store.search(("notes",), query=question, limit=limit)]

    def close(self) -> None:
        self._context.__exit__(None, None, None)


class _Txtai(RivalStore):
    """An index of vectors and words with the texts; it is written anew as a whole by `save`."""

    def open(self) -> None:
        from txtai import Embeddings

        self._path = str(self.folder / "index")

        def rows(texts: list[str]) -> NDArray[np.float32]:  # a method would be called for a function
            return self.vectors.rows(texts)

        # A function is no part of what is saved, so it is handed in again when the index is loaded.
        given = {"method": "external", "transform": rows, "dimensions": DIMENSIONS}
        self._index = Embeddings(**given, content=True, hybrid=True)
        if Path(self._path).exists():
            self._index.load(self._path, config=given)

    def add(self, notes: Sequence[Note]) -> None:
        self._index.upsert([(note.number, note.text, None) for note in notes])
        self._index.save(self._path)

    def search(self, question: str, limit: int) -> list[str]:
        return [row["text"] for row in self._index.search(question, limit)]

    def close(self) -> None:
        self._index.close()


class _Memvid(RivalStore):
    def open(self) -> None:
        import memvid_sdk

        path = self.folder / "notes.mv2"
        mode = "open" if path.exists() else "create"
        self._memory = memvid_sdk.use("basic", str(path), mode=mode, enable_vec=True, enable_lex=True)

    def add(self, notes: Sequence[Note]) -> None:
        # In parts of 20: of 200 notes at once, all but the last 64 were found by their words alone.
        for part in _parts(notes, 20):
            rows = self.vectors.rows([note.text for note in part])
            self._memory.put_many(
                [{"title": str(note.number), "label": "note", "text": note.text} for note in part],
                embeddings=rows.tolist(),
            )
        self._memory.commit()

    def search(self, question: str, limit: int) -> list[str]:
        row = self.vectors.row(question).tolist()
        found = self._memory.find(question, k=limit, mode="auto", query_embedding=row)
        return [hit["snippet"] for hit in found["hits"]]

    def close(self) -> None:
        self._memory.close()


class _Graphiti(RivalStore):
    """Facts as edges of a graph, put in by hand: `add_episode` would ask a model for them."""

    def open(self) -> None:
        import warnings

        warnings.simplefilter("ignore")  # Kuzu's driver says that it is deprecated
        from graphiti_core import Graphiti
        from graphiti_core.cross_encoder.client import CrossEncoderClient
        from graphiti_core.driver.kuzu_driver import KuzuDriver
        from graphiti_core.embedder.client import EmbedderClient
        from graphiti_core.llm_client.client import LLMClient
        from graphiti_core.llm_client.config import LLMConfig

        vectors = self.vectors

        class _Given(EmbedderClient):
            async def create(self, input_data: Any) -> list[float]:
                text = input_data if isinstance(input_data, str) else input_data[0]
                return vectors.row(text).tolist()

            async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
                return vectors.rows(input_data_list).tolist()

        class _NoModel(LLMClient):
            async def _generate_response(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
                raise RuntimeError("No model is there to be asked.")

        class _NoRanking(CrossEncoderClient):
            async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
                raise RuntimeError("No model is there to be asked.")

        path = self.folder / "graph.kuzu"
        fresh = not path.exists()
        self._loop = asyncio.new_event_loop()
        self._embedder, self._driver = _Given(), KuzuDriver(str(path))
        self._graph = Graphiti(
            graph_driver=self._driver,
            llm_client=_NoModel(LLMConfig()),
            embedder=self._embedder,
            cross_encoder=_NoRanking(),
        )
        if fresh:
            # `Graphiti.build_indices_and_constraints` makes none with this driver, and a search then fails.
            indexes = self._driver.graph_ops.build_indices_and_constraints(self._driver)
            self._loop.run_until_complete(indexes)

    def add(self, notes: Sequence[Note]) -> None:
        for part in _parts(notes, 100):
            self._loop.run_until_complete(self._add(part))

    async def _add(self, notes: Sequence[Note]) -> None:
        from datetime import UTC, datetime

        from graphiti_core.edges import EntityEdge
        from graphiti_core.nodes import EntityNode
        from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

        now, nodes, edges = datetime.now(UTC), [], []
        for note, row in zip(notes, self.vectors.rows([note.text for note in notes]), strict=True):
            vector = row.tolist()
            ends = [
                EntityNode(name=f"{end} {note.number}", group_id="notes", name_embedding=vector, summary="")
                for end in ("subject", "value")
            ]
            nodes += ends
            edges.append(
                EntityEdge(
                    group_id="notes",
                    source_node_uuid=ends[0].uuid,
                    target_node_uuid=ends[1].uuid,
                    created_at=now,
                    name="NOTE",
                    fact=note.text,
                    fact_embedding=vector,
                )
            )
        await add_nodes_and_edges_bulk(self._driver, [], [], nodes, edges, self._embedder)

    def search(self, question: str, limit: int) -> list[str]:
        found = self._loop.run_until_complete(
            self._graph.search(question, group_ids=["notes"], num_results=limit)
        )
        return [edge.fact for edge in found]

    def close(self) -> None:
        self._loop.run_until_complete(self._driver.close())


# The list ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A system: what it searches by, what pip installs for it (nothing: it runs where Hexad does), what it imports.

    `check` is a program that ends with 0 in an interpreter that can run it; the first package that is required
    names the version.
    """

    store: type[RivalStore]
    by: str
    imports: str
    requires: tuple[str, ...] = ()
    check: str = ""
    what: str = ""


_EXTENSIONS: Final = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
_NUMPY: Final = "numpy>=2,<3"
FLOORS: Final = {WORDS: "fts5", VECTORS: "numpy", BOTH: "fts5-numpy"}
RIVALS: Final[dict[str, Rival]] = {
    "fts5": Rival(store=_Fts5, by=WORDS, imports="apsw", what="floor: FTS5, any word"),
    "numpy": Rival(store=_NumPy, by=VECTORS, imports="numpy", what="floor: NumPy float32, exact"),
    "fts5-numpy": Rival(store=_Fts5NumPy, by=BOTH, imports="apsw", what="floor: both, reciprocal ranks"),
    "hexad": Rival(store=_Hexad, by=BOTH, imports="hexad", what="`ingest`, `remember`, `recall`"),
    "sqlite-vec": Rival(
        store=_SqliteVec,
        by=VECTORS,
        imports="sqlite_vec",
        requires=("sqlite-vec==0.1.9", "apsw", _NUMPY),
        what="table `vec0` by APSW, exact",
    ),
    "lancedb": Rival(
        store=_LanceDb,
        by=VECTORS,
        imports="lancedb",
        requires=("lancedb==0.40.0", _NUMPY),
        what="vectors without an index, exact",
    ),
    "lancedb-hybrid": Rival(
        store=_LanceDbHybrid,
        by=BOTH,
        imports="lancedb",
        requires=("lancedb==0.40.0", _NUMPY),
        what='`query_type="hybrid"`, reciprocal ranks',
    ),
    "chroma": Rival(
        store=_Chroma,
        by=VECTORS,
        imports="chromadb",
        requires=("chromadb==1.5.9", _NUMPY),
        what="`PersistentClient`, HNSW",
    ),
    "qdrant-local": Rival(
        store=_Qdrant,
        by=VECTORS,
        imports="qdrant_client",
        requires=("qdrant-client==1.20.0", _NUMPY),
        what="`QdrantClient(path=…)`, exact",
    ),
    "zvec": Rival(
        store=_Zvec,
        by=BOTH,
        imports="zvec",
        requires=("zvec==0.8.0", _NUMPY),
        what="HNSW and full text, reciprocal ranks",
    ),
    "txtai": Rival(
        store=_Txtai,
        by=BOTH,
        imports="txtai",
        requires=("txtai==9.14.0", _NUMPY),
        what="`hybrid=True`, `content=True`",
    ),
    "memvid": Rival(
        store=_Memvid,
        by=BOTH,
        imports="memvid_sdk",
        requires=("memvid-sdk==2.0.160", _NUMPY),
        what="one file with words and vectors",
    ),
    "mem0": Rival(
        store=_Mem0,
        by=VECTORS,
        imports="mem0",
        requires=("mem0ai==2.2.1", _NUMPY),
        what="`infer=False`, Qdrant in the process",
    ),
    "langgraph": Rival(
        store=_LangGraph,
        by=VECTORS,
        imports="langgraph.store.sqlite",
        requires=("langgraph-checkpoint-sqlite==3.1.2", _NUMPY),
        check=_EXTENSIONS,
        what="`SqliteStore` with an index",
    ),
    "graphiti": Rival(
        store=_Graphiti,
        by=BOTH,
        imports="graphiti_core",
        requires=("graphiti-core[kuzu]==0.31.2", "httpx", _NUMPY),
        what="facts put in by hand, Kuzu",
    ),
}
OWN: Final = tuple(name for name, rival in RIVALS.items() if not rival.requires)
"""What runs where Hexad does: the floors and Hexad itself, which each run measures."""
