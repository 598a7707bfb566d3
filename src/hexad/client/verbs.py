"""What is served: each call of an open store by its name, where HTTP has it, and what its parameters are.

The parameters, their defaults and their types are those of the Python calls: nothing here repeats them. What a call
cannot take from another process (a function, a path on the server's machine) is left out, with the reason.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal

from hexad.audit.log import AuditLog, Marking
from hexad.code_graph.api import CodeGraphFacade
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONObject, JSONValue
from hexad.engine import Hexad
from hexad.experience.api import Xdb
from hexad.experience.documents import DocumentRepository
from hexad.experience.values.documents import DocumentType
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.records import ActivityUnit
from hexad.experience.values.tags import BudStatus, TagType
from hexad.experience.values.tiers import SubmissionStatus
from hexad.honeycomb.api import HoneycombFacade
from hexad.ingest.structured_calls import RawOptions, StructuredOptions
from hexad.layers.governance import GovernanceFacade
from hexad.layers.project.api import ProjectFacade
from hexad.layers.project.facts_api import FactsFacade
from hexad.layers.session.api import SessionFacade
from hexad.layers.user.api import UserFacade
from hexad.memory.memory import Citation, Trust
from hexad.spaces.api import SpacesFacade
from hexad.spaces.bundles.bundle import BundleOptions
from hexad.spaces.bundles.options import OPTIONS
from hexad.spaces.quarantine import QuarantineFacade

ROOT: Final = "/v1"
FACADES: Final[Mapping[str, type]] = {
    "": Hexad,
    "spaces": SpacesFacade,
    "quarantine": QuarantineFacade,
    "session": SessionFacade,
    "project": ProjectFacade,
    "user": UserFacade,
    "governance": GovernanceFacade,
    "facts": FactsFacade,
    "honeycomb": HoneycombFacade,
    "graph": CodeGraphFacade,
    "xdb": Xdb,
    "xdb.documents": DocumentRepository,
    "audit": AuditLog,
    "audit.incidents": Marking,
}
"""The classes whose calls are served, by the attributes of a store that lead to them."""


class Reach(Enum):
    """What a login that is limited to some spaces may do with a call."""

    WHOLE = "whole"
    """Nothing: it asks or changes what is of no space, or of all."""
    SPACE = "space"
    """What its parameter `space` names, which has to be one of the login's."""
    NAME = "name"
    """What its parameter `name` names, likewise."""
    ITEM = "item"
    """What it answers with has to be of one of the login's spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One call of an open store as it is served; `name` is what Python calls it: `recall`, `spaces.create`."""

    name: str
    method: str
    path: str
    reach: Reach = Reach.WHOLE
    alias: str | None = None
    """Another method of the same path: parameters that do not fit into an address are given in a body."""

    @property
    def facade(self) -> str:
        """The attribute of a store that the call belongs to; empty for those of the store itself."""
        return self.name.rpartition(".")[0]

    @property
    def call(self) -> str:
        """The name of the call there."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a served call: its type, with the names in it resolved, and its default."""

    name: str
    type: Any
    default: Any = inspect.Parameter.empty
    spread: bool = False
    """Whether Python takes it as `*names`."""

    @property
    def address_name(self) -> str:
        """What the parameter is called in an address."""
        return IN_ADDRESSES.get(self.name, self.name)

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is inspect.Parameter.empty


def _verbs() -> Iterator[Verb]:
    for line in _TABLE.splitlines():
        if line.strip():
            name, method, path, *rest = line.split()
            reach = next((Reach(word) for word in rest if not word.isupper()), Reach.WHOLE)
            alias = next((word for word in rest if word.isupper()), None)
            yield Verb(name=name, method=method, path=ROOT + path, reach=reach, alias=alias)


_TABLE: Final = """
remember                POST   /memories                      space
remember_structured     POST   /memories/structured           space
remember_raw            POST   /memories/raw                  space
memories                GET    /memories                      space
count                   GET    /memories/count                space
memories_in             GET    /memories/scope
get                     GET    /memories/get                  space
history                 GET    /memories/history              space
near_duplicates         GET    /memories/near-duplicates
restore                 POST   /memories/restore              space
pin                     POST   /memories/pin                  space
unpin                   POST   /memories/unpin                space
tag                     POST   /memories/tag                  space
link                    POST   /memories/link
unlink                  POST   /memories/unlink
links                   GET    /memories/links
forget                  POST   /forget                        space
recall                  POST   /recall                        space
context                 POST   /context                       space
query                   POST   /query
plan                    POST   /plan
expand                  POST   /expand                        item
feedback                POST   /feedback
feedbacks               GET    /feedback
feedback_stats          GET    /feedback/stats
retract_feedback        POST   /feedback/retract
recall_context          POST   /recall-context                space
recall_kind             POST   /recall-kind                   space
use_context             POST   /use-context

spaces.list             GET    /spaces
spaces.create           POST   /spaces
spaces.get              GET    /spaces/get                    name
spaces.set_metadata     POST   /spaces/set-metadata
spaces.set_policy       POST   /spaces/set-policy
spaces.gc               POST   /spaces/gc
spaces.delete           POST   /spaces/delete
spaces.budget           GET    /spaces/budget
quarantine.list         GET    /quarantine
quarantine.count        GET    /quarantine/count
quarantine.get          GET    /quarantine/get
quarantine.sentences    GET    /quarantine/sentences
quarantine.release      POST   /quarantine/release
quarantine.reject       POST   /quarantine/reject

governance.decide       POST   /governance/decide             space
governance.why          GET    /governance/why                space
governance.query        GET    /governance/decisions          space
governance.get          GET    /governance/get
governance.history      GET    /governance/history
governance.supersede    POST   /governance/supersede

facts.current           GET    /facts/current                 space
facts.as_of             GET    /facts/as-of                   space
facts.history           GET    /facts/history                 space
facts.what_changed      GET    /facts/what-changed            space
facts.contradictions    GET    /facts/contradictions          space
facts.needs_review      GET    /facts/needs-review            space
facts.reviewed          POST   /facts/reviewed                space
facts.declare           POST   /facts/declare
facts.declared          GET    /facts/declared

session.start           POST   /layers/session/start
session.resume          POST   /layers/session/resume
session.resumable       GET    /layers/session/resumable
session.list            GET    /layers/session
session.get             GET    /layers/session/get
session.set_task        POST   /layers/session/set-task
session.set_ticket      POST   /layers/session/set-ticket
session.add_steps       POST   /layers/session/add-steps
session.mark_step       POST   /layers/session/mark-step
session.open_file       POST   /layers/session/open-file
session.close_file      POST   /layers/session/close-file
session.record_edit     POST   /layers/session/record-edit
session.add_turn        POST   /layers/session/add-turn
session.note            POST   /layers/session/note
session.clear_notes     POST   /layers/session/clear-notes
session.snapshot        POST   /layers/session/snapshot
session.end             POST   /layers/session/end

project.remember            POST /layers/project/remember           space
project.remember_component  POST /layers/project/remember-component space
project.remember_decision   POST /layers/project/remember-decision  space
project.observe             POST /layers/project/observe            space
project.confirm             POST /layers/project/confirm            space
project.done                POST /layers/project/done               space
project.forget_detected     POST /layers/project/forget-detected    space
project.get                 GET  /layers/project                    space
project.get_conventions     GET  /layers/project/conventions        space
project.get_decisions       GET  /layers/project/decisions          space
project.get_patterns        GET  /layers/project/patterns           space
project.get_tech_stack      GET  /layers/project/tech-stack         space
project.get_todos           GET  /layers/project/todos              space
project.component           GET  /layers/project/component          space
project.components          GET  /layers/project/components         space

user.prefer             POST   /layers/user/prefer
user.update_preference  POST   /layers/user/update-preference
user.accept             POST   /layers/user/accept
user.reject             POST   /layers/user/reject
user.preference         GET    /layers/user/preference
user.preferences        GET    /layers/user/preferences
user.patterns           GET    /layers/user/patterns
user.observe            POST   /layers/user/observe
user.expertise          GET    /layers/user/expertise
user.set_expertise      POST   /layers/user/set-expertise
user.rules              GET    /layers/user/rules
user.add_rule           POST   /layers/user/add-rule
user.exception          POST   /layers/user/exception
user.exceptions         GET    /layers/user/exceptions
user.suggestions        GET    /layers/user/suggestions
user.suppress           POST   /layers/user/suppress
user.allow              POST   /layers/user/allow
user.suppressions       GET    /layers/user/suppressions
user.forget             POST   /layers/user/forget

honeycomb.add_node      POST   /honeycomb/add-node
honeycomb.add_nodes     POST   /honeycomb/add-nodes
honeycomb.insert        POST   /honeycomb/insert
honeycomb.insert_many   POST   /honeycomb/insert-many
honeycomb.get           GET    /honeycomb/get
honeycomb.neighbors     GET    /honeycomb/neighbors
honeycomb.overflow      GET    /honeycomb/overflow
honeycomb.jit_context   POST   /honeycomb/jit-context
honeycomb.find_most_relevant POST /honeycomb/find-most-relevant
honeycomb.check_safety  GET    /honeycomb/check-safety
honeycomb.access        POST   /honeycomb/access
honeycomb.activate      POST   /honeycomb/activate
honeycomb.deactivate    POST   /honeycomb/deactivate
honeycomb.remove        POST   /honeycomb/remove
honeycomb.start_session POST   /honeycomb/start-session
honeycomb.stats         GET    /honeycomb/stats

graph.index             POST   /graph/index
graph.query             GET    /graph/query                   space
graph.impact            GET    /graph/impact                  space
graph.show              GET    /graph                         space

xdb.start_session       POST   /xdb/start-session
xdb.end_session         POST   /xdb/end-session
xdb.sessions            GET    /xdb/sessions
xdb.session_totals      GET    /xdb/session-totals
xdb.get_state           GET    /xdb/state
xdb.record              POST   /xdb/record
xdb.record_many         POST   /xdb/record-many
xdb.on_input            POST   /xdb/on-input
xdb.on_output_token     POST   /xdb/on-output-token
xdb.flush               POST   /xdb/flush
xdb.seal                POST   /xdb/seal
xdb.tag                 POST   /xdb/tag
xdb.untag               POST   /xdb/untag
xdb.recall              GET    /xdb/recall                    POST
xdb.recall_events       GET    /xdb/recall-events             POST
xdb.recall_by_concept   GET    /xdb/recall-by-concept
xdb.recall_surprising   GET    /xdb/recall-surprising
xdb.get_timestep        GET    /xdb/timestep
xdb.activity            GET    /xdb/activity
xdb.browse_concepts     GET    /xdb/concepts
xdb.find_concept        GET    /xdb/find-concept
xdb.get_buds            GET    /xdb/buds
xdb.get_bud_examples    GET    /xdb/bud-examples
xdb.create_bud_tag      POST   /xdb/buds
xdb.mark_bud_ready      POST   /xdb/mark-bud-ready
xdb.promote_to_bud      POST   /xdb/promote-to-bud
xdb.update_bud_status   POST   /xdb/update-bud-status
xdb.create_entity_tag   POST   /xdb/create-entity-tag
xdb.find_tags           GET    /xdb/tags
xdb.remove_tag          POST   /xdb/remove-tag
xdb.get_tags_for_timestep          GET /xdb/tags-for-timestep
xdb.get_applications_for_timestep  GET /xdb/applications-for-timestep
xdb.tag_applications    GET    /xdb/tag-applications
xdb.comment             POST   /xdb/comment
xdb.edit_comment        POST   /xdb/edit-comment
xdb.remove_comment      POST   /xdb/remove-comment
xdb.get_comment         GET    /xdb/comment
xdb.get_comments_for_range GET /xdb/comments
xdb.pin_window          POST   /xdb/pin-window
xdb.unpin_window        POST   /xdb/unpin-window
xdb.get_window          GET    /xdb/window
xdb.windows             GET    /xdb/windows
xdb.get_windows_for_tag GET    /xdb/windows-for-tag
xdb.get_windows_for_submission GET /xdb/windows-for-submission
xdb.submit_graft        POST   /xdb/submit-graft
xdb.resolve_submission  POST   /xdb/resolve-submission
xdb.get_submission      GET    /xdb/submission
xdb.submissions         GET    /xdb/submissions
xdb.context             GET    /xdb/context
xdb.get_context_state   GET    /xdb/context-state
xdb.get_context_states  GET    /xdb/context-states
xdb.request_compaction  POST   /xdb/request-compaction
xdb.compactions         GET    /xdb/compactions
xdb.compressed_records  GET    /xdb/compressed-records
xdb.get_compressed_record GET  /xdb/compressed-record
xdb.check_and_compress  POST   /xdb/check-and-compress
xdb.usage               GET    /xdb/usage
xdb.lost_segments       GET    /xdb/lost-segments
xdb.accept_lost_segment POST   /xdb/accept-lost-segment
xdb.warm_tokens         GET    /xdb/warm-tokens
xdb.list_documents      GET    /xdb/documents
xdb.get_document        GET    /xdb/document
xdb.search_documents    GET    /xdb/search-documents
xdb.remove_document     POST   /xdb/remove-document
xdb.restore_document    POST   /xdb/restore-document
xdb.documents.add_document      POST /xdb/documents
xdb.documents.update_document   POST /xdb/update-document
xdb.documents.versions          GET  /xdb/document-versions
xdb.documents.removed_documents GET  /xdb/removed-documents

status                  GET    /maintenance/status
changes                 GET    /maintenance/changes
check                   POST   /maintenance/check
maintain                POST   /maintenance/maintain
consolidate             POST   /maintenance/consolidate
reindex                 POST   /maintenance/reindex
embed_pending           POST   /maintenance/embed-pending
wait_for_background     POST   /maintenance/wait-for-background
memory_quality          GET    /maintenance/memory-quality    space
erasures                GET    /maintenance/erasures
wipe                    POST   /maintenance/wipe
"""
VERBS: Final[Mapping[str, Verb]] = {verb.name: verb for verb in _verbs()}
"""Every served call by its name."""

OF_SESSION: Final = frozenset(
    (
        "set_task", "set_ticket", "add_steps", "mark_step", "open_file", "close_file", "record_edit", "add_turn",
        "note", "clear_notes", "snapshot", "end",
    )
)  # fmt: skip
"""Calls of `session` about what is being worked on: they name it, for a server has many clients at a time."""
_FILE = "it names a file or a folder on the machine of the store"
_FUNCTION = "it takes or returns a function, which cannot be sent"
_STORE = "it is about the open store of one process"
UNSERVED: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("ingest", "enqueue", "watch", "write_export", "decrypted", "spaces.export", "spaces.read_file",
         "spaces.read_folder", "spaces.restore", "spaces.verify", "spaces.write_file", "session.place",
         "project.detect", "xdb.export_submission", "xdb.verify_export", "xdb.load_concept_pack",
         "xdb.documents.file", "xdb.documents.copies", "xdb.documents.read_copies", "xdb.documents.write_copies"),
        _FILE,
    ),
    **dict.fromkeys(("session.on_task_end", "xdb.set_summarizer"), _FUNCTION),
    **dict.fromkeys(("close", "session.tend", "user.close", "user.check", "user.held", "user.counts"), _STORE),
    "export": "it is streamed, at /v1/export",
    "session.handle": "a client has it: each of its calls names the session",
    "xdb.session": "a client has it: each of its calls names the session",
    "xdb.set_contract": "the limits of a deployment are set where it runs",
    "honeycomb.configure": "the rules of a store are set where it runs",
    "governance.record": "`decide` and `remember(kind=\"decision\")` call it with what they were given",
    "user.learn": "`consolidate(\"user\")` does it for every project",
    "user.rescore": "`consolidate(\"user\")` does it for every project",
    "user.retract": "it is for the owner of the user's own folder, on that machine",
    "user.wipe": "`wipe(\"user\")` does it",
    "user.offer": "`suggestions` has what it says",
    "user.stated": "`context` has what it says",
    **dict.fromkeys(
        ("xdb.documents.all", "xdb.documents.count", "xdb.documents.get_by_path", "xdb.documents.get_document",
         "xdb.documents.list_by_type", "xdb.documents.remove_document", "xdb.documents.restore_document",
         "xdb.documents.search"),
        "`xdb` has it by document 2's name",
    ),
}  # fmt: skip
"""What is not served, and why."""
_UNAWAITED: Final = frozenset(
    {
        "close", "watch", "decrypted", "export", "session.handle", "xdb.session", "governance.record",
        "session.on_task_end", "user.close", "user.held",
    }
)  # fmt: skip
LOCAL_VERBS: Final = tuple(Verb(name=name, method="", path="") for name in UNSERVED if name not in _UNAWAITED)
"""What is not served, and can be awaited in the process that has the store open."""
UNSENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("progress", "stop", "listener", "on_report"), _FUNCTION),
    **dict.fromkeys(("folder", "root", "out", "file"), _FILE),
    "archives": _FILE,
    "archive": _FILE,
    "reviewer_credential": "a header has it",
    "embedder": "a store is re-embedded by another one where it runs",
}
"""Parameters that are not served, and why."""
IN_ADDRESSES: Final[Mapping[str, str]] = {"parent_concept_id": "parent"}
"""Parameters that document 2 calls otherwise in its addresses."""
_CHOICES: Final[Mapping[str, type[Enum]]] = {
    "TagType": TagType, "BudStatus": BudStatus, "EventType": EventType, "DocumentType": DocumentType,
    "SubmissionStatus": SubmissionStatus, "Fidelity": Fidelity, "CompressionLevel": CompressionLevel,
    "ActivityUnit": ActivityUnit, "Trust": Trust,
}  # fmt: skip
_NAMES: Final[dict[str, Any]] = {
    **vars(typing), **_CHOICES,
    "Iterable": Iterable, "Sequence": Sequence, "Mapping": Mapping, "Callable": Callable, "Path": Path,
    "datetime": datetime, "timedelta": timedelta, "JSONValue": JSONValue, "JSONObject": JSONObject,
    "Citation": Citation, "RawOptions": RawOptions, "StructuredOptions": StructuredOptions, "Literal": Literal,
    "GivenOptions": Mapping[str, JSONValue] | str | None, "OptionsText": Mapping[str, JSONValue] | str | None,
    "Topic": str, "Rows": Sequence[Mapping[str, JSONValue]] | Mapping[str, Sequence[JSONValue]], "Embedder": object,
}  # fmt: skip
_OPTIONS: Final = {"RawOptions": RawOptions, "StructuredOptions": StructuredOptions}
SESSION_ID: Final = "session_id"


def python_call(verb: Verb) -> Callable[..., Any]:
    """Return the call that a verb stands for, as its class has it."""
    call: Callable[..., Any] = getattr(FACADES[verb.facade], verb.call)
    return call


def signature_of(verb: Verb) -> inspect.Signature:
    """Return the signature of the Python call, `self` included."""
    call = python_call(verb)
    return inspect.signature(call)


def takes_session(verb: Verb) -> bool:
    """Whether a client has to name the working set that a call is about."""
    return verb.facade == "session" and verb.call in OF_SESSION


@functools.cache
def parameters_of(verb: Verb) -> tuple[Parameter, ...]:
    """Return what a served call takes, in the order of the Python call."""
    by_name: dict[str, Parameter] = {}
    for parameter in signature_of(verb).parameters.values():
        if parameter.name == "self" or parameter.name in UNSENT:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            by_name.update((option.name, option) for option in _options(verb, str(parameter.annotation)))
            continue
        spread = parameter.kind is parameter.VAR_POSITIONAL
        kind = resolve_type(parameter.annotation)
        by_name[parameter.name] = Parameter(
            name=parameter.name,
            type=Sequence[kind] if spread else kind,  # type: ignore[valid-type]
            default=parameter.default,
            spread=spread,
        )
    if takes_session(verb):
        by_name[SESSION_ID] = Parameter(name=SESSION_ID, type=str)
    return tuple(by_name.values())


def _options(verb: Verb, annotation: str) -> Iterator[Parameter]:
    """Yield the keywords that a call takes as `**more`."""
    if verb.name == "governance.supersede":
        decide = parameters_of(VERBS["governance.decide"])
        yield from (option for option in decide if option.name not in ("title", "supersedes"))
        return
    named = next((options for name, options in _OPTIONS.items() if name in annotation), None)
    hints = dict(named.__annotations__) if named else {}
    if named is None:  # the recalls of document 1
        hints = {option.name: option.type for option in _bundle_fields()}
    for name, hint in hints.items():
        yield Parameter(
            name=name, type=resolve_type(getattr(hint, "__forward_arg__", hint)) | None, default=None
        )


def _bundle_fields() -> Iterator[Parameter]:
    for name, hint in BundleOptions.__annotations__.items():
        if name not in OPTIONS:
            continue
        kind = str(hint).replace("datetime", "datetime | str").replace("tuple[str, ...]", "Sequence[str]")
        yield Parameter(name=name, type=kind)


def resolve_type(annotation: object) -> Any:
    """Return a type for what stands as text in a signature."""
    return eval(annotation, _NAMES) if isinstance(annotation, str) else annotation  # our own signatures
