"""What a store must hold, said by somebody who knows only what was called and what was answered.

Every fact has a name: a memory's id, or a session and a text that was recorded there. Writes have a beginning and, when they were
acknowledged, an end. What is read later is right when some order of the writes explains it: a write that ended before
another began stands before it. A write that never ended, since the power went or an error left it open, may have
happened or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final

ABSENT: Final = None
Value = str | None
"""A text; `archived(text)` for one that was forgotten and can be restored; None where there is nothing."""


def archived(text: str) -> str:
    return f"(archived) {text}"


def _shown(value: Value) -> str:
    return "nothing" if value is ABSENT else repr(value[:40])


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the store wrote by itself of what was recorded in a session."""

    session: str
    text: str


@dataclass(eq=False)
class Write:
    """A change of one fact, from the moment it was asked for."""

    value: Value
    begun: float
    ended: float = inf


@dataclass
class Model:
    """Every fact with what was done to it. `now` counts moments: it grows with every call and every answer."""

    facts: dict[str, list[Write]] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    """Words that stood only in what was erased for good."""
    known: set[tuple[str, Value]] = field(default_factory=set)
    """Everything that anybody ever wanted to write."""
    now: float = 0.0

    def _moment(self) -> float:
        self.now += 1
        return self.now

    def begin(self, name: str, value: Value) -> Write:
        """Note that a fact is about to be written."""
        write = Write(value, self._moment())
        self.known.add((name, value))
        self.facts.setdefault(name, []).append(write)
        return write

    def acknowledge(self, write: Write) -> None:
        """Note that a write was answered."""
        write.ended = self._moment()

    def withdraw(self, name: str, write: Write) -> None:
        """Note that a write was refused: it must have left nothing."""
        self.facts[name].remove(write)

    def values(self, name: str) -> set[Value]:
        """Return what may be there now."""
        writes = self.facts.get(name, [])
        certain = [write for write in writes if write.ended < inf]
        # What nobody began after it had ended: one of these is the last in every order.
        last = [
            write
            for write in writes
            if not any(other.begun > write.ended for other in certain) or write.ended == inf
        ]
        values = {write.value for write in last if write.ended == inf or write in certain}
        return values if certain else values | {ABSENT}

    def settled(self, name: str) -> Value:
        """Return what is there where only one value is possible; raises `LookupError` where that is open."""
        values = self.values(name)
        if len(values) > 1:
            raise LookupError(name)
        return next(iter(values))

    def erase(self, *words: str) -> None:
        """Note words that must not come back."""
        self.erased.update(words)

    def disagreements(self, held: Mapping[str, Value], summaries: Mapping[str, Summary]) -> list[str]:
        """Return in words where a store that holds this cannot be right."""
        wrong = [f"nobody wrote {name}: {_shown(held[name])}" for name in held if name not in self.facts]
        for name in self.facts:
            value, possible = held.get(name), self.values(name)
            if value not in possible:
                wrong.append(f"{name} is {_shown(value)}, not {' or '.join(sorted(map(_shown, possible)))}")
            if value is not None:
                wrong += [f"{word!r} was erased, and {name} has it" for word in self.erased if word in value]
        possible = ((name, value) for name in self.facts for value in self.values(name))
        return wrong + self._untold(summaries, possible)

    def inventions(self, held: Mapping[str, Value], summaries: Mapping[str, Summary]) -> list[str]:
        """Return in words what a store holds that nobody ever wrote, or that was erased: an older state has neither."""
        wrong = [
            f"nobody ever wrote {name} as {_shown(value)}"
            for name, value in held.items()
            if (name, value) not in self.known
        ]
        wrong += [
            f"{word!r} was erased, and is there"
            for word in self.erased
            if any(word in (value or "") for value in held.values())
        ]
        wrong += [
            f"{word!r} was erased, and the summary {id} has it"
            for word in self.erased
            for id, summary in summaries.items()
            if word in summary.text
        ]
        return wrong + self._untold(summaries, self.known)

    @staticmethod
    def _untold(summaries: Mapping[str, Summary], recorded: Iterable[tuple[str, Value]]) -> list[str]:
        """Return in words what summaries tell that is no word of what was recorded in their sessions; they may be cut."""
        words: dict[str, set[str]] = {}
        for name, value in recorded if summaries else ():
            words.setdefault(name.partition("/")[0], set()).update((value or "").split())
        return [
            f"nobody recorded {word!r} in {summary.session}, and its summary {id} has it"
            for id, summary in summaries.items()
            for word in summary.text.split()
            if not any(each.startswith(word.rstrip("…")) for each in words.get(summary.session, ()))
        ]

    def settle(self, held: Mapping[str, Value]) -> None:
        """Take what a store holds for what happened, from now on."""
        for name, writes in self.facts.items():
            now = self._moment()
            writes[:] = [Write(held.get(name), now, now)]


__all__ = ["ABSENT", "Model", "Summary", "Value", "Write", "archived"]
