"""Vectors for memories that have none yet: claimed in batches, computed outside any transaction."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from hexad.core.clock import Clock
from hexad.core.tracing import log
from hexad.database.exit_hooks import ProgramEnding
from hexad.database.leases import poll
from hexad.database.meta import EMBEDDING_PAUSED, EMBEDDING_RATE, Meta
from hexad.database.task_queue import LINK, Tasks
from hexad.errors import BudgetExceeded, Conflict, ProviderError
from hexad.memory.memory import Memory, Status
from hexad.memory.store import Stores
from hexad.memory.tables.memories import StoredChunk
from hexad.providers.budgets.metering import EmbedPart, MeteredEmbedder, passage_embedder
from hexad.providers.embedders.base import Embedder
from hexad.search.indexer import EMBED
from hexad.search.vectors.table import NewVector, Vectors
from hexad.search.wanted_vectors import WANTED, WantedVectors
from hexad.text.tokens import CHARACTERS_PER_TOKEN, estimate_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatRow = NDArray[np.float32]

BEGINNING_TOKENS: Final = 256
"""How much of a memory its own vector reads: as much as the default embedder can."""
BEFORE_CHARACTERS: Final = 200
"""So much of the turn before it a turn's vector may read at least; of a longer turn as much as it has itself."""
SENTENCES: Final = 12
"""So many of a turn's sentences have vectors of their own, beside the turn's."""
SENTENCE_CHARACTERS: Final = 20
"""What is shorter says nothing alone."""


_COMMIT: Final = "commit"
_FILES_READ: Final = 4
_FILE_LINE: Final = r"^- \S.*? \((?:\+\d+ -\d+|binary)\)(?:\n|\Z)"
_FILE_LIST: Final = re.compile(rf"((?:{_FILE_LINE}){{{_FILES_READ}}})(?:{_FILE_LINE})+", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One text to embed; `chunk_no` None is the beginning of the whole memory.

    Several passages of one chunk make one vector, their mean; a `sentence` has its own beside it.
    """

    memory_no: int
    chunk_no: int | None
    text: str
    sentence: bool = False


def passages(
    no: int, memory: Memory, chunks: Sequence[StoredChunk], *, before: tuple[str, str] | None = None
) -> list[Passage]:
    """Return what to embed of a memory: one passage a chunk, and one of the whole where there are several.

    A turn of a conversation has two passages for its one vector, which is their mean: what is said, and the same
    after the end of what was said before it (`before`: speaker and text), for "Yes, on Tuesday" means nothing alone.
    Either alone finds less: turn R@10 .795 and .807 against .813. A later turn changes no vector.
    """
    title = str(memory.metadata.get("title", ""))
    if memory.turn is not None and len(chunks) == 1:
        spoken = [memory.raw, _exchange(memory, before)]
        return [Passage(memory_no=no, chunk_no=chunks[0].no, text=text) for text in spoken]
    passages = [
        Passage(
            memory_no=no,
            chunk_no=stored.no,
            text=_titled(stored.chunk.heading or title, _read(memory, memory.chunk_text(stored.chunk))),
        )
        for stored in chunks
    ]
    if len(passages) > 1:
        beginning = _read(memory, memory.raw)[: BEGINNING_TOKENS * CHARACTERS_PER_TOKEN]
        passages.append(Passage(memory_no=no, chunk_no=None, text=_titled(title, beginning)))
    return passages


SplitText = Callable[[str], Iterable[tuple[int, int]]]
"""Finds where the sentences of a text begin and end."""


def sentence_passages(
    no: int, memory: Memory, chunks: Sequence[StoredChunk], split: SplitText
) -> list[Passage]:
    """Return the first sentences of a turn of one chunk: its vector tells little of one that stands among others."""
    if memory.turn is None or len(chunks) != 1:
        return []
    texts = (" ".join(memory.raw[start:end].split()) for start, end in split(memory.raw))
    telling = islice((text for text in texts if len(text) >= SENTENCE_CHARACTERS), SENTENCES)
    return [Passage(memory_no=no, chunk_no=chunks[0].no, text=text, sentence=True) for text in telling]


def passages_of(
    stores: Stores, numbers: Sequence[int], *, split: SplitText | None = None
) -> tuple[list[int], list[Passage]]:
    """Return which of these memories are active, and what to embed of them: with `split` sentences of turns, too."""
    memories, chunks = stores.memories.with_stored_chunks(numbers)
    active = [no for no in numbers if no in memories and memories[no].status is Status.ACTIVE]
    before = stores.places.previous([no for no in active if memories[no].turn is not None])
    texts: list[Passage] = []
    for no in active:
        texts.extend(passages(no, memories[no], chunks.get(no, []), before=before.get(no)))
        if split is not None:
            texts.extend(sentence_passages(no, memories[no], chunks.get(no, []), split))
    return active, texts


def _read(memory: Memory, text: str) -> str:
    """Return what an embedder reads of a memory's text: of a commit's list of files the first few.

    Paths are many tokens that mean little: of the history of this project they were two thirds of what was embedded.
    Full text has all of them.
    """
    return _FILE_LIST.sub(r"\1", text) if memory.kind == _COMMIT else text


def _exchange(memory: Memory, before: tuple[str, str] | None) -> str:
    assert memory.turn is not None
    text = f"{memory.turn.speaker}: {memory.raw}"
    if before is None:
        return text
    # An embedder reads the beginning of a passage alone: what a long reply leaves of it is the turn's.
    left = BEGINNING_TOKENS * CHARACTERS_PER_TOKEN - len(text)
    room = max(BEFORE_CHARACTERS, min(len(memory.raw), left))
    return f"{before[0]}: {_end_of(before[1], room)}\n{text}"


def _end_of(text: str, characters: int) -> str:
    """Return the last words of a text, at most so many characters.

    >>> _end_of("It was a long, long day", 10)
    'long day'
    """
    if len(text) <= characters:
        return text
    end = text[-characters - 1 :]
    return end.partition(" ")[2] or end[1:]


def _titled(heading: str, text: str) -> str:
    """A heading says what a span is about, who said it and when; it is read first, unless the text has it."""
    return text if not heading or text.startswith(heading) else f"{heading}: {text}"


BATCH_MEMORIES: Final = 64
GROUP_PASSAGES: Final = 64
LONG_CHUNKS: Final = 16
"""A memory of more chunks is embedded after all others: one long file takes the time of many answers."""
ORDERED_MEMORIES: Final = 1_024
"""So many are taken in one order; then what has come meanwhile is looked at."""
ATTEMPTS: Final = 3
AGAIN_FIRST_S: Final = 60.0
AGAIN_MOST_S: Final = 300.0
"""What failed too often is tried again by itself after a pause, which doubles up to the longest one: an endpoint that
was down is asked for one memory, and for all others when it answers."""
OTHERS_S: Final = 60.0
"""So long it is waited for others who compute vectors and finish none: a batch takes a second or two."""
HANGS_S: Final = 300.0
"""Who works on the same memories for so long, and finishes none, hangs: others take them in their backgrounds."""
MEASURED_S: Final = 10.0
"""So long is computed before the speed is noted, by which it is told when the rest will be done."""
_OPERATION: Final = "embed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """How a long piece of work is watched: whether it is to stop, and a sign that it goes on."""

    stop: Callable[[], bool]
    beat: Callable[[], None]


class _Workers:
    """Who computes vectors of a store: this program and others, of which some may hang."""

    def __init__(
        self, tasks: Tasks, *, owner: str, alive: Callable[[], Collection[str]], clock: Clock
    ) -> None:
        self._tasks, self._owner, self._alive, self._clock = tasks, owner, alive, clock
        self._since: dict[str, tuple[set[int], float]] = {}
        self._hanging: set[str] = set()
        self._given_up: set[str] = set()

    def working(self) -> frozenset[str]:
        """Return who may finish what it took: all that last, but for those that hang."""
        return frozenset(self._alive()) - self._hanging

    def held(self) -> set[int]:
        """Return what they work on, once it was looked who hangs: has held the same for `HANGS_S`."""
        held, now = self._tasks.held(EMBED, alive=frozenset(self._alive())), self._clock.monotonic()
        still = {owner: seen for owner, seen in self._since.items() if held.get(owner) == seen[0]}
        others = held.keys() - {self._owner}
        self._since = {owner: still.get(owner, (held[owner], now)) for owner in others}
        late = {owner for owner, (_, since) in still.items() if now - since >= HANGS_S}
        self._hanging = hanging = late | (self._hanging & still.keys())
        return set().union(*(numbers for owner, numbers in held.items() if owner not in hanging))

    def give_up(self) -> bool:
        """Take those that work for others for hanging, each once only: two that are slow must not take from one another
        for ever. Return whether there were any.
        """
        more = self._since.keys() - self._given_up
        self._hanging, self._given_up = self._hanging | more, self._given_up | more
        return bool(more)


class EmbeddingJob:
    """Computes the vectors that tasks ask for. Several processes may run one on the same store."""

    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        *,
        wanted: WantedVectors,
        split: SplitText,
        clock: Clock,
        owner: str,
        alive: Callable[[], Collection[str]],
    ) -> None:
        """`wanted` says what questions asked for, and has what was computed for them."""
        self._stores = stores
        self._wanted, self._clock, self._split = wanted, clock, split
        self._tokens, self._seconds = 0, 0.0
        self._again_at, self._pause_s, self._tried_again = 0.0, AGAIN_FIRST_S, 0
        self._order: list[int] = []  # of the next claims, the last first
        self.embedder = embedder
        self._owner = owner
        self._workers = _Workers(stores.tasks, owner=owner, alive=alive, clock=clock)

    def pending(self) -> int:
        """Return how many memories wait for their vectors."""
        return self._stores.tasks.counts(EMBED)[0]

    def run(
        self,
        *,
        limit: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Embed up to `limit` memories, or all that wait; returns how many were done.

        Without a limit somebody asked for it: what failed too often is tried again at once, and what another thread or
        process is computing is waited for and counted. Else one of it is, when nothing else waits and the pause since
        the last failure is over, and all of it when the embedder works. Memories of a space
        whose budget is used up go on waiting, and `paused` says why. Raises `ProviderError` when the embedder
        fails; what was claimed is given back first.
        """
        done = 0
        overruns: dict[str, BudgetExceeded] = {}
        turn = _Turn(stop=stop, beat=lambda: progress(done) if progress is not None else None)
        pending, failed = self._stores.tasks.counts(EMBED)
        again = self._try_failed_again(pending, failed, at_once=limit is None)
        if pending or (failed and self.pending()):
            try:
                dimensions = self.embedder.dimensions  # an endpoint or a function has to be asked
            except BudgetExceeded as error:
                self._note(error)
                return 0
            except ProviderError as error:
                self._give_back(self._claim(_room(limit), without=()), error)
                raise
            self._stores.meta.record_embedder(self.embedder.name, dimensions, replace=False)
            check_embedder(self._stores.meta, self.embedder)
        while not stop() and (limit is None or done < limit):
            numbers = self._claim(_room(limit, done), without=tuple(overruns))
            if not numbers and limit is None and (finished := self._finished_by_others(stop)) is not None:
                done += finished
                turn.beat()
                continue
            if not numbers:
                break
            # What was given back may be another thread's by now, which has the same name: it is not ours to release.
            claimed = set(numbers)
            try:
                for space, group in self._charged_groups(numbers):
                    if stop():
                        break
                    claimed.difference_update(group)
                    if space in overruns:
                        self._stores.tasks.postpone(EMBED, group, owner=self._owner)
                        continue
                    embedded = self._embed_affordable(group, space, turn, overruns)
                    done += embedded
                    if embedded and progress is not None:
                        progress(done)
            finally:
                self._stores.tasks.release(EMBED, sorted(claimed), owner=self._owner)
        if self._seconds >= MEASURED_S:
            self._stores.meta.put(EMBEDDING_RATE, f"{self._tokens / self._seconds:.0f}")
            self._tokens, self._seconds = 0, 0.0
        if done and again:
            self._stores.tasks.retry_failed(EMBED)
        if done or overruns:
            self._note(next(iter(overruns.values()), None))
        return done

    def _try_failed_again(self, pending: int, failed: int, *, at_once: bool) -> bool:
        """Let what failed too often be tried again, one of it unless `at_once`; return whether all is, if it works."""
        if not failed:
            if not pending:
                self._pause_s = AGAIN_FIRST_S
            return False
        if at_once:
            self._stores.tasks.retry_failed(EMBED)
            return False
        if self._clock.monotonic() < self._again_at:
            return False
        if not pending:
            self._tried_again = self._stores.tasks.retry_one_failed(EMBED, after=self._tried_again) or 0
        return True

    def goes_on(self, embedded: int) -> bool:
        """Return whether more vectors are to come at once, after so many: a batch was full, or others compute some."""
        return bool(self._workers.held()) or embedded >= BATCH_MEMORIES

    def _finished_by_others(self, stop: Callable[[], bool]) -> int | None:
        """Wait for a while until others are done with some of what they hold; return of how many memories.

        None where they hold nothing. Who holds all of it still is not waited for any longer: what other programs hold
        may be taken from then on, and None says that it is another thread of this one.
        """
        before = self._workers.held()
        if not before:
            return None
        after = before

        def fewer() -> bool:
            nonlocal after
            after = self._workers.held()
            return stop() or not before <= after

        if not poll(fewer, wait_s=OTHERS_S, clock=self._clock):
            return 0 if self._workers.give_up() else None
        if stop():
            return None
        return len(before - after - self._stores.tasks.waiting(EMBED, before))

    def store_computed(self) -> int:
        """Store what was computed for questions, of memories that then have all their vectors; return of how many."""
        numbers = self._claim_of(self._wanted.take_complete(), limit=WANTED)
        if not numbers:
            return 0
        try:
            self._stores.meta.record_embedder(self.embedder.name, self.embedder.dimensions, replace=False)
            check_embedder(self._stores.meta, self.embedder)
            self._embed(numbers, None, _Turn(stop=lambda: False, beat=lambda: None))
        except ProviderError:
            raise  # given back already
        except BaseException:
            self._stores.tasks.release(EMBED, numbers, owner=self._owner)
            raise
        return len(numbers)

    def _claim(self, limit: int, *, without: Sequence[str]) -> list[int]:
        """Take what answers will need first: what questions touched, then the newest, long files last."""
        numbers = self._claim_of(self._wanted.first(limit), limit=limit, without=without)
        fresh = False
        while not numbers:
            if not self._order:
                if fresh:
                    return []
                self._order = self._stores.tasks.short_first(EMBED, chunks=LONG_CHUNKS)[:ORDERED_MEMORIES]
                self._order.reverse()
                fresh = True
            following, self._order = self._order[: -limit - 1 : -1], self._order[:-limit]
            numbers = self._claim_of(following, limit=limit, without=without) if following else []
        return numbers

    def _claim_of(self, only: Sequence[int], *, limit: int, without: Sequence[str] = ()) -> list[int]:
        if not only:
            return []
        numbers = self._stores.tasks.claim(
            EMBED,
            owner=self._owner,
            alive=self._workers.working(),
            limit=limit,
            without_spaces=without,
            only=only,
        )
        # Who is not to be had waits for somebody else, or has its vectors: it is not to be asked for again and again.
        self._wanted.settle(only)
        return numbers

    def _embed_affordable(
        self, group: Sequence[int], space: str | None, turn: _Turn, refusals: dict[str, BudgetExceeded]
    ) -> int:
        """Embed a group, or what its space's budget still pays for; the rest goes on waiting, and `refusals` knows."""
        try:
            return len(group) if self._embed(group, space, turn) else 0
        except BudgetExceeded as error:
            if len(group) == 1:
                refusals[space or ""] = error
                self._stores.tasks.postpone(EMBED, group, owner=self._owner)
                return 0
        done = 0
        try:
            while done < len(group) and self._embed_affordable(group[done : done + 1], space, turn, refusals):
                done += 1
        finally:
            self._stores.tasks.postpone(EMBED, group[done + 1 :], owner=self._owner)
        return done

    def paused(self) -> str | None:
        """Return why memories go on waiting for their vectors: a budget is used up. None when none is."""
        return (self._stores.meta.get(EMBEDDING_PAUSED) or None) if self.pending() else None

    def _note(self, error: BudgetExceeded | None) -> None:
        words = "" if error is None else str(error)
        if words != (self._stores.meta.get(EMBEDDING_PAUSED) or ""):
            if words:
                log.warning("Vectors wait for a budget: %s", words)
            self._stores.meta.put(EMBEDDING_PAUSED, words)

    def _charged_groups(self, numbers: Sequence[int]) -> Iterator[tuple[str | None, list[int]]]:
        """Give the groups of a claim, each of the one space that is charged for it; None where nothing is."""
        if not isinstance(self.embedder, MeteredEmbedder):
            yield from ((None, group) for group in self._groups(numbers))
            return
        spaces = self._stores.tasks.spaces(numbers)
        for space in dict.fromkeys(spaces.values()):
            for group in self._groups([no for no in numbers if spaces.get(no) == space]):
                yield space, group

    def _groups(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """Cut a claim into groups of few passages, so that stopping never waits long for the one in hand."""
        counts = self._stores.memories.chunk_counts(numbers)
        group: list[int] = []
        size = 0
        for no in numbers:
            if group and size + counts.get(no, 0) > GROUP_PASSAGES:
                yield group
                group, size = [], 0
            group.append(no)
            size += counts.get(no, 0)
        if group:
            yield group

    def _embed(self, numbers: Sequence[int], space: str | None, turn: _Turn) -> bool:
        """Embed what was claimed; False where it is to stop. What is left is given back, unless a budget refused."""
        try:
            embedded = self._compute_and_store(numbers, space, turn)
        except ProgramEnding:
            self._stores.tasks.release(EMBED, numbers, owner=self._owner)
            raise
        except (ProviderError, BudgetExceeded):
            raise  # given back already, and what the caller postpones
        except BaseException:
            self._stores.tasks.release(EMBED, numbers, owner=self._owner)
            raise
        if not embedded:
            self._stores.tasks.release(EMBED, numbers, owner=self._owner)
        return embedded

    def _compute_and_store(self, numbers: Sequence[int], space: str | None, turn: _Turn) -> bool:
        active, texts = passages_of(self._stores, numbers, split=self._split)
        by_memory: dict[int, list[NewVector]] = {no: [] for no in active}
        rows = self._vectors(numbers, texts, space, turn)
        if rows is None:
            return False
        places: dict[tuple[int, int | None], list[int]] = {}
        sentences: dict[int, list[FloatRow]] = {}
        for place, passage in enumerate(texts):
            if passage.sentence:
                sentences.setdefault(passage.memory_no, []).append(rows[place])
            else:
                places.setdefault((passage.memory_no, passage.chunk_no), []).append(place)
        for (memory_no, chunk_no), parts in places.items():
            # Not normalised again: a mean is shorter the less its parts agree, and says less (R@10 -.013 if it is).
            vector = mean_of([rows[part] for part in parts])
            by_memory[memory_no].append(
                NewVector(
                    memory_no=memory_no,
                    chunk_no=chunk_no,
                    vector=vector,
                    sentences=sentences.get(memory_no, ()),
                )
            )
        with self._stores.db.transaction():
            # A task that was queued anew while we computed is about a newer text: it is left alone.
            finished = self._stores.tasks.finish_all(EMBED, numbers, owner=self._owner)
            ready = [no for no in numbers if no in finished and no in by_memory]
            if ready:
                vectors = Vectors(self._stores.db)
                vectors.remove_memories(ready)
                vectors.add([vector for no in ready for vector in by_memory[no]])
                self._stores.tasks.put_all(LINK, ready)
        return True

    def _vectors(
        self, numbers: Sequence[int], texts: Sequence[Passage], space: str | None, turn: _Turn
    ) -> Sequence[FloatRow] | None:
        """Return the passages' vectors; None when it is to stop. A file of a thousand chunks takes many turns."""
        rows: list[FloatRow] = []
        passage_texts = [passage.text for passage in texts]
        try:
            with self._charge(passage_texts, space) as embed:
                for start in range(0, len(passage_texts), GROUP_PASSAGES):
                    if start and turn.stop():
                        return None
                    group = passage_texts[start : start + GROUP_PASSAGES]
                    started = self._clock.monotonic()
                    rows.extend(self._wanted.known(group, embed))
                    self._seconds += self._clock.monotonic() - started
                    self._tokens += sum(min(estimate_tokens(text), BEGINNING_TOKENS) for text in group)
                    if start + GROUP_PASSAGES < len(passage_texts):
                        turn.beat()
        except ProgramEnding:
            raise  # no attempt that failed
        except ProviderError as error:
            self._give_back(numbers, error)
            raise
        return rows

    def _charge(self, texts: Sequence[str], space: str | None) -> AbstractContextManager[EmbedPart]:
        """Return what embeds the texts, having set aside what all of them cost: half a memory is of no use."""
        if isinstance(self.embedder, MeteredEmbedder):
            return self.embedder.charged(texts, space=space, operation=_OPERATION)
        return nullcontext(passage_embedder(self.embedder))

    def _give_back(self, numbers: Sequence[int], error: ProviderError) -> None:
        log.warning("Embedding failed and will be tried again: %s", error)
        self._again_at = self._clock.monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, AGAIN_MOST_S)
        with self._stores.db.transaction():
            for no in numbers:
                self._stores.tasks.release_or_fail(
                    EMBED, no, owner=self._owner, attempts=ATTEMPTS, error=str(error)
                )


def _room(limit: int | None, done: int = 0) -> int:
    """Return how many memories are claimed at once."""
    return BATCH_MEMORIES if limit is None else min(BATCH_MEMORIES, limit - done)


def mean_of(vectors: Sequence[FloatRow]) -> FloatRow:
    """Return the mean of some vectors, of a single one itself."""
    import numpy as np

    if len(vectors) == 1:
        return np.asarray(vectors[0], dtype=np.float32)
    mean: FloatRow = np.mean(vectors, axis=0, dtype=np.float32)
    return mean


def check_embedder(meta: Meta, embedder: Embedder | None) -> None:
    """Raise `Conflict` when the store's vectors are from another embedder: they cannot be compared."""
    recorded = meta.recorded_embedder()
    if embedder is not None and recorded is not None and recorded[0] != embedder.name:
        raise Conflict(
            f"This store was built with the embedder {recorded[0]!r}, not {embedder.name!r}. Open it with that "
            "one, or with embedder=None for lexical recall, or run `hexad reindex --embedder SPEC` to re-embed it."
        )
