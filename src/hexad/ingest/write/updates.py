"""Which older memories a new one takes the place of by its words: looked for and linked as it is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Final

from hexad.core.audit_notes import AuditEvent, AuditSink
from hexad.core.erasure import masked_item
from hexad.core.json_types import JSONValue
from hexad.core.lazy import ByteCache
from hexad.database.codec import to_micros
from hexad.errors import Conflict
from hexad.memory.memory import BEGINNING_LIMIT, Memory, Status, SupersededMemory, Trust
from hexad.memory.store import Stores
from hexad.memory.tables.updates import SURE, OlderText, UpdateLink
from hexad.text.claims import english
from hexad.text.claims.compare import WEAK, Update, UpdateReason, update_of
from hexad.text.claims.endings import ending_of, endings_of
from hexad.text.claims.likelihood import Wording, pair_likelihood
from hexad.text.claims.reader import CHARACTERS_LIMIT, Claim, claims
from hexad.text.graphemes import beginning
from hexad.text.similarity.lookalikes import look_of_fact
from hexad.text.summary.sentences import iter_sentences

_CANDIDATES: Final = 12
"""So many of the newest memories that share the words of a claim are compared with it."""
_CLAIMS_BYTES: Final = 8 << 20
"""What some 1,000 turns of a conversation claim: each newer one is compared with up to 12 of them."""
_CLAIM_BYTES, _TOKEN_BYTES = 1_150, 330
"""What a claim and each of its words take; measured over turns, notes and facts, within 10 %."""
_TOPIC_WORDS: Final = 4
_SELDOM: Final = 0.05
"""Below this likelihood an update is only noted as a weak one: 8 of 172 on the development half."""


class UpdateLinker:
    """Links a memory to those of its space that say something else of the same; in the caller's transaction."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        # Of one store, and gone with it: what a project says is kept by nothing that another one uses too.
        cache = ByteCache[str, tuple[Claim, ...]](_CLAIMS_BYTES, _size_of_claims)
        stores.db.caches.add("claims", cache)
        self._claims = cache.remembering(claims)

    def read_ahead(self, text: str) -> None:
        """Read what a text claims while nobody waits: `link`, which is called in a transaction, has it read then."""
        self._claims(text)

    def link(
        self,
        no: int,
        memory: Memory,
        *,
        space_no: int,
        changed: bool,
        now: datetime,
        sources: Collection[str] = (),
    ) -> list[SupersededMemory]:
        """Link memory `no`, which stands in no index yet; returns those that it surely takes the place of.

        `sources` are ids of what it was made of: it says the same as they do, and what they supersede is told of them.

        A later text counts against an earlier one, whichever is written first, where it is trusted as much.
        """
        if changed:
            self._stores.updates.drop(no)
        since = memory.valid_from or memory.created_at
        if memory.status is not Status.ACTIVE or since > now or not _is_plain(memory):
            return []
        mine = self._claims(memory.raw)
        if not mine:
            return []
        order, over, rank = (to_micros(since), no), endings_of(mine), memory.trust.rank
        replaced: list[SupersededMemory] = []
        links: list[UpdateLink] = []
        for other in self._older(mine, no, space_no=space_no):
            if other.id in sources:
                continue
            later = (other.happened_at, other.no) < order
            if (rank < other.trust.rank) if later else (other.trust.rank < rank):
                continue
            theirs = self._claims(other.text)
            update = update_of(theirs, mine, over=over) if later else update_of(mine, theirs)
            if update is None:
                continue
            texts = (other.text, memory.raw) if later else (memory.raw, other.text)
            if (other.is_turn if later else memory.turn is not None) and _has_sentences(texts[0]):
                continue  # the rest of such a turn still holds; what it says of this is a memory beside it
            newer = mine if later else theirs
            if (
                update.confidence >= SURE
                and not _tells_change(update, texts, newer)
                and _differ_too_much(*texts)
            ):
                update = update._replace(confidence=WEAK)
            old, new = (other.no, no) if later else (no, other.no)
            link = UpdateLink(old, new, update.reason.value, update.confidence)
            if not changed:
                links.append(link)
            elif not self._stores.updates.put(link, at=memory.updated_at):
                continue
            if later and update.confidence >= SURE and not self._is_said(other.no, sources):
                text = beginning(other.text, BEGINNING_LIMIT)
                replaced.append(SupersededMemory(id=other.id, text=text, confidence=update.confidence))
        self._stores.updates.put_new(links, at=memory.updated_at)
        return replaced

    def _is_said(self, old: int, sources: Collection[str]) -> bool:
        """Whether one of the sources surely takes the place of that memory itself."""
        if not sources:
            return False
        newer = [
            link.new for link in self._stores.updates.of([old]) if link.old == old and link.confidence >= SURE
        ]
        return any(memory.id in sources for memory in self._stores.memories.by_no(newer).values())

    def revive(self, no: int, *, trust: Trust, since: datetime, now: datetime) -> list[SupersededMemory]:
        """Put memory `no`, said again, back in the place of what surely took its own; returns what it supersedes.

        What is trusted more keeps the place, and so does what began to hold after `since`.
        """
        links = [link for link in self._stores.updates.of([no]) if link.confidence >= SURE and link.new != no]
        memories = self._stores.memories.by_no({link.new for link in links})
        replaced: list[SupersededMemory] = []
        for other_no, other in memories.items():
            if trust.rank < other.trust.rank or (other.valid_from or other.created_at) > since:
                continue
            self._stores.updates.revive(new=no, old=other_no, at=now)
            text = beginning(other.raw, BEGINNING_LIMIT)
            replaced.append(SupersededMemory(id=other.id, text=text, confidence=1.0))
        return replaced

    def successor(self, no: int) -> Memory | None:
        """Return what surely took the place of memory `no`: of a chain the last; None where it stands."""
        links = [link for link in self._stores.updates.of([no]) if link.confidence >= SURE]
        last = {link.new for link in links} - {link.old for link in links}
        memories = self._stores.memories.by_no(last)
        return max(memories.values(), key=lambda memory: memory.created_at, default=None)

    def _older(self, mine: Sequence[Claim], no: int, *, space_no: int) -> Iterator[OlderText]:
        seen = {no}
        for match in dict.fromkeys(match for claim in mine for match in _matches(claim)):
            for text in self._stores.updates.texts(
                match, space_no=space_no, characters=CHARACTERS_LIMIT, limit=_CANDIDATES
            ):
                if text.no not in seen:
                    seen.add(text.no)
                    yield text


class UpdateJudge:
    """Lets somebody say whether a text takes the place of another, and notes it for the ledger."""

    def __init__(self, stores: Stores, audit: AuditSink, *, salt: Callable[[], bytes]) -> None:
        self._stores, self._audit, self._salt = stores, audit, salt

    def confirm(self, new: int, old: int, *, at: datetime) -> None:
        """Store that one memory takes the place of another. Raises `Conflict` where that is trusted more."""
        memories = self._stores.memories.by_no([new, old])
        if memories[new].trust.rank < memories[old].trust.rank:
            raise Conflict(
                f"Memory {memories[new].id!r} is trusted less ({memories[new].trust}) than {memories[old].id!r} "
                f"({memories[old].trust}), and so does not supersede it. Remember what holds now yourself."
            )
        self._stores.updates.confirm(new=new, old=old, at=at)
        self._note("confirmed", new, old, at)

    def reject(self, new: int, old: int, *, at: datetime) -> bool:
        """Take the link away for good, and those of what was made of the newer; False where there is none."""
        made = self._stores.derivations.derived([self._stores.memories.by_no([new])[new].id])
        rejected = [
            no for no in [new, *made] if no != old and self._stores.updates.reject(new=no, old=old, at=at)
        ]
        for no in rejected:
            self._note("rejected", no, old, at)
        return bool(rejected)

    def _note(self, verdict: str, new: int, old: int, at: datetime) -> None:
        memories, salt = self._stores.memories.by_no([new, old]), self._salt()
        detail: dict[str, JSONValue] = {
            "memory": masked_item(salt, memories[new].id),
            "supersedes": masked_item(salt, memories[old].id),
            "space": memories[new].space,
        }
        self._audit.record(AuditEvent(what=f"update_{verdict}", at=at, detail=detail))


def _size_of_claims(found: Sequence[Claim]) -> int:
    """Return about how many bytes they take."""
    return sum(_CLAIM_BYTES + _TOKEN_BYTES * len(claim.tokens) for claim in found)


def _tells_change(update: Update, texts: tuple[str, str], newer: Sequence[Claim]) -> bool:
    """Whether of two texts of one sentence the newer says itself that it was otherwise before, however they differ."""
    if any(map(_has_sentences, texts)):
        return False
    if update.reason is not UpdateReason.VALUE:
        return True
    return any(claim.verb in english.CHANGE and claim.preposition == "to" for claim in newer)


def _has_sentences(text: str) -> bool:
    """Whether a text has more than one sentence."""
    return len(list(islice(iter_sentences(text), 2))) > 1


def _differ_too_much(older: str, newer: str) -> bool:
    """Whether two texts differ in a way in which updates seldom do, whatever their clauses say."""
    return pair_likelihood(Wording(older), Wording(newer)) < _SELDOM


def _is_plain(memory: Memory) -> bool:
    return memory.source is None and look_of_fact(memory.subject, memory.attribute) is None


def _matches(claim: Claim) -> Iterator[str]:
    """Yield FTS5 expressions for texts that may speak of the same: words of its topic, two of them where there are."""
    if (over := ending_of(claim)) is not None and over.words:
        yield " AND ".join(map(_quoted, over.words))
    if claim.verb in english.OVER_VERBS and not (claim.value or claim.former):
        return
    topic = list(dict.fromkeys(t.low for t in claim.tokens if t.content and t.stem in claim.topic))
    if not claim.subject:
        topic += [word for word in dict.fromkeys(claim.before) if word not in topic]
    if not topic and (claim.negative or any(token.number for token in claim.value)):
        # What is denied of who speaks, or the version of what is named.
        topic = list(dict.fromkeys(token.low for token in claim.value if not token.number))
    words = list(map(_quoted, topic[:_TOPIC_WORDS]))
    pairs = _any_two(words)
    relation = next((verbs for verbs in english.RELATIONS.values() if claim.verb in verbs), None)
    subject = [t.low for t in claim.tokens if t.content and t.stem in claim.subject]
    if pairs:
        yield " OR ".join(pairs)
    if relation is not None and (not pairs or (len(subject) == 1 and claim.changes and claim.qualifiers)):
        verbs = " OR ".join(map(_quoted, sorted(relation)))
        who = subject if pairs else topic[:1]  # "Bob moved to Berlin for work": of what he does, not of work
        yield f"{_quoted(who[0])} AND ({verbs})" if who else verbs
    if topic and not pairs:
        yield _quoted(topic[0])
    for former in filter(None, claim.former_words):
        yield " AND ".join(map(_quoted, former))


def _any_two(words: Sequence[str]) -> list[str]:
    """Return alternatives for texts with two of at most four words; none for fewer words.

    Each word is named as seldom as can be: a name opens its list in every part of the index.
    """
    half = len(words) // 2
    if half > 1:
        front, back = words[:half], words[half:]
        both = f"({' OR '.join(front)}) AND ({' OR '.join(back)})"
        return [f"({both})", *_any_two(front), *_any_two(back)]
    return [f"({word} AND ({' OR '.join(words[at:])}))" for at, word in enumerate(words[:-1], start=1)]


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
