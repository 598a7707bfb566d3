"""`hexad demo`: a repository in a throw-away store, questions to it, and a memory forgotten and brought back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.config import store_root
from hexad.interfaces.cli.app.base import Command, note, print_json, state, warn
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, excerpt, hit_lines, size, width
from hexad.interfaces.cli.store.ingest import report_lines

if TYPE_CHECKING:
    from hexad import Hexad, Hits, IngestReport, Memory


QUESTIONS: Final = 5
_LOOKED_AT: Final = 200
_KINDS: Final = ("code", "guide", "decision", "commit", "config", "log", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, in words where its answer should lie, and what of the store is asked."""

    text: str
    where: str
    kinds: tuple[str, ...] | None = None
    path: str | None = None


_OWN: Final = (
    Question(
        text="Which code splits camelCase and snake_case identifiers into words?",
        where="code under src",
        kinds=("code",),
        path="src",
    ),
    Question(text="What happens to a store whose key is lost?", where="guides", kinds=("guide",)),
    Question(text="Why is full text not in a tokenizer written in Python?", where="guides", kinds=("guide",)),
    Question(
        text="Which change linked memories of different projects?",
        where="the commit history",
        kinds=("commit",),
    ),
    Question(text="What is the line length for ruff?", where="all of it"),
)
_OWN_IN_OTHER_WORDS: Final = Question(text="May I use this at work for free?", where="all of it")
_OWN_MARK: Final = Path("src", "hexad", "interfaces", "cli", "store", "demo.py")


def questions(hx: Hexad, root: Path, *, history: bool) -> list[Question]:
    """Return the questions for a repository: prepared ones for Hexad's own, else from what was ingested."""
    derived = _derived(hx)
    if not (root / _OWN_MARK).exists():
        return [question for _, question in zip(range(QUESTIONS), derived, strict=False)]
    if history:
        return list(_OWN)
    return [question for question in _OWN if "commit" not in question.where] + [next(derived)]


def in_other_words(questions: list[Question], root: Path) -> Question:
    """Return a question for recall by meaning: a prepared one for Hexad's own repository, else the first again."""
    return _OWN_IN_OTHER_WORDS if (root / _OWN_MARK).exists() else questions[0]


def topic_of(hx: Hexad, root: Path) -> str:
    """Return what a bundle is asked for: a prepared topic for Hexad's own repository, else a common tag or word."""
    if (root / _OWN_MARK).exists():
        return "redaction"
    memories = sorted(hx.memories(limit=_LOOKED_AT), key=lambda memory: memory.path)
    words = Counter(
        word
        for memory in memories
        for word in memory.summary_micro.lower().split()
        if len(word) > 4 and word.isalpha()
    )
    return max(words, key=lambda word: (words[word], word), default="project")


def hide_the_questions(hx: Hexad, root: Path) -> None:
    """Archive this very file in the demo's store: it would be the best answer to every question in it."""
    for memory in hx.memories(path="*/" + _OWN_MARK.with_suffix("").as_posix()):
        if (root / _OWN_MARK).exists():
            hx.forget(memory.id)


def _derived(hx: Hexad) -> Iterator[Question]:
    """Give questions made of names in the store: one of each kind in turn, until there is nothing left."""
    waiting = {kind: _phrases(hx, kind) for kind in _KINDS}
    while waiting:
        for kind in tuple(waiting):
            phrase = next(waiting[kind], None)
            if phrase is None:
                del waiting[kind]
            else:
                yield Question(
                    text=phrase, where="the commit history" if kind == "commit" else f"kind {kind}"
                )


def _phrases(hx: Hexad, kind: str) -> Iterator[str]:
    memories = sorted(hx.memories(kinds=[kind], limit=_LOOKED_AT), key=lambda memory: memory.path)
    seen_phrases: set[str] = set()
    for memory in memories:
        phrase = _phrase(memory)
        if phrase is not None and phrase not in seen_phrases:
            seen_phrases.add(phrase)
            yield phrase


def _phrase(memory: Memory) -> str | None:
    """Return what a person might ask of a memory: a commit's subject, a heading, a definition's name."""
    if memory.kind == "commit":
        first = memory.raw.strip().splitlines()[0] if memory.raw.strip() else ""
        return f"Which change: {first}?" if len(first.split()) >= 2 else None
    for chunk in memory.chunks:
        name = chunk.heading.split("\n")[-1].strip()
        if len(name) >= 8:
            return f"Where is {name}?" if memory.kind == "code" else f"What about {name}?"
    words = memory.summary_micro.split()
    return " ".join(words[:12]) if len(words) >= 2 else None


_HITS_SHOWN: Final = 2
EMBEDDING_WAIT_S: Final = 10.0
"""How long the demo waits for vectors at most: it is to be over within a minute on two cores."""
_DECISION: Final = (
    "Releases for the orchard scanners go out before noon on Fridays, because the packing hall closes early."
)
_ASKED: Final = "When do orchard scanner releases go out?"


@dataclass(slots=True, kw_only=True)
class _Demo:
    """One run: what it is about, what it says, and what went wrong."""

    hx: Hexad
    root: Path
    started: float
    json: bool
    record: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def say(self, text: str = "") -> None:
        if not self.json:
            click.echo(text)

    def title(self, text: str) -> None:
        self.say()
        self.say(click.style(text, bold=True, fg="cyan"))

    def seconds(self) -> float:
        return self.hx.clock.monotonic() - self.started


@click.command(cls=Command)
@click.option("--path", metavar="DIR", help="Another folder or repository than the one around you.")
@click.option("--keep", metavar="DIR", help="Make the store in this folder, and leave it there.")
@click.pass_context
def demo(ctx: click.Context, *, path: str | None, keep: str | None) -> None:
    """Show what Hexad does, on a repository, in a throw-away store.

    Ingests files and history, asks five questions while the vectors are still being computed and a sixth in
    other words, bundles what it knows about a topic, remembers a decision, forgets it, brings it back, and
    checks the store. Exit code 1 when a step does not hold.
    """
    root = _root(path)
    if keep is not None:
        hexad.init(keep)
    with hexad.open(":memory:" if keep is None else keep, purpose="hexad demo", background=True) as hx:
        run = _Demo(hx=hx, root=root, started=hx.clock.monotonic(), json=state().json)
        _run(run)
    if keep is not None:
        note(f"The store is in {keep}; try `hexad -C {keep} recall …`.")
    if run.json:
        print_json({**run.record, "failures": run.failures})
    if run.failures:
        for failure in run.failures:
            warn(failure)
        ctx.exit(1)


def _root(path: str | None) -> Path:
    """Return what to ingest: the given folder, the repository around us, or the one that we run from."""
    if path is not None:
        if not Path(path).is_dir():
            raise hexad.NotFound(f"There is no folder {path!r}; check the path.")
        return Path(path).resolve()
    here, ours = store_root(Path.cwd()), Path(hexad.__file__).resolve().parents[2]
    return here if (here / ".git").exists() or not (ours / "pyproject.toml").exists() else ours


def _run(run: _Demo) -> None:
    run.say(f"{click.style('Hexad', bold=True)} reads {clean(str(run.root))} into a throw-away store.")
    reports = _ingest(run)
    hide_the_questions(run.hx, run.root)
    asked_questions = questions(run.hx, run.root, history=len(reports) > 1)
    if len(asked_questions) < 2:
        run.failures.append(
            f"There is too little in {run.root} to ask about; give --path with more text in it."
        )
    run.title(
        f"Ask {count(len(asked_questions), 'question')}; meanwhile the vectors are computed in the background"
    )
    run.record["questions"] = [
        _ask(run, number, question) for number, question in enumerate(asked_questions, start=1)
    ]
    if asked_questions:
        _ask_by_meaning(run, in_other_words(asked_questions, run.root))
    _bundle(run, topic_of(run.hx, run.root))
    _remember_and_forget(run)
    _check(run)
    _sum_up(run)


def _ingest(run: _Demo) -> list[IngestReport]:
    run.title("Ingest")
    sources = [str(run.root)]
    if (run.root / ".git").exists():
        sources.append(f"git:{run.root}")
    reports = []
    for source in sources:
        with meter("Reading", clock=run.hx.clock) as advance:

            def shown(at: hexad.Progress, advance: Any = advance) -> None:
                advance(at.done, at.total, at.current)

            try:
                report = run.hx.ingest(source, project=run.root.name, embed=False, progress=shown)
            except hexad.InvalidInput as error:
                run.say(f"{source}: left out, {error}")  # a repository without commits has no history
                continue
        reports.append(report)
        for line in report_lines(report, skips=0):
            run.say(line)
    status = run.hx.status()
    run.say(
        f"{count(status.memories, 'memory', 'memories')} in {count(status.chunks, 'chunk')} can be found by "
        f"full text after {run.seconds():.1f} s."
    )
    run.record["ingested"] = [{**report.to_dict(), "skipped": []} for report in reports]
    return reports


def _embedded(run: _Demo) -> float:
    status = run.hx.status()
    return 1 - min(1.0, status.embeddings_pending / max(1, status.memories))


def _ask_by_meaning(run: _Demo, question: Question) -> None:
    """Give the vectors a while, then ask in other words; what is embedded by then takes part."""
    total, start = run.hx.status().embeddings_pending, run.hx.clock.monotonic()
    with meter("Embedding", clock=run.hx.clock, unit="memories") as advance:
        while run.hx.clock.monotonic() - start < EMBEDDING_WAIT_S and not run.hx.wait_for_background(0.5):
            advance(max(0, total - run.hx.status().embeddings_pending), total)
    waited = run.hx.clock.monotonic() - start
    run.title(
        f"Ask in other words, by text and meaning ({waited:.0f} s later, {_embedded(run):.0%} embedded)"
    )
    run.record["by_meaning"] = _ask(run, len(run.record["questions"]) + 1, question)


def _bundle(run: _Demo, topic: str) -> None:
    """Show what the whole space says of a topic, as it would stand before an agent's step."""
    run.title(f"What the project knows about {topic!r}, for an agent's step")
    before = run.hx.clock.monotonic()
    bundle = run.hx.recall_context("default", topic, limit=4, prefer_kinds=["guide"])
    took = 1_000 * (run.hx.clock.monotonic() - before)
    room = width()
    for line in bundle.global_summary.splitlines():
        run.say("  " + clean(line)[: room - 2])
    run.say(
        click.style(
            f"  ({took:.0f} ms, ordering {bundle.backend}; the same bytes for the same state)", dim=True
        )
    )
    run.record["bundle"] = {
        "topic": topic,
        "ms": round(took, 1),
        "sections": [memory.path for memory in bundle.memories],
    }
    if not bundle.memories:
        run.failures.append(f"Nothing was found about {topic!r}.")


def _timed(run: _Demo, query: str, **filters: Any) -> tuple[Hits, float]:
    before = run.hx.clock.monotonic()
    hits = run.hx.recall(query, limit=5, explain=True, **filters)
    return hits, 1_000 * (run.hx.clock.monotonic() - before)


def _ask(run: _Demo, number: int, question: Question) -> dict[str, Any]:
    hits, took = _timed(run, question.text, kinds=question.kinds, path=question.path)
    share = _embedded(run)
    run.say()
    run.say(
        f"{click.style(f'Q{number}', bold=True)} {clean(question.text)}  "
        + click.style(f"({question.where}; {took:.0f} ms, {hits.mode}, {share:.0%} embedded)", dim=True)
    )
    for place, hit in enumerate(hits[:_HITS_SHOWN], start=1):
        for line in hit_lines(place, hit, query=question.text, explain=True, room=width(), lines=3):
            run.say(line)
    if not hits:
        run.failures.append(f"Nothing was found for {question.text!r}.")
    return {
        "question": question.text,
        "where": question.where,
        "ms": round(took, 1),
        "mode": hits.mode,
        "embedded": round(share, 3),
        "hits": [
            {"location": hit.location, "kind": hit.memory.kind, "score": hit.score, "parts": dict(hit.parts)}
            for hit in hits
        ],
    }


def _remember_and_forget(run: _Demo) -> None:
    run.title("Remember, forget, restore")
    hx = run.hx
    memory = hx.remember(_DECISION, kind="decision", tags=["demo"])
    steps = [_step(run, "remembered", memory.id, expected=True)]
    hx.forget(memory.id)
    steps.append(_step(run, "forgotten", memory.id, expected=False))
    run.say(f"    in the store as {hx.get(memory.id).status.value}: {excerpt_of(hx.get(memory.id).raw)}")
    hx.restore(memory.id)
    steps.append(_step(run, "restored", memory.id, expected=True))
    run.record["forgetting"] = steps


def excerpt_of(text: str) -> str:
    """Return the beginning of a text in one line."""
    return (excerpt(text, query="", room=width() - 36, verbatim=True, limit=1) or [""])[0]


def _step(run: _Demo, what: str, memory_id: str, *, expected: bool) -> dict[str, Any]:
    hits, took = _timed(run, _ASKED)
    is_found = memory_id in [hit.id for hit in hits]
    run.say(f"  {what:<11} recall {'finds it' if is_found else 'does not find it'} ({took:.0f} ms)")
    if is_found is not expected:
        run.failures.append(
            f"After it was {what}, recall {'finds' if is_found else 'does not find'} {memory_id}."
        )
    return {"step": what, "found": is_found, "ms": round(took, 1)}


def _check(run: _Demo) -> None:
    run.title("Check")
    problems = run.hx.check()
    for problem in problems:
        run.say(f"  {clean(problem)}")
    run.failures.extend(problems)
    run.say("  All is well." if not problems else f"  {count(len(problems), 'problem')}.")
    run.record["problems"] = problems


def _sum_up(run: _Demo) -> None:
    status = run.hx.status()
    run.title("Summary")
    times = sorted(question["ms"] for question in run.record["questions"]) or [0.0]
    run.record["summary"] = {
        "memories": status.memories,
        "chunks": status.chunks,
        "bytes": sum(status.sizes.values()),
        "embedded": round(_embedded(run), 3),
        "seconds": round(run.seconds(), 2),
    }
    run.say(
        f"  {count(status.memories, 'memory', 'memories')}, {count(status.chunks, 'chunk')}, "
        f"{size(sum(status.sizes.values()))} on disk, {_embedded(run):.0%} embedded so far"
    )
    run.say(
        f"  {count(len(times), 'question')}: {times[0]:.0f} to {times[-1]:.0f} ms each; "
        f"all of it in {run.seconds():.1f} s"
    )
