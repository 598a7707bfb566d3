"""What callers of `hx.honeycomb` give, checked: texts, vectors, scores, sessions, names of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from hexad.core.arguments import parse_whole, quoted
from hexad.core.numbers import finite_numbers, listed, real_number, whole_number
from hexad.errors import InvalidInput, LimitExceeded
from hexad.honeycomb.tables.nodes import NewNode
from hexad.honeycomb.values import DIMENSIONS_LIMIT, SESSION_LIMIT
from hexad.honeycomb.walk.prefetch import MEMORIES, OWN
from hexad.search.vectors.quantization import EmbeddingFormat, encode, largest, smallest

if TYPE_CHECKING:
    from collections.abc import Sequence

SCOPES = {"all": frozenset((OWN, MEMORIES)), OWN: frozenset((OWN,)), MEMORIES: frozenset((MEMORIES,))}


def given_vector(vector: Iterable[float], name: str) -> list[float]:
    """Return the numbers of a vector; raises `InvalidInput` for anything else, `LimitExceeded` for too many."""
    numbers = finite_numbers(vector, name, most=DIMENSIONS_LIMIT)
    if not numbers:
        raise InvalidInput(f"{name} has no numbers; give at least one, or None for no embedding.")
    return numbers


def given_pairs(pairs: Iterable[object], name: str, *, of: str) -> list[tuple[object, object]]:
    """Return a list of pairs; raises `InvalidInput` for anything else, saying what a pair is made `of`."""
    values = listed(pairs)
    if values is None:
        raise InvalidInput(f"{name} = {quoted(pairs)} cannot be used; give a list of pairs ({of}).")
    found = []
    for place, pair in enumerate(values):
        both = tuple(islice(listed(pair) or (), 3))
        if len(both) != 2:
            raise InvalidInput(f"{name}[{place}] = {quoted(pair)} is no pair; give two values ({of}).")
        found.append((both[0], both[1]))
    return found


def given_whole(value: int, name: str) -> int:
    """Return a whole number of at least 1; raises `InvalidInput`."""
    number = whole_number(value)
    return parse_whole(value if number is None else number, name, least=1)


def given_text(text: object, name: str, *, limit: int, times: int = 1) -> str:
    """Return a text of at most `limit` bytes, or so many times as many; raises `InvalidInput` for none,
    `LimitExceeded` for a longer one.
    """  # fmt: skip
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{name} = {quoted(text)} says nothing; give a text.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{name} = {quoted(text)} holds half a character (a lone surrogate).") from error
    if size > limit * times:
        raise LimitExceeded(
            f"{name} has {size:,} bytes; a node holds {limit:,}. Cut it, or remember it as a memory, which becomes a "
            "node too."
        )
    return text


def given_node(text: str, vector: Sequence[float] | None, form: EmbeddingFormat, name: str) -> NewNode:
    """Return a text with its embedding as they are stored; raises `InvalidInput` for what the format cannot hold."""
    if vector is None:
        return NewNode(data=text, dimensions=0, format=form, scale=1.0, embedding=b"")
    most = max(map(abs, vector))
    if most > largest(form):
        other = ", or choose float32" if most <= largest(EmbeddingFormat.FLOAT32) else ""
        raise InvalidInput(
            f"{name} holds {most:g}, which {form.value} cannot; the largest is {largest(form):g}. Divide all of its "
            f"numbers alike: its direction is what counts{other}."
        )
    if 0 < most < smallest(form):
        raise InvalidInput(
            f"{name} holds nothing above {most:g}, and {form.value} loses what is below {smallest(form):g}. "
            "Multiply all of its numbers alike: its direction is what counts."
        )
    data, scale = encode(vector, form)
    return NewNode(data=text, dimensions=len(vector), format=form, scale=scale, embedding=data)


def given_share(value: float, name: str) -> float:
    """Return a number from 0 to 1; raises `InvalidInput`."""
    number = real_number(value)
    if number is None or not 0 <= number <= 1:
        raise InvalidInput(f"{name} = {quoted(value)} cannot be used; give a number from 0 to 1.")
    return number + 0.0  # -0.0 is 0.0


def given_rule(value: object) -> object:
    """Return the value of a rule as Python's own, where it is a number of another kind; the rules check the rest."""
    if isinstance(value, int | float):
        return value
    number = whole_number(value)
    other = real_number(value) if number is None else number
    return value if other is None else other


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
