"""From what a caller says happened to what is recorded, checked once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from heapq import nsmallest
from numbers import Real
from typing import Any, Final

from hexad.core.arguments import parse_choice, parse_time, quoted, subject_list
from hexad.core.event_types import EventType
from hexad.database.codec import to_micros
from hexad.errors import InvalidInput, LimitExceeded
from hexad.experience.recording.recorder import RecordFields
from hexad.experience.stream.frames import ENDS, HAS_EVENT, HAS_ROLE, HAS_TOKEN, STARTS
from hexad.experience.values.names import SURROGATE, check_name
from hexad.experience.values.records import (
    CONTENT_BYTES_LIMIT,
    KIND_CODES,
    TOP_ACTIVATIONS,
)
from hexad.redaction.masking import Masking
from hexad.text.tokens import TokenCounter

TOKEN_CHARS: Final = 24
"""So long may a single generated token be: those of today's vocabularies that are longer are rulers and blanks."""
_NAMES_REMEMBERED: Final = 50_000
_CONCEPTS_REMEMBERED: Final = 200_000


class StreamIntake:
    """What one store lets into its stream. Safe to share between threads.

    `permitted` says of a concept whether its lens may be seen; None where all may. `concepts` are those that were
    looked at before: looking at ten ids again took half of the time of a record.
    """

    def __init__(
        self,
        masking: Masking,
        *,
        counter: TokenCounter,
        permitted: Callable[[str], bool] | None = None,
    ) -> None:
        self._masking, self._counter = masking, counter
        self.mask, self.masked = masking.text, masking.texts
        self.permitted = permitted
        self.concepts: set[str] = set()
        self._names: set[str] = set()

    def tokens(self, text: str, *, may_be_token: bool) -> int:
        """Return how many tokens a text counts for of which nobody said it; at least one.

        A piece of what was generated is one token, as long as it is as short as one; a message is none.
        """
        if may_be_token and len(text) <= TOKEN_CHARS and len(text.split(maxsplit=1)) < 2:
            return 1
        return self._counter.count(text) or 1

    def name(self, value: str, what: str) -> str:
        """Return a name that is to be stored, as it is; raises `InvalidInput`, also for one that holds a secret.

        Masking it would make it another name. The message does not repeat it.
        """
        if isinstance(value, str) and value in self._names:
            return value
        self._refuse(value, what)
        if len(self._names) >= _NAMES_REMEMBERED:
            self._names.clear()
        self._names.add(value)
        return value

    def take_names(self, values: Iterable[str], what: str) -> None:
        """Remember names that may be stored; raises `InvalidInput` as `name` does."""
        new = [value for value in values if not isinstance(value, str) or value not in self._names]
        self._refuse_any(new, what)
        if len(self._names) >= _NAMES_REMEMBERED:
            self._names.clear()
        self._names.update(new[:_NAMES_REMEMBERED])

    def take_concepts(self, ids: Iterable[str]) -> None:
        """Remember concepts that may be stored; raises `InvalidInput` for what cannot be the id of one."""
        new = [concept for concept in ids if not isinstance(concept, str) or concept not in self.concepts]
        self._refuse_any(new, "a concept")
        if len(self.concepts) >= _CONCEPTS_REMEMBERED:
            self.concepts.clear()
        self.concepts.update(new)

    def subjects(self, people: Iterable[str]) -> tuple[str, ...]:
        """Return people whose data something is, as they are; raises `InvalidInput`, also for what holds a secret."""
        return tuple(self.name(subject, "a data subject") for subject in subject_list(people))

    def _refuse_any(self, values: list[str], what: str) -> None:
        """Raise `InvalidInput` for the first that cannot be stored; looking has a price for each look."""
        if all(isinstance(value, str) for value in values) and not self._masking.secret_among(values):
            for value in values:
                check_name(value, what)
        else:
            for value in values:
                self._refuse(value, what)

    def _refuse(self, value: str, what: str) -> None:
        if isinstance(value, str) and (rule := self._masking.secret_in(value)) is not None:
            raise InvalidInput(
                f"{what} holds what looks like a secret ({rule}); give another one.", argument=what
            )
        check_name(value, what)


KIND_BY_WORD: Final[Mapping[str, int]] = {kind.value: code for kind, code in KIND_CODES.items()}
_OUTPUT: Final = KIND_CODES[EventType.OUTPUT]
FLOAT_LIMIT: Final = 3.4e38
COUNT_LIMIT: Final = (1 << 32) - 1
_TOKEN_LIMIT: Final = 1 << 63
_FLOATS: Final = {float}
ROW_KEYS: Final = frozenset(
    (
        "event_type",
        "content",
        "concept_activations",
        "event_id",
        "event_start",
        "event_end",
        "token_id",
        "role",
        "token_count",
        "timestamp",
    )
)


def record_fields(  # one parameter for each field of document 2's `record`
    event_type: EventType | str,
    content: str,
    concept_activations: Mapping[str, float] | None,
    intake: StreamIntake,
    event_id: str | None = None,
    event_start: bool = False,
    event_end: bool = False,
    token_id: int | None = None,
    role: str | None = None,
    token_count: int | None = None,
    timestamp: datetime | str | None = None,
) -> RecordFields:
    """Return what is to be recorded; raises `InvalidInput` or `LimitExceeded` for what cannot be.

    Secrets go out of everything but generated tokens: those mean something together only. Concepts whose lens may not
    be seen go before the strongest are chosen.
    """
    kind = KIND_BY_WORD.get(event_type) if isinstance(event_type, str) else None
    if kind is None:
        kind = KIND_CODES[parse_choice(EventType, event_type, "event_type")]
    flags = 0
    if event_start is not False and _truth(event_start, "event_start"):
        flags |= STARTS
    if event_end is not False and _truth(event_end, "event_end"):
        flags |= ENDS
    if event_id is not None:
        flags |= HAS_EVENT
        intake.name(event_id, "event_id")
    if role is not None:
        flags |= HAS_ROLE
        intake.name(role, "role")
    if token_id is not None:
        flags |= HAS_TOKEN
        if type(token_id) is not int or not -_TOKEN_LIMIT <= token_id < _TOKEN_LIMIT:
            token_id = _whole(token_id, "token_id", -_TOKEN_LIMIT, _TOKEN_LIMIT - 1)
    if token_count is not None and (token_count != 1 or type(token_count) is not int):
        token_count = _whole(token_count, "token_count", 0, COUNT_LIMIT)
    if not isinstance(content, str):
        raise InvalidInput(f"content must be a string, not {quoted(content)}.", argument="content")
    text = content if content.isascii() and len(content) <= CONTENT_BYTES_LIMIT // 4 else _storable(content)
    if kind != _OUTPUT:
        text = intake.mask(text)
    if token_count is None:
        generated = kind == _OUTPUT
        token_count = 1 if generated and flags & HAS_TOKEN else intake.tokens(text, may_be_token=generated)
    return RecordFields(
        None if timestamp is None else time_micros(timestamp),
        kind,
        flags,
        token_id or 0,
        token_count,
        role,
        event_id,
        _strongest(concept_activations, intake) if concept_activations else {},
        text,
    )


def fields_of_row(row: Mapping[str, Any], *, intake: StreamIntake) -> RecordFields:
    """Return what one row of a batch says; its keys are the parameters of `record`, and `timestamp`.

    None is as good as no such key.
    """
    if not isinstance(row, Mapping):
        raise InvalidInput(f"{str(row)[:80]!r} is no row; give a mapping with event_type and content.")
    if not (row.keys() <= ROW_KEYS and "event_type" in row and "content" in row):
        raise InvalidInput(
            f"A row needs event_type and content and may have {', '.join(sorted(ROW_KEYS))}; it has {sorted(row)}."
        )
    get = row.get
    return record_fields(
        row["event_type"],
        row["content"],
        get("concept_activations"),
        intake,
        get("event_id"),
        get("event_start", False),
        get("event_end", False),
        get("token_id"),
        get("role"),
        get("token_count"),
        get("timestamp"),
    )


def _truth(value: object, what: str) -> bool:
    """Return a bool, NumPy's too; None is False. A word such as "false" would be true."""
    if value is None or isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b":
        return bool(value)
    raise InvalidInput(f"{what} = {quoted(value)} is neither true nor false; give a bool.", argument=what)


def _whole(value: object, what: str, low: int, high: int) -> int:
    """Return a whole number, NumPy's too; a bool is none."""
    try:
        whole = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = None
    if whole is None or not low <= whole <= high:
        raise InvalidInput(
            f"{what} = {quoted(value)} is no whole number from {low} to {high}.", argument=what
        )
    return whole


def _storable(text: str) -> str:
    """Return the text with U+FFFD for half a character, which no UTF-8 can carry; a token may end inside one."""
    if not text.isascii() and SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if len(text) > CONTENT_BYTES_LIMIT // 4 and len(text.encode("utf-8")) > CONTENT_BYTES_LIMIT:
        raise LimitExceeded(
            f"The content has more than {CONTENT_BYTES_LIMIT:,} bytes; record it in parts, as timesteps of one event."
        )
    return text


def _strongest(activations: Mapping[str, float], intake: StreamIntake) -> Mapping[str, float]:
    """Return the strongest of the concepts that may be seen, checked; of equal ones the first by id."""
    try:
        scores = activations.values()
    except AttributeError as error:
        raise InvalidInput(
            f"concept_activations = {quoted(activations)} is no mapping from concepts to scores.",
            argument="concept_activations",
        ) from error
    # Mostly the concepts are known and their scores plain floats: then a few calls answer for all of them. With a NaN
    # the sum is one, which is less than nothing.
    plain = (
        activations.keys() <= intake.concepts
        and {*map(type, scores)} == _FLOATS
        and sum(map(abs, scores)) < FLOAT_LIMIT
    )
    checked = (
        dict(activations) if plain else _checked_scores(activations, intake)
    )  # theirs may change before ours is written
    permitted = intake.permitted
    if permitted is not None:
        checked = {concept: score for concept, score in checked.items() if permitted(concept)}
    if len(checked) <= TOP_ACTIVATIONS:
        return checked
    return dict(nsmallest(TOP_ACTIVATIONS, checked.items(), key=lambda item: (-item[1], item[0])))


def _checked_scores(scores: Mapping[str, Any], intake: StreamIntake) -> dict[str, float]:
    intake.take_concepts(scores)
    checked: dict[str, float] = {}
    for concept, score in scores.items():
        number = _number(score)
        if number is None:
            raise InvalidInput(f"The activation of {quoted(concept)} is {quoted(score)}; give a number.")
        if not -FLOAT_LIMIT <= number <= FLOAT_LIMIT:
            raise InvalidInput(
                f"The activation of {quoted(concept)} is {quoted(score)}; give a finite number."
            )
        checked[concept] = number
    return checked


def _number(score: object) -> float | None:
    """Return any number, NumPy's too, as a float, None for what is none; a bool is none."""
    if isinstance(score, bool) or not isinstance(score, Real):
        return None
    try:
        return float(score)
    except OverflowError:
        return float("inf")


def time_micros(timestamp: datetime | str) -> int:
    """Return a time as the stream keeps it."""
    time = parse_time(timestamp, "timestamp")
    assert time is not None
    return to_micros(time)
