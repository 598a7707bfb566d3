"""The options of document 1's recalls, parsed once: keywords, a mapping, or JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Final

from hexad.core.arguments import is_whole, json_fault, parse_time, quoted, require_question_length
from hexad.errors import InvalidInput
from hexad.spaces.bundles.bundle import (
    LIMIT_DEFAULT,
    LIMIT_MOST,
    RAW_LIMIT_DEFAULT,
    RAW_LIMIT_MOST,
    BundleOptions,
)
from hexad.text.normalize import slug, whole_characters
from hexad.text.paths import normalize_path

ORDERS: Final = ("score", "strict")
OPTIONS: Final = tuple(sorted(field.name for field in fields(BundleOptions) if field.name != "notes"))
_FLAGS: Final = {"include_raw": False, "include_metadata": True, "require_high_relevance": False,
                 "follow_links": False, "digest": False, "on_topic": False}  # fmt: skip

GivenOptions = Mapping[str, object] | str | None
"""Document 1's `options_json`: JSON text, or what it would parse to."""


def parse_bundle_options(options: GivenOptions, keywords: Mapping[str, object]) -> BundleOptions:
    """Return the options of one recall; a keyword goes before the same name in `options`, None means the default.

    A limit that is not positive is the default, one that is too large the most there is; `notes` say so. Raises
    `InvalidInput` for an option that is unknown, and for a value of another type than the option's.
    """
    values = {**_mapping(options), **keywords}
    unknown = sorted(str(name) for name in values if name not in OPTIONS)
    if unknown:
        raise InvalidInput(f"Unknown option {unknown[0]!r} of a recall; known are {', '.join(OPTIONS)}.")
    values = {name: value for name, value in values.items() if value is not None}
    return BundleOptions(
        limit=_limit(values.get("limit"), "limit", LIMIT_DEFAULT, LIMIT_MOST),
        raw_limit=_limit(values.get("raw_limit"), "raw_limit", RAW_LIMIT_DEFAULT, RAW_LIMIT_MOST),
        include_raw=_flag(values, "include_raw"),
        include_metadata=_flag(values, "include_metadata"),
        prefer_kinds=_slugs(values.get("prefer_kinds", ()), "prefer_kinds"),
        prefer_tags=_slugs(values.get("prefer_tags", ()), "prefer_tags"),
        require_high_relevance=_flag(values, "require_high_relevance"),
        freeze_clock=parse_time(values.get("freeze_clock"), "freeze_clock"),
        backend=_text(values.get("backend"), "backend", "'basic' or 'patricia'"),
        order=_order(values.get("order", "score")),
        path=_path(values.get("path")),
        max_tokens=_max_tokens(values.get("max_tokens")),
        follow_links=_flag(values, "follow_links"),
        digest=_flag(values, "digest"),
        on_topic=_flag(values, "on_topic") if "on_topic" in values else None,
        notes=tuple(_limit_notes(values)),
    )


def check_topic(topic: object) -> str:
    """Return the topic, also an empty one, in characters that can be written; raises `InvalidInput`, or
    `LimitExceeded` for one that is longer than any question.
    """
    if not isinstance(topic, str):
        raise InvalidInput(
            f"topic must be a string, not {quoted(topic)}; give a few words, or '' for no topic.",
            argument="topic",
        )
    require_question_length(topic, "topic")
    return whole_characters(topic)


def check_project(project: object) -> None:
    """Raise `InvalidInput` for what names no project."""
    if not isinstance(project, str) or not project.strip():
        raise InvalidInput(
            f"{quoted(project)} is no project; give the name of a space, or a space's metadata.project."
        )


def check_deadline(deadline_ms: object) -> None:
    """Raise `InvalidInput` for a deadline that is no positive number of milliseconds."""
    if deadline_ms is not None and not is_whole(deadline_ms, 1):
        raise InvalidInput(
            f"deadline_ms = {quoted(deadline_ms)} must be a whole number of milliseconds, at least 1.",
            argument="deadline_ms",
        )


def check_kind(kind: object) -> str:
    """Return a kind as memories have it; raises `InvalidInput` for what cannot be one."""
    name = slug(kind) if isinstance(kind, str) else ""
    if not name:
        raise InvalidInput(
            f"kind = {quoted(kind)} is no kind of memory; give a word, such as 'decision'.", argument="kind"
        )
    return name


def _mapping(options: GivenOptions) -> Mapping[str, object]:
    value: object = {} if options is None else options
    if isinstance(options, str):
        try:
            value = json.loads(options)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(
                f'options = {quoted(options)} is no JSON: {json_fault(error)}. Write {{"limit": 3}}.',
                argument="options",
            ) from error
    if not isinstance(value, Mapping):
        raise InvalidInput(
            f'options = {quoted(options)} is neither an object nor JSON text; write {{"limit": 3}}.',
            argument="options",
        )
    return value


def _limit(value: object, name: str, default: int, most: int) -> int:
    if value is None:
        return default
    if not is_whole(value):
        raise InvalidInput(f"{name} = {quoted(value)} is no whole number; give 1 to {most}.", argument=name)
    return default if value <= 0 else min(value, most)


def _limit_notes(values: Mapping[str, object]) -> Iterator[str]:
    for name, default, most in (
        ("limit", LIMIT_DEFAULT, LIMIT_MOST),
        ("raw_limit", RAW_LIMIT_DEFAULT, RAW_LIMIT_MOST),
    ):
        value = values.get(name)
        if isinstance(value, int) and not 1 <= value <= most:
            why = (
                "is not positive; the default was used"
                if value < 1
                else "is more than there is; the most was used"
            )
            yield f"{name} = {quoted(value)} {why}: {_limit(value, name, default, most)}."


def _max_tokens(value: object) -> int | None:
    if value is None:
        return None
    if not is_whole(value, 1):
        raise InvalidInput(
            f"max_tokens = {quoted(value)} must be a whole number, at least 1.", argument="max_tokens"
        )
    return value


def _flag(values: Mapping[str, object], name: str) -> bool:
    value = values.get(name, _FLAGS[name])
    if not isinstance(value, bool):
        raise InvalidInput(
            f"{name} = {quoted(value)} is neither true nor false; give one of the two.", argument=name
        )
    return value


def _slugs(value: object, name: str) -> tuple[str, ...]:
    """Return one word or several as the slugs that memories carry, each once, in the order given."""
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, Sequence | set | frozenset):
        raise InvalidInput(f"{name} = {quoted(value)} is no word and no list of words.", argument=name)
    slugs: dict[str, None] = {}
    for word in sorted(words, key=str) if isinstance(words, set | frozenset) else words:
        word_slug = slug(word) if isinstance(word, str) else ""
        if not word_slug:
            raise InvalidInput(
                f"{name} holds {quoted(word)}, which has no letter or digit; give words.", argument=name
            )
        slugs[word_slug] = None
    return tuple(slugs)


def _text(value: object, name: str, example: str) -> str | None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise InvalidInput(
            f"{name} = {quoted(value)} is no name; give one, such as {example}.", argument=name
        )
    return value


def _order(value: object) -> str:
    if not isinstance(value, str) or value not in ORDERS:
        raise InvalidInput(f"order = {quoted(value)} is not one of {', '.join(ORDERS)}.", argument="order")
    return value


def _path(value: object) -> str | None:
    text = _text(value, "path", "'project/module'")
    return None if text is None else normalize_path(text)
