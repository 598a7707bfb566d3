"""What programs keep as bytes, as the store puts it together with the other systems."""

from __future__ import annotations

from typing import Final

from hexad.agent_state.checkpoints import (
    CHECKPOINT_PROMISES,
    CHECKPOINTS_DDL,
    USER_OF,
    CheckpointEraser,
    Checkpoints,
    check_checkpoints,
)
from hexad.agent_state.key_values import KEY_VALUES_DDL, KeyValueEraser
from hexad.database.component import OF_SESSIONS, Component, ExportSection, script

_OF_USER: Final = f"t.no IN (SELECT c.thread_no FROM checkpoints c WHERE {USER_OF} = :subject)"
_OF_THREAD: Final = f"({OF_SESSIONS.format('t.id')} OR {_OF_USER})"

_EXPORT: Final = (
    ExportSection(
        name="threads",
        place=26,
        tables=("threads",),
        columns="t.id, t.created_at, t.updated_at",
        source="threads t",
        key="t.no",
        where=_OF_THREAD,
    ),
    ExportSection(
        name="checkpoints",
        place=27,
        tables=("checkpoints",),
        columns=(
            "t.id AS thread_id, c.namespace, c.id, c.parent_id, c.run_id, c.encoding, hex(c.head) AS head_hex,"
            " c.layout AS json_layout, c.metadata AS json_metadata"
        ),
        source="checkpoints c JOIN threads t ON t.no = c.thread_no",
        key="c.no",
        where=_OF_THREAD,
    ),
    ExportSection(
        name="checkpoint_pieces",
        place=28,
        tables=("checkpoint_pieces",),
        columns="t.id AS thread_id, hex(p.digest) AS digest, hex(p.data) AS data_hex",
        source="checkpoint_pieces p JOIN threads t ON t.no = p.thread_no",
        key="p.no",
        where=_OF_THREAD,
    ),
    ExportSection(
        name="checkpoint_writes",
        place=29,
        tables=("checkpoint_writes",),
        columns=(
            "t.id AS thread_id, (SELECT json_group_array(json_object('namespace', w.namespace, 'checkpoint_id',"
            " w.checkpoint_id, 'task_id', w.task_id, 'task_path', w.task_path, 'position', w.position, 'channel',"
            " w.channel, 'encoding', w.encoding, 'data_hex', hex(w.data))) FROM checkpoint_writes w"
            " WHERE w.thread_no = t.no) AS json_writes"
        ),
        source="threads t",
        key="t.no",
        where=f"{_OF_THREAD} AND EXISTS (SELECT 1 FROM checkpoint_writes w WHERE w.thread_no = t.no)",
    ),
    ExportSection(
        name="key_values",
        place=30,
        tables=("key_values",),
        columns="v.collection, v.key, hex(v.data) AS data_hex, v.updated_at",
        source="key_values v",
        key="v.no",
        whole_only=True,
    ),
)

COMPONENT: Final = Component(
    name="agent_state",
    schema=(script(20, CHECKPOINTS_DDL, "agent state"), script(21, KEY_VALUES_DDL, "key values")),
    promises=CHECKPOINT_PROMISES,
    checks=(check_checkpoints,),
    erasers=(CheckpointEraser, KeyValueEraser),
    export=_EXPORT,
    subjects=(f"SELECT DISTINCT {USER_OF} FROM checkpoints c WHERE c.metadata ->> '$.user_id' IS NOT NULL",),
    session_looks=(lambda db, session: Checkpoints(db).has(session),),
)
"""A wipe of the project is an erasure of it, which the erasers do."""
