"""What was and what may be, beside what is: which of the two a question about now has first, and which one about them.

`python -m benchmarks.plain_tenses` prints the shares of the development half and what is wrong in it, `unseen` the
shares of the other half alone. Each record is asked twice, with what does not hold written after and before what does.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.halves import DEVELOPMENT, UNSEEN, records
from hexad import Hexad, Hit

UPDATE: Final = "update"
"""The kind of records whose newer text holds, though it has words of the others."""
_APART_SECONDS: Final = 3600.0
_BESIDE: Final = 2
"""So many current texts of other records stand in the same space."""


class Judge:
    """Asks the records of one half, each in spaces of its own, and counts what comes first."""

    def __init__(self, hx: Hexad, half: str) -> None:
        self._hx = hx
        self.half = half
        self.counts: Counter[tuple[str, str]] = Counter()
        self.wrong: list[tuple[str, ...]] = []

    def run(self) -> None:
        """Write all records, embed them, and ask."""
        asked = list(self._written(records("plain_tenses", self.half)))
        self._hx.embed_pending()
        self._hx.maintain()
        for record, space, roles in asked:
            if record["kind"] == UPDATE:
                self._ask_update(record, space, roles)
            else:
                self._ask(record, space, roles)

    def _written(
        self, data: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[dict[str, Any], str, dict[str, str]]]:
        for at, record in enumerate(data):
            beside = [data[(at + step) % len(data)]["current"] for step in range(1, _BESIDE + 1)]
            names = ("old", "current") if record["kind"] == UPDATE else ("current", "other")
            orders = [names] if record["kind"] == UPDATE else [names, names[::-1]]
            for order in orders:
                space = f"{record['id']}-{order[-1]}-last"
                roles = {self._write(record[name], space): name for name in order}
                roles |= {self._write(text, space): "beside" for text in beside}
                yield record, space, roles

    def _write(self, text: str, space: str) -> str:
        clock = self._hx.clock
        assert isinstance(clock, hexad.FrozenClock)
        clock.advance(seconds=_APART_SECONDS)
        return self._hx.remember(text, space=space).id

    def _ask_update(self, record: dict[str, Any], space: str, roles: dict[str, str]) -> None:
        hits = {roles[hit.id]: hit for hit in self._hx.recall(record["question"], space=space, limit=5)}
        order = list(hits)
        self._note("current first", order[:1] == ["current"], record, "question", order)
        self._note("current before old", _is_before(order, "current", "old"), record, "question", order)
        self._note("current not marked", not _is_marked(hits.get("current")), record, "question", order)

    def _ask(self, record: dict[str, Any], space: str, roles: dict[str, str]) -> None:
        hits = {roles[hit.id]: hit for hit in self._hx.recall(record["question"], space=space, limit=5)}
        when = "other newer" if space.endswith("other-last") else "other older"
        order = list(hits)
        self._note(f"current first, {when}", order[:1] == ["current"], record, "question", order)
        before = _is_before(order, "current", "other")
        self._note(f"current before other, {when}", before, record, "question", order)
        self._note("other marked", _is_marked(hits.get("other")), record, "question", order)
        self._note("current not marked", not _is_marked(hits.get("current")), record, "question", order)
        current = hits.get("current")
        kept = current is None or current.superseded_by is None
        self._note("current not superseded", kept, record, "question", order)
        order = [roles[hit.id] for hit in self._hx.recall(record["about"], space=space, limit=5)]
        self._note(f"asked for the other: first, {when}", order[:1] == ["other"], record, "about", order)

    def _note(
        self, what: str, is_right: bool, record: dict[str, Any], asked: str, order: Sequence[str]
    ) -> None:
        self.counts[record["kind"], what] += is_right
        self.counts[record["kind"], f"{what}, of"] += 1
        if not is_right:
            texts = (record.get("other") or record["old"], record["current"], record[asked])
            self.wrong.append((what, record["kind"], record["id"], *texts, " ".join(order)))


def _is_before(order: Sequence[str], first: str, second: str) -> bool:
    return first in order and second not in order[: order.index(first)]


def _is_marked(hit: Hit | None) -> bool:
    return hit is not None and (getattr(hit, "assertion", None) is not None or hit.superseded_by is not None)


def main() -> int:
    """Print the shares of one half; of the development half also what is wrong."""
    half = UNSEEN if sys.argv[1:] == [UNSEEN] else DEVELOPMENT
    with tempfile.TemporaryDirectory(prefix="hexad-plain-tenses-") as work:
        folder = Path(work)
        clock = hexad.FrozenClock()
        with hexad.open(folder, clock=clock, background=False, user_dir=folder / "user") as hx:
            judge = Judge(hx, half)
            judge.run()
    for kind, what in sorted(judge.counts):
        if not what.endswith(", of"):
            print(
                f"{half}\t{kind}\t{what}\t{judge.counts[kind, what]} of {judge.counts[kind, what + ', of']}"
            )
    if half == DEVELOPMENT:
        for line in judge.wrong:
            print("\t".join(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
