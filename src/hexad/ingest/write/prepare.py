"""What can be worked out of a draft before the store is locked: clean, understood, fingerprinted.

A model, where one is asked, is asked here: no transaction is open and no lock is held while it thinks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from hexad.core.clock import Clock
from hexad.core.ids import content_hash
from hexad.database.codec import dump
from hexad.errors import InvalidMemory
from hexad.ingest.write.enrich import Meaning, signed_texts, summaries_of, understand
from hexad.ingest.write.extraction.extractor import Extractor, Request
from hexad.ingest.write.gate import Fingerprint, Gate, fingerprints
from hexad.ingest.write.redaction import CleanDraft, PolicyBook, Redactor, moved
from hexad.memory.draft import Draft
from hexad.memory.memory import Relevance, Trust
from hexad.redaction.injection.detector import instructions_in
from hexad.redaction.injection.meaning import MEANING
from hexad.redaction.injection.wording import WordingModel
from hexad.redaction.redact import RedactionRules
from hexad.text.chunking import LineIndex
from hexad.text.chunking import chunk as cut
from hexad.text.normalize import clean, lone_surrogate, slug, slugs
from hexad.text.sections import Section

SPANS_LIMIT: Final = 2_000
"""Most chunks of one memory that a caller may cut."""


def locate(text: str, spans: Sequence[str]) -> tuple[Section, ...] | None:
    """Return where the spans lie in `text`, in its order; None when one is not there.

    They may overlap, as a sliding window does. White space around a span is looked for and not insisted on.
    """
    if not spans or len(spans) > SPANS_LIMIT:
        return None
    texts = [clean(span) for span in spans]
    places = _in_order(text, texts, overlapping=False) or _in_order(text, texts, overlapping=True)
    if places is None:
        return None
    lines = LineIndex(text)
    return tuple(lines.section(start, end) for start, end in places)


def _in_order(text: str, spans: Sequence[str], *, overlapping: bool) -> list[tuple[int, int]] | None:
    """Return the first places of the spans: each after the one before, or where they overlap, after its start."""
    places: list[tuple[int, int]] = []
    at = 0
    for span in spans:
        place = _find(text, span, at)
        if place is None:
            return None
        places.append(place)
        at = place[0] + 1 if overlapping else place[1]
    return places


def _find(text: str, span: str, at: int) -> tuple[int, int] | None:
    for needle in (span, span.strip()):
        start = text.find(needle, at) if needle.strip() else -1
        if start >= 0:
            return start, start + len(needle)
    return None


def completed(text: str, spans: Sequence[Section]) -> tuple[Section, ...]:
    """Return the spans with chunks of our own for what they leave out: all of a text can be found."""
    lines = LineIndex(text)
    whole: list[Section] = []
    at = 0
    for span in [*spans, None]:
        start = span.start if span is not None else len(text)
        while at < start and text[at].isspace():
            at += 1
        if at < start:
            whole += [
                lines.section(at + piece.start, at + piece.end, piece.heading)
                for piece in cut(text[at:start])
            ]
        if span is not None:
            whole.append(span)
            at = max(at, span.end)
    return tuple(whole)


HELD: Final = "The text is in the space already; nothing was inferred again."

KEPT: Final = "What was inferred of the text before was kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDraft:
    """A draft with all that can be worked out before the store is locked.

    `fresh` says that tags and relevance were inferred from this text and take the place of older ones. `told` is
    what the caller said of it, without anything inferred: rules that pin judge by it, so that no text pins itself;
    None where nothing was inferred, or where the policy lets what was inferred count. `spans` are the caller's own
    chunks, where they fit the text. `project` is what the caller named, `home` what holds else: the space's, or the
    store's. `rules` are those of the space by which the draft was cleaned, None for others.
    """

    clean: CleanDraft
    meaning: Meaning
    mark: Fingerprint
    content_hash: str
    project: str | None
    home: str
    rules: RedactionRules | None
    now: datetime
    model_meaning: Meaning | None = None
    spans: tuple[Section, ...] | None = None
    fresh: bool = False
    pinned: bool | None = None
    semantic: str = "local"
    notes: tuple[str, ...] = ()
    author: Trust | None = None  # who writes, where what it was made of is trusted less
    instructions: tuple[str, ...] = ()  # what of the text reads as instructions to a model
    signed: Mapping[str, bytes] = field(default_factory=dict)  # the signatures of its texts

    @property
    def draft(self) -> Draft:
        """The clean draft."""
        return self.clean.draft

    def with_draft(self, draft: Draft, meaning: Meaning) -> PreparedDraft:
        """Return the same with another draft and what it means."""
        return replace(self, clean=replace(self.clean, draft=draft), meaning=meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cleaned:
    """A draft that was cleaned, with what else `PreparedDraft` says of it that needs no more."""

    clean: CleanDraft
    project: str | None
    home: str
    rules: RedactionRules | None
    spans: tuple[Section, ...] | None
    notes: tuple[str, ...]


class Preparer:
    """Makes drafts ready to be stored."""

    def __init__(
        self,
        policies: PolicyBook,
        redactor: Redactor,
        gate: Gate,
        extractor: Extractor,
        *,
        clock: Clock,
        project: str,
    ) -> None:
        self._policies = policies
        self._redactor = redactor
        self._gate = gate
        self._extractor = extractor
        self._clock = clock
        self._project = project

    def prepare_all(
        self, drafts: Sequence[Draft], *, rules: RedactionRules | None = None
    ) -> list[PreparedDraft]:
        """Return drafts, which are valid, ready to be stored; raises what `Pipeline.write` does.

        `rules` say what is redacted where the space is not there yet; by default those of its policy.
        """
        # A step for all drafts, then the next: what a step needs stays in the processor's caches, which is a sixth of
        # the time of short texts.
        cleaned = self._clean(drafts, rules)
        texts = [each.clean.draft.text for each in cleaned]
        found_summaries = [summaries_of(each.clean.draft) for each in cleaned]
        meanings = [
            understand(
                each.clean.draft, project=each.project or each.home, spans=each.spans, summaries=summaries
            )
            for each, summaries in zip(cleaned, found_summaries, strict=True)
        ]
        marks = fingerprints(
            texts, from_source=[draft.source_id is not None and not draft.gated for draft in drafts]
        )
        signed = [signed_texts(text, meaning) for text, meaning in zip(texts, meanings, strict=True)]
        hashes = list(map(content_hash, texts))
        instructions = [_instructions(each.clean.draft) for each in cleaned]
        writes = [
            PreparedDraft(
                clean=each.clean,
                meaning=meaning,
                mark=mark,
                content_hash=digest,
                project=each.project,
                home=each.home,
                rules=each.rules,
                now=draft.now or self._clock.now(),
                spans=each.spans,
                notes=each.notes,
                instructions=kinds,
                signed=signatures,
            )
            for draft, each, meaning, mark, digest, kinds, signatures in zip(
                drafts, cleaned, meanings, marks, hashes, instructions, signed, strict=True
            )
        ]
        return [write if write.draft.extract is None else self._extracted(write) for write in writes]

    def _clean(self, drafts: Sequence[Draft], rules: RedactionRules | None) -> list[_Cleaned]:
        """Return drafts without what is redacted in their spaces; nobody pays for one before all are looked at."""
        for draft in drafts:
            self._policies.admit(draft.space)  # before its text goes anywhere
            _require_whole(draft.text)
        applied = [self._policies.rules(draft.space) if rules is None else rules for draft in drafts]
        for draft, its_rules in zip(drafts, applied, strict=True):
            self._redactor.refuse_secret_names(draft, its_rules)
        cleaned = self._redactor.clean_all(drafts, applied)
        return [
            self._with_home(draft, its_clean, its_rules, own=rules is None)
            for draft, its_clean, its_rules in zip(drafts, cleaned, applied, strict=True)
        ]

    def _with_home(self, draft: Draft, cleaned: CleanDraft, rules: RedactionRules, *, own: bool) -> _Cleaned:
        text = cleaned.draft.text
        if not text.strip():
            raise InvalidMemory(
                "The text is empty; give at least one character that is not blank.", argument="text"
            )
        home = self._policies.project(draft.space) or self._project
        notes: tuple[str, ...] = ()
        spans = self._own_spans(draft, text, rules)
        if spans is None and (draft.spans or draft.cuts):
            notes = ("The chunks do not lie in the text in their order; it was cut anew.",)
        if draft.kind is not None and slug(draft.kind) != draft.kind.strip().lower():
            notes = (*notes, f"The kind {draft.kind!r} is kept as {slug(draft.kind)!r}.")
        return _Cleaned(
            clean=cleaned,
            project=_project_of(cleaned.draft),
            home=home,
            rules=rules if own else None,
            spans=spans,
            notes=notes,
        )

    def _extracted(self, write: PreparedDraft) -> PreparedDraft:
        """Infer what the caller left open; a text that the store has is not sent to a model again."""
        draft = write.draft
        policies = self._policies.policies(draft.space)
        request = Request(
            draft=draft,
            project=write.project or write.home,
            rules=self._policies.rules(draft.space),
            model_may_pin=policies.model_may_pin,
        )
        local = self._extractor.local(request)
        write = replace(
            write, model_meaning=None if policies.model_may_pin else self._model_meaning(write, local.path)
        )
        assert draft.extract is not None
        waits = self._gate.holds(draft, content_hash=write.content_hash)
        if waits and not draft.extract.refresh:
            if draft.extract.strict or draft.extract.model is not None:
                self._extractor.require(
                    draft.extract
                )  # a call that could not be answered fails for every text
            return replace(write, meaning=local.meaning(write.meaning), notes=(*write.notes, HELD))
        extraction = self._extractor.infer(request, local)
        if waits and extraction.semantic == local.semantic:
            # A model may have read it before: rules are no better reader.
            kept_write = replace(write, meaning=local.meaning(write.meaning))
            return replace(kept_write, notes=(*write.notes, *extraction.notes, KEPT))
        return replace(
            write,
            meaning=extraction.meaning(write.meaning),
            fresh=True,
            pinned=extraction.pinned,
            semantic=extraction.semantic,
            notes=(*write.notes, *extraction.notes),
        )

    @staticmethod
    def _model_meaning(write: PreparedDraft, path: str) -> Meaning:
        draft = write.draft
        assert draft.extract is not None
        # Without a hint, the last part of the path is from the text.
        place = path if draft.extract.path_hint else path.rpartition("/")[0]
        return replace(
            write.meaning,
            path=place,
            tags=slugs(draft.tags or ()),
            relevance=draft.relevance or Relevance.MEDIUM,
        )

    def _own_spans(self, draft: Draft, stored: str, rules: RedactionRules) -> tuple[Section, ...] | None:
        """Return the caller's chunks as spans of the text as it is stored; None when they do not fit it."""
        if not draft.spans and not draft.cuts:
            return None
        before = clean(draft.text)
        if before != stored and draft.spans and not draft.cuts:
            masked = locate(stored, [self._redactor.mask(span, rules) for span in draft.spans])
            if masked is not None:
                return completed(stored, masked)
        located = draft.cuts or locate(before, draft.spans or ())
        if located is None:
            return None
        if before != stored:
            # One by one: they may overlap.
            located = tuple(section for span in located for section in moved([span], before, stored))
        return completed(stored, located)


_WORDING: Final = WordingModel()


def _instructions(draft: Draft) -> tuple[str, ...]:
    """Return what of a draft reads as instructions: by rules, else by how its text is worded."""
    kinds = instructions_in(_shown_text(draft))
    return kinds or ((MEANING,) if _WORDING.instructs(draft.text) else ())


def _shown_text(draft: Draft) -> str:
    """Return all that a reader of the memory may be shown of a draft."""
    parts = [
        draft.text,
        draft.title,
        draft.path,
        draft.summary_micro,
        draft.summary_short,
        draft.summary_long,
    ]
    parts += [draft.subject, draft.attribute, *(draft.tags or ())]
    parts += [
        value if isinstance(value, str) else dump(value)
        for value in (draft.value, *((draft.metadata or {}).values()))
        if isinstance(value, str | list | tuple | Mapping) and value
    ]
    return "\n".join(part for part in parts if part)


def _project_of(draft: Draft) -> str | None:
    project = (draft.metadata or {}).get("project")
    return project if isinstance(project, str) and project else draft.project


def _require_whole(text: str) -> None:
    """Raise `InvalidMemory` for half a character: to put another in its place would lose what was meant."""
    if (at := lone_surrogate(text)) is not None:
        raise InvalidMemory(
            f"The text holds half a character, {text[at]!r}, after {at:,} others: bytes that are no UTF-8, or half a "
            "surrogate pair. Give whole characters."
        )
