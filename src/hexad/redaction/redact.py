"""Taking secrets and personal data out of a text before anything is stored.

    >>> result = redact("password: " + "Tr0ub4dor&3", rules=RedactionRules(), salt=b"store")
    >>> result.text
    'password: [REDACTED:password]'

Only the value goes; its name and what surrounds it stay. What was removed leaves a keyed hash, so that equal values
can be recognised inside one store and nowhere else. Rules are tuned to the sentence "if in doubt, don't store".
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from hexad.core.redactions import listening
from hexad.redaction.personal_data import DETECTORS, DIGITS_LEAST, digits_of
from hexad.redaction.policy import RedactionRules, project_rules, rules_from_policy
from hexad.redaction.secrets.assignments import PROVIDER_KEY_LEAST, find_assignments
from hexad.redaction.secrets.blocks import (
    find_env_values,
    find_key_blocks,
    find_kubernetes_secrets,
    find_password_hashes,
    is_env_path,
)
from hexad.redaction.secrets.drawn_tokens import find_drawn
from hexad.redaction.secrets.known_formats import find_shapes
from hexad.redaction.secrets.plain_text import announces, is_plain
from hexad.redaction.secrets.readings import encoded, readings
from hexad.redaction.secrets.spoken import find_spoken
from hexad.redaction.secrets.urls import find_command_secrets, find_header_secrets, find_url_passwords
from hexad.redaction.secrets.values import FROM_ENV_FILE, FROM_STRUCTURE, SecretSpan

__all__ = [
    "PiiFlag", "Redacted", "RedactionFinding", "RedactionRules", "find", "find_named", "project_rules",
    "redact", "rules_from_policy", "told",
]  # fmt: skip

HASH_HEX_CHARS: Final = 32
"""How much of the HMAC a flag keeps, in hexadecimal digits: 128 bits."""
_PASSES_LIMIT: Final = 16
_REPEATED_MIN_CHARS: Final = 8
_REPEATED_LIMIT: Final = 64
"""How many different values of one text are looked for again; keeps the search linear."""

_PLACEHOLDER = re.compile(r"\[REDACTED:[a-z0-9_-]{1,64}\]")
_RUN = re.compile(rf"[^\s\"'`\x00]{{{PROVIDER_KEY_LEAST}}}")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_ESCAPED_BREAK = re.compile(r"\\[nrt](?![a-z]{2,}[\\/])")
_ESCAPED_QUOTE = re.compile(r"\\([\"'])(?=[\s:,}\])\\=;]|$)|(?<=[\s:,{\[(=])\\([\"'])")

Kind = Literal["secret", "pii"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionFinding:
    """A place in the input that is to be removed: the characters `start` to `end`."""

    kind: Kind
    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PiiFlag:
    """What is left of a removed value: its rule, a keyed hash of it, and how often it was there."""

    rule: str
    kind: Kind
    hash: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text that may be stored, and a flag for every different value that was removed."""

    text: str
    flags: tuple[PiiFlag, ...]


def find(text: str, *, rules: RedactionRules, path: str | None = None) -> list[RedactionFinding]:
    """Return what `rules` want removed from `text`, in order and without overlaps.

    Of overlapping findings the longest names the rule, of equally long ones the most specific, and the place is all
    of what they cover; secrets go before personal data. `path` says what file the text is from: in env files every
    value counts. Placeholders of an earlier redaction are never part of a finding.
    """
    view = _searchable(text)
    secrets: list[SecretSpan] = []
    if rules.secrets and not (is_plain(text, text.lower()) and not is_env_path(path)):
        secrets = _all_secret_spans(view, rules, path)
        secrets += _repeated(view, secrets)
    personal = [*_pattern_spans(view, rules), *_personal_spans(view, rules)]
    if not secrets and not personal:
        return []
    placeholder_spans = [match.span() for match in _PLACEHOLDER.finditer(text)]
    findings = _resolved(text, secrets, "secret", rules, placeholder_spans)
    taken = [(finding.start, finding.end) for finding in findings]
    findings += [
        finding
        for finding in _resolved(text, personal, "pii", rules, placeholder_spans)
        if not _overlaps(taken, finding.start, finding.end)
    ]
    return sorted(findings, key=lambda finding: finding.start)


def find_named(name: str, value: str, *, rules: RedactionRules) -> str | None:
    """Return the rule by which `value` is to be removed because of the name that it stands under; None for no reason.

    >>> find_named("db_password", "hunter2" + "-x9Qr", rules=RedactionRules())
    'password'
    """
    # As data are written, and as people write a label: each form shows what the other leaves open.
    for head, written in (
        (f"{json.dumps(name)}: ", json.dumps(value)),
        (f"{' '.join(name.replace('_', ' ').split())}: ", value),
    ):
        for finding in find(head + written, rules=rules):
            if finding.end > len(head):
                return finding.rule
    return None


def redact(
    text: str, *, rules: RedactionRules, salt: bytes, path: str | None = None, once: bool = False
) -> Redacted:
    """Return `text` with a placeholder such as `[REDACTED:email]` for every finding, and the flags.

    With `once` whoever listens is told each value once: the text is made of fields that tell themselves how often.

    Line breaks inside a removed value stay, so that line numbers still fit the source. Redacting the result again
    changes nothing. Any text is accepted.
    """
    counts: dict[tuple[str, Kind, str], int] = {}
    # Removing one value can uncover another, for instance two keys written without a space between them.
    for _ in range(_PASSES_LIMIT):
        findings = find(text, rules=rules, path=path)
        if not findings:
            break
        parts: list[str] = []
        at = 0
        for finding in findings:
            value = text[finding.start : finding.end]
            key = (finding.rule, finding.kind, _keyed_hash(value, salt))
            counts[key] = counts.get(key, 0) + 1
            parts += [text[at : finding.start], f"[REDACTED:{finding.rule}]", *_LINE_BREAK.findall(value)]
            at = finding.end
        text = "".join([*parts, text[at:]])
    flags = tuple(
        PiiFlag(rule=rule, kind=kind, hash=digest, count=count)
        for (rule, kind, digest), count in counts.items()
    )
    redacted = Redacted(text=text, flags=flags)
    if not salt:
        return redacted  # it is to be shown, and nothing is stored of it
    return told(redacted, once=once)


def told(redacted: Redacted, *, once: bool = False) -> Redacted:
    """Return what was redacted, and tell whoever listens what was taken out."""
    if redacted.flags and (heard := listening()) is not None:
        for flag in redacted.flags:
            heard.note(flag.kind, flag.rule, flag.hash, 1 if once else flag.count)
    return redacted


def _keyed_hash(value: str, salt: bytes) -> str:
    digest = hmac.new(salt, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return f"hmac-sha256:{digest[:HASH_HEX_CHARS]}"


def _searchable(text: str) -> str:
    """Return what the rules look at: as long as `text`, with placeholders blanked and escapes resolved in place.

    A NUL is in no alphabet, so it ends every value. In `{\\"key\\": \\"value\\"}` and in `a=1\\nb=2` inside a string
    the quotes and line breaks are then where the rules expect them.
    """
    if "[REDACTED:" in text:
        text = _PLACEHOLDER.sub(lambda match: "\0" * len(match[0]), text)
    if "\\" in text:
        text = _ESCAPED_BREAK.sub(" \n", text)
        text = _ESCAPED_QUOTE.sub(lambda match: f"{match[1]} " if match[1] else f" {match[2]}", text)
    return text


def _lowered(text: str) -> str:
    """Return `text` in lower case and of the same length."""
    lowered = text.lower()
    # U+0130 is the one character whose lower case is two.
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "I").lower()


def _secret_spans(
    text: str, rules: RedactionRules, path: str | None, *, has_runs: bool = True
) -> list[SecretSpan]:
    lowered = _lowered(text)
    return [
        *find_shapes(text),
        *(find_drawn(text, names=rules.names) if has_runs else ()),
        *find_key_blocks(text),
        *find_url_passwords(text),
        *find_header_secrets(text, lowered),
        *find_command_secrets(text, lowered),
        *find_password_hashes(text),
        *find_kubernetes_secrets(text),
        *find_assignments(text, lowered, kept_names=rules.env_allow, has_runs=has_runs),
        *(find_spoken(text, lowered) if announces(lowered) else ()),
        *find_env_values(text, path=path, kept_names=rules.env_allow),
    ]


def _all_secret_spans(
    text: str, rules: RedactionRules, path: str | None, *, depth: int = 2
) -> list[SecretSpan]:
    """Return what is secret in a text, in its other readings, and what is the code of a text with a secret in it."""
    has_runs = _RUN.search(text) is not None
    spans = _secret_spans(text, rules, path, has_runs=has_runs)
    for reading in readings(text):
        spans += [
            SecretSpan(span.rule, *reading.written_span(span.start, span.end), span.rank)
            for span in _secret_spans(reading.text, rules, path)
        ]
    for start, end, inner in encoded(text) if has_runs and depth else ():
        inside = _all_secret_spans(inner, rules, path, depth=depth - 1)
        if inside:
            spans.append(SecretSpan(inside[0].rule, start, end, inside[0].rank))
    return spans


def _repeated(text: str, spans: list[SecretSpan]) -> list[SecretSpan]:
    """Return the other places of values that were found: a secret beside its name is one without it too."""
    values: dict[str, SecretSpan] = {}
    for span in spans:
        value = text[span.start : span.end]
        if len(value) >= _REPEATED_MIN_CHARS and span.rank > FROM_ENV_FILE and not value.isalpha():
            values.setdefault(value, span)
    found_spans = []
    for value, span in list(values.items())[:_REPEATED_LIMIT]:
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if not (text[at - 1 : at].isalnum() and value[0].isalnum()) and not text[end : end + 1].isalnum():
                found_spans.append(SecretSpan(span.rule, at, end, span.rank))
            at = text.find(value, end)
    return found_spans


def _personal_spans(text: str, rules: RedactionRules) -> Iterator[SecretSpan]:
    if not rules.pii:
        return
    digits = digits_of(text)
    for name in sorted(rules.pii):
        if digits >= DIGITS_LEAST.get(name, 0):
            yield from DETECTORS[name](text)


def _pattern_spans(text: str, rules: RedactionRules) -> Iterator[SecretSpan]:
    for name, pattern in rules.patterns:
        for start, end in pattern.spans(text):
            yield SecretSpan(name, start, end, FROM_STRUCTURE)


def _resolved(
    text: str,
    spans: Iterable[SecretSpan],
    kind: Kind,
    rules: RedactionRules,
    kept_spans: list[tuple[int, int]],
) -> list[RedactionFinding]:
    """Return the spans that are not allowed, overlapping ones joined, without the placeholders inside them."""
    wanted_spans = [span for span in spans if not _allowed(text[span.start : span.end], rules)]
    findings: list[RedactionFinding] = []
    cluster: list[SecretSpan] = []
    end = -1
    for span in sorted(wanted_spans, key=lambda span: (span.start, -span.end)):
        if cluster and span.start >= end:
            findings += _joined(text, cluster, end, kind, kept_spans)
            cluster = []
        end = max(end, span.end) if cluster else span.end
        cluster.append(span)
    if cluster:
        findings += _joined(text, cluster, end, kind, kept_spans)
    return findings


def _joined(
    text: str, cluster: list[SecretSpan], end: int, kind: Kind, kept_spans: list[tuple[int, int]]
) -> Iterator[RedactionFinding]:
    best = max(cluster, key=lambda span: (span.end - span.start, span.rank))
    for start, stop in _without(kept_spans, cluster[0].start, end):
        if text[start:stop].strip():
            yield RedactionFinding(kind=kind, rule=best.rule, start=start, end=stop)


def _without(holes: list[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what `holes`, which are in order, leave of the characters `start` to `end`."""
    for at in range(max(0, bisect_right(holes, (start, start)) - 1), len(holes)):
        hole_start, hole_end = holes[at]
        if hole_start >= end:
            break
        if hole_end > start:
            yield start, max(start, hole_start)
            start = hole_end
    yield start, max(start, end)


def _allowed(value: str, rules: RedactionRules) -> bool:
    return not value.strip("\0") or any(pattern.fullmatch(value) for pattern in rules.allow)


def _overlaps(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_right(taken, (start, end))
    return (at > 0 and taken[at - 1][1] > start) or (at < len(taken) and taken[at][0] < end)
