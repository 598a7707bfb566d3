"""What callers give, checked once at the edge: words, texts, times, paths, lists and numbers, NumPy's too.

Not every caller has a type checker: `"12"` has two characters that Python would take for numbers, `b"12"` two bytes,
and a set has no order.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from datetime import UTC, date, datetime
from enum import StrEnum
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final, Protocol, TypeGuard, TypeVar, cast, runtime_checkable

from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput, LimitExceeded

_NAME_BYTES: Final = 255
_PATH_CHARS: Final = 4_000
_WHOLE_MOST: Final = 1 << 62
_SECONDS_MOST: Final = 1_000_000
_KEY_BYTES: Final = 32
_REPEATED: Final = 24
_TELLING: Final = 8
NAME_CHARS_LIMIT: Final = 1_000
"""Most characters of the name of a person, an agent, a conversation or a program."""
QUESTION_LIMIT: Final = 8_192
"""Most characters of a question, a task or a topic: what reads them looks at each word in many ways."""
LISTED_WORDS_LIMIT: Final = 256
"""Most different words that a list of memories looks for: each is a condition of the query."""
Choice = TypeVar("Choice", bound=StrEnum)
Value = TypeVar("Value")


def parse_time(value: object, name: str) -> datetime | None:
    """Return an aware time in UTC; a time without a zone is taken as UTC. None stays None.

    Takes RFC 3339 such as `2026-05-01T12:00:00Z`, a date alone (its first moment), a datetime or a `date`. Raises
    `InvalidInput` naming `name` otherwise.
    """
    if value is None:
        return None
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value.strip())
        except ValueError:  # which says the whole value
            raise InvalidInput(
                f"Cannot parse {name} = {quoted(value)} as a time; use ISO 8601, for example 2026-05-01T12:00:00Z "
                "or 2026-05-01.",
                argument=name,
            ) from None
    elif isinstance(value, datetime):
        parsed = value
    elif isinstance(value, date):
        parsed = datetime(value.year, value.month, value.day)
    else:
        raise InvalidInput(f"{name} must be a datetime or a string, not {quoted(value)}.", argument=name)
    try:
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise InvalidInput(
            f"{name} = {quoted(value)} is outside the years 1 to 9999 in UTC.", argument=name
        ) from error


def parse_choice(kind: type[Choice], value: str, name: str) -> Choice:
    """Return the member of `kind` with this value; raises `InvalidInput` naming the valid ones."""
    try:
        return kind(value)
    except (ValueError, RecursionError):  # which says the whole value
        valid = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{name} = {quoted(value)} is not one of {valid}.", argument=name) from None


def word_list(words: Iterable[str], name: str) -> tuple[str, ...]:
    """Return a list of words as a tuple; raises `InvalidInput` for one string, which would be taken for letters."""
    if isinstance(words, str):
        excerpt = quoted(words)
        raise InvalidInput(
            f'{name} = {excerpt} must be a list of strings; write ["{excerpt[1:-1]}"].', argument=name
        )
    strings = value_list(words, name, of="strings")
    for word in strings:
        if not isinstance(word, str):
            raise InvalidInput(
                f"{name} hold {quoted(word)}, which is not a string; give a list of strings.", argument=name
            )
        require_whole(word, name)
    return strings


def subject_list(subjects: Iterable[str], name: str = "data_subjects") -> tuple[str, ...]:
    """Return names of people as a tuple, each once; raises `InvalidInput` for what is none."""
    strings = word_list(subjects, name)
    for subject in strings:
        if not can_name(subject):
            raise InvalidInput(
                f"{name} hold {quoted(subject)}, which names nobody; "
                f"give texts of up to {NAME_CHARS_LIMIT} characters.",
                argument=name,
            )
    return tuple(dict.fromkeys(strings))


def value_list(values: Iterable[Value], name: str, *, of: str) -> tuple[Value, ...]:
    """Return values as a tuple; raises `InvalidInput` for what holds none, naming what it should hold."""
    try:
        entries = (
            None if isinstance(values, bytes | str) or not isinstance(values, Iterable) else iter(values)
        )
    except TypeError:  # an array without axes
        entries = None
    if entries is None:
        raise InvalidInput(f"{name} = {quoted(values)} cannot be used; give a list of {of}.", argument=name)
    return tuple(entries)


def parse_whole(value: int, name: str, *, least: int) -> int:
    """Return a whole number that is at least `least`; raises `InvalidInput` naming `name` for anything else."""
    if not is_whole(value, least):
        raise InvalidInput(
            f"{name} = {quoted(value)} is not a whole number of at least {least}.", argument=name
        )
    if value > _WHOLE_MOST:
        raise InvalidInput(f"{name} = {quoted(value)} is more than {_WHOLE_MOST:,}.", argument=name)
    return value


def parse_seconds(value: float, name: str) -> float:
    """Return how long something may take, at most what a clock can wait; raises `InvalidInput` naming `name`."""
    if not is_number(value, 0, _SECONDS_MOST):
        raise InvalidInput(
            f"{name} = {quoted(value)} cannot be used; give seconds, from 0 to {_SECONDS_MOST:,}.",
            argument=name,
        )
    return value


def parse_offset(value: int) -> int:
    """Return how many of the first to leave out, none for a negative number; raises `InvalidInput` for no number."""
    if not is_whole(value, high=_WHOLE_MOST):
        raise InvalidInput(
            f"offset = {quoted(value)} is not a whole number from 0 to {_WHOLE_MOST:,}.", argument="offset"
        )
    return max(value, 0)


def parse_place(value: str | Path, name: str) -> str | Path:
    """Return a path or an address; raises `InvalidInput` naming `name` for anything else."""
    if not isinstance(value, str | Path):
        raise InvalidInput(f"{name} = {quoted(value)} is no place; give a path.", argument=name)
    return value


def absence(path: str | Path, what: str) -> str:
    """Return what there is to say of a path where nothing is: that there is no `what`, or where a link leads."""
    try:
        target = os.readlink(path)
    except (OSError, ValueError):
        return f"There is no {what} {str(path)!r}"
    return f"{str(path)!r} is a link to {target!r}, where nothing is"


def read_regular(path: Path, *, limit: int) -> bytes:
    """Return the bytes of a file, at most one more than `limit`, so that a caller sees that there are more.

    No pipe is waited for, no device read without end: raises `InvalidInput` for a folder, a pipe, a socket or a device,
    also behind a link, and `OSError` as `open` does.
    """
    # A pipe without a writer would hold whoever opens it.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise InvalidInput(f"{path} is a folder, a pipe or a device; give a file.")
    with os.fdopen(fd, "rb") as file:
        return file.read(limit + 1) or b""  # of some files below /proc nothing comes, and not even that


def require_owner_of(start: Path, *, found: Path) -> None:
    """Raise `InvalidInput` where a folder that was found above `start` is not of its owner, this user or root."""
    owner = found.stat().st_uid
    if owner not in (0, os.geteuid(), start.stat().st_uid):
        raise InvalidInput(
            f"{found}, found above {start}, belongs to another user ({owner}), who may have written anything into it. "
            f"To use it all the same, name its folder (-C {found.parent}); `hexad init` makes one here."
        )


_KEY_PARTS: Final = 64
# Of a dotted key the standard library's reader looks at each beginning: its work grows with the square of the parts.
# So many words with dots between them are taken for one also inside a text, where nobody writes them.
_LONG_KEY: Final = (
    rf"(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_KEY_PARTS}}}"
)


def read_toml(text: str) -> dict[str, Any]:
    """Return what a TOML document says, in time that grows with it; raises `ValueError` for one that cannot be read.

    >>> read_toml("size = 3")
    {'size': 3}
    """
    import tomllib

    if (match := re.search(_LONG_KEY, text)) is not None:
        line = text.count("\n", 0, match.start()) + 1
        raise ValueError(f"a key has more than {_KEY_PARTS} parts (at line {line})")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def parse_path(value: str | Path, name: str) -> Path:
    """Return a path; raises `InvalidInput` naming `name` for anything else, and for what no file can be called."""
    text = str(parse_place(value, name))
    try:
        parts = os.fsencode(text).split(os.fsencode(os.sep))
    except UnicodeEncodeError:
        parts = [b"?" * (_NAME_BYTES + 1)]
    if not text or "\0" in text or max(map(len, parts)) > _NAME_BYTES or len(text) > _PATH_CHARS:
        raise InvalidInput(
            f"{name} = {quoted(value)} cannot be a path; give a file or a folder.", argument=name
        )
    return Path(value)


def require_key(key: object, name: str) -> None:
    """Raise `InvalidInput`, naming `name` and never the key, for what cannot be one; None is none."""
    if isinstance(key, bytes | bytearray):
        if len(key) != _KEY_BYTES:
            raise InvalidInput(
                f"{name} has {len(key)} bytes; give {_KEY_BYTES}, a passphrase as text, or a Path.",
                argument=name,
            )
    elif isinstance(key, Path):
        parse_path(key, name)
    elif key is not None and not isinstance(key, str):
        raise InvalidInput(
            f"{name} is {type(key).__name__}; give 32 bytes, a passphrase as text, or a Path.", argument=name
        )


def expanded(path: Path, name: str) -> Path:
    """Return a path with its `~` taken for whose home it is; raises `InvalidInput` for that of nobody."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise InvalidInput(
            f"{name} = {quoted(str(path))} is in the home of somebody who has none; write the whole path.",
            argument=name,
        ) from None


def parse_text(value: str | None, name: str) -> str | None:
    """Return a text, None for None; raises `InvalidInput` naming `name` for anything else."""
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string, not {quoted(value)}.", argument=name)
    return value


def parse_name(value: str, name: str) -> str:
    """Return a text that names something; raises `InvalidInput` naming `name` for what nothing can be called."""
    if not isinstance(value, str) or not can_name(value):
        raise InvalidInput(
            f"{name} = {quoted(value)} must be a name: 1 to {NAME_CHARS_LIMIT:,} whole characters, not all blank.",
            argument=name,
        )
    return value


def can_name(text: str) -> bool:
    """Whether somebody or something can be called so: not blank, not too long, and of characters that can be stored."""
    return bool(text.strip()) and len(text) <= NAME_CHARS_LIMIT and "\0" not in text and encodable(text)


def require_question_length(text: str, name: str) -> None:
    """Raise `LimitExceeded` naming `name` for a question that is longer than anybody asks: before any work on it."""
    if len(text) > QUESTION_LIMIT:
        raise LimitExceeded(
            f"{name} has {len(text):,} characters; at most {QUESTION_LIMIT:,} are read. Ask in fewer words.",
            argument=name,
        )


def listed_words(text: str) -> tuple[str, ...]:
    """Return the words of a text to look for, each once; raises `LimitExceeded` for more than anybody looks for."""
    require_question_length(text, "text")
    words = tuple(dict.fromkeys(text.split()))
    if len(words) > LISTED_WORDS_LIMIT:
        raise LimitExceeded(
            f"text has {len(words):,} different words; at most {LISTED_WORDS_LIMIT} are looked for. Give fewer.",
            argument="text",
        )
    return words


_HALF: Final = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")


def require_whole(text: str, name: str) -> None:
    """Raise `InvalidInput` naming `name` for half a character: another in its place would lose what was meant."""
    match = None if text.isascii() else _HALF.search(text)
    if match is not None:
        raise InvalidInput(
            f"{name} = {quoted(text)} holds half a character, {match[0]!r}, after {match.start():,} others: bytes that "
            "are no UTF-8, or half a surrogate pair. Give whole characters.",
            argument=name,
        )


_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def join_pairs(text: str) -> str:
    """Return a text with each pair of surrogates as the character that it stands for; a lone one stays.

    >>> join_pairs("Done \\ud83d\\ude00") == "Done 😀"
    True
    """
    if encodable(text):
        return text
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


def join_pairs_in(value: JSONValue) -> JSONValue:
    """Return a value of JSON, not too deep in itself, as `join_pairs` makes its texts."""
    if isinstance(value, str):
        return join_pairs(value)
    if isinstance(value, Mapping):
        return {join_pairs(key): join_pairs_in(item) for key, item in value.items()}
    return [join_pairs_in(item) for item in value] if isinstance(value, list | tuple) else value


def require_encodable(text: str, name: str) -> None:
    """Raise `InvalidInput` naming `name` for half a character, also where it and the next make a pair."""
    if not encodable(text):
        raise InvalidInput(
            f"{name} = {quoted(text)} holds half a character (a lone surrogate); give whole characters.",
            argument=name,
        )


def encodable(text: str) -> bool:
    """Whether a text holds whole characters alone: half of one can be neither stored nor sent."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def is_real(value: object) -> bool:
    """Whether a value is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf


def is_whole(value: object, low: float = -math.inf, high: float = math.inf) -> TypeGuard[int]:
    """Whether a value is a whole number within these bounds; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_number(value: object, low: float = -math.inf, high: float = math.inf) -> TypeGuard[float]:
    """Whether a value is a number within these bounds; True, False and NaN are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def is_text(value: object) -> bool:
    """Whether a value that its type says is a text is one: not every caller has a type checker."""
    return isinstance(value, str)


def json_fault(error: Exception) -> str:
    """Return what is wrong with a text or a value that Python cannot read or write as JSON.

    Of its depth and its numbers Python speaks of its own limits, which say nothing to whoever wrote the file.

    >>> json_fault(RecursionError("maximum recursion depth exceeded"))
    'it is nested too deeply to be read'
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply to be read"
    if str(error).startswith("Exceeds the limit ("):
        return "it holds a number with more digits than are read"
    return str(error)


def said_by(error: BaseException, texts: Iterable[str]) -> str:
    """Return what a foreign error says, its kind first; its kind alone where it repeats what it was given."""
    kind, words = type(error).__name__, str(error)
    for text in texts:
        pieces = (
            text[at : at + _REPEATED] for at in range(0, max(1, len(text) - _REPEATED + 1), _REPEATED // 2)
        )
        if any(len(piece) >= _TELLING and (piece in words or repr(piece)[1:-1] in words) for piece in pieces):
            return kind
    return f"{kind}: {words}" if words else kind


def quoted(value: object) -> str:
    """Return a value as it is written in Python, shortened within, also of one that Python refuses to write."""
    try:
        written = repr(value)
        return written if len(written) <= 80 else f"{written[:78]}…{written[-1]}"
    except (ValueError, RecursionError):
        return value_excerpt(value)


def value_excerpt(value: object) -> str:
    """Return the beginning of a value for a message, also of one that Python refuses to write."""
    try:
        return str(value)[:80]
    except ValueError:
        return f"{type(value).__name__} with a number too long to write"
    except RecursionError:
        return f"{type(value).__name__} that is nested too deep to write"


_TEXTS: Final = {"str": "a string", "str | None": "a string or None"}
_FLAGS: Final = {"bool": "True or False", "bool | None": "True, False or None"}
_PATHS: Final = frozenset({"str | Path", "Path | str", "str | Path | None"})
_FUNCTION: Final = "Callable["
_GIVEN: Final = re.compile(r"Callable\[\[(.*?)\], ")
"""What a function is called with, as its type says it."""
_OFTEN: Final = frozenset({"record", "record_many", "Hexad.remember"})
"""Calls whose arguments are checked where they are used: looking twice would take as long as a record."""

_Call = TypeVar("_Call", bound=Callable[..., Any])


def texts_checked(call: _Call) -> _Call:
    """Return a call that raises `InvalidInput`, naming the parameter, for what is no text, or neither True nor False,
    where its types want one; and what `flags_checked` refuses.
    """  # fmt: skip
    return _checked(call, {*_TEXTS, *_FLAGS})


def flags_checked(call: _Call) -> _Call:
    """Return a call that raises `InvalidInput`, naming the parameter, for what is neither True nor False, no path or no
    function where its types want that.
    """  # fmt: skip
    return _checked(call, _FLAGS)


def _checked(call: _Call, kinds: Collection[str]) -> _Call:
    parameters = inspect.signature(call).parameters.values()
    checked_parameters = [
        (at, parameter.name, str(parameter.annotation))
        for at, parameter in enumerate(parameters)
        if parameter.annotation in kinds
        or parameter.annotation in _PATHS
        or str(parameter.annotation).startswith(_FUNCTION)
    ]
    if not checked_parameters or _OFTEN & {call.__name__, call.__qualname__}:
        return call

    @functools.wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for at, what, kind in checked_parameters:
            if at < len(args):
                value = args[at]
            elif what in kwargs:
                value = kwargs[what]
            else:
                continue
            if value is None and kind.endswith("None"):
                continue
            if kind in _FLAGS:
                if not isinstance(value, bool):
                    raise InvalidInput(f"{what} must be {_FLAGS[kind]}, not {quoted(value)}.", argument=what)
            elif kind in _PATHS:
                parse_place(value, what)
            elif kind.startswith(_FUNCTION):
                require_function(value, what, given=_given_to(kind))
            elif not isinstance(value, str):
                raise InvalidInput(f"{what} must be {_TEXTS[kind]}, not {quoted(value)}.", argument=what)
        return call(*args, **kwargs)

    return cast("_Call", checked)


def _given_to(kind: str) -> tuple[str, ...] | None:
    """Return the types of what a function is called with, None where its own type does not say.

    >>> _given_to("Callable[[Progress, int], None] | None"), _given_to("Callable[..., object]")
    (('Progress', 'int'), None)
    """
    match = _GIVEN.match(kind)
    return None if match is None else tuple(filter(None, match[1].split(", ")))


def require_function(value: object, name: str, *, given: Collection[str] | None) -> None:
    """Raise `InvalidInput` naming `name` for what is no function, or none that can be called with what it is given."""
    if not callable(value):
        raise InvalidInput(f"{name} must be a function, not {quoted(value)}.", argument=name)
    if given is None:
        return
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # of some that are written in C nobody knows
        return
    try:
        signature.bind(*given)
    except TypeError as error:
        raise InvalidInput(
            f"{name} = {quoted(value)} cannot be called ({error}); give a function that takes ({', '.join(given)}).",
            argument=name,
        ) from None


_Kind = TypeVar("_Kind", bound=type)


def all_texts_checked(kind: _Kind) -> _Kind:
    """Return a class whose public calls, inherited ones too, are as `texts_checked` makes them."""
    return _all(kind, texts_checked)


def all_flags_checked(kind: _Kind) -> _Kind:
    """Return a class whose public calls, inherited ones too, are as `flags_checked` makes them."""
    return _all(kind, flags_checked)


def _all(kind: _Kind, made: Callable[[Any], Any]) -> _Kind:
    for called, call in inspect.getmembers(kind, inspect.isfunction):
        if not called.startswith("_"):
            setattr(kind, called, made(call))
    return kind


_NO_LISTS: Final = (str, bytes, bytearray, memoryview, Mapping, Set)
"""What can be gone through, and is no list of values in an order."""


@runtime_checkable
class _Array(Protocol):
    """What numpy, pandas and others keep values in."""

    def tolist(self) -> object:
        """Return the values as those of Python."""


def listed(values: object) -> Iterable[object] | None:
    """Return what can be gone through in an order; None for anything else.

    >>> listed([1, 2]), listed("12"), listed({1, 2}), listed(12)
    ([1, 2], None, None, None)
    """
    if type(values) in (list, tuple):
        return cast("Iterable[object]", values)
    if isinstance(values, _NO_LISTS):
        return None
    if isinstance(values, _Array):
        values = values.tolist()
    return values if isinstance(values, Iterable) else None


def real_number(value: object) -> float | None:
    """Return a real number as a float; None for anything else, and for one that is too large for a float.

    >>> real_number(3), real_number("3"), real_number(True)
    (3.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except (
        OverflowError,
        TypeError,
        ValueError,
    ):  # numpy calls a duration a number, and does not make it one
        return None


def whole_number(value: object) -> int | None:
    """Return a whole number as one of Python's; None for anything else, also for 2.0.

    >>> whole_number(3), whole_number(3.0), whole_number(True)
    (3, None, None)
    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def finite_numbers(vector: Iterable[float], name: str, *, most: int | None = None) -> list[float]:
    """Return the numbers of a vector.

    Raises `InvalidInput` for what is none, for values that are no finite numbers, and `LimitExceeded` for more than
    `most`.
    """
    values = listed(vector)
    if values is None:
        raise InvalidInput(f"{name} is no vector: it is {quoted(vector)}; give a list of numbers.")
    taken = list(values if most is None else islice(values, most + 1))
    # Most are lists of floats, and a walk that takes two milliseconds has no tenth of one for looking at each.
    if set(map(type, taken)) <= {float} and all(map(math.isfinite, cast("list[float]", taken))):
        return _few(cast("list[float]", taken), name, most)
    numbers = []
    for place, value in enumerate(taken):
        number = value if type(value) is float else real_number(value)
        if number is None and whole_number(value) is not None:
            raise InvalidInput(
                f"{name}[{place}] is {quoted(value)}, which is too large a number; divide all of its numbers alike."
            )
        if number is None:
            raise InvalidInput(
                f"{name} is no vector: its [{place}] is {quoted(value)}; give one list of numbers."
            )
        if not math.isfinite(number):
            raise InvalidInput(f"{name}[{place}] is {number}; a vector holds finite numbers.")
        numbers.append(number)
    return _few(numbers, name, most)


def _few(numbers: list[float], name: str, most: int | None) -> list[float]:
    if most is not None and len(numbers) > most:
        raise LimitExceeded(
            f"{name} has more than {most:,} numbers, the most that can be stored; give fewer."
        )
    return numbers


def parse_pairs(pairs: Iterable[object], name: str, *, of: str) -> list[tuple[object, object]]:
    """Return a list of pairs; raises `InvalidInput` for anything else, saying what a pair is made `of`."""
    values = listed(pairs)
    if values is None:
        raise InvalidInput(
            f"{name} = {quoted(pairs)} cannot be used; give a list of pairs ({of}).", argument=name
        )
    found_pairs = []
    for place, pair in enumerate(values):
        both = tuple(islice(listed(pair) or (), 3))
        if len(both) != 2:
            raise InvalidInput(f"{name}[{place}] = {quoted(pair)} is no pair; give two values ({of}).")
        found_pairs.append((both[0], both[1]))
    return found_pairs


def parse_count(value: int, name: str) -> int:
    """Return a whole number of at least 1; raises `InvalidInput`."""
    number = whole_number(value)
    return parse_whole(value if number is None else number, name, least=1)


def parse_share(value: float, name: str) -> float:
    """Return a number from 0 to 1; raises `InvalidInput`."""
    number = real_number(value)
    if number is None or not 0 <= number <= 1:
        raise InvalidInput(
            f"{name} = {quoted(value)} cannot be used; give a number from 0 to 1.", argument=name
        )
    return number + 0.0  # -0.0 is 0.0


def python_number(value: object) -> object:
    """Return the value of a rule as Python's own, where it is a number of another kind; the rules check the rest."""
    if isinstance(value, int | float):
        return value
    number = whole_number(value)
    other = real_number(value) if number is None else number
    return value if other is None else other
