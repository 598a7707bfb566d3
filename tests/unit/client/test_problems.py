"""An error travels as a problem, and is raised again as what it was."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

import hexad
from hexad import errors
from hexad.client.problems import error_of, problem_of, status_of
from hexad.errors import HexadError, InvalidInput, NotFound, ProviderError, ServerUnreachable
from hexad.interfaces.http_server.call_names import CALL_NAMES

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, HexadError)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_error_is_raised_again(kind: type[HexadError]):
    error = kind("It is over;", remedy="`{find_tags}` finds another.")
    sent = json.loads(json.dumps(problem_of(error, is_exact=True)))
    again = error_of(sent, sent["status"])

    assert (kind, str(error), error.remedy) == (type(again), str(again), again.remedy)
    assert 400 <= sent["status"] < 600


def test_a_problem_names_the_argument_and_speaks_of_addresses():
    error = InvalidInput("level = 9 is none;", argument="level", remedy="`{find_tags}` lists them.")
    problem = problem_of(error, {"find_tags": "GET /v1/xdb/tags"})

    assert ("level", "level = 9 is none; `GET /v1/xdb/tags` lists them.") == (
        problem["argument"],
        problem["detail"],
    )
    assert "level" == error_of(problem, 422).argument


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("confirm=True", '"confirm": true'),
        ("embedder=None", '"embedder": null'),
        ("order='path'", '"order": "path"'),
        ("space=", '"space"'),
        ("limit", "limit"),
    ],
)
def test_an_argument_stands_as_in_a_body(reference, words):
    error = InvalidInput("No.", remedy=f"Give {{{reference}}}.")

    assert f"No. Give {words}." == problem_of(error)["detail"]


REMEDIES = sorted({
    word.value.value
    for file in Path(hexad.__file__).parent.rglob("*.py")
    for word in ast.walk(ast.parse(file.read_text()))
    if isinstance(word, ast.keyword) and word.arg == "remedy" and isinstance(word.value, ast.Constant)
})  # fmt: skip


def test_no_problem_shows_the_template_of_a_remedy():
    """`{start_session}` is for those who fill it in."""
    assert len(REMEDIES) > 50
    for remedy in REMEDIES:
        problem = problem_of(InvalidInput("No;", remedy=remedy), CALL_NAMES)
        for text in (problem["detail"], problem.get("remedy", "")):
            assert re.search(r"\{[^{}\"]", str(text)) is None, text
        assert str(problem["detail"]).endswith(str(problem.get("remedy", "")))


def test_a_remedy_names_the_addresses_of_calls_that_are_served():
    """What is not served stays as the library calls it."""
    not_served = {
        "read_copies",
        "write_copies",
        "export_submission",
        "hx.xdb.set_contract",
        "hx.session.current",
    }
    calls = {name for remedy in REMEDIES for name in re.findall(r"`\{([^{}]+)\}`", remedy)}
    named = {
        name: problem_of(InvalidInput("No;", remedy=f"{{{name}}}"), CALL_NAMES)["remedy"] for name in calls
    }

    assert not_served == {
        name for name, words in named.items() if re.match("(GET|POST) /v1/", str(words)) is None
    }


def test_a_command_is_named_by_its_address_where_it_has_one():
    error = NotFound("No. `hexad memory list` shows all, `hexad encrypt` hides it.")

    assert (
        "No. `GET /v1/memories` shows all, `hexad encrypt` hides it."
        == problem_of(error, {"hexad memory list": "GET /v1/memories"})["detail"]
    )


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInput("x"), 422),
        (errors.InvalidTarget("x"), 422),
        (NotFound("x"), 404),
        (errors.BudgetExceeded("x"), 429),
        (errors.LedgerBroken("x"), 500),
        (ProviderError("x"), 424),
    ],
)
def test_the_status_is_that_of_the_nearest_class(error: HexadError, status: int):
    assert status == status_of(error)


@pytest.mark.parametrize("content", [None, [], {"type": "about:blank"}, "text", {"detail": "x"}])
def test_another_server_is_told_apart(content: object):
    assert isinstance(error_of(content, 502), ServerUnreachable)


def test_an_unknown_error_is_an_error():
    assert HexadError is type(error_of({"type": "urn:hexad:error:Popen", "reason": "x"}, 500))
    assert HexadError is type(error_of({"type": "urn:hexad:error:re", "reason": "x"}, 500))


def test_a_reason_stands_by_itself_without_the_mark_before_its_remedy():
    error = InvalidInput("There is no parameter 'colour';", remedy="known are text and tags.")
    problem = problem_of(error)

    assert "There is no parameter 'colour'" == problem["reason"]
    assert str(error) == str(error_of(problem, 422)) == problem["detail"]
