"""One vocabulary: verbs, parameters and defaults of Python, the command line and HTTP, compared.

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
    Verb,
    parameters_of,
    python_call,
    signature_of,
    takes_session,
)
from hexad.interfaces.cli.app.main import root

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
}
"""Parameters of commands that are another name, or the negative, of what Python has: a flag is off unless it is given."""
SHELL = {
    ("recall", "full"): "how much is printed",
    ("context", "plan_only"): "prints `plan`",
    ("context", "explain"): "how much is printed",
    ("feedback", "retract"): "`retract_feedback`",
    ("feedback", "limit"): "`feedbacks`, where nothing is judged",
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
