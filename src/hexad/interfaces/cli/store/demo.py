"""`hexad demo`: documents and history in a throw-away store, and what a memory engine does with them and with facts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.config import store_root
from hexad.interfaces.cli.app.base import Command, note, print_json, state, warn
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, hanging, hit_lines, size, width
from hexad.interfaces.cli.store.demo_input import Question, documents_of, questions

if TYPE_CHECKING:
    from hexad import Hexad, Hit, Hits, IngestReport, Memory

_COMMITS: Final = "the commit history"
_LINES_SHOWN: Final = 3
_ANSWERS_SHOWN: Final = 3
_TAG: Final = "demo"
_PROMPT: Final = ">" * 3

_NOTE: Final = "My sister's wedding is on June 14th in Porto."
_NOTE_ASKED: Final = "When do we travel to Portugal for family celebrations?"
_FORMER: Final = "The API rate limit is 100 requests a minute."
_CURRENT: Final = "We raised the API rate limit to 250 requests a minute."
_RATE_ASKED: Final = "How many requests a minute does the API allow?"
_DECISION: Final = "Use Postgres for orders"
_RATIONALE: Final = "Row-level security keeps the tenants apart."
_DECISION_ASKED: Final = "Why Postgres?"
_PERSON: Final = "Ada Osei"
_PERSONAL: Final = "Ada Osei asked for a refund of her March invoice."
_PERSONAL_ASKED: Final = "Who asked for a refund?"


@dataclass(slots=True, kw_only=True)
class _Demo:
    """One run: what it is about, what it says, and what went wrong."""

    hx: Hexad
    root: Path | None
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

    def call(self, text: str) -> None:
        """Show the call that is made next."""
        for line in hanging(f"{_PROMPT} {text}", indent=2, room=width()):
            self.say(click.style(line, fg="green"))

    def require(self, holds: bool, problem: str) -> bool:
        """Note a problem where something does not hold, and return whether it does."""
        if not holds:
            self.failures.append(problem)
        return holds

    def seconds(self) -> float:
        return self.hx.clock.monotonic() - self.started


@click.command(cls=Command)
@click.option("--path", metavar="DIR", help="Another folder or repository than the one around you.")
@click.option("--keep", metavar="DIR", help="Make the store in this folder, and leave it there.")
@click.pass_context
def demo(ctx: click.Context, *, path: str | None, keep: str | None) -> None:
    """Show what Hexad does, on a repository, in a throw-away store.

    Reads documents, at most 64 kB, and the last 200 commits, asks five questions about them, and one that shares no
    word with its answer. Then a fact changes in plain words, a decision is made, a person is forgotten for good, and
    the store is checked. Where no repository is around you, it does the rest without one. Exit code 1 when a step
    does not hold.
    """
    root = _root(path)
    if keep is not None:
        hexad.init(keep)
    with hexad.open(":memory:" if keep is None else keep, purpose="hexad demo", background=False) as hx:
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


def _root(path: str | None) -> Path | None:
    """Return what to read: the given folder, the repository around us, or the one that we run from; None for none."""
    if path is not None:
        if not Path(path).is_dir():
            raise hexad.NotFound(f"There is no folder {path!r}; check the path.")
        return Path(path).resolve()
    here, ours = store_root(Path.cwd()), Path(hexad.__file__).resolve().parents[2]
    if (here / ".git").exists():
        return here
    return ours if (ours / "pyproject.toml").exists() else None


def _run(run: _Demo) -> None:
    if run.root is None:
        note("No repository is around you: name one with --path. Here is what needs none.")
    else:
        run.say(f"{click.style('Hexad', bold=True)} reads {clean(str(run.root))} into a throw-away store.")
        _read(run, run.root)
        if run.hx.status().embedder is not None:
            _embed(run)
        _ask_all(run, run.root)
    embedder = run.hx.status().embedder
    if embedder is None or embedder.startswith("hashing"):
        note(f"Nothing is recalled by meaning: the embedder is {embedder or 'none'}, which knows of none.")
    else:
        _ask_in_other_words(run)
    _change(run)
    _decide(run)
    _forget(run)
    _check(run)
    _sum_up(run)


# What is read, and asked about it ----------------------------------------------------------------------------------


def _read(run: _Demo, root: Path) -> None:
    run.title("Read documents and history")
    files = documents_of(root)
    reports = []
    with meter("Reading", clock=run.hx.clock, unit="files") as advance:
        for number, file in enumerate(files, start=1):
            reports.append(run.hx.ingest(file, project=root.name, embed=False))
            advance(number, len(files), file.name)
    _say_read(run, "documents", reports)
    if (root / ".git").exists():
        try:
            with meter("Reading", clock=run.hx.clock, unit="commits") as advance:
                history = run.hx.ingest(
                    f"git:{root}",
                    project=root.name,
                    embed=False,
                    progress=lambda at: advance(at.done, at.total),
                )
            _say_read(run, "commits", [history])
        except hexad.InvalidInput as error:
            run.say(f"  no commits: {error}")  # a repository without commits has no history


def _say_read(run: _Demo, what: str, reports: list[IngestReport]) -> None:
    created = sum(report.created for report in reports)
    seconds = sum(report.seconds for report in reports)
    quarantined = sum(report.quarantined for report in reports)
    run.record.setdefault("read", {})[what] = {
        "created": created, "quarantined": quarantined, "seconds": round(seconds, 2),
    }  # fmt: skip
    noun = what.removesuffix("s")
    run.say(f"  {count(created, noun)} in {seconds:.1f} s")
    if quarantined:
        run.say(
            f"  {quarantined} of them read as instructions to a model and wait for a review, out of recall"
        )


def _embed(run: _Demo) -> None:
    """Compute what vectors are missing, and show how far it is."""
    hx = run.hx
    before, total = hx.clock.monotonic(), hx.status().embeddings_pending
    with meter("Embedding", clock=hx.clock, unit="memories", total=total) as advance:
        done = hx.embed_pending(progress=lambda done: advance(done, max(total, done)))
    took = hx.clock.monotonic() - before
    run.record["embedding"] = {"memories": done, "seconds": round(took, 2)}
    status = hx.status()
    passages = count(status.chunks, "passage")
    run.say(f"  {passages} of {count(status.memories, 'memory', 'memories')} embedded in {took:.1f} s")


def _embedded(run: _Demo) -> float:
    status = run.hx.status()
    return 1 - min(1.0, status.embeddings_pending / max(1, status.memories))


def _ask_all(run: _Demo, root: Path) -> None:
    asked = questions(run.hx, root)
    run.require(
        len(asked) > 1, f"There is too little in {root} to ask about; give --path with more text in it."
    )
    if asked:
        run.title(f"Ask {count(len(asked), 'question')}")
    run.record["questions"] = [_ask(run, number, question) for number, question in enumerate(asked, start=1)]


def _ask(run: _Demo, number: int, question: Question) -> dict[str, Any]:
    hits, took = _recalled(run, question.text)
    first = number == 1
    run.say()
    for line in hanging(f"Q{number} {question.text} ({took:.0f} ms, {hits.mode})", indent=0, room=width()):
        run.say(click.style(line, bold=True))
    sources = [hit.source_id for hit in hits[:_ANSWERS_SHOWN]]
    answered = question.answer in sources
    _show(run, hits[: sources.index(question.answer) + 1 if answered else 1], question.text, explain=first)
    if run.require(bool(hits), f"Nothing was found for {question.text!r}.") and question.answer is not None:
        run.require(
            answered,
            f"{question.text!r} is answered by {question.answer}, and {hits[0].location} came first.",
        )
    return {
        "question": question.text,
        "answer": question.answer,
        "ms": round(took, 1),
        "mode": hits.mode,
        **_told(hits),
    }


def _recalled(run: _Demo, query: str) -> tuple[Hits, float]:
    before = run.hx.clock.monotonic()
    hits = run.hx.recall(query, limit=5, explain=True)
    return hits, 1_000 * (run.hx.clock.monotonic() - before)


def _show(run: _Demo, hits: Any, query: str, *, explain: bool = False) -> None:
    for place, hit in enumerate(hits, start=1):
        for line in hit_lines(place, hit, query=query, explain=explain, room=width(), lines=_LINES_SHOWN):
            run.say(line)


def _told(hits: Hits) -> dict[str, Any]:
    return {
        "hits": [
            {
                "id": hit.id,
                "location": hit.location,
                "kind": hit.memory.kind,
                "relevance": round(hit.relevance, 3),
                "score": hit.score,
                "parts": dict(hit.parts),
                "superseded_by": hit.superseded_by.id if hit.superseded_by is not None else None,
            }
            for hit in hits
        ]
    }


# Facts of its own --------------------------------------------------------------------------------------------------


def _remember(run: _Demo, text: str, **fields: Any) -> Memory:
    subjects = f", data_subjects={fields['data_subjects']!r}" if "data_subjects" in fields else ""
    run.call(f"hx.remember({text!r}{subjects})")
    memory = run.hx.remember(text, tags=[_TAG], **fields)
    run.hx.embed_pending()
    return memory


def _ask_in_other_words(run: _Demo) -> None:
    run.title("Recall by meaning: the question shares no word with its answer")
    memory = _remember(run, _NOTE)
    run.call(f"hx.recall({_NOTE_ASKED!r})")
    hits, took = _recalled(run, _NOTE_ASKED)
    _show(run, hits[:1], _NOTE_ASKED)
    shared = sorted(_words(_NOTE) & _words(_NOTE_ASKED))
    run.require(not shared, f"Question and answer share {shared}.")
    found = run.require(_first_id(hits) == memory.id, f"{_NOTE_ASKED!r} did not recall {_NOTE!r} first.")
    run.record["by_meaning"] = {
        "text": _NOTE, "question": _NOTE_ASKED, "shared_words": shared, "found": found, "ms": round(took, 1),
        **_told(hits),
    }  # fmt: skip


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _first_id(hits: Hits) -> str | None:
    return hits[0].id if hits else None


def _change(run: _Demo) -> None:
    run.title("A fact changes, in plain words")
    former, current = _remember(run, _FORMER), _remember(run, _CURRENT)
    run.call(f"hx.recall({_RATE_ASKED!r})")
    hits, _ = _recalled(run, _RATE_ASKED)
    both = [hit for hit in hits if hit.id in (former.id, current.id)]
    _show(run, both, _RATE_ASKED)
    is_first = run.require(_first_id(hits) == current.id, f"{_CURRENT!r} was not recalled first.")
    marked = any(
        hit.id == former.id and hit.superseded_by is not None and hit.superseded_by.id == current.id
        for hit in hits
    )
    run.require(marked, f"{_FORMER!r} was not told as superseded.")
    run.record["update"] = {
        "former": former.id, "current": current.id, "question": _RATE_ASKED, "current_first": is_first,
        "former_superseded": marked, **_told(hits),
    }  # fmt: skip


def _decide(run: _Demo) -> None:
    run.title("A decision, with its reason")
    run.call(f"hx.governance.decide({_DECISION!r}, rationale=…, alternatives=['MySQL'])")
    decision = run.hx.governance.decide(
        _DECISION, rationale=_RATIONALE, alternatives=["MySQL"], by="ada", tags=[_TAG]
    )
    run.hx.embed_pending()
    run.call(f"hx.governance.why({_DECISION_ASKED!r})")
    why = str(run.hx.governance.why(_DECISION_ASKED))
    for line in why.splitlines():
        for part in hanging(line, indent=4, room=width()):
            run.say(part)
    found = run.require(_RATIONALE in why, f"{_DECISION_ASKED!r} was not answered with the reason.")
    run.record["decision"] = {"id": decision.id, "question": _DECISION_ASKED, "found": found, "why": why}


def _forget(run: _Demo) -> None:
    run.title("Forget a person, for good")
    hx = run.hx
    memory = _remember(run, _PERSONAL, data_subjects=[_PERSON])
    before = _is_found(run, memory.id, expected=True)
    run.call(f"receipt = hx.forget(subject={_PERSON!r}, purge=True, confirm=True)")
    receipt = hx.forget(subject=_PERSON, purge=True, confirm=True)
    for entry in receipt.erased:
        run.say(f"    {entry.place}: {entry.count:,}")
    verified = receipt.verify()
    run.say(f"    receipt {receipt.id}, {'intact' if verified else 'changed'}; its key proves what went")
    run.require(verified, "The receipt of the erasure does not verify.")
    after = _is_found(run, memory.id, expected=False)
    run.record["forgetting"] = {
        "found_before": before, "found_after": after, "receipt": receipt.id, "verified": verified,
        "erased": {entry.place: entry.count for entry in receipt.erased},
    }  # fmt: skip


def _is_found(run: _Demo, memory_id: str, *, expected: bool) -> bool:
    run.call(f"hx.recall({_PERSONAL_ASKED!r})")
    hits, _ = _recalled(run, _PERSONAL_ASKED)
    hit: Hit | None = next((hit for hit in hits if hit.id == memory_id), None)
    when = "before" if expected else "after"
    run.require(
        (hit is not None) is expected,
        f"{_PERSONAL!r} was {'not ' if expected else ''}recalled {when} it was forgotten.",
    )
    if hit is None:
        run.say("    it is not found")
    else:
        _show(run, [hit], _PERSONAL_ASKED)
    return hit is not None


# The end -----------------------------------------------------------------------------------------------------------


def _check(run: _Demo) -> None:
    run.title("Check the store")
    problems = run.hx.check()
    for problem in problems:
        run.say(f"  {clean(problem)}")
    run.failures.extend(problems)
    run.say("  All is well." if not problems else f"  {count(len(problems), 'problem')}.")
    run.record["problems"] = problems


def _sum_up(run: _Demo) -> None:
    status, embedded = run.hx.status(), _embedded(run)
    if status.embedder is not None:
        run.require(embedded == 1.0, f"{embedded:.0%} is embedded.")
    run.title("Summary")
    run.record["summary"] = {
        "memories": status.memories,
        "chunks": status.chunks,
        "bytes": sum(status.sizes.values()),
        "embedded": round(embedded, 3),
        "seconds": round(run.seconds(), 2),
    }
    run.say(
        f"  {count(status.memories, 'memory', 'memories')}, {count(status.chunks, 'passage')}, "
        f"{size(sum(status.sizes.values()))} on disk, {embedded:.0%} embedded; all of it in {run.seconds():.1f} s"
    )
    if run.root is not None and not run.failures:
        run.say('  Next: `hexad init`, `hexad ingest .`, `hexad recall "…"` in a project of yours.')
