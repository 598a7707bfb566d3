"""Context by walking, and the loop breaker, of `hx.honeycomb`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput, ProviderError
from hexad.honeycomb.api__honeycomb_parts import HoneycombParts
from hexad.honeycomb.arguments import given_scope, given_share, given_vector, given_whole
from hexad.honeycomb.values import RELEVANCE_THRESHOLD, JitContext, Safety
from hexad.honeycomb.walk.prefetch import MEMORIES, OWN, Bounds
from hexad.honeycomb.walk.state import Entry, WalkOptions
from hexad.search.recall.options import check_query

MAX_TOKENS: Final = 2_000
WALKS: Final = ("breadth", "best")


class ContextCalls(HoneycombParts):
    """The part of `hx.honeycomb` that walks, and says when somebody walks in circles."""

    # Context ----------------------------------------------------------------------------------------------------

    def find_most_relevant(
        self, query: str | Iterable[float], *, limit: int = 1, scope: str = "all"
    ) -> list[tuple[int, float]]:
        """Return the active nodes nearest to a text or a vector with their cosines, the nearest first.

        Raises what `jit_context` does.
        """
        most = given_whole(limit, "limit")
        return self._needs.walker.nearest(self._query(query), limit=most, scope=given_scope(scope))

    def jit_context(
        self,
        query: str | Iterable[float] | None = None,
        max_tokens: int = MAX_TOKENS,
        *,
        start: int | str | None = None,
        entries: int = 1,
        threshold: float | None = None,
        overflow: bool = True,
        walk: str | None = None,
        scope: str = "all",
        space: str | None = None,
        session: str | None = None,
    ) -> JitContext:
        """Return the texts that a walk from where `query` points brings together, joined with spaces.

        `walk="breadth"` begins at the `entries` nodes nearest to the query, or at `start`, and goes level by level, the
        strongest edges first; pieces are compared with the query either way. `"best"` begins at what `recall` finds and
        takes what is found and well connected before what is merely connected. None is `"best"` for a text asked of
        memories alone, else `"breadth"`.

        Only edges whose score, aged by their ring's half-life, is above `threshold` are walked: 0.8 from nodes of
        `add_node`; from memories it is taken from how alike the store's own memories are, and `thresholds` of the
        answer says what was used. Each node counts once, inactive ones are passed by, and texts are taken while
        `max_tokens` has room for them. A memory that does not fit comes in part: the chunk that answers, else the
        longest of its summaries that fits; `form` of the piece says which, and `left_out` how many. `overflow` lets the
        walk into overflow rings. `scope` is `all`, `nodes` (of `add_node`) or `memories`, `space` bounds the memories.

        The walk is an `access` of the node that it begins at in `session`, and `safety` says what the loop breaker
        makes of it; the context is there all the same.

        Raises `InvalidInput` for a value that cannot be used, `ProviderError` for a text as query without an embedder,
        `NotFound` for a start or a space that is not there.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     comb = hx.honeycomb
        ...     first, second = comb.add_nodes([("Rust is fast.", [1, 0]), ("Cargo builds it.", [0.9, 0.1])])
        ...     _ = comb.insert(first, second)
        ...     comb.jit_context([1, 0], max_tokens=100).text
        'Rust is fast. Cargo builds it.'
        """
        max_tokens, entries = given_whole(max_tokens, "max_tokens"), given_whole(entries, "entries")
        kinds, session = given_scope(scope), self._session(session)
        space_no = None if space is None else self._stores.spaces.get(space).no
        best = self._is_best(walk, query, start, kinds)
        vector: Sequence[float] | None = None
        notes: tuple[str, ...] = ()
        if start is not None:
            vector = None if query is None else self._query(query)
            with self._stores.db.read():
                begin = [Entry(self._node(start), 1.0)]
                notes = self._beyond(begin[0].node, scope, kinds, space, space_no)
        elif query is None:
            raise InvalidInput("There is nowhere to begin; give a query, or start=…")
        elif best:
            begin, notes, vector = self._needs.seeds(cast("str", query), space)
        else:
            vector = self._query(query)
            nearest = self._needs.walker.nearest(vector, limit=entries, scope=kinds, space_no=space_no)
            begin = [Entry(*one) for one in nearest]
            notes = () if begin or isinstance(query, str) else _near_nothing(vector)
        options = WalkOptions(
            max_tokens=max_tokens,
            thresholds=self._thresholds(threshold, kinds),
            descend=overflow,
            best_first=best,
            bounds=Bounds(scope=kinds, space_no=space_no),
        )
        # All that recall finds are no starting points of the caller's choice: the first one stands for them. One that
        # is no node yet is no place to walk in circles at.
        counted = begin[:1] if best else begin
        codes = [self._needs.breaker.access(entry.node, session) for entry in counted]
        worst = next((code for code in codes if code not in (Safety.OK, Safety.INVALID_NODE)), Safety.OK)
        context = self._needs.walker.walk(begin, options, query=vector, safety=worst, notes=notes)
        self._needs.note(context.pieces)
        return context

    def _is_best(self, walk: str | None, query: object, start: object, kinds: frozenset[str]) -> bool:
        if walk is not None and (not isinstance(walk, str) or walk not in WALKS):
            raise InvalidInput(f"walk = {quoted(walk)} is not known; choose 'breadth' or 'best'.")
        able = isinstance(query, str) and start is None and MEMORIES in kinds
        if walk == "best" and not able:
            raise InvalidInput(
                f"walk = 'best' goes by what recall finds among memories, and {_hindrance(query, start)}, or walk = "
                "'breadth'."
            )
        if walk is not None or not able:
            return walk == "best"
        return OWN not in kinds or not self._nodes.has_own()

    # Safety -----------------------------------------------------------------------------------------------------

    def start_session(self, session: str | None = None) -> None:
        """Begin a session, or begin it anew: its time and its accesses count from now."""
        self._needs.breaker.start(self._session(session))

    def access(self, node: int | str, *, session: str | None = None) -> Safety:
        """Note that a node was looked at in a session, and return what the loop breaker says then."""
        node_id = self._named(node)
        return (
            Safety.INVALID_NODE
            if node_id is None
            else self._needs.breaker.access(node_id, self._session(session))
        )

    def check_safety(self, node: int | str, *, session: str | None = None) -> Safety:
        """Return OK, LOOP_DETECTED (looked at more than 3 times in 10 s), SESSION_EXPIRED (after 3600 s) or
        INVALID_NODE. Nothing is counted and nothing is blocked.
        """  # fmt: skip
        node_id = self._named(node)
        return (
            Safety.INVALID_NODE
            if node_id is None
            else self._needs.breaker.check(node_id, self._session(session))
        )

    # Inside ---------------------------------------------------------------------------------------------------

    def _query(self, query: str | Iterable[float]) -> Sequence[float]:
        if not isinstance(query, str):
            return given_vector(query, "query")
        if not query.strip():
            raise InvalidInput("The query says nothing; give a text or a vector.")
        check_query(query)
        if self._needs.embed_query is None:
            raise ProviderError(
                "A text was given as query, and no embedder is open to compare it by. Give a vector, or open the store "
                "with an embedder."
            )
        row: list[float] = self._needs.embed_query(query, None).tolist()
        return row

    def _beyond(
        self, node: int, scope: str, kinds: frozenset[str], space: str | None, space_no: int | None
    ) -> tuple[str, ...]:
        """Say why a walk may not even enter the node at which it begins."""
        row = self._nodes.of([node]).get(node)
        if row is None:
            return ()  # a memory that is no node yet
        if (MEMORIES if row.is_memory else OWN) not in kinds:
            return (f"Node {node} is outside of scope = {quoted(scope)}.",)
        if row.is_memory and space_no not in (None, row.space_no):
            return (f"Node {node} is outside of space = {quoted(space)}.",)
        return ()

    def _thresholds(self, given: float | None, kinds: frozenset[str]) -> Mapping[str, float]:
        if given is not None:
            fixed = given_share(given, "threshold")
            return dict.fromkeys(sorted(kinds), fixed)
        found: dict[str, float] = {}
        if MEMORIES in kinds:
            found[MEMORIES] = self._needs.memory_threshold()
        if OWN in kinds:
            found[OWN] = RELEVANCE_THRESHOLD
        return found


def _hindrance(query: object, start: object) -> str:
    """Say what keeps a walk from being the best first, and the way out."""
    if start is not None:
        return f"start = {quoted(start)} begins elsewhere; leave it out and give a text as query"
    if query is None:
        return "there is no query; give a text"
    if not isinstance(query, str):
        return "query is a vector; give a text"
    return "scope = 'nodes' leaves them out; choose 'all' or 'memories'"


def _near_nothing(vector: Sequence[float]) -> tuple[str, ...]:
    """Say why no node is near a vector."""
    if not any(vector):
        return ("The query is a vector of zeros, which is near nothing.",)
    return (f"No active node in scope has an embedding of {len(vector):,} numbers.",)
