"""What the documents link to is there: files, and headings of pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted(
    ROOT.glob("docs/*.md")
)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)
ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives a page's headings, and those it has written out."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    names: set[str] = set(ANCHOR.findall(text))
    for heading in HEADING.findall(text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while (name := slug if not number else f"{slug}-{number}") in names:
            number += 1
        names.add(name)
    return names


def broken_links(page: Path) -> list[str]:
    """Return the links of a page whose file or heading is not there."""
    broken: list[str] = []
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        other = (page.parent / file) if file else page
        if not other.exists() or (anchor and other.suffix == ".md" and anchor not in anchors(other)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert [] == broken_links(page)


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `word`\n\n[a](#one-word) [b](#two) [c](none.md) [d](page.md#one) [e](https://x.y)\n"
    )

    assert ["#two", "none.md", "page.md#one"] == broken_links(page)
