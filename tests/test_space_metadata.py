"""What is said of a space: set when it is there already, and the project of what is written into it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.interfaces.cli.app.main import main
from opener import Opener

TEXT = "Retries stop after five."


def test_metadata_of_a_space_that_is_there_can_be_set_changed_and_taken_back(hx: Hexad) -> None:
    hx.remember(TEXT, space="docs")

    assert {"project": "alpha", "owner": "ada"} == hx.spaces.set_metadata(
        "docs", {"project": "alpha", "owner": "ada"}
    ).metadata
    assert {"project": "beta", "owner": "ada"} == hx.spaces.set_metadata(
        "docs", {"project": "beta"}, merge=True
    ).metadata
    assert {"owner": "ada"} == hx.spaces.set_metadata("docs", '{"project": null}', merge=True).metadata
    assert {"x": 1} == hx.spaces.set_metadata("docs", {"x": 1}).metadata
    assert 1 == hx.spaces.get("docs").memories


def test_a_space_born_by_remember_can_join_a_project(hx: Hexad) -> None:
    hx.remember(TEXT, space="docs")

    hx.spaces.set_metadata("docs", {"project": "alpha"})

    assert TEXT in hx.use_context("alpha", "retries").text


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ("nonsense", "Invalid space metadata"),
        (["x"], "give an object"),
        ({"x": float("nan")}, "Invalid space metadata"),
        ({"x": "y" * (64 << 10)}, "65,536"),
        ({"reset": True}, "reset"),
    ],
)
def test_metadata_that_cannot_be_used_change_nothing(hx: Hexad, metadata: object, words: str) -> None:
    hx.spaces.create("docs", {"owner": "ada"})

    with pytest.raises(hexad.InvalidSpace, match=words):
        hx.spaces.set_metadata("docs", metadata)  # type: ignore[arg-type]
    assert {"owner": "ada"} == hx.spaces.get("docs").metadata


def test_metadata_together_stay_within_their_limit(hx: Hexad) -> None:
    hx.spaces.create("docs", {"a": "y" * (40 << 10)})

    with pytest.raises(hexad.InvalidSpace, match="65,536"):
        hx.spaces.set_metadata("docs", {"b": "y" * (40 << 10)}, merge=True)


def test_a_secret_in_metadata_is_taken_out_by_the_rules_of_the_space(hx: Hexad) -> None:
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"pii_redaction": ["email"]})

    kept = hx.spaces.set_metadata("docs", {"key": "AKIAIOSFODNN7EXAMPLE", "mail": "ada@example.org"}).metadata

    assert "AKIA" not in str(kept)
    assert "ada@" not in str(kept)


def test_metadata_of_a_space_that_is_not_there_are_not_found(hx: Hexad) -> None:
    with pytest.raises(hexad.NotFound, match="'docs' not found"):
        hx.spaces.set_metadata("docs", {"owner": "ada"})


def test_a_role_that_does_not_see_all_of_a_space_does_not_set_its_metadata(opened: Opener) -> None:
    owner = opened()
    owner.spaces.create("docs", {"owner": "ada"})
    owner.spaces.set_policy("docs", {"visibility": [{"kinds": ["log"], "roles": ["keeper"]}]})

    with pytest.raises(hexad.AccessDenied, match="its metadata"):
        opened(role="guest").spaces.set_metadata("docs", {"owner": "eve"})
    assert {"owner": "ada"} == owner.spaces.get("docs").metadata


def test_making_a_space_that_is_there_names_the_way_to_set_its_metadata(hx: Hexad) -> None:
    hx.spaces.create("docs")

    with pytest.raises(hexad.Conflict, match=r"set_metadata"):
        hx.spaces.create("docs", {"owner": "ada"})


def test_the_command_line_sets_shows_and_unsets_metadata(
    hx: Hexad, capsys: pytest.CaptureFixture[str]
) -> None:
    hx.spaces.create("docs")

    def run(*args: str) -> str:
        code = main(["-C", str(hx.path), "spaces", "metadata", "docs", *args])
        out, err = capsys.readouterr()
        assert 0 == code, err
        return out

    assert "alpha" in run("project=alpha", "level=3")
    assert {"project": "alpha", "level": 3} == json.loads(run("--json"))["metadata"]
    assert {"level": 3} == json.loads(run("--unset", "project", "--json"))["metadata"]
    assert {"a": "b"} == json.loads(run("--set", '{"a": "b"}', "--json"))["metadata"]
    assert 2 == main(["-C", str(hx.path), "spaces", "metadata", "docs", "--unset", "nope"])
    assert "nope" in capsys.readouterr().err
    assert 4 == main(["-C", str(hx.path), "spaces", "create", "docs", "--metadata", '{"x": 1}'])
    assert "hexad spaces metadata" in capsys.readouterr().err


# The project of what is written into a space ----------------------------------------------------------------


@pytest.fixture
def alpha(hx: Hexad) -> Hexad:
    """A space of the project alpha, in a store whose folder is called `project`."""
    hx.spaces.create("docs", {"project": "alpha"})
    return hx


def test_what_is_written_into_a_space_belongs_to_its_project(alpha: Hexad) -> None:
    told = alpha.remember(TEXT, space="docs", kind="decision")
    structured = alpha.remember_structured("docs", {"raw": "Refunds need two people."})
    raw = alpha.remember_raw("docs", "note", "Deploys happen on Tuesday at nine.")

    for memory in (told, structured, raw):
        assert "alpha" == memory.metadata["project"]
        assert memory.path.startswith("alpha/")


def test_a_project_that_is_given_wins_over_that_of_the_space(alpha: Hexad) -> None:
    by_option = alpha.remember(TEXT, space="docs", project="beta")
    by_metadata = alpha.remember("Refunds need two.", space="docs", metadata={"project": "gamma"})

    assert ("beta", True) == (by_option.metadata["project"], by_option.path.startswith("beta/"))
    assert ("gamma", True) == (by_metadata.metadata["project"], by_metadata.path.startswith("gamma/"))


def test_another_space_keeps_the_project_of_the_store(alpha: Hexad) -> None:
    assert "project" == alpha.remember(TEXT, space="other").metadata["project"]


def test_a_memory_keeps_its_project_when_its_space_joins_another(hx: Hexad) -> None:
    first = hx.remember(TEXT, space="docs", id="m1")
    hx.spaces.set_metadata("docs", {"project": "alpha"})

    again = hx.remember("Retries stop after six.", space="docs", id="m1")

    assert (first.path, "project") == (again.path, again.metadata["project"])
    assert "alpha" == hx.remember("Another text altogether.", space="docs").metadata["project"]


@pytest.mark.parametrize("given", [5, "", "  ", ["a"], "x" * 501, "a\nb"])
def test_a_project_of_a_space_that_is_no_name_is_passed_over(hx: Hexad, given: object) -> None:
    hx.spaces.create("docs", {"project": given})  # type: ignore[dict-item]

    assert "project" == hx.remember(TEXT, space="docs").metadata["project"]


def test_remember_takes_a_project_on_the_command_line(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEXAD_EMBEDDER", "none")
    assert 0 == main(["-C", str(project), "remember", TEXT, "--project", "beta", "--json"])

    assert "beta" == json.loads(capsys.readouterr().out)["metadata"]["project"]
