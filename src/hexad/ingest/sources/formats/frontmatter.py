"""Front matter: what a Markdown file says about itself in its first lines, as YAML or TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from hexad.core.arguments import read_toml
from hexad.ingest.sources.timestamps import read_time

_LINES_LIMIT: Final = 200
_KEY: Final = re.compile(r"([A-Za-z][\w -]{0,60}?)[ \t]*:(?:[ \t]+(.*))?$")

_Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What front matter says; `lines` is how many lines it takes, its fences included."""

    lines: int
    title: str | None
    time: datetime | None
    tags: tuple[str, ...]


def read_front_matter(lines: Sequence[str]) -> FrontMatter | None:
    """Return the front matter that the lines begin with; None when there is none, or it is never closed.

    Of YAML the flat part is read: `key: value`, `[a, b]` and lists of `- a`. That is what front matter holds.
    """
    fence = lines[0].rstrip() if lines else ""
    if fence not in ("---", "+++"):
        return None
    closing = ("---", "...") if fence == "---" else ("+++",)
    for end in range(1, min(len(lines), _LINES_LIMIT)):
        if lines[end].rstrip() in closing:
            break
    else:
        return None
    body = lines[1:end]
    fields = _yaml(body) if fence == "---" else _toml(body)
    if fields is None:
        return None
    return FrontMatter(lines=end + 1, title=_title(fields), time=_time(fields), tags=_tags(fields))


def _toml(body: Sequence[str]) -> _Fields | None:
    try:
        return read_toml("\n".join(body))
    except ValueError:
        return None


def _yaml(body: Sequence[str]) -> _Fields | None:
    """Return the fields; None when a line at the margin is no field: then `---` was a ruler."""
    fields: dict[str, object] = {}
    key = ""
    for line in body:
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if bare.startswith("- ") and key:
            value = fields.get(key)
            fields[key] = [*(value if isinstance(value, list) else []), _scalar(bare[2:])]
        elif not line[0].isspace():
            match = _KEY.match(bare)
            if match is None:
                return None
            key = match[1].lower()
            fields[key] = _value(match[2] or "")
    return fields


def _value(text: str) -> object:
    bare = text.strip()
    if bare.startswith("[") and bare.endswith("]"):
        return [_scalar(part) for part in bare[1:-1].split(",") if part.strip()]
    return _scalar(bare)


def _scalar(text: str) -> str:
    bare = text.strip()
    if len(bare) >= 2 and bare[0] == bare[-1] and bare[0] in "\"'":
        return bare[1:-1]
    return bare.partition(" #")[0].rstrip()


def _title(fields: _Fields) -> str | None:
    title = fields.get("title")
    return title.strip()[:200] or None if isinstance(title, str) else None


def _time(fields: _Fields) -> datetime | None:
    for name in ("date", "created", "published", "updated"):
        value = fields.get(name)
        if isinstance(value, date):  # a datetime is one too; TOML has both
            return read_time(value.isoformat())
        if isinstance(value, str) and (time := read_time(value)) is not None:
            return time
    return None


def _tags(fields: _Fields) -> tuple[str, ...]:
    tags: list[str] = []
    for name in ("tags", "keywords", "categories"):
        value = fields.get(name)
        if isinstance(value, str):
            tags.extend(re.split(r"[,;]", value) if "," in value or ";" in value else value.split())
        elif isinstance(value, list):
            tags.extend(each for each in value if isinstance(each, str))
    return tuple(tag.strip() for tag in tags if tag.strip())
