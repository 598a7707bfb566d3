"""A corpus of 224 memories of our own, and 20 topics × 5 orderings × option sets to ask it.

Made by arithmetic from hand-written parts, so that it is the same in every process; every memory has its own id and
time, so that it is the same store whoever writes it and in which order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import hexad
from hexad import FrozenClock, Hexad

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
FROZEN = "2026-03-02T12:00:00Z"
SPACE = "harbour"
BACKENDS = ("basic", "patricia", "raptor", "hybrid", "temporal")

# area: (tags, subjects, what is said about a subject)
_AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "cranes": (
        ("Cranes", "safety"),
        ("north crane", "south crane", "mobile crane", "spreader beam", "anemometer", "Kranführer", "brake test"),
        (
            "Above 62 km/h of wind the {0} is locked, and the shift lead signs the lock in the log.",
            "The {0} lost its position twice this week; the encoder's plug was loose both times.",
            "Who operates the {0}, and who relieves them, stands on the board by the gate.",
            "We decided to inspect the {0} every 400 hours rather than every quarter: use is uneven.",
        ),
    ),
    "gateway": (
        ("gateway", "network"),
        ("retry budget", "connection pool", "rate limiter", "TLS certificate", "health check", "dead-letter queue", "timeout"),
        (
            "The {0} is shared by all tenants; a noisy tenant starves the others, which is why it is metered.",
            "At 03:12 the {0} ran dry and 503s went out for nine minutes.\n\nRoot cause: a deploy halved it.",
            "Set the {0} per route.\n\n- default: 250 ms\n- uploads: 4 s\n- never more than the client's own",
            "def {1}(route: Route) -> Settings:\n    return route.settings or DEFAULTS['{1}']",
        ),
    ),
    "telemetry": (
        ("telemetry", "observability", "Grafana"),
        ("span exporter", "metric names", "trace sampling", "log shipping", "dashboards", "alert rules", "clock skew"),
        (
            "Telemetry first: the {0} must not block a request, whatever the collector does.",
            "The {0} changed in March. Old panels read zero until they are migrated, not because nothing happens.",
            "Keep {0} under 2 % of CPU; measured at 1.3 % on the busiest node.",
            "[{1}]\nenabled = true\nbatch = 512\nflush_seconds = 5",
        ),
    ),
    "billing": (
        ("billing", "money", "GDPR"),
        ("invoice numbers", "refund rule", "VAT rates", "dunning letters", "currency rounding", "Gutschrift", "ledger export"),
        (
            "For {0}: round half to even, and only once, at the end of the document.",
            "A second person approves the {0} above 500 euros. The limit is per customer and day.",
            "The {0} are generated at 02:00 UTC, so that every time zone has finished its day.",
            "Why {0} moved out of the monolith: audits asked for an append-only trail.",
        ),
    ),
    "search": (
        ("search", "ranking"),
        ("tokenizer", "synonyms", "typo tolerance", "index rebuild", "facets", "検索", "relevance tests"),
        (
            "The {0} split identifiers: `snake_case`, `camelCase` and kebab-case all find each other.",
            "Rebuild the {0} beside the old one and swap; readers never see half of it.",
            "A query of one letter skips the {0} altogether.",
            "Judged 400 queries by hand. With {0}: nDCG 0.71; without: 0.64.",
        ),
    ),
    "release": (
        ("release", "process"),
        ("checklist", "canary", "rollback", "feature flags", "change freeze", "version numbers", "release notes"),
        (
            "Ship only when the {0} is green and two people have looked.",
            "The {0} took eleven minutes last time; ten of them were waiting for a lock.",
            "Our {0} begin on Tuesday, never on Friday. Exceptions are written down, with the reason.",
            "Question of the month: does the {0} still earn its keep?",
        ),
    ),
    "people": (
        ("people", "onboarding", "Équipe"),
        ("first week", "on-call hand-over", "pairing hours", "retrospective", "vacation calendar", "réunion", "mentor list"),
        (
            "In the {0} a newcomer reads three decisions and changes one line in production.",
            "The {0} starts at ten. Whoever is late brings the cake.",
            "Notes of the {0}: too many tools, too few owners. Next step: one owner per tool.",
            "La {0} est déplacée au jeudi à quinze heures ; l'équipe de nuit y participe à distance.",
        ),
    ),
    "storage": (
        ("storage", "database", "Backup"),
        ("write-ahead log", "restore drill", "vacuum", "page cache", "replica lag", "encryption key", "snapshot"),
        (
            "The {0} is tested on the first Monday of the month; an untested one does not count as one.",
            "Größe des {0}: 48 GiB, Tendenz steigend. Ab 64 GiB wird geteilt.",
            "No {0} without a name on it. Orphans were 30 % of the bill.",
            "If the {0} fills the disk, writes stop first and reads go on: that order is on purpose.",
        ),
    ),
}  # fmt: skip
_KINDS = ("guide", "decision", "log", "config", "note")
_RELEVANCE = ("medium", "high", "medium", "low", "medium", "medium", "high")
_OWNERS = ("night shift", "platform_team", "crane-crew", "Back Office", "search/ranking")

TOPICS = (
    "", "g", "gateway", "Gateway", "retry budget", "harbour/cranes", "harbour/gateway/retry-budget", "telemetry",
    "crane", "who approves the refund rule", "rollback canary", "größe", "検索", "réunion", "500 euros", "release notes",
    "harbour storage snapshot", "write-ahead", "no such thing at all", "Kranführer  anemometer",
)  # fmt: skip
OPTION_SETS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "raw": {"limit": 20, "include_raw": True, "raw_limit": 5},
    "preferred": {
        "limit": 8,
        "prefer_kinds": ["decision", "guide"],
        "prefer_tags": ["release", "gateway", "gdpr"],
        "order": "strict",
    },
    "high": {"limit": 100, "require_high_relevance": True, "include_metadata": False},
    "narrow": {"limit": 12, "path": "harbour/cranes", "max_tokens": 1_500, "include_raw": True},
}


def drafts() -> list[dict[str, Any]]:
    """Every memory as arguments of `remember`."""
    found: list[dict[str, Any]] = []
    for row, (area, (tags, subjects, says)) in enumerate(_AREAS.items()):
        for column, subject in enumerate(subjects):
            for depth, text in enumerate(says):
                number = len(found)
                words = subject.replace(" ", "-")
                path = f"harbour/{area}/{words}" if depth else f"harbour/{area}"
                found.append(
                    {
                        "text": text.format(subject, words.replace("-", "_").lower()),
                        "id": f"h-{(number * 89) % 224:03}",  # no order of ids, paths or times follows the writing
                        "space": SPACE,
                        "kind": _KINDS[(row + 2 * column + depth) % len(_KINDS)],
                        "path": f"{path}/part-{depth}" if depth > 2 else path,
                        "tags": [
                            *tags[: 1 + (column + depth) % len(tags)],
                            *(["rule"] if depth == 3 else []),
                        ],
                        "relevance": _RELEVANCE[(number * 5 + row) % len(_RELEVANCE)],
                        "pinned": number % 19 == 4,
                        "metadata": {
                            "owner": _OWNERS[(column + row) % len(_OWNERS)],
                            "parts": [subject, area, column],
                            "review": {"after_days": 30 * depth},
                        },
                        # Seven share each moment; the newest are younger than the frozen time by minutes.
                        "freeze_clock": (
                            START + timedelta(days=13 * ((number * 37) % 32), minutes=row)
                        ).isoformat(),
                    }
                )
    assert (
        len(found) == len({draft["id"] for draft in found}) == len({draft["text"] for draft in found}) == 224
    )
    return found


def write(hx: Hexad, *, numbers: list[int] | None = None) -> None:
    """Remember the corpus, or the memories with these numbers in this order."""
    every = drafts()
    for number in range(len(every)) if numbers is None else numbers:
        hx.remember(**every[number])


def opened(path: Any) -> Hexad:
    """Open a store as every run does: no vectors, since nothing here hangs on them."""
    clock = FrozenClock(datetime(2026, 3, 2, tzinfo=UTC))
    return hexad.open(
        path, clock=clock, ids=hexad.TimeSortedIds(clock, seed=11), embedder=None, background=False
    )


def cases(hx: Hexad, option_sets: Collection[str] = tuple(OPTION_SETS)) -> Iterator[tuple[str, str]]:
    """Give the name of each case and the JSON of its bundle, or of its list by kind."""
    for backend in BACKENDS:
        for name in option_sets:
            options = OPTION_SETS[name]
            for number, topic in enumerate(TOPICS):
                bundle = hx.recall_context(SPACE, topic, options, backend=backend, freeze_clock=FROZEN)
                yield f"{backend} {name} topic-{number:02}", bundle.to_json()
            for kind in _KINDS:
                listed = hx.recall_kind(SPACE, kind, options, backend=backend, freeze_clock=FROZEN)
                yield f"{backend} {name} kind-{kind}", listed.to_json()


def digests(hx: Hexad) -> dict[str, str]:
    """SHA-256 of each case's bytes."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in cases(hx)}
