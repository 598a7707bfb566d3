"""HTML as text: what a reader of the page would see, on the lines where it stands in the source."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser
from typing import Final

from hexad.ingest.sources.formats.parsed import Parsed
from hexad.text.chunking import LineIndex
from hexad.text.literals import TRAIL
from hexad.text.normalize import clean

_UNSEEN: Final = frozenset(["script", "style", "template", "noscript", "svg", "iframe", "object"])
_INLINE: Final = frozenset(
    [
        *(
            "a",
            "abbr",
            "b",
            "bdi",
            "bdo",
            "cite",
            "code",
            "em",
            "i",
            "kbd",
            "mark",
            "q",
            "s",
            "samp",
            "small",
        ),
        *("span", "strong", "sub", "sup", "u", "var"),
    ]
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}


def parse_html(text: str) -> Parsed:
    """Return the page's text with its headings' sections and its title.

    Line ends are the source's own, so that line numbers hold; tags become blanks, and scripts and styles
    nothing at all. Broken markup is read as a browser would: what is no tag is text.
    """
    reader = _HtmlReader()
    try:
        # Behind the last > there is no tag. The parser would look for the end of each, as often as one begins.
        end = text.rfind(">") + 1
        reader.feed(text[:end])
        reader.close()
        if reader.cdata_elem is None:
            reader.handle_data(unescape(text[end:]))
    except AssertionError:
        # The parser's own word for a declaration such as `<![x` that it does not know.
        return Parsed(text=text)
    seen = clean("".join(reader.pieces))
    index = LineIndex(seen)
    starts = [min(start, len(seen)) for _, _, start in reader.headings]
    sections = (
        [index.section(0, starts[0] if starts else len(seen))] if seen and (starts or [1])[0] > 0 else []
    )
    trail: list[tuple[int, str]] = []
    for (level, words, _), start, end in zip(reader.headings, starts, [*starts, len(seen)][1:], strict=True):
        while trail and trail[-1][0] >= level:
            trail.pop()
        trail.append((level, words))
        if start < end:
            sections.append(index.section(start, end, TRAIL.join(name for _, name in trail if name)))
    title = " ".join("".join(reader.title).split())[:200]
    return Parsed(text=seen, sections=tuple(sections), title=title or None)


class _HtmlReader(HTMLParser):
    """Collects the text that is seen; `headings` holds (level, words, offset)."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title: list[str] = []
        self.headings: list[tuple[int, str, int]] = []
        self._length = 0
        self._lines = 1
        self._unseen: list[str] = []
        self._in_title = False
        self._heading: tuple[int, int, int] | None = None
        self._open_comment: tuple[str, int] | None = None

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Return where a comment ends, -1 where none does: behind the first one without an end no other has one."""
        if (
            self._open_comment is not None
            and self._open_comment[0] is self.rawdata
            and i > self._open_comment[1]
        ):
            return -1
        end: int = super().parse_comment(i, report)
        if end < 0:
            self._open_comment = (self.rawdata, i)
        return end

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Note where headings begin and what is unseen."""
        self._catch_up()
        if tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag == "title":
            self._in_title = True
        elif tag in _HEADINGS and not self._unseen:
            self._close_heading()
            self._break()
            self._heading = (_HEADINGS[tag], len(self.pieces), self._length)
        elif tag not in _INLINE:
            self._break()

    def handle_endtag(self, tag: str) -> None:
        """Note where headings and what is unseen end."""
        if self._unseen:
            if tag in self._unseen:
                del self._unseen[self._unseen.index(tag) :]
        elif tag == "title":
            self._in_title = False
        elif tag in _HEADINGS:
            self._close_heading()
        if tag not in _INLINE:
            self._break()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Take `<br/>` for a blank; an unseen element that is closed at once hides nothing."""
        self._catch_up()
        self._break()

    def handle_data(self, data: str) -> None:
        """Keep text that is seen."""
        if self._in_title:
            self.title.append(data)
        elif not self._unseen:
            self._catch_up()
            self._put(data)

    def _catch_up(self) -> None:
        # Tags, scripts and comments took lines of the source: give them back, empty.
        behind = self.getpos()[0] - self._lines
        if behind > 0:
            self._put("\n" * behind)

    def _break(self) -> None:
        if self.pieces and not self.pieces[-1][-1:].isspace():
            self._put(" ")

    def _put(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            self._length += len(text)
            self._lines += text.count("\n")

    def _close_heading(self) -> None:
        if self._heading is not None:
            level, piece, offset = self._heading
            words = " ".join("".join(self.pieces[piece:]).split())[:120]
            self.headings.append((level, words, offset))
            self._heading = None
