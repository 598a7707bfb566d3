"""What each tool does: one call of the library, its answer as JSON without what is empty in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import hexad
from hexad.interfaces.mcp.answers import without_blanks
from hexad.interfaces.mcp.open_store import OpenStore
from hexad.interfaces.mcp.session_tool import session

if TYPE_CHECKING:
    from hexad import ErasureReceipt, Hits, Memory

Arguments = dict[str, Any]
Answer = dict[str, Any]
Progress = Callable[[int], None]
"""Told how many are done; from the thread that does them."""

_EXPLANATION: Final = frozenset({"score", "parts", "why", "lines"})
"""What only `explain` shows of a hit; its location has the lines."""
_RELEVANCE_DIGITS: Final = 3


def remember(store: OpenStore, arguments: Arguments, progress: Progress) -> Answer:
    """Store a text, or the messages of a conversation."""
    del progress
    keywords = _with_space(store, {"trust": "agent", **arguments})
    text = keywords.pop("text")
    hx = store.get(create=True)
    if isinstance(text, list):
        messages: list[Mapping[str, object]] = text
        memories = hx.remember(messages, **keywords)
    else:
        memories = [hx.remember(str(text), **keywords)]
    return {"memories": [_remembered(memory) for memory in memories]}


def _remembered(memory: Memory) -> Answer:
    receipt = memory.receipt
    assert receipt is not None  # what was just stored always has one
    fields = {
        "id": memory.id,
        "outcome": receipt.outcome.value,
        "space": memory.space,
        "path": memory.path,
        "kind": memory.kind,
        "status": None if memory.status is hexad.Status.ACTIVE else memory.status.value,
        "tags": list(memory.tags),
        "redacted": receipt.redacted or None,
        "near_duplicates": [near.to_dict() for near in receipt.near_duplicates],
        "supersedes": [old.to_dict() for old in receipt.supersedes],
        "notes": list(receipt.notes),
    }
    if memory.turn is not None:
        fields |= {"speaker": memory.turn.speaker}
    return without_blanks(fields)


def recall(store: OpenStore, arguments: Arguments, progress: Progress) -> Answer:
    """Search memory."""
    del progress
    keywords = _with_space(store, arguments)
    query, explain = keywords.pop("query"), keywords.get("explain", False)
    hits = store.get().recall(query, **keywords)
    answer = {"hits": _passages(hits, explain=explain), "notes": list(hits.notes), "late": list(hits.late)}
    if hits.linked:
        answer["linked"] = [linked.to_dict() for linked in hits.linked]
    if hits.explanation is not None:
        answer["explanation"] = hits.explanation.to_dict()
    return {"hits": answer.pop("hits"), **without_blanks(answer)}


def _passages(hits: Hits, *, explain: bool) -> list[Answer]:
    return [
        {
            name: round(value, _RELEVANCE_DIGITS)
            if name == "relevance" and isinstance(value, float)
            else value
            for name, value in passage.items()
            if value is not None and (explain or name not in _EXPLANATION)
        }
        for passage in hits.passages()
    ]


def context(store: OpenStore, arguments: Arguments, progress: Progress) -> Answer:
    """Put together what all layers know of a task."""
    del progress
    keywords = _with_space(store, arguments)
    task = keywords.pop("task")
    # An agent's turn takes seconds: a layer that is waited for costs less than one that is missing.
    fused = store.get().context(task, **keywords, wait=True)
    notes = [*fused.notes, *(f"{layer.value} failed: {reason}" for layer, reason in fused.failed.items())]
    answer = {
        "text": fused.render(),
        "tokens": fused.tokens,
        "notes": notes,
        "late": [layer.value for layer in fused.late],
        "dropped": len(fused.dropped) or None,
    }
    return {"text": answer.pop("text"), **without_blanks(answer)}


def expand(store: OpenStore, arguments: Arguments, progress: Progress) -> Answer:
    """Give the whole text of one item."""
    del progress
    keywords = dict(arguments)
    item = store.get().expand(keywords.pop("id"), **keywords)
    return without_blanks(item.to_dict())


def forget(store: OpenStore, arguments: Arguments, progress: Progress) -> Answer:
    """Archive or purge what is named or selected."""
    keywords = _with_space(store, arguments)
    target = keywords.get("id_or_path")
    if not arguments:
        raise hexad.InvalidInput(
            "forget needs something to forget; give id_or_path, or a condition such as tag or before.",
            argument="id_or_path",
        )
    if target is not None and not set(keywords) - {"id_or_path", "space"}:
        memory = store.get().forget(target, space=keywords.get("space"))
        return {"archived": {"id": memory.id, "path": memory.path, "status": memory.status.value}}
    hx = store.get()
    receipt: ErasureReceipt = hx.forget(**{**keywords, "dry_run": True})
    if not keywords.get("dry_run", False):
        if not receipt.erased and target is None:
            raise hexad.NotFound(
                "Nothing is selected by that, and nothing was changed; recall shows what there is."
            )
        receipt = hx.forget(**keywords, progress=progress)
    return {"receipt": without_blanks(receipt.to_dict())}


def decide(store: OpenStore, arguments: Arguments, progress: Progress) -> Answer:
    """Record a decision."""
    del progress
    keywords = _with_space(store, {"trust": "agent", **arguments})
    hx = store.get(create=True)
    decision = hx.governance.decide(keywords.pop("title"), **keywords)
    return without_blanks(decision.to_dict(hx.clock.now()))


def why(store: OpenStore, arguments: Arguments, progress: Progress) -> Answer:
    """Say what was decided about a path or a topic."""
    del progress
    keywords = _with_space(store, arguments)
    explanation = store.get().governance.why(keywords.pop("topic"), **keywords)
    answer: Answer = dict(explanation.to_dict())
    decisions = [without_blanks(decision) for decision in answer["decisions"]]
    rest = {"path": explanation.path, "commits": answer["commits"], "notes": answer["notes"]}
    return {"decisions": decisions, **without_blanks(rest)}


def graph(store: OpenStore, arguments: Arguments, progress: Progress) -> Answer:
    """Answer a question about the code, or bring its graph up to date."""
    keywords = {"question": "impact", "limit": 20, **arguments}
    if store.space is not None:
        keywords.setdefault("space", store.space)
    question = keywords.pop("question")
    if question == "index":
        _refuse_rest(keywords, question, {"space", "limit"})
        space = {"space": keywords["space"]} if "space" in keywords else {}
        report = store.get(create=True).graph.index(progress=lambda step: progress(step.done), **space)
        return {"report": without_blanks(report.to_dict())}
    if question == "show":
        _refuse_rest(keywords, question, {"space", "limit"})
        return {"overview": without_blanks(store.get().graph.show(space=keywords.get("space")).to_dict())}
    if "target" not in keywords:
        raise hexad.InvalidInput(f"{question} needs something to ask about; give target.", argument="target")
    answer = store.get().graph.query(question, keywords.pop("target"), **keywords)
    hits = [
        without_blanks(
            {
                "where": hit.node.location,
                "what": hit.node.signature or hit.node.name,
                "how": hit.relation,
                "test": hit.node.is_test or None,
                "line": hit.line or None,
                "distance": hit.distance,
                "confidence": hit.confidence,
                "via": hit.via,
                "id": hit.node.id,
            }
        )
        for hit in answer.hits
    ]
    targets = [node.location for node in answer.targets]
    return {"hits": hits, **without_blanks({"targets": targets, "notes": list(answer.notes)})}


def _refuse_rest(keywords: Arguments, question: str, known: set[str]) -> None:
    unknown = sorted(set(keywords) - known)
    if unknown:
        raise hexad.InvalidInput(f"{question} takes no {unknown[0]}; leave it out.", argument=unknown[0])


CALLS: Final[Mapping[str, Callable[[OpenStore, Arguments, Progress], Answer]]] = {
    "remember": remember,
    "recall": recall,
    "context": context,
    "expand": expand,
    "forget": forget,
    "decide": decide,
    "why": why,
    "session": session,
    "graph": graph,
}


def _with_space(store: OpenStore, arguments: Arguments) -> Arguments:
    """Return the arguments with the server's own space where none is given."""
    if store.space is None:
        return dict(arguments)
    return {"space": store.space, **arguments}
