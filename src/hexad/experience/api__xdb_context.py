"""The calls of `hx.xdb` on context windows, as document 2, sections 7 and 8, names them."""

from __future__ import annotations

from collections.abc import Sequence

from hexad.core.arguments import word_list
from hexad.errors import InvalidInput
from hexad.experience.arguments import whole_number
from hexad.experience.context.context_window import NO_SESSION, ContextWindowManager, ContextWindows
from hexad.experience.stream_database import Experience
from hexad.experience.summaries.summarizer import Inference
from hexad.experience.values.tiers import CompactionRecord, ContextWindow
from hexad.memory.memory import JSONValue


class ContextCalls:
    """The part of `Xdb` that is about context windows; `session_id` None means the calling thread's current session."""

    _experience: Experience
    _windows: ContextWindows

    @property
    def context_manager(self) -> ContextWindowManager | None:
        """The window of this thread's current session; None where no session is started, so look before you call it."""
        session = self._experience.current
        return None if session is None else self._windows.manager(session)

    def get_context_state(self, session_id: str | None = None) -> dict[str, JSONValue]:
        """Return how full a session's context window is; without a session `{'error': 'No active session'}`.

        Tokens of every program that records to the session count, and those of the summary. Raises `NotFound` for a
        session that was never started.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday", max_context_tokens=1000)
        ...     _ = hx.xdb.record("input", "When do we deploy?", token_count=5)
        ...     hx.xdb.get_context_state()
        {'max_tokens': 1000, 'current_tokens': 5, 'utilization': 0.005, 'session_id': 'monday', 'current_tick': 1}
        """
        session = self._experience.current if session_id is None else session_id
        return dict(NO_SESSION) if session is None else self._windows.manager(session).get_context_state()

    def get_context_states(self, session_ids: Sequence[str] | None = None) -> list[dict[str, JSONValue]]:
        """Return what `get_context_state` says of several sessions, in their order: all are counted in one go.

        None means all that have not ended, in the order of their creation. Raises `NotFound` for a session that was
        never started, `InvalidInput` for one name where names are expected.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     for day in ("monday", "tuesday"):
        ...         _ = hx.xdb.start_session(day, max_context_tokens=1000)
        ...         _ = hx.xdb.record("input", "When do we deploy?", token_count=5)
        ...     [window["current_tokens"] for window in hx.xdb.get_context_states()]
        [5, 5]
        """
        if session_ids is None:
            sessions = self._experience.sessions()
            return self._windows.states([one.id for one in sessions if one.ended_at is None])
        return self._windows.states(word_list(session_ids, "session_ids"))

    def request_compaction(self, session_id: str | None = None) -> CompactionRecord | None:
        """Replace the older half of a session's window by a summary now, and return what was done.

        None without a session, and when there is nothing that could be replaced by less. Raises `NotFound` for a
        session that was never started.
        """
        session = self._experience.current if session_id is None else session_id
        return None if session is None else self._windows.compact(session)

    def compactions(
        self, session_id: str | None = None, *, limit: int = 100, offset: int = 0
    ) -> list[CompactionRecord]:
        """Return compactions in the order in which they were made: of a session, this thread's current one by default,
        and without one, or with `"*"`, of all. Raises `NotFound` for a session that was never started.
        """  # fmt: skip
        return self._windows.records(
            self._experience.scope(session_id),
            limit=whole_number(limit, "limit", low=1),
            offset=whole_number(offset, "offset", low=0),
        )

    def context(self, session_id: str | None = None) -> ContextWindow:
        """Return what is in a session's window: the summary of what left it, then its events. `str` makes it a text.

        Raises `InvalidInput` without a session, `NotFound` for one that was never started.
        """
        session = self._experience.current if session_id is None else session_id
        if session is None:
            raise InvalidInput("There is no current session; call start_session first, or give session_id.")
        return self._windows.content(session)

    def set_summarizer(self, inference: Inference | None) -> None:
        """Let the agent's own inference write the summaries of this program's compactions; None ends that.

        It is called with a prompt, or with a system text and a prompt if it takes two, in whichever thread compacts,
        and returns a text. One that is too long, empty or fails is replaced by a local summary: `generated_by` of the
        compaction says who wrote it. Raises `InvalidInput` for what cannot be called.
        """
        self._windows.use(inference)
