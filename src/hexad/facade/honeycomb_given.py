"""What callers of `hx.honeycomb` give, checked: texts, vectors, scores, sessions, names of nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hexad.errors import InvalidInput, LimitExceeded
from hexad.model.honeycomb import DIMENSIONS_LIMIT, SESSION_LIMIT, EmbeddingFormat
from hexad.model.parse import parse_choice, quoted
from hexad.recall.jit_ahead import MEMORIES, OWN
from hexad.storage.embeddings import encode, largest
from hexad.storage.honeycomb import NewNode

if TYPE_CHECKING:
    from collections.abc import Sequence

SCOPES = {"all": frozenset((OWN, MEMORIES)), OWN: frozenset((OWN,)), MEMORIES: frozenset((MEMORIES,))}


def given_vector(vector: Iterable[float], name: str) -> list[float]:
    """Return the numbers of a vector; raises `InvalidInput` for anything else, `LimitExceeded` for too many."""
    try:
        numbers = [float(value) for value in vector]
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{name} is no vector ({error}); give a list of numbers.") from error
    if not numbers:
        raise InvalidInput(f"{name} has no numbers; give at least one, or None for no embedding.")
    if len(numbers) > DIMENSIONS_LIMIT:
        raise LimitExceeded(
            f"{name} has {len(numbers):,} numbers; at most {DIMENSIONS_LIMIT:,} can be stored."
        )
    if not all(map(math.isfinite, numbers)):
        place = next(at for at, value in enumerate(numbers) if not math.isfinite(value))
        raise InvalidInput(f"{name}[{place}] is {numbers[place]}; a vector holds finite numbers.")
    return numbers


def given_node(text: str, vector: Sequence[float] | None, form: str, *, limit: int) -> NewNode:
    """Return a text with its embedding as they are stored; raises `InvalidInput` and `LimitExceeded`."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"text = {quoted(text)} says nothing; give a text.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(f"text = {quoted(text)} holds half a character (a lone surrogate).") from error
    if size > limit:
        raise LimitExceeded(
            f"The text {quoted(text[:40])}… has {size:,} bytes; a node holds {limit:,}. Cut it, or remember it as a "
            "memory, which becomes a node too."
        )
    kind = parse_choice(EmbeddingFormat, form, "format")
    if vector is None:
        return NewNode(data=text, dimensions=0, format=kind, scale=1.0, embedding=b"")
    most = max(map(abs, vector))
    if most > largest(kind):
        raise InvalidInput(
            f"embedding holds {most:g}, which {kind.value} cannot; the largest is {largest(kind):g}."
        )
    data, scale = encode(vector, kind)
    return NewNode(data=text, dimensions=len(vector), format=kind, scale=scale, embedding=data)


def given_share(value: float, name: str) -> float:
    """Return a number from 0 to 1; raises `InvalidInput`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} = {quoted(value)} cannot be used; give a number from 0 to 1.")
    return float(value)


def given_session(session: str | None) -> str | None:
    """Return the name of a session, None for the one without; raises `InvalidInput`."""
    if session is None:
        return None
    if not isinstance(session, str) or not session.strip() or len(session) > SESSION_LIMIT:
        raise InvalidInput(
            f"session = {quoted(session)} cannot be used; give a name of 1 to {SESSION_LIMIT} characters."
        )
    try:
        session.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"session = {quoted(session)} holds half a character.") from error
    return session


def given_scope(scope: str) -> frozenset[str]:
    """Return which kinds of nodes a walk may enter; raises `InvalidInput`."""
    if not isinstance(scope, str) or scope not in SCOPES:
        raise InvalidInput(f"scope = {quoted(scope)} is not known; choose one of {', '.join(SCOPES)}.")
    return SCOPES[scope]
