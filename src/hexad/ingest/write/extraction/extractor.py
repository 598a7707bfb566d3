"""What `remember_raw` leaves open (path, summaries, tags, relevance), inferred by a model or from the text alone.

A model is asked at most twice: again, with what was wrong, when its answer cannot be used. Without a model, or when
it fails, the text is read by rules; `strict` raises the provider's error instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from hexad.errors import BudgetExceeded, ProviderError
from hexad.ingest.write.enrich import Meaning
from hexad.ingest.write.extraction.local_extraction import local_path, local_summaries, local_tags
from hexad.ingest.write.extraction.model_prompt import (
    ModelResponse,
    UnusableAnswer,
    build_prompt,
    joined_tags,
    parse_answer,
    placed,
)
from hexad.ingest.write.extraction.turn_extraction import DEFAULT_KIND
from hexad.ingest.write.redaction import Redactor
from hexad.ingest.write.salience import relevance_of
from hexad.memory.draft import Draft, Extract
from hexad.memory.memory import Relevance
from hexad.providers.generators.base import Prompt, Reply
from hexad.redaction.redact import RedactionRules
from hexad.text.normalize import clean, slug, slugs
from hexad.text.summary.summarize import Summaries

OPERATION = "remember_raw"
NO_MODEL = "No text generator is set up; the text was read by rules."


class SpaceGenerator(Protocol):
    """A text generator whose calls count against a space's budget."""

    def generate(self, prompt: Prompt, *, space: str | None, operation: str) -> Reply:
        """Return the answer; raises `ProviderError`, and `BudgetExceeded` before any call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A draft, clean and redacted, with what decides how it may be understood."""

    draft: Draft
    project: str
    rules: RedactionRules
    model_may_pin: bool

    @property
    def kind(self) -> str:
        """The caller's kind."""
        return slug(self.draft.kind) if self.draft.kind is not None else DEFAULT_KIND


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What was inferred, by whom, and what is to be told about it."""

    path: str
    tags: tuple[str, ...]
    relevance: Relevance
    summaries: Summaries
    pinned: bool | None = None
    semantic: str = "local"
    notes: tuple[str, ...] = ()

    def meaning(self, meaning: Meaning) -> Meaning:
        """Return a text's meaning with what was inferred of it."""
        return replace(
            meaning, path=self.path, tags=self.tags, relevance=self.relevance, summaries=self.summaries
        )


class Extractor:
    """Infers what is open. `generator_for` gives the generator that a model's name, or None, stands for."""

    def __init__(
        self, generator_for: Callable[[str | None], SpaceGenerator | None], redactor: Redactor
    ) -> None:
        self._generator_for = generator_for
        self._redactor = redactor

    def local(self, request: Request) -> Extraction:
        """Return what the text says of itself. Raises `InvalidMemory` for a path hint that is no path."""
        draft = request.draft
        assert draft.extract is not None
        summaries = local_summaries(draft)
        given_slugs = slugs(draft.tags or ())
        return Extraction(
            path=local_path(draft, project=request.project, kind=request.kind, summaries=summaries),
            tags=joined_tags(given_slugs, local_tags(draft.text, kind=request.kind)),
            relevance=draft.relevance or relevance_of(draft.text, kind=request.kind),
            summaries=summaries,
            pinned=draft.extract.auto_pin,
        )

    def infer(self, request: Request, local: Extraction) -> Extraction:
        """Return what a model makes of the text, or `local` with the reason; call it without holding a lock.

        Raises `ProviderError` or `BudgetExceeded` when the request is strict, and `InvalidInput` for a model that
        cannot be asked for.
        """
        extract = request.draft.extract
        assert extract is not None
        try:
            generator = self.require(extract)
            if generator is None:
                return replace(local, notes=(*local.notes, NO_MODEL))
            return self._asked(generator, request, local)
        except (ProviderError, BudgetExceeded) as error:
            if extract.strict:
                raise
            return replace(local, notes=(*local.notes, f"The text was read by rules: {error}"))

    def require(self, extract: Extract) -> SpaceGenerator | None:
        """Return what would be asked, None for rules; raises what `infer` does where there is nobody to ask."""
        generator = self._generator_for(extract.model)
        if generator is None and extract.strict:
            raise ProviderError(
                "No text generator is set up, and strict asks for one; set `generator` in hexad.toml, or give a "
                "model such as 'openai:gpt-4o-mini'."
            )
        return generator

    def _asked(self, generator: SpaceGenerator, request: Request, local: Extraction) -> Extraction:
        extract = request.draft.extract
        assert extract is not None
        may_pin = request.model_may_pin and extract.auto_pin is None
        prompt, notes = build_prompt(
            request.draft, kind=request.kind, project=request.project, may_pin=may_pin
        )
        reply = generator.generate(prompt, space=request.draft.space, operation=OPERATION)
        try:
            answer = parse_answer(reply.text)
        except UnusableAnswer as error:
            reply, answer = self._asked_again(generator, prompt, request.draft.space, error)
            notes = (*notes, f"The model was asked twice: {error}.")
        return self._used(answer, reply, request, local, notes, may_pin=may_pin)

    @staticmethod
    def _asked_again(
        generator: SpaceGenerator, prompt: Prompt, space: str, error: UnusableAnswer
    ) -> tuple[Reply, ModelResponse]:
        again = replace(
            prompt,
            system=f"{prompt.system}\n\nYour last answer could not be used: {error}. Answer with the JSON alone.",
        )
        reply = generator.generate(again, space=space, operation=OPERATION)
        try:
            return reply, parse_answer(reply.text)
        except UnusableAnswer as second:
            raise ProviderError(
                f"The model {reply.model} answered twice with something that cannot be used: {second}."
            ) from second

    def _used(
        self,
        answer: ModelResponse,
        reply: Reply,
        request: Request,
        local: Extraction,
        notes: tuple[str, ...],
        *,
        may_pin: bool,
    ) -> Extraction:
        """Take from an answer what the caller left open, without what may not be stored."""
        draft, extract = request.draft, request.draft.extract
        assert extract is not None

        def mask(text: str) -> str:
            # A model may echo what it should not, or make it up.
            return self._redactor.mask(text, request.rules)

        path = None
        if mask(answer.path) == clean(answer.path):
            path = placed(answer.path, hint=extract.path_hint, project=request.project)
        if path is None:
            notes = (*notes, "The model's path cannot be used; the path is from the text.")
        if path is None or extract.topic:
            path = local.path
        summaries = answer.summaries
        return Extraction(
            path=path,
            # A tag that held a secret says nothing without it; as a slug, it would not be recognised any more.
            tags=joined_tags(
                slugs(draft.tags or ()),
                tuple(
                    dict.fromkeys(slug(tag) for tag in answer.tags if mask(tag) == clean(tag) and slug(tag))
                ),
            ),
            relevance=draft.relevance or answer.relevance,
            summaries=Summaries(
                micro=mask(summaries.micro), short=mask(summaries.short), long=mask(summaries.long)
            ),
            pinned=True if may_pin and answer.pin else extract.auto_pin,
            semantic=reply.model,
            notes=notes,
        )
