"""`hx.xdb`: the experience database, as document 2 names it."""

from __future__ import annotations

from collections.abc import Iterable

from hexad.core.actor import Actor
from hexad.core.arguments__checked import all_texts_checked
from hexad.experience.api__xdb_activity import ActivityCalls
from hexad.experience.api__xdb_cold import ColdCalls
from hexad.experience.api__xdb_context import ContextCalls
from hexad.experience.api__xdb_documents import DocumentCalls
from hexad.experience.api__xdb_events import EventCalls
from hexad.experience.api__xdb_recall import RecallCalls
from hexad.experience.api__xdb_record import RecordCalls
from hexad.experience.api__xdb_session import BoundSession
from hexad.experience.api__xdb_storage import StorageCalls
from hexad.experience.api__xdb_tags import TagCalls
from hexad.experience.api__xdb_windows import WindowCalls, WindowParts
from hexad.experience.context.context_window import ContextWindows
from hexad.experience.documents.repository import DocumentRepository
from hexad.experience.experience_log import ExperienceLog
from hexad.experience.stream_database import Experience
from hexad.experience.tagging import Tagging
from hexad.experience.tiers.contract import Contracts
from hexad.experience.tiers.storage_manager import StorageManager
from hexad.experience.values.pressure import Amount
from hexad.experience.values.records import SessionInfo, StreamReport
from hexad.experience.values.tags import TagType
from hexad.memory.memory import JSONValue


@all_texts_checked
class Xdb(
    RecordCalls,
    RecallCalls,
    EventCalls,
    ActivityCalls,
    ColdCalls,
    TagCalls,
    DocumentCalls,
    ContextCalls,
    StorageCalls,
    WindowCalls,
):
    """What an agent read, wrote and did, one record for each token or event; safe to share between threads.

    `start_session` makes a session the calling thread's current one. Every call takes `session_id` instead.
    """

    def __init__(
        self,
        experience: Experience,
        tagging: Tagging,
        documents: DocumentRepository,
        *,
        context: ContextWindows,
        storage: StorageManager,
        contracts: Contracts,
        windows: WindowParts,
        actor: Actor,
    ) -> None:
        self._experience = experience
        self._tagging, self._documents = tagging, documents
        self._windows = context
        self._storage, self._contracts = storage, contracts
        self._window_parts = windows
        self._actor = actor

    def start_session(
        self,
        session_id: str,
        max_context_tokens: int | None = None,
        *,
        compaction: bool | None = None,
        data_subjects: Iterable[str] | None = None,
    ) -> BoundSession:
        """Start a session, or go on with it after its highest tick, and make it this thread's current one.

        Several threads and processes may record to the same session at once: each is given ticks of its own.
        `max_context_tokens` None means the window that the session has; a new one has the contract's, or 8,192. A
        session compacts by itself when its window is four fifths full; with `compaction=False` it never does, and
        every token stays, until it is started with `True`. `data_subjects` names the people whose data it is, so that
        it can be erased with all that is theirs; None leaves what was said.
        """
        self._experience.start(
            session_id,
            max_context_tokens=max_context_tokens,
            compaction=compaction,
            data_subjects=data_subjects,
        )
        return BoundSession(self, session_id)

    def end_session(self, *, session_id: str | None = None) -> None:
        """End a session when everything recorded is acknowledged; nothing happens where there is no current one."""
        self._experience.end(session_id)

    def session(self, session_id: str) -> BoundSession:
        """Return a handle whose calls are about this session; raises `NotFound`."""
        self._experience.session(session_id)
        return BoundSession(self, session_id)

    def sessions(self) -> list[SessionInfo]:
        """Return all sessions in the order of their creation."""
        return self._experience.sessions()

    def session_totals(self) -> dict[str, Amount]:
        """Return for each session that has experience how many records, timesteps and tokens there are of it.

        `records` are timesteps in full detail and COLD records of the session alone. What has become a day or more is
        of several sessions and counts for none.
        """
        return self._experience.session_totals()

    @property
    def experience_log(self) -> ExperienceLog:
        """The experience log by document 2's names, which takes and gives whole records."""
        return ExperienceLog(self, self._experience, self._tagging)

    def get_state(self) -> dict[str, JSONValue]:
        """Return who this is, this thread's current session and its last tick, how many tags, buds and documents there
        are, and the context window; behind these seven how many sessions and timesteps, and how many not sealed yet.
        """  # fmt: skip
        session = self._experience.current
        sealed, unsealed = self._experience.counts()
        return {
            "be_id": self._actor.agent,
            "session_id": session,
            "current_tick": 0 if session is None else self._experience.last_tick(session),
            "tag_count": self.tag_index.count(),
            "bud_count": self.tag_index.count(TagType.BUD),
            "document_count": self._documents.count(),
            "context": self.get_context_state(),
            "session_count": len(self._experience.sessions()),
            "timestep_count": sealed + unsealed,
            "unsealed_count": unsealed,
        }

    def seal(self) -> StreamReport:
        """Turn the logs into segments now, but for those that other processes write to; `maintain` waits until
        they are large or old.
        """  # fmt: skip
        return self._experience.seal(all=True)
