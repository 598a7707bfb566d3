"""Text cut into spans that an embedder can read whole: the chunks that full text and vectors index.

What a reader knows about a text's parts (headings, definitions, cells) is kept: tiny neighbours are merged,
large parts are cut at the best break near the middle of what is allowed. Everything runs in linear time, so
that a megabyte on a single line is no trap.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from hexad.errors import InvalidInput
from hexad.text.literals import TRAIL
from hexad.text.sections import Section

MAX_TOKENS: Final = 220
"""Default size of a chunk: the default embedder reads 256 word pieces, and a heading goes in front."""

# A character is a quarter of a token, as everywhere in Hexad. Word-piece vocabularies give each mark of
# punctuation and each ideograph a piece of its own, and cut other alphabets finely: counted so, 95 % of
# Python functions stay within 1.22 of the estimate, against 1.53 with a plain quarter.
_UNITS_PER_TOKEN: Final = 8
_PLAIN, _MARK, _ALPHABET, _IDEOGRAPH = 2, 5, 5, 8
_MARKS: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

_TINY_SHARE: Final = 4
"""A section under this part of a chunk is merged with its neighbour."""
_NAMES_IN_A_MERGED_HEADING: Final = 3

_PARAGRAPH: Final = re.compile(r"\n[ \t\r\f\v]*\n")
_LINE: Final = re.compile(r"\n")
_SENTENCE: Final = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？]")
_WORD: Final = re.compile(r"\s")
_BREAKS: Final = (_PARAGRAPH, _LINE, _SENTENCE, _WORD)


def chunk(
    text: str,
    *,
    sections: Sequence[Section] = (),
    max_tokens: int = MAX_TOKENS,
    overlap: int = 0,
    first_line: int = 1,
) -> list[Section]:
    """Return spans of `text`, in order, that hold every character that is not blank.

    Without `overlap` no two spans share a character; with it, each piece of a section that had to be cut
    begins up to that many tokens inside the piece before. A span never begins or ends inside what a reader
    sees as one character. It is at most `max_tokens` long by the estimate of `estimate_pieces`.
    `first_line` is the number of the text's first line in its source.

    Raises `InvalidInput` for sections that overlap, are out of order or lie outside the text, and for
    limits that leave no room.

    >>> [(s.first_line, s.heading) for s in chunk("One line.\\nAnd another.")]
    [(1, '')]
    """
    if max_tokens < 1 or not 0 <= overlap < max_tokens:
        raise InvalidInput(
            f"Chunks of {max_tokens} tokens with an overlap of {overlap} cannot be made. "
            "Give a size of at least 1 and a smaller overlap that is not negative."
        )
    if not sections and 0 < len(text) * _IDEOGRAPH <= max_tokens * _UNITS_PER_TOKEN and _is_one_line(text):
        return [Section(start=0, end=len(text), first_line=first_line, last_line=first_line)]
    lines = LineIndex(text, first_line=first_line)
    spans = _trimmed(text, _complete(text, sections))
    limit = max_tokens * _UNITS_PER_TOKEN
    if not sections and len(text) * _IDEOGRAPH <= limit:  # one piece, of whatever characters
        return [lines.section(span.start, span.end, span.heading) for span in spans]
    sizes = _Sizes(text)
    result: list[Section] = []
    for span in _merged(spans, sizes, limit=limit):
        for piece_start, piece_end in _pieces(
            text, sizes, span.start, span.end, limit=limit, overlap=overlap * _UNITS_PER_TOKEN
        ):
            result.append(lines.section(piece_start, piece_end, span.heading))
    return result


def _is_one_line(text: str) -> bool:
    """Whether a text is a line without blanks around it, which no character reaches beyond."""
    return "\n" not in text and not text[0].isspace() and not text[-1].isspace()


def estimate_pieces(text: str) -> int:
    """Return about how many word pieces `text` has: a quarter of its characters, more where it is dense."""
    return -(-sum(map(_units, text)) // _UNITS_PER_TOKEN)


class LineIndex:
    """From offsets in a text to line numbers and back; a line ends after `\\n`."""

    def __init__(self, text: str, *, first_line: int = 1) -> None:
        self._length = len(text)
        self._starts = [0, *(match.end() for match in _LINE.finditer(text))]
        self._first_line = first_line

    def number(self, offset: int) -> int:
        """Return the number of the line that holds `offset`."""
        return self._first_line + bisect_right(self._starts, offset) - 1

    def start(self, number: int) -> int:
        """Return where the line `number` begins; the text's end for a line past the last."""
        index = number - self._first_line
        return self._starts[index] if index < len(self._starts) else self._length

    def section(self, start: int, end: int, heading: str = "") -> Section:
        """Return the span from `start` to `end`, which is not empty, with its lines."""
        return Section(
            start=start,
            end=end,
            first_line=self.number(start),
            last_line=self.number(max(start, end - 1)),
            heading=heading,
        )


class _Sizes:
    """Sizes of spans in units, without walking them again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._totals = list(accumulate(map(_units, text), initial=0))

    def of(self, start: int, end: int) -> int:
        return self._totals[end] - self._totals[start]

    def reach(self, start: int, units: int) -> int:
        """Return the furthest end at which the span from `start` still has at most `units`."""
        return bisect_right(self._totals, self._totals[start] + units) - 1


def _units(char: str) -> int:
    code = ord(char)
    if code < 0x370:
        return _MARK if char in _MARKS else _PLAIN
    if code < 0x1100 or 0x2000 <= code < 0x2070:
        return _ALPHABET
    return _IDEOGRAPH


class _Span(NamedTuple):
    start: int
    end: int
    heading: str
    opens: bool = False


def _complete(text: str, sections: Sequence[Section]) -> Iterator[_Span]:
    """Give the sections and, without a heading, what lies between them."""
    at = 0
    for section in sections:
        if not at <= section.start <= section.end <= len(text):
            raise InvalidInput(
                f"The section {section.heading!r} at {section.start}:{section.end} overlaps the one before "
                f"it or leaves the text of {len(text)} characters. Give sections in order, without overlap."
            )
        if at < section.start:
            yield _Span(at, section.start, "")
        yield _Span(section.start, section.end, section.heading, section.opens)
        at = section.end
    if at < len(text):
        yield _Span(at, len(text), "")


def _trimmed(text: str, spans: Iterator[_Span]) -> Iterator[_Span]:
    for span in spans:
        start, end = _trim(text, span.start, span.end)
        if start < end:
            yield span._replace(start=start, end=end)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Take blank lines and trailing blanks off; the indentation of the first line stays."""
    body = text[start:end]
    first = start + len(body) - len(body.lstrip())
    last = start + len(body.rstrip())
    if first >= last:
        return start, start
    line_start = text.rfind("\n", start, first) + 1
    if line_start == 0:
        line_start = start if start == 0 or text[start - 1] == "\n" else first
    return _whole_characters(text, line_start, last, low=start, high=end)


def _whole_characters(text: str, start: int, end: int, *, low: int, high: int) -> tuple[int, int]:
    # A combining mark may stand on a blank: the blank then belongs to it.
    while low < start < len(text) and not is_boundary(text, start):
        start -= 1
    while end < high and not is_boundary(text, end):
        end += 1
    return start, end


def _merged(spans: Iterator[_Span], sizes: _Sizes, *, limit: int) -> Iterator[_Span]:
    """Join neighbours of which one is tiny, as long as they belong together and fit."""
    last: _Span | None = None
    names: list[str] = []
    for span in spans:
        if last is not None and _fits(last, span, sizes, limit=limit):
            last = last._replace(end=span.end)
            if not _is_inside(span.heading, last.heading):
                names.append(span.heading)
            continue
        if last is not None:
            yield last._replace(heading=_joint_heading(last.heading, names))
        last, names = span, []
    if last is not None:
        yield last._replace(heading=_joint_heading(last.heading, names))


def _fits(left: _Span, right: _Span, sizes: _Sizes, *, limit: int) -> bool:
    # What holds others is no part of what stands before it: a class is more than the imports above its first line.
    if right.opens or sizes.of(left.start, right.end) > limit:
        return False
    tiny = limit // _TINY_SHARE
    if sizes.of(left.start, left.end) > tiny and sizes.of(right.start, right.end) > tiny:
        return False
    return _is_inside(right.heading, left.heading) or _parent(left.heading) == _parent(right.heading)


def _is_inside(heading: str, outer: str) -> bool:
    return not heading or heading == outer or heading.startswith((outer + TRAIL, outer + "."))


def _parent(heading: str) -> str:
    if TRAIL in heading:
        return heading.rpartition(TRAIL)[0]
    # A definition: `Class.method(arguments)`; a dot among the arguments is none of its trail.
    name, parenthesis, _ = heading.partition("(")
    return name.rpartition(".")[0] if parenthesis and " " not in name else ""


def _joint_heading(first: str, others: Sequence[str]) -> str:
    parent = _parent(first)
    skip = len(parent) + len(TRAIL if TRAIL in first else ".") if parent else 0
    names = [name for name in dict.fromkeys([first, *(name[skip:] for name in others)]) if name]
    shown = names[:_NAMES_IN_A_MERGED_HEADING]
    return " · ".join(shown) + (" · …" if len(names) > len(shown) else "")


def _pieces(
    text: str, sizes: _Sizes, start: int, end: int, *, limit: int, overlap: int
) -> Iterator[tuple[int, int]]:
    """Cut one span at the best breaks: paragraph, line, sentence, word, character."""
    lead = start
    while sizes.of(lead, end) > limit:
        cut = _best_cut(text, sizes, lead, end, floor=start, limit=limit)
        if text[start:cut].strip():  # else it is only what the piece before it ends with
            yield _trim(text, lead, cut)
        start = cut
        lead = _step_back(text, sizes, cut, floor=lead, units=overlap) if overlap else cut
    piece_start, piece_end = _trim(text, lead, end)
    if text[start:end].strip():
        yield piece_start, piece_end


def _best_cut(text: str, sizes: _Sizes, lead: int, end: int, *, floor: int, limit: int) -> int:
    """Return where the piece that begins at `lead` ends: after `floor`, before `end`.

    Of two pieces' worth the half is aimed at, so that no stub stays behind; of more, the whole limit.
    """
    left = sizes.of(lead, end)
    high = min(sizes.reach(lead, limit), end - 1)
    goal = sizes.reach(lead, left // 2) if left < 2 * limit else high
    low = max(sizes.reach(lead, max(limit // 3, left - limit if left < 2 * limit else 0)), floor) + 1
    for pattern in _BREAKS:
        cuts = [match.end() for match in pattern.finditer(text, max(low - 2, lead), high)]
        cuts = [cut for cut in cuts if low <= cut <= high and is_boundary(text, cut)]
        if cuts:
            return min(cuts, key=lambda cut: abs(cut - goal))
    return _character_cut(text, max(goal, floor + 1), floor=floor, end=end)


def _character_cut(text: str, goal: int, *, floor: int, end: int) -> int:
    for cut in range(goal, floor, -1):
        if is_boundary(text, cut):
            return cut
    # One character fills the whole piece (marks upon marks). Past a second piece's worth it is an attack
    # rather than a character, and is cut anyway: a chunk without an end would be the greater harm.
    furthest = min(end, goal + max(goal - floor, 64))
    return next((cut for cut in range(goal + 1, furthest) if is_boundary(text, cut)), furthest)


def _step_back(text: str, sizes: _Sizes, cut: int, *, floor: int, units: int) -> int:
    """Return the first word's start at most `units` before `cut`, and after `floor`."""
    low = cut
    while low - 1 > floor and sizes.of(low - 1, cut) <= units:
        low -= 1
    match = _WORD.search(text, low, cut)
    return match.end() if match and is_boundary(text, match.end()) else cut


def is_boundary(text: str, offset: int) -> bool:
    """Say whether a reader sees one character end and another begin at `offset`.

    Follows the extended grapheme clusters of Unicode's annex 29 where it matters for a cut: line ends,
    combining marks, joiners, emoji modifiers and flags, Hangul syllables, and halves of surrogate pairs.
    """
    if offset <= 0 or offset >= len(text):
        return True
    before, after = text[offset - 1], text[offset]
    if before in "\r\n":
        return not (before == "\r" and after == "\n")
    if before < "\u0300" and after < "\u0300":
        return True
    return not (_extends(after) or _binds(before, after) or _splits_flag(text, offset))


def _extends(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata.category(char).startswith("M")
        or code in (0x200C, 0x200D)
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags, as in the flag of Scotland
    )


def _binds(before: str, after: str) -> bool:
    first, second = ord(before), ord(after)
    if first == 0x200D:
        return True
    if 0xD800 <= first <= 0xDBFF and 0xDC00 <= second <= 0xDFFF:
        return True
    return _binds_hangul(first, second)


def _binds_hangul(first: int, second: int) -> bool:
    if 0x1100 <= first <= 0x115F:
        return 0x1100 <= second <= 0x11A7 or 0xAC00 <= second <= 0xD7A3
    if 0x1160 <= first <= 0x11A7 or (0xAC00 <= first <= 0xD7A3 and (first - 0xAC00) % 28 == 0):
        return 0x1160 <= second <= 0x11FF
    return (0x11A8 <= first <= 0x11FF or 0xAC00 <= first <= 0xD7A3) and 0x11A8 <= second <= 0x11FF


_FLAG_LETTERS_LOOKED_AT: Final = 1_024


def _splits_flag(text: str, offset: int) -> bool:
    if not ("\U0001f1e6" <= text[offset] <= "\U0001f1ff"):
        return False
    run = 0
    at = offset - 1
    # Bounded, so that a megabyte of flags stays linear.
    while at >= 0 and run < _FLAG_LETTERS_LOOKED_AT and "\U0001f1e6" <= text[at] <= "\U0001f1ff":
        run, at = run + 1, at - 1
    return run % 2 == 1
