"""`MEMORY.md`: its bullets and paragraphs, and the folder where an agent keeps an index with a file for each fact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.errors import InvalidInput
from hexad.ingest.imports.records import LEADS_OUT, Placed, leads_out, origin_of, refuse, short_hash
from hexad.ingest.sources.decode import decoded
from hexad.ingest.sources.file_place import memory_path
from hexad.ingest.sources.files import NOT_READABLE
from hexad.ingest.sources.formats.frontmatter import read_front_matter
from hexad.memory.source import ImportedFields, Item, Skip
from hexad.text.normalize import clean, fold, slug

FORMAT: Final = "memory-md"
INDEX: Final = "MEMORY.md"
_FILE_BYTES: Final = 1 << 20
_HEADING: Final = lazy_pattern(r"(#{1,6})[ \t]+(.*)$")
_BULLET: Final = lazy_pattern(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$")
_FENCE: Final = lazy_pattern(r"[ \t]*(`{3,}|~{3,})")
_RULER: Final = lazy_pattern(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_POINTER: Final = lazy_pattern(
    r"\[([^\[\]]{1,200})\]\(([^()\s]{1,300}\.md)\)[ \t]*(?:[-:\u2013\u2014]+[ \t]*(.*))?$", re.DOTALL
)
_KEY: Final = lazy_pattern(r"(?:\*\*|__)?([^*_:`\n]{1,60}?)(?:\*\*|__)?[ \t]*:(?:\*\*|__)?(?=\s|$)")
_FIELD: Final = lazy_pattern(r"[ \t]*([A-Za-z][\w-]{0,40})[ \t]*:[ \t]*(.*)$")
_WIKI: Final = lazy_pattern(r"\[\[([^\[\]|#\n]{1,200})(?:[|#][^\[\]\n]{0,200})?\]\]")


@dataclass(slots=True)
class _Block:
    """Some lines that belong together, below a trail of headings; `first` is the line where they begin."""

    trail: tuple[str, ...]
    first: int
    lines: list[str] = field(default_factory=list)
    bullet: bool = False

    @property
    def text(self) -> str:
        return clean("\n".join(self.lines)).strip()


def read_memory_md(path: Path) -> Iterator[Placed | Skip]:
    """Give each bullet and paragraph of a file; of a folder also the files, one fact each where they say so."""
    if path.is_file():
        yield from _plain(path, path.name)
        return
    if not (path / INDEX).is_file():
        refuse(path, "a folder of memories", f"there is no {INDEX} in it")
    if leads_out(path / INDEX, path):
        raise InvalidInput(
            f"{str(path / INDEX)!r} is a link that leads out of its folder; name the file itself."
        )
    paths = {
        file.relative_to(path).as_posix(): file
        for file in sorted(path.rglob("*.md"))
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
    }
    files = {name: file for name, file in paths.items() if not leads_out(file, path)}
    yield from (Skip(source_id=name, reason=LEADS_OUT) for name in paths if name not in files)
    pointers: dict[str, str] = {}
    for note in _notes(files[INDEX], INDEX, files):
        if isinstance(note, _Pointer):
            pointers[note.file] = note.text
        else:
            yield note
    for name, file in files.items():
        if name != INDEX:
            yield from _file(file, name, pointers.get(name, ""))


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A line of the index: the file, and what the index says of it."""

    file: str
    text: str


def _text(path: Path, name: str) -> str | Skip:
    try:
        if path.stat().st_size > _FILE_BYTES:
            return Skip(
                source_id=name,
                reason=f"{NOT_READABLE}: it has more than {_FILE_BYTES:,} bytes; ingest it as a file",
            )
        text = decoded(path.read_bytes())
        return Skip(source_id=name, reason=f"{NOT_READABLE}: it is no text") if text is None else clean(text)
    except OSError as error:
        return Skip(source_id=name, reason=f"{NOT_READABLE}: {error.strerror}")


def _notes(path: Path, name: str, files: Mapping[str, Path]) -> Iterator[Placed | Skip | _Pointer]:
    """Give the bullets and paragraphs of a file; of an index, its pointers to `files` are no items."""
    text = _text(path, name)
    if isinstance(text, Skip):
        if not files:
            raise InvalidInput(f"{str(path)!r} is {text.reason}.")
        yield text
        return
    lines = text.split("\n")
    front = read_front_matter(lines)
    used: dict[str, int] = {}
    for block in _blocks(lines, front.lines if front is not None else 0):
        where = f"{name}, line {block.first}"
        pointer = _POINTER.match(block.text) if block.bullet and files else None
        if pointer is not None and pointer[2].removeprefix("./") in files:
            yield _Pointer(pointer[2].removeprefix("./"), (pointer[3] or "").strip())
            continue
        if pointer is not None:
            yield Skip(
                source_id=where,
                reason=f"{where}: there is no file {pointer[2]!r}; its line is kept as a note",
            )
        original = "/".join((name, *(slug(title) or "-" for title in block.trail), _key(block.text)))
        used[original] = used.get(original, 0) + 1
        if used[original] > 1:
            original += f"-{used[original]}"
        yield where, _item(original, block, name)


def _plain(path: Path, name: str) -> Iterator[Placed | Skip]:
    """Give the notes of a file that is no index."""
    for note in _notes(path, name, {}):
        assert not isinstance(note, _Pointer)  # without `files` there are none
        yield note


def _item(original: str, block: _Block, name: str) -> Item:
    title = " > ".join(block.trail)
    record = {"file": name, "heading": title}
    return Item(
        source_id=original,
        text=block.text,
        path=memory_path(Path(name).stem, *block.trail),
        title=title[:200] or None,
        first_line=block.first,
        metadata=origin_of(FORMAT, original, record, ("file", "heading")),
    )


def _key(text: str) -> str:
    """Return by what a note is known when its words change: its key where it has one (`Database: …`)."""
    match = _KEY.match(text)
    key = slug(match[1]) if match is not None and "//" not in text[: match.end() + 2] else ""
    return key or short_hash(fold(text))


def _blocks(lines: Sequence[str], begin: int) -> Iterator[_Block]:
    """Give bullets with all that is indented below them, and paragraphs; code belongs to what it follows."""
    trail: list[tuple[int, str]] = []
    block: _Block | None = None
    fence = ""
    commented = _without_comments(lines)
    for number in range(begin, len(commented)):
        line = commented[number]
        mark = _FENCE.match(line)
        if fence or mark is not None:
            if mark is not None:
                fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            block = block or _Block(tuple(title for _, title in trail), number + 1)
            block.lines.append(line)
            continue
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        inside = block is not None and block.bullet and line[:1] in (" ", "\t")
        ends = (
            heading is not None
            or _RULER.match(line) is not None
            or (not line.strip() and not _goes_on(block, commented, number))
        )
        if block is not None and (ends or (bullet is not None and not inside)):
            if block.text:
                yield block
            block = None
        if heading is not None:
            depth = len(heading[1])
            trail = [entry for entry in trail if entry[0] < depth] + [
                (depth, heading[2].rstrip(" \t#").strip())
            ]
        elif ends:
            continue
        elif bullet is not None and not inside:
            block = _Block(tuple(title for _, title in trail), number + 1, [bullet[2]], bullet=True)
        else:
            block = block or _Block(tuple(title for _, title in trail), number + 1)
            block.lines.append(line)
    if block is not None and block.text:
        yield block


def _goes_on(block: _Block | None, lines: Sequence[str], number: int) -> bool:
    """Whether after a blank line comes more of the same: what is indented below a bullet, or code after a colon."""
    following = next((line for line in lines[number + 1 : number + 3] if line.strip()), "")
    if block is None:
        return False
    return (block.bullet and following[:1] in (" ", "\t")) or (
        block.lines[-1].rstrip().endswith(":") and _FENCE.match(following) is not None
    )


def _without_comments(lines: Sequence[str]) -> list[str]:
    """Return the lines with comments blanked, each on the line where it was; one that never ends is none."""
    text, at = "\n".join(lines), 0
    kept: list[str] = []
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 3
    return "".join([*kept, text[at:]]).split("\n")


def _file(path: Path, name: str, pointed: str) -> Iterator[Placed | Skip]:
    """Give a file of the folder: with front matter it is one memory, without it notes like the index."""
    text = _text(path, name)
    if isinstance(text, Skip):
        yield text
        return
    lines = text.split("\n")
    front = read_front_matter(lines)
    if front is None:
        yield from _plain(path, name)
        return
    fields = {
        match[1].lower(): match[2].strip().strip("\"'")
        for line in lines[1 : front.lines - 1]
        if (match := _FIELD.match(line)) and match[2].strip()
    }
    body = clean("\n".join(lines[front.lines :])).strip()
    title = fields.get("name") or front.title or path.stem
    if not body:
        body = fields.get("description") or pointed
    if not body:
        yield Skip(source_id=name, reason="it has no text below its front matter")
        return
    record = {**fields, "file": name, "index": pointed}
    kind = slug(fields.get("type", ""))
    item = Item(
        source_id=name,
        text=body,
        path=memory_path("memory", path.stem),
        title=title[:200],
        time=front.time,
        tags=tuple(tag for tag in map(slug, front.tags) if tag),
        first_line=front.lines + 1,
        metadata=origin_of(FORMAT, name, record, ("file", "index", "name", "description", "type")),
        claim=ImportedFields(links=tuple(_links(body, name))),
    )
    yield name, (replace(item, kind=kind) if kind else item)


def _links(body: str, name: str) -> Iterator[tuple[str, str]]:
    """Give the links of a file to others of its folder, by their names."""
    for target in dict.fromkeys(match[1].strip() for match in _WIKI.finditer(body)):
        file = target if target.endswith(".md") else f"{target}.md"
        if file != name:
            yield "related", file
