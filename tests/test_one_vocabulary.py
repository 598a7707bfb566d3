"""One vocabulary: verbs, parameters and defaults of Python, the command line, HTTP and MCP, compared.

What one surface has and another has not stands in a table with its reason; an entry that no longer holds fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import click
import pytest

from hexad.client.proxies import facade_class
from hexad.client.verbs import (
    FACADES,
    IN_ADDRESSES,
    LOCAL_VERBS,
    SESSION_ID,
    UNSENT,
    UNSERVED,
    VERBS,
    Parameter,
    Verb,
    parameters_of,
    python_call,
    signature_of,
    takes_session,
)
from hexad.code_graph.values import CodeQuestion
from hexad.interfaces.cli.app.main import root
from hexad.interfaces.mcp.schemas import GRAPH, SESSION, SESSION_ACTIONS, TOOLS, ToolSchema
from hexad.interfaces.mcp.tools import CALLS

pytest.importorskip("fastapi")
from hexad.interfaces.http_server.bodies import body_schema, query_schema

SERVED = {name: kind for name, kind in FACADES.items() if not name.startswith("audit")}


def calls() -> Iterator[str]:
    """The name of every public call of an open store."""
    for facade, kind in SERVED.items():
        for name, _ in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                yield f"{facade}.{name}" if facade else name


# Python and HTTP ------------------------------------------------------------------------------------------------------


def test_every_call_is_served_or_says_why_not():
    assert set(calls()) == set(VERBS) | set(UNSERVED)
    assert set() == set(VERBS) & set(UNSERVED)
    assert [] == [name for name, reason in UNSERVED.items() if not reason]


def test_no_two_calls_have_one_path():
    paths = [(method, verb.path) for verb in VERBS.values() for method in (verb.method, verb.alias) if method]

    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_parameters_and_defaults_are_those_of_python(verb: Verb):
    python = {
        name: parameter
        for name, parameter in signature_of(verb).parameters.items()
        if name != "self" and name not in UNSENT and parameter.kind is not parameter.VAR_KEYWORD
    }
    served = {parameter.name: parameter for parameter in parameters_of(verb)}
    schema = body_schema(verb)

    assert set(python) <= set(served)
    assert set(served) - set(python) <= _more(verb)
    assert set(served) == set(schema["properties"])
    assert {name for name, parameter in served.items() if parameter.required} == set(
        schema.get("required", ())
    )
    for name, parameter in python.items():
        if parameter.default is not inspect.Parameter.empty:
            published = schema["properties"][name].get("default")
            assert (
                list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
            ) == published


def _more(verb: Verb) -> set[str]:
    """What HTTP names that stands as `**more` in Python, and the session that a server has to be told."""
    more = {SESSION_ID} if takes_session(verb) else set()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature_of(verb).parameters.values()):
        more |= {
            parameter.name
            for parameter in parameters_of(verb)
            if parameter.name not in signature_of(verb).parameters
        }
    return more


@pytest.mark.parametrize(
    "verb", [verb for verb in VERBS.values() if verb.method == "GET"], ids=lambda verb: verb.name
)
def test_an_address_takes_what_a_body_would_unless_it_is_an_object(verb: Verb):
    properties = body_schema(verb)["properties"]

    left_out = set(properties) - {
        next((name for name, other in IN_ADDRESSES.items() if other == parameter["name"]), parameter["name"])
        for parameter in query_schema(verb)
    }

    assert [] == [name for name in left_out if properties[name].get("type") != "object"]
    assert not left_out or verb.alias == "POST"


def test_what_is_not_sent_is_a_parameter_somewhere():
    named = {name for verb in (*VERBS.values(), *LOCAL_VERBS) for name in signature_of(verb).parameters}
    named |= {"archive", "archives", "reviewer_credential", "listener", "on_report", "out"}  # of calls beside

    assert set() == set(UNSENT) - named


@pytest.mark.parametrize("facade", SERVED)
def test_a_client_has_the_calls_and_their_signatures(facade):
    remote, local = facade_class(facade), facade_class(facade, local=True)

    for verb in (verb for verb in VERBS.values() if verb.facade == facade):
        whole = signature_of(verb)
        assert [name for name in whole.parameters if name not in UNSENT] == [
            *inspect.signature(getattr(remote, verb.call)).parameters
        ]
        assert [*whole.parameters] == [*inspect.signature(getattr(local, verb.call)).parameters]
        assert python_call(verb).__doc__ == getattr(remote, verb.call).__doc__


# Python and the command line ------------------------------------------------------------------------------------------

COMMANDS = {
    "remember": "remember",
    "remember-raw": "remember_raw",
    "recall": "recall",
    "context": "context",
    "expand": "expand",
    "feedback": "feedback",
    "forget": "forget",
    "use-context": "use_context",
    "decide": "governance.decide",
    "why": "governance.why",
    "session start": "session.start",
    "consolidate": "consolidate",
    "memory list": "memories",
    "project facts": "project.get",
    "project todos": "project.get_todos",
    "project components": "project.components",
    "project confirm": "project.confirm",
    "project done": "project.done",
    "project forget-detected": "project.forget_detected",
}
"""The commands whose verb is a call's, by name."""
SAME: dict[str, dict[str, str]] = {
    "remember": {"id_": "id", "messages": "text"},
    "remember-raw": {"id_": "id", "path": "path_hint", "file": "raw"},
    "recall": {"spaces": "space", "no_feedback": "feedback"},
    "context": {"spaces": "space", "summaries": "details", "deadlines": "wait", "literal": "plain"},
    "expand": {"id": "what"},
    "feedback": {"id": "what", "remark": "note"},
    "forget": {"yes": "confirm"},
    "use-context": {"no_metadata": "include_metadata"},
    "session start": {"subjects": "data_subjects"},
    "project facts": {"no_drafts": "drafts"},
}
"""Parameters of commands that are another name, or the negative, of what Python has: a flag is off unless it is given."""
SHELL = {
    ("recall", "full"): "how much is printed",
    ("context", "plan_only"): "prints `plan`",
    ("context", "explain"): "how much is printed",
    ("feedback", "retract"): "`retract_feedback`",
    ("feedback", "limit"): "`feedbacks`, where nothing is judged",
    ("feedback", "stats"): "`feedback_stats`",
    ("forget", "restore"): "`restore`",
    ("forget", "listed"): "`erasures`",
    ("consolidate", "everything"): "how much is printed",
    ("memory list", "scope"): "`memories_in`",
    ("memory list", "session"): "`memories_in`",
}
"""What a command has beside the call, and what it is."""
_TESTS = "for programs and their tests"
PYTHON = {
    ("remember", "citations"): "a structure; a decision's links are `decide --link`",
    ("remember", "freeze_clock"): _TESTS,
    ("remember-raw", "options"): "document 1's mapping; each option is one of the command",
    ("recall", "association"): "a setting of how to rank, for experiments",
    ("context", "as_of"): "in the query language: `as_of:`",
    ("context", "without"): "for a program that keeps a list of what its model has before it",
}
"""What Python has and a command has not, and why."""


def command_of(path: str) -> click.Command:
    command: click.Command = root
    for word in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return command


def typed(path: str) -> dict[str, click.Parameter]:
    return {
        str(parameter.name): parameter
        for parameter in command_of(path).params
        if parameter.expose_value and parameter.name != "help"
    }


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_takes_what_its_call_does(path):
    python = {parameter.name for parameter in parameters_of(VERBS[COMMANDS[path]])}
    same = SAME.get(path, {})
    names = {same.get(name, name) for name in typed(path)}

    assert {name for command, name in SHELL if command == path} == names - python
    assert {name for command, name in PYTHON if command == path} == python - names
    assert [] == [name for name, other in same.items() if name not in typed(path) or other not in python]


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_has_the_defaults_of_its_call(path):
    python = {parameter.name: parameter for parameter in parameters_of(VERBS[COMMANDS[path]])}

    different = {
        name: (parameter.default, python[name].default)
        for name, parameter in typed(path).items()
        if name in python and isinstance(parameter, click.Option) and not parameter.required
        if _value(parameter) != _plain(python[name].default)
    }

    assert DEFAULTS.get(path, set()) == set(different)


DEFAULTS = {
    "remember-raw": {"space", "trust"},  # Python's call names the space; None is `user`, which the help shows
}
"""Parameters whose default is another one on the command line, and why."""


def _value(option: click.Option) -> Any:
    value = option.get_default(click.Context(click.Command("x")))
    return None if value in ((), False, None) or "UNSET" in repr(value) else value  # click's own "not given"


def _plain(value: Any) -> Any:
    return None if value in ((), False, None) else value


# Python and MCP -------------------------------------------------------------------------------------------------------

TOOL_CALLS = {
    **{tool.name: tool.name for tool in TOOLS if tool.name in VERBS},
    "decide": "governance.decide",
    "why": "governance.why",
}
"""The call that each tool makes; `session` makes one for each of its actions."""
SEVERAL = (SESSION, GRAPH)
"""Tools of several calls, which an argument chooses."""
ACTION_CALLS = {
    "show": ("session.get", "session.resumable"),
    "list": ("session.list",),
    "start": ("session.start",),
    "resume": ("session.resume",),
    "task": ("session.set_task",),
    "step": ("session.add_steps",),
    "done": ("session.mark_step",),
    "edit": ("session.record_edit",),
    "turn": ("session.add_turn",),
    "note": ("session.note",),
    "end": ("session.end",),
}
NO_ACTION = {
    "session.set_ticket": "`start` takes the ticket; a change of it is for who works there",
    "session.open_file": "an editor's; an agent says what it edited",
    "session.close_file": "an editor's; an agent says what it edited",
    "session.clear_notes": "an agent's slip would lose what is noted",
    "session.snapshot": "every action answers with it",
}
"""Calls of a session that no action makes, and why."""
TOOL_NAMES = {("expand", "id"): "what"}
"""Arguments under another name than Python's, which takes an item there too."""
_ALL_SCHEMAS = "every agent reads all tools at the start of every conversation, and this is seldom given"
TOOL_LACKS = {
    ("remember", "citations"): "a structure; a decision's are `links` of `decide`",
    ("remember", "freeze_clock"): _TESTS,
    ("remember", "confidence"): _ALL_SCHEMAS,
    ("remember", "project"): "the server's own, which its folder or the path names",
    ("remember", "relevance"): _ALL_SCHEMAS,
    ("remember", "source_id"): "of what is read from a source, which an agent does not do",
    ("recall", "association"): "a setting of how to rank, for experiments",
    ("recall", "feedback"): "a setting of how to rank, for experiments",
    ("recall", "semantic"): "the server's embedder is there or not; an agent does not know",
    ("recall", "rerank"): "the server's reranker is there or not; an agent does not know",
    ("context", "model"): "the server does not know by whose tokens its client counts",
    ("context", "plain"): "a task may hold filters; what is quoted in it is literal",
    ("context", "without"): "for a program that keeps a list of what its model has before it",
    ("context", "wait"): "always True: an agent's turn takes seconds, and a missing layer costs it more",
    (
        "forget",
        "confirm",
    ): "a client asks its user by `destructiveHint`; a purge needs a policy that allows it",
    ("session.start", "data_subjects"): _ALL_SCHEMAS,
    ("session.resume", "shared"): "always True: agents of one server work on one session at a time",
    ("session.list", "everywhere"): _ALL_SCHEMAS,
    ("session.list", "ended"): _ALL_SCHEMAS,
    ("session.list", "offset"): _ALL_SCHEMAS,
    ("session.mark_step", "done"): "an agent says what it did; what was undone is another step",
}
"""What Python has and a tool has not, by tool or by the call of an action, and why."""
TOOL_DEFAULTS = {
    ("remember", "trust"): "agent",  # who calls is an agent, and says so where it repeats its user
    ("decide", "trust"): "agent",
}
"""Defaults that are other ones for an agent, and why."""


def test_every_tool_makes_a_call_of_the_library():
    assert [tool.name for tool in TOOLS] == list(CALLS)
    assert {tool.name for tool in TOOLS} == {*TOOL_CALLS, *(tool.name for tool in SEVERAL)}
    assert set(TOOL_CALLS.values()) <= set(VERBS)


def test_the_tool_for_code_asks_what_the_library_answers():
    questions = set(GRAPH.properties["question"]["enum"])
    calls = ("graph.query", "graph.show", "graph.index")
    python = {parameter.name for call in calls for parameter in parameters_of(VERBS[call])}

    assert {question.value for question in CodeQuestion} == questions - {"show", "index"}
    assert set() == set(GRAPH.properties) - python


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool not in SEVERAL], ids=lambda tool: tool.name)
def test_a_tool_takes_what_its_call_does(tool: ToolSchema):
    python = {parameter.name: parameter for parameter in parameters_of(VERBS[TOOL_CALLS[tool.name]])}
    names = {TOOL_NAMES.get((tool.name, name), name) for name in tool.properties}

    assert set() == names - set(python)
    assert {name for call, name in TOOL_LACKS if call == tool.name} == set(python) - names
    assert {name for name, parameter in python.items() if parameter.required} == {
        TOOL_NAMES.get((tool.name, name), name) for name in tool.required
    }


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool not in SEVERAL], ids=lambda tool: tool.name)
def test_a_tool_has_the_defaults_of_its_call(tool: ToolSchema):
    python = {parameter.name: parameter for parameter in parameters_of(VERBS[TOOL_CALLS[tool.name]])}

    different = {
        (tool.name, name): schema.get("default")
        for name, schema in tool.properties.items()
        if not _is_default(schema, python[TOOL_NAMES.get((tool.name, name), name)])
    }

    assert {key: value for key, value in TOOL_DEFAULTS.items() if key[0] == tool.name} == different


def test_the_actions_of_a_session_are_its_calls():
    calls = {name for names in ACTION_CALLS.values() for name in names}

    assert list(SESSION_ACTIONS) == list(ACTION_CALLS)
    assert {name for name in VERBS if name.startswith("session.")} == calls | set(NO_ACTION)
    assert set() == calls & set(NO_ACTION)


def test_the_tool_session_takes_what_its_calls_do():
    python: dict[str, list[Parameter]] = {}
    lacks = set()
    for call in (name for names in ACTION_CALLS.values() for name in names):
        for parameter in parameters_of(VERBS[call]):
            if parameter.name not in SESSION.properties or (call, parameter.name) in TOOL_LACKS:
                lacks.add((call, parameter.name))
            else:
                python.setdefault(parameter.name, []).append(parameter)

    assert {key for key in TOOL_LACKS if "." in key[0]} == lacks
    assert {"action"} == set(SESSION.properties) - set(python)
    assert SESSION.properties["action"]["default"] == "show"
    assert {} == {
        name: schema
        for name, schema in SESSION.properties.items()
        if name != "action" and not all(_is_default(schema, parameter) for parameter in python[name])
    }


def _is_default(schema: dict[str, Any], parameter: Parameter) -> bool:
    """Whether a tool tells the default that a parameter has; an empty one is not told."""
    default = None if parameter.required or parameter.default == () else parameter.default
    return default is schema.get("default") or default == schema.get("default")
