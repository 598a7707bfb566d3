"""Working sets, decisions and verdicts on answers, as the store puts them together with the other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import OF_SESSIONS, Component, ExportSection, Job, MemoryTable, Report, script
from hexad.layers.feedback.table import FEEDBACK_DDL, GIVEN_BY, FeedbackEraser
from hexad.layers.session.table import (
    SESSION_STATE_DDL,
    WORKING_SET_DDL,
    WorkingSetEraser,
    WorkingSets,
    check_working_sets,
)
from hexad.memory.component import OF_MEMORIES
from hexad.memory.tables.decisions import check_decisions
from hexad.memory.tables.memories import Memories

if TYPE_CHECKING:
    from hexad.layers.user.service import UserService

_EXPORT: Final = (
    ExportSection(
        name="working_sets",
        place=4,
        tables=("working_sets",),
        columns=(
            "w.id, w.repository, w.worktree, w.branch, w.started_at, w.updated_at, w.ended_at, w.boundary,"
            " w.data_subjects AS json_data_subjects, w.state AS json_state"
        ),
        source="working_sets w",
        key="w.no",
        where=(
            f"({OF_SESSIONS.format('w.id')} OR (:subject IS NOT NULL"
            " AND EXISTS (SELECT 1 FROM json_each(w.data_subjects) d WHERE d.value = :subject)))"
        ),
    ),
    ExportSection(
        name="feedback",
        place=16,
        tables=("feedback",),
        columns=(
            "f.id, m.id AS memory_id, f.layer, f.verdict, f.query, f.query_class, f.note, f.given_by, f.given_at,"
            " f.flagged AS is_flagged, f.confidence AS confidence_before"
        ),
        source="feedback f LEFT JOIN memories m ON m.no = f.memory_no",
        key="f.no",
        where=f"({OF_MEMORIES} OR (:subject IS NOT NULL AND {GIVEN_BY}))",
    ),
)


class LayersSystems(Protocol):
    """What the jobs ask for."""

    user: Lazy[UserService]

    def look_at_project(self) -> tuple[str, ...]:
        """Note what changed in what the repository gives away, and return it."""

    def flush_sessions(self) -> int:
        """Write what waits of working sets, and let those rest on which nobody works."""


def _detect(systems: LayersSystems, report: Report) -> None:
    report["detected"] = systems.look_at_project()


def _learn(systems: LayersSystems, report: Report) -> None:
    report["learned"] = systems.user().learn()


def _tell_of_user(systems: LayersSystems, report: Report) -> None:
    report["user_layer"] = systems.user().state(report.pop("learned"))


COMPONENT: Final = Component(
    name="layers",
    schema=(
        script(15, WORKING_SET_DDL, "layers"),
        script(15, FEEDBACK_DDL, place=3),
        script(18, SESSION_STATE_DDL, place=1),
    ),
    jobs=(
        Job(name="rest sessions", place=4, maintain=lambda systems, _report: systems.flush_sessions()),
        Job(name="detect", place=5, maintain=_detect),
        Job(name="learn", place=6, maintain=_learn),
        Job(name="learn when due", place=15, step=lambda systems, _stop: systems.user().learn_when_due()),
        Job(name="tell of the user layer", place=17, maintain=_tell_of_user),
    ),
    memory_tables=(MemoryTable(name="feedback", counted_as="feedback"),),
    checks=(
        lambda context: check_working_sets(context.db),
        lambda context: check_decisions(context.db, Memories(context.db, roles=context.actor.roles)),
    ),
    erasers=(WorkingSetEraser, FeedbackEraser),
    export=_EXPORT,
    subjects=("SELECT d.value FROM working_sets w, json_each(w.data_subjects) d",),
    session_looks=(lambda db, session: WorkingSets(db).has(session),),
)
