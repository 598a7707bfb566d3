"""One simulated life of a project: several programs work with its store, the power goes, and somebody looks."""

from __future__ import annotations

import contextlib
import errno
import gc
import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import hexad
from hexad import Hexad, HexadError, TimeSortedIds
from hexad.audit import AuditLog, AuditLogWriter
from hexad.errors import Conflict, NotFound, StoreLocked
from hexad.testing import HashEmbedder
from simulation.disk import Disk
from simulation.model import ABSENT, Model, Summary, Write, archived
from simulation.scheduler import Scheduler

_LETTERS = "bcdfghjklmnpqrstvwxz"
_TOPICS = "harbour ferry invoice kernel garden violin bridge compass lantern meadow".split()
_REFUSALS = (Conflict, NotFound, StoreLocked)
"""What a call may be refused with although nothing is wrong: others were there first, or are at it."""


class Violation(AssertionError):
    """The store broke a promise."""


@dataclass
class Life:
    """What one seed does. `folder` is a directory of its own."""

    seed: int
    folder: Path
    is_lying: bool = False
    """Whether the disk says that it has synced and has not: promises are broken then."""
    chance: Random = field(init=False)
    model: Model = field(default_factory=Model)
    disk: Disk = field(init=False)
    scheduler: Scheduler = field(init=False)
    has_failed: bool = False
    """Whether a call of this generation failed."""
    off: bool = False
    """Whether the power went: what is answered from then on nobody hears."""
    counts: dict[str, int] = field(default_factory=dict)
    digests: list[str] = field(default_factory=list)
    recorded: int = 0
    story: list[str] = field(default_factory=list)
    """What happened, line by line."""

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)

    def count(self, what: str, by: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + by

    def tell(self, line: str) -> None:
        """Add to the story, unless nobody hears it any more."""
        if not self.off:
            self.story.append(f"{self.scheduler.time_s:10.4f} {line}")

    @property
    def digest(self) -> str:
        return "-".join(self.digests)

    # The course of it -----------------------------------------------------------------------------------------------

    def live(self, template: Path) -> None:
        """Go through it; raises `Violation` where a promise is broken, and what a call raised that it must not."""
        self.folder.mkdir(parents=True)
        root = self.folder / "0"
        shutil.copytree(template, root)
        for number in range(1, self.chance.choice((2, 3, 4))):
            root = self._generation(root, self.folder / str(number), self._programs())
            root = self._recover(root, number)
        if self.chance.random() < 0.3:
            self._flip(root)

    def _programs(self) -> list[tuple[str, Callable[[], None]]]:
        return [
            (f"p{number}", Program(self, f"p{number}", Random(self.chance.random())).run)
            for number in range(self.chance.choice((1, 1, 2, 2, 3)))
        ]

    def _generation(
        self,
        root: Path,
        following: Path,
        works: list[tuple[str, Callable[[], None]]],
        *,
        within: int = 1500,
        may_fail: bool = True,
    ) -> Path:
        """Run programs until they are done or the power goes; return where the files are that are there then."""
        begun_s = (
            self.scheduler.time_s + self.chance.choice((1, 100, 100_000, 700_000)) if self.digests else 0.0
        )
        self.scheduler = Scheduler(Random(self.chance.random()), begun_s=begun_s)
        self.disk = Disk(root, self.scheduler, is_lying=self.is_lying)
        moment = int(within ** (0.3 + 0.7 * self.chance.random())) * self.chance.choice((1, 1, 1, 10))
        chance = Random(self.chance.random())
        failing = chance.choice((0.0, 0.0, 0.0, 0.001, 0.01)) if may_fail else 0.0

        def on_call(what: str, name: str) -> int | None:
            if self.off:
                return None
            if self.disk.calls >= moment:
                self.tell(f"the power goes at call {self.disk.calls}, {what} {name}")
                self.off = True
                self.disk.image(following, chance)
            elif what not in ("unlink", "open") and failing and chance.random() < failing:
                self.has_failed = True
                self.count("failing calls")
                self.tell(f"{what} {name} fails")
                return chance.choice((errno.EIO, errno.ENOSPC))
            return None

        self.disk.on_call = on_call
        self.off = self.has_failed = False
        try:
            with self.disk.installed(), _without_collector():
                self.scheduler.run(*works)
        finally:
            self.digests.append(self.scheduler.digest)
            self.count("calls to the disk", self.disk.calls)
        if not self.off:
            self.off = True
            self.disk.image(following, chance)
        else:
            self.count("losses of power")
        shutil.rmtree(root)
        return following

    def _recover(self, root: Path, number: int) -> Path:
        """Open what is left and look whether it is right; the power may go again meanwhile."""
        for attempt in range(3):
            looker = Looker(self, maintain=self.chance.random() < 0.7)
            following = self.folder / f"{number}-{attempt}"
            within = 300 if attempt < 2 and self.chance.random() < 0.5 else 1 << 30
            root = self._generation(root, following, [("looker", looker.run)], within=within, may_fail=False)
            if looker.is_done:
                break
        return root

    def _flip(self, root: Path) -> None:
        """Flip bits in one file: whoever looks is told, or reads what was written."""
        paths = sorted(path for path in root.rglob("*") if path.is_file() and path.stat().st_size)
        path = self.chance.choice(paths)
        data = bytearray(path.read_bytes())
        for _ in range(self.chance.choice((1, 1, 3, 8))):
            data[self.chance.randrange(len(data))] ^= 1 << self.chance.randrange(8)
        path.write_bytes(data)
        self.count("flipped files")
        looker = Looker(self, flipped=str(path.relative_to(root)))
        self._generation(
            root, self.folder / "flipped", [("looker", looker.run)], within=1 << 30, may_fail=False
        )

    # A store --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def opened(self, name: str) -> Iterator[Hexad]:
        seed = Random(f"{self.seed} {name} {self.model.now}").getrandbits(32)
        hx = hexad.open(
            self.disk.root / "project",
            embedder=HashEmbedder(),
            generator=None,
            rerank=None,
            background=False,
            clock=self.scheduler,
            ids=TimeSortedIds(self.scheduler, seed=seed),
            purpose=name,
            user_dir=self.disk.root / "user",
        )
        try:
            yield hx
        finally:
            with contextlib.suppress(HexadError):  # a disk that failed
                hx.close()

    @contextlib.contextmanager
    def written(self, writes: dict[str, str | None]) -> Iterator[list[tuple[str, Write]]]:
        """Run a call that writes these facts; note whether it was acknowledged, refused or left open."""
        begun = [(name, self.model.begin(name, value)) for name, value in writes.items()]
        try:
            yield begun
        except _REFUSALS as error:
            self.tell(f"refused: {error}")
            for name, write in () if self.off else begun:
                self.model.withdraw(name, write)
            raise
        if not self.off:
            for name, write in begun:
                self.model.acknowledge(write)
                self.tell(f"acknowledged: {name} is {(write.value or 'nothing')[:30]}")
            self.count("acknowledged writes", len(begun))


class Program:
    """What one process does with the store."""

    def __init__(self, life: Life, name: str, chance: Random) -> None:
        self.life, self.name, self.chance = life, name, chance
        self.faults: int = 0

    def run(self) -> None:
        for _ in range(self.chance.choice((1, 1, 2))):
            if self.life.off:
                return
            try:
                self.life.tell(f"{self.name} opens")
                with self.life.opened(self.name) as hx:
                    self._work(hx)
                self.life.tell(f"{self.name} closed")
            except (HexadError, OSError) as error:
                self._judge("open", error)

    def _work(self, hx: Hexad) -> None:
        names = [name for name, weight in _WEIGHTS.items() for _ in range(weight)]
        for _ in range(self.chance.randint(3, 14)):
            if self.life.off:
                return
            name = self.chance.choice(names)
            self.life.tell(f"{self.name} {name}")
            try:
                getattr(self, f"_{name}")(hx)
            except (HexadError, OSError) as error:
                self.life.tell(f"{self.name} {name}: {type(error).__name__}: {str(error)[:150]}")
                self._judge(name, error)
            self.life.count(name.replace("_", " "))

    def _judge(self, name: str, error: Exception) -> None:
        """An error is right where others were first, where the disk failed, or where the power is off."""
        if isinstance(error, _REFUSALS) or self.life.off or self.life.has_failed:
            return
        raise Violation(f"{name}: {type(error).__name__}: {error}") from error

    # Memories -------------------------------------------------------------------------------------------------------

    def _word(self) -> str:
        return "".join(self.chance.choice(_LETTERS) for _ in range(14))

    def _text(self) -> str:
        word, topics = self._word(), self.chance.sample(_TOPICS, 3)
        long = " ".join(self._word() for _ in range(300)) if self.chance.random() < 0.1 else ""
        return f"{word} is what the {topics[0]} says of the {topics[1]} and the {topics[2]} {long}".strip()

    def _own(self) -> str:
        return f"{self.name}-{self.chance.randrange(5)}"

    def _any(self) -> str:
        return f"shared-{self.chance.randrange(3)}" if self.chance.random() < 0.3 else self._own()

    def _remember(self, hx: Hexad) -> None:
        name, text = self._any(), self._text()
        with self.life.written({name: text}):
            hx.remember(text, id=name, tags=[self.chance.choice(_TOPICS)])

    def _remember_many(self, hx: Hexad) -> None:
        for _ in range(self.chance.randint(2, 6)):
            if not self.life.off:
                self._remember(hx)

    def _archive(self, hx: Hexad) -> None:
        name = self._own()
        try:
            text = self.life.model.settled(name)
        except LookupError:
            return
        if text is not ABSENT and not text.startswith("("):
            with self.life.written({name: archived(text)}):
                hx.forget(name)

    def _restore(self, hx: Hexad) -> None:
        name = self._own()
        try:
            text = self.life.model.settled(name)
        except LookupError:
            return
        if text is not ABSENT and text.startswith("("):
            with self.life.written({name: text.removeprefix("(archived) ")}):
                hx.restore(name)

    def _purge(self, hx: Hexad) -> None:
        name = self._any()
        gone = [
            write.value
            for write in self.life.model.facts.get(name, ())
            if write.value and write.ended < 1e300
        ]
        with self.life.written({name: ABSENT}):
            receipt = hx.forget(name, purge=True, confirm=True)
        if not self.life.off and receipt.count("memories"):
            self.life.model.erase(*(text.removeprefix("(archived) ").split()[0] for text in gone))

    def _recall(self, hx: Hexad) -> None:
        name = self._own()
        try:
            text = self.life.model.settled(name)
        except LookupError:
            return
        hits = hx.recall("what is the harbour" if text is None else text.split()[0])
        if self.life.off:
            return
        if text is not ABSENT and not text.startswith("(") and text not in [hit.memory.raw for hit in hits]:
            raise Violation(f"{name} is not found by its own word: {text[:40]!r}")

    def _get(self, hx: Hexad) -> None:
        name = self._own()
        try:
            text = self.life.model.settled(name)
        except LookupError:
            return
        try:
            held = hx.get(name).raw
        except NotFound:
            held = None
        if not self.life.off and held != (text and text.removeprefix("(archived) ")):
            raise Violation(f"{name} is read as {held!r}, and was written as {text!r}")

    # The stream and the ledger --------------------------------------------------------------------------------------

    def _record(self, hx: Hexad) -> None:
        session = f"talk-{self.name}" if self.chance.random() < 0.7 else "talk-shared"
        texts = [
            f"{self._word()} at the {self.chance.choice(_TOPICS)}" for _ in range(self.chance.randint(1, 4))
        ]
        with self.life.written({f"{session}/{text}": text for text in texts}):
            hx.xdb.start_session(session)
            for text in texts:
                hx.xdb.record("input", text, {"work::Talk": 0.5}, session_id=session)
            hx.xdb.flush()

    def _erase_session(self, hx: Hexad) -> None:
        session = f"talk-{self.name}"
        texts = [name for name in self.life.model.facts if name.startswith(f"{session}/")]
        with self.life.written(dict.fromkeys(texts)):
            hx.forget(session=session, purge=True, confirm=True)
        if not self.life.off:
            self.life.model.erase(*(name.partition("/")[2].split()[0] for name in texts))

    def _recall_stream(self, hx: Hexad) -> None:
        session = f"talk-{self.name}"
        held = [step.content for step in hx.xdb.recall(session_id=session, limit=1000)]
        if self.life.off:
            return
        known = {name for name in self.life.model.facts if name.startswith(f"{session}/")}
        wrong = [
            name for name in known if (name.partition("/")[2] if name.partition("/")[2] in held else None)
            not in self.life.model.values(name)
        ]  # fmt: skip
        if wrong or len(held) != len(set(held)):
            raise Violation(f"{session} is read as {held}, wrong of {wrong}")

    def _compact(self, hx: Hexad) -> None:
        hx.xdb.request_compaction(f"talk-{self.name}")

    def _seal(self, hx: Hexad) -> None:
        hx.xdb.seal()

    def _audit(self, hx: Hexad) -> None:
        with AuditLogWriter(hx.path, self.name, clock=self.life.scheduler) as writer:
            for _ in range(self.chance.randint(1, 3)):
                writer.record("ledger", self.life.recorded, "output", self._word(), {}, [])
                if not self.life.off:
                    self.life.recorded += 1

    # Upkeep ---------------------------------------------------------------------------------------------------------

    def _maintain(self, hx: Hexad) -> None:
        hx.maintain()

    def _consolidate(self, hx: Hexad) -> None:
        hx.consolidate()

    def _embed(self, hx: Hexad) -> None:
        hx.embed_pending()

    def _space_file(self, hx: Hexad) -> None:
        hx.spaces.write_file("default")

    def _reindex(self, hx: Hexad) -> None:
        hx.reindex()


_WEIGHTS = {
    "remember": 8, "remember_many": 2, "archive": 2, "restore": 2, "purge": 3, "recall": 4, "get": 3, "record": 6,
    "erase_session": 1, "recall_stream": 2, "seal": 2, "compact": 1, "audit": 2, "maintain": 2, "consolidate": 1,
    "embed": 1, "space_file": 1, "reindex": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sight:
    """What somebody who looks through a store finds."""

    problems: list[str]
    held: dict[str, str | None]
    """What was written, by the name of the fact."""
    summaries: dict[str, Summary]
    """By the memory's id: what the store wrote by itself of sessions in which nothing was recorded for a week."""


class Looker:
    """Opens what is left and compares it with the model."""

    def __init__(self, life: Life, *, maintain: bool = True, flipped: str | None = None) -> None:
        self.life, self.maintain, self.flipped = life, maintain, flipped
        self.is_done = False

    def run(self) -> None:
        if self.flipped is not None:
            self._look_at_flipped()
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.life.tell(f"a look, with upkeep: {self.maintain}")
                with self.life.opened("looker") as hx:
                    self._compare(hx, self.look(hx))
        except (HexadError, Warning) as error:
            if not self.life.off:
                raise Violation(f"after the loss: {type(error).__name__}: {error}") from error

    def look(self, hx: Hexad) -> Sight:
        """Return all that the store holds, after upkeep where that is meant to be done."""
        if self.maintain:
            hx.maintain()
        problems = list(hx.check())
        held: dict[str, str | None] = {}
        summaries: dict[str, Summary] = {}
        for memory in hx.memories(status=None, limit=None):
            if memory.space == "experience" and "compaction" in memory.metadata:
                summaries[memory.id] = Summary(session=str(memory.metadata["session"]), text=memory.raw)
                continue
            is_live = memory.status.value == "active"
            held[memory.id] = memory.raw if is_live else archived(memory.raw)
        texts: list[str] = []
        for session in hx.xdb.sessions():
            if not self.maintain and session.id.startswith("erased-"):
                continue  # an erasure that is not finished yet
            for step in hx.xdb.recall(session_id=session.id, limit=10_000):
                held[f"{session.id}/{step.content}"] = step.content
                texts.append(step.content)
        if len(texts) != len(set(texts)):
            problems.append(
                f"recorded once and there twice: {sorted(t for t in texts if texts.count(t) > 1)}"
            )
        if self.life.recorded:
            with AuditLog(hx.path, clock=self.life.scheduler) as log:
                verdict = log.verify()
                if not verdict.ok or log.size < self.life.recorded:
                    problems.append(f"of {self.life.recorded} records the ledger has {log.size}: {verdict}")
        for word in sorted(self.life.model.erased)[:5]:
            problems += [
                f"{word!r} was erased and is found" for hit in hx.recall(word) if word in hit.memory.raw
            ]
        return Sight(problems, held, summaries)

    def _compare(self, hx: Hexad, sight: Sight) -> None:
        if self.life.off:
            return
        problems = sight.problems + self.life.model.disagreements(sight.held, sight.summaries)
        if self.maintain:
            problems += [f"an erasure waits still: {each.pending}" for each in hx.erasures() if each.pending]
            problems += self._erased_bytes(hx.path)
        if problems:
            raise Violation("; ".join(problems[:5]))
        if self.maintain:  # before, an erasure that was begun may still be finished
            self.life.model.settle(sight.held)
        self.life.count("looks that found all well")
        self.is_done = True

    def _erased_bytes(self, folder: Path) -> Iterator[str]:
        words = [word.encode() for word in self.life.model.erased]
        for path in sorted(folder.rglob("*")) if words else ():
            if path.is_file() and not path.name.endswith("-shm"):
                data = path.read_bytes()
                yield from (f"{word!r} was erased, and {path.name} has it" for word in words if word in data)

    def _look_at_flipped(self) -> None:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                with self.life.opened("looker") as hx:
                    sight = self.look(hx)
            except HexadError:
                self.life.count("flips that were noticed")
                return
        if sight.problems or warned:
            self.life.count("flips that were noticed")
            return
        # A log that ends in something unreadable looks as if power had gone before the rest was acknowledged.
        is_log = self.flipped is not None and self.flipped.endswith(("-wal", ".log"))
        model = self.life.model
        judge = model.inventions if is_log else model.disagreements
        if wrong := judge(sight.held, sight.summaries):
            raise Violation(
                f"bits of {self.flipped} were flipped, and nobody says so: {'; '.join(wrong[:3])}"
            )
        self.life.count("flips that changed nothing")


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """What the collector ends must not depend on when it comes."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def make_template(folder: Path) -> None:
    """Make a new store with what every life begins with."""
    (folder / "project").mkdir(parents=True)
    (folder / "user").mkdir()
    with hexad.open(
        folder / "project",
        embedder=HashEmbedder(),
        generator=None,
        rerank=None,
        background=False,
        user_dir=folder / "user",
    ):
        pass
