"""A handle on one session of `hx.xdb`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from hexad.core.arguments__checked import texts_checked
from hexad.experience.api__xdb_activity import ActivityCalls
from hexad.experience.api__xdb_cold import ColdCalls
from hexad.experience.api__xdb_context import ContextCalls
from hexad.experience.api__xdb_events import EventCalls
from hexad.experience.api__xdb_recall import RecallCalls
from hexad.experience.api__xdb_record import RecordCalls
from hexad.experience.api__xdb_tags import TagCalls
from hexad.experience.api__xdb_windows import WindowCalls
from hexad.experience.values.tags import Comment

if TYPE_CHECKING:
    from hexad.experience.api import Xdb


_P = ParamSpec("_P")
_R = TypeVar("_R")


def of_session(call: Callable[Concatenate[Any, _P], _R]) -> Callable[Concatenate[BoundSession, _P], _R]:
    """Return a call of `hx.xdb` as a call of a handle: the same parameters, and `session_id` is the handle's."""
    signature = inspect.signature(call)
    checked = texts_checked(call)

    @functools.wraps(call)
    def method(handle: BoundSession, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if "session_id" in kwargs:
            raise TypeError(f"{call.__name__}() of a session's handle takes no session_id; it has one.")
        kwargs["session_id"] = handle.id
        return checked(handle._xdb, *args, **kwargs)

    # What help and completion show: no session to give.
    left = [one for name, one in signature.parameters.items() if name != "session_id"]
    method.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
    return method


class BoundSession:
    """One session of `hx.xdb`, for threads that work on several: its calls are those of `hx.xdb`, on this session."""

    def __init__(self, xdb: Xdb, session_id: str) -> None:
        self._xdb = xdb
        self.id = session_id

    record = of_session(RecordCalls.record)
    record_many = of_session(RecordCalls.record_many)
    recall = of_session(RecallCalls.recall)
    recall_events = of_session(EventCalls.recall_events)
    recall_by_concept = of_session(RecallCalls.recall_by_concept)
    recall_surprising = of_session(RecallCalls.recall_surprising)
    compressed_records = of_session(ColdCalls.compressed_records)
    activity = of_session(ActivityCalls.activity)
    tag = of_session(TagCalls.tag)
    tag_applications = of_session(TagCalls.tag_applications)
    comment = of_session(TagCalls.comment)
    get_context_state = of_session(ContextCalls.get_context_state)
    request_compaction = of_session(ContextCalls.request_compaction)
    compactions = of_session(ContextCalls.compactions)
    context = of_session(ContextCalls.context)
    pin_window = of_session(WindowCalls.pin_window)
    windows = of_session(WindowCalls.windows)

    def get_comments_for_range(self, start_tick: int, end_tick: int) -> list[Comment]:
        """Return the comments of this session, as `Xdb.get_comments_for_range`."""
        return self._xdb.get_comments_for_range(self.id, start_tick, end_tick)

    def end(self) -> None:
        """End this session, as `Xdb.end_session`."""
        self._xdb.end_session(session_id=self.id)
