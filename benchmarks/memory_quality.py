"""`memory_quality`: how much of planted junk, copies, echoes, stale and contradictory memories an audit finds, and what
it takes for it among sound ones that look like them.

The generated ones are made from a seed by templates of whoever wrote the rules: what the rules do on their own ground.
What they do elsewhere, the flawed share of real conversations and the short list of junk that was written down before
they were tried on it (`_HELD_OUT`, never tuned to) say better.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import hexad
from benchmarks.report import Options, Report, Table
from hexad import Flaw, FrozenClock, Hexad, MemoryQuality
from hexad.text.noise import junk_rule

_SEED: Final = 7
_SOUND: Final = 700
_EACH: Final = 40

_WHO: Final = "Mara,Ann,the night shift,the harbour office,our billing team,the API,the importer,the search index".split(
    ","
)
_DOES: Final = "reads,writes,checks,owns,renews,measures,publishes,archives,signs,rejects".split(",")
_WHAT: Final = "the ferry timetable,ticket refunds,the lock gates,monthly invoices,pier lights,customs forms,log files".split(
    ","
)
_WHEN: Final = (
    "before noon,every Tuesday,after a restart,at high water,within two hours,in the cellar,by hand".split(
        ","
    )
)
_WHY: Final = "because the old pump failed,since the audit in spring,so that nobody sells a seat twice,to save disk".split(
    ","
)
_LOOKALIKES: Final = (
    "Yes, {who} {does} {what} {when}.",
    "Thanks to the new index, {who} {does} {what} {when}.",
    "I will never again let {who} touch {what} {when}, {why}.",
    "Test {what} {when}, {why}.",
    "No changes to {what} without {who}, {why}.",
    "Sorry to say: {who} lost {what} {when}.",
    "Hello is what {who} answers when {what} comes {when}.",
    "ValueError in {what}: {who} fixed it {when}, {why}.",
    "The cron job for {what} runs {when} and is owned by {who}.",
    "Let me know is the name of the form with which {who} {does} {what}.",
)
_JUNK: Final = {
    "small_talk": ("Hey!", "Good morning everyone", "thanks so much!!", "ok, sounds good", "Great, thank you!", "lol", "Bye, see you soon"),
    "announcement": (
        "I'll start by reading {what}.", "Let me look into {what} now.", "Now I will run the tests for {what}.",
        "Okay, I'm going to check {what}.", "Next, let me open the file about {what}.", "I am searching for {what}.",
    ),
    "boilerplate": (
        "As an AI language model, I cannot see {what}.", "I hope this helps! Let me know if you have other questions.",
        "You are a helpful coding assistant.", "Is there anything else about {what}?", "I apologize for the confusion.",
    ),
    "trace": (
        'Traceback (most recent call last):\n  File "{n}.py", line {n}, in run\n    go()\nKeyError: {n}',
        "2026-03-0{d} 10:00:0{d} INFO start {n}\n2026-03-0{d} 10:00:0{d} INFO end {n}",
        "java.lang.IllegalStateException: {n}\n    at app.Main.run(Main.java:{n})\n    at app.Main.main(Main.java:3)",
    ),
    "test": ("test memory {n}", "This is a test", "hello world", "testing 123", "dummy entry {n}", "lorem ipsum {n}"),
    "heartbeat": ("HEARTBEAT_OK", "No new messages", "Cron job {n} completed successfully", "Still running", "Status: ok"),
}  # fmt: skip


_HELD_OUT: Final = (
    "Reviewing the diff now",
    "Agent is idle",
    "User approved the plan",
    "Memory saved.",
    "Subagent completed its task",
    "Context window is getting full",
    "User interrupted the request",
    "compacting conversation...",
    "Tool call rejected by user",
    "I've updated the file as requested.",
    "Everything looks good",
    "Will get back to you",
    "User provided a screenshot",
    "Session resumed from checkpoint",
    "The task was completed successfully.",
    "Retrying in 5 seconds",
    "Attempt 2 of 3 failed, retrying",
    "Thinking...",
    "User clicked the button",
    "ok so",
    "Checked, nothing to do",
    "assistant is typing",
    "Rate limit exceeded, please try again later.",
    "200 OK",
    "[image]",
    "User sent an emoji",
    "Conversation continues from the previous session.",
    "sample text here",
    "(empty message)",
    "Looks good to me",
)


def run(options: Options) -> Report:
    """Audit a generated store and export, the conversations of the development data, and growing exports."""
    report = Report(name="Memory quality")
    planted, found = _store(options)
    export_planted, export_found = _export(options)
    rows = [_row(flaw, planted.get(flaw, set()), found) for flaw in planted]
    rows += [_row(flaw, ids, export_found, " (export)") for flaw, ids in export_planted.items()]
    columns = ("flaw", "planted", "found", "right", "precision", "recall")
    report.tables.append(
        Table(
            title=f"{found.memories:,} generated memories, {export_found.memories:,} of an export",
            columns=columns,
            rows=rows,
        )
    )
    for row in rows:
        report.at_least(f"{row[0]}: precision", float(row[4] or 0), 0.9)
        report.at_least(f"{row[0]}: recall", float(row[5] or 0), 0.9)
    held = [text for text in _HELD_OUT if junk_rule(text) is not None]
    report.figure(f"junk held out: of {len(_HELD_OUT)}, found", len(held))
    _real(options, report)
    _growing(options, report)
    return report


def _row(flaw: Flaw, planted: set[str], found: MemoryQuality, where: str = "") -> list[str | int | float]:
    named = {text for finding in found.of(flaw) for text in finding.ids}
    right = len(planted & named)
    precision = right / len(named) if named else 0.0
    return [
        flaw.value + where,
        len(planted),
        len(named),
        right,
        round(precision, 3),
        round(right / len(planted), 3),
    ]


def _sentence(rng: random.Random, template: str = "") -> str:
    words = {
        "who": rng.choice(_WHO),
        "does": rng.choice(_DOES),
        "what": rng.choice(_WHAT),
        "when": rng.choice(_WHEN),
    }
    words |= {"why": rng.choice(_WHY), "n": str(rng.randrange(100, 999)), "d": str(rng.randrange(1, 9))}
    template = template or "{who} {does} {what} {when}, {why}."
    return template.format(**words)


def _sound(rng: random.Random, count: int) -> list[str]:
    """Return texts that mean something and all differ: a third of them look like junk."""
    texts: dict[str, None] = {}
    while len(texts) < count:
        template = rng.choice(_LOOKALIKES) if rng.random() < 1 / 3 else ""
        texts[f"{_sentence(rng, template)} Noted as {rng.choice('ABCDEFGH')}-{rng.randrange(10_000)}."] = None
    return list(texts)


def _junk(rng: random.Random, count: int) -> list[str]:
    rules = list(_JUNK)
    return [_sentence(rng, rng.choice(_JUNK[rules[at % len(rules)]])) for at in range(count)]


def _store(options: Options) -> tuple[dict[Flaw, set[str]], MemoryQuality]:
    rng = random.Random(_SEED)
    folder = options.work / "quality"
    folder.mkdir(parents=True, exist_ok=True)
    clock = FrozenClock()
    planted: dict[Flaw, set[str]] = {flaw: set() for flaw in Flaw if flaw is not Flaw.SECRET}
    with hexad.open(folder, embedder=None, background=False, clock=clock) as hx:
        _stale(hx, rng, planted[Flaw.STALE])
        clock.advance(days=200)
        sound = [hx.remember(text) for text in _sound(rng, _SOUND)]
        seen: set[str] = set()
        for at, text in enumerate(_junk(rng, 3 * _EACH)):
            if text not in seen:  # a repeat is evidence for the memory that is there
                seen.add(text)
                planted[Flaw.JUNK].add(hx.remember(text, source_id=f"junk-{at}").id)
        for at, memory in enumerate(rng.sample(sound, _EACH)):
            long = " ".join([memory.raw, *_sound(rng, 3)])
            hx.remember(long, source_id=f"long-{at}")
            again = long if at % 2 else long + " Seen again."
            planted[Flaw.DUPLICATE].add(hx.remember(again, source_id=f"copy-{at}").id)
        for at in range(_EACH):
            name = f"server {at}"
            hx.remember(f"{name} listens on {at}.", subject=name, attribute="port", value=at, kind="note")
            planted[Flaw.UNSUPPORTED].add(
                hx.remember(_sentence(rng) + f" It is rumour {at}.", trust="unknown").id
            )
            for said in (
                f"Line {at} stops at pier {at + 5} in winter.",
                f"Line {at} doesn't stop at pier {at + 5} in winter.",
            ):
                planted[Flaw.CONTRADICTION].add(hx.remember(said).id)
        for at, memory in enumerate(rng.sample(sound, _EACH)):
            hx.recall(memory.raw, limit=1)
            echo = hx.remember(f"{at}. {memory.raw}", tags=["again"])
            if echo.id != memory.id:
                planted[Flaw.ECHO].add(echo.id)
        planted[Flaw.DUPLICATE] |= planted[Flaw.ECHO]  # in a list or not, it says what another says
        return planted, hx.memory_quality(listed=100_000)


def _stale(hx: Hexad, rng: random.Random, planted: set[str]) -> None:
    for at in range(_EACH):
        begun = hx.clock.now() - timedelta(days=300)
        over = hx.remember(
            _sentence(rng) + f" Term {at}.", valid_from=begun, valid_to=begun + timedelta(days=100)
        )
        idle = hx.remember(_sentence(rng) + f" Aside {at}.", importance=0.1)
        planted.update((over.id, idle.id))
        hx.remember(_sentence(rng) + f" Kept {at}.", importance=0.1, pinned=True)


def _export(options: Options) -> tuple[dict[Flaw, set[str]], MemoryQuality]:
    """Return what was planted in an export of mem0 in which most is junk, and what is found."""
    rng = random.Random(_SEED + 1)
    texts = [("sound", text) for text in _sound(rng, 100)] + [("junk", text) for text in _junk(rng, 400)]
    for at in range(_EACH):
        letters = "".join(rng.choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=93))
        texts.append(("secret", f"Mara's key for line {at} is sk-" + f"ant-api03-{letters}AA"))
    rng.shuffle(texts)
    file = options.work / "mem0.json"
    records = [
        {"id": f"{label}-{at}", "memory": text, "user_id": "mara"} for at, (label, text) in enumerate(texts)
    ]
    file.write_text(json.dumps({"results": records}))
    ids = [str(record["id"]) for record in records]
    planted = {
        Flaw.JUNK: {text for text in ids if text.startswith("junk")},
        Flaw.SECRET: {text for text in ids if text.startswith("secret")},
    }
    return planted, hexad.export_quality(file, "mem0", listed=100_000)


def _real(options: Options, report: Report) -> None:
    if options.data is None or not (options.data / "conversations" / "items.jsonl").exists():
        report.notes.append("Without the development data, no conversations were audited.")
        return
    folder = options.work / "conversations"
    folder.mkdir(parents=True, exist_ok=True)
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.ingest(options.data / "conversations" / "items.jsonl")
        found = hx.memory_quality()
    rows = [[name, number, round(number / found.memories, 4)] for name, number in sorted(found.rules.items())]
    rows.append(["any", found.flawed, round(found.share(), 4)])
    title = f"{found.memories:,} turns of five conversations between people"
    report.tables.append(Table(title=title, columns=("rule", "turns", "share"), rows=rows))


def _growing(options: Options, report: Report) -> None:
    sizes: Sequence[int] = (1_000, 10_000) if options.quick else (1_000, 10_000, 100_000)
    rows = []
    for size in sizes:
        rng = random.Random(_SEED + 2)
        file = options.work / f"mem0-{size}.jsonl"
        half = [*_sound(rng, size // 2), *_junk(rng, size - size // 2)]
        with file.open("w") as out:
            out.writelines(
                json.dumps({"id": str(at), "memory": text, "user_id": "m"}) + "\n"
                for at, text in enumerate(half)
            )
        started = time.perf_counter()
        found = hexad.export_quality(file, "mem0")
        seconds = time.perf_counter() - started
        rows.append([size, found.flawed, round(seconds, 2), round(seconds / size * 1e6)])
    columns = ("memories", "with a flaw", "seconds", "µs a memory")
    report.tables.append(Table(title="An export in which half is junk", columns=columns, rows=rows))
    report.at_most(
        "time a memory at the largest, beside the smallest", float(rows[-1][3]) / float(rows[0][3]), 2.0, "×"
    )
