"""What a memory is called by: a path may be that of several memories, and a change must not pick one by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import hexad
from hexad import Hexad
from hexad.interfaces.cli.app.main import main
from opener import Opener

PATH = "amb/p"
CHANGES: dict[str, Callable[[Hexad], object]] = {
    "forget": lambda hx: hx.forget(PATH),
    "restore": lambda hx: hx.restore(PATH),
    "pin": lambda hx: hx.pin(PATH),
    "unpin": lambda hx: hx.unpin(PATH),
    "tag": lambda hx: hx.tag(PATH, add=["x"]),
    "link from": lambda hx: hx.link(PATH, "other"),
    "link to": lambda hx: hx.link("other", PATH),
    "unlink": lambda hx: hx.unlink(PATH, "other"),
}


@pytest.fixture
def two(hx: Hexad) -> Hexad:
    """Two spaces, each with a memory at one path."""
    hx.remember("The first text of two.", space="a", path=PATH, id="in_a")
    hx.remember("The second text of two.", space="b", path=PATH, id="in_b")
    hx.remember("Something else.", space="b", path="other", id="other")
    return hx


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_by_a_path_of_several_spaces_is_refused_with_their_ids(
    two: Hexad, change: Callable[[Hexad], object]
) -> None:
    before = [memory.to_dict() for memory in two.memories(status=None)]

    with pytest.raises(hexad.Conflict, match=r"a: in_a, b: in_b.*Give an id"):
        change(two)

    assert before == [memory.to_dict() for memory in two.memories(status=None)]
    assert [] == list(two.links("other"))


def test_a_link_asks_for_an_id_alone(two: Hexad) -> None:
    with pytest.raises(hexad.Conflict) as caught:
        two.link(PATH, "other")

    assert "--space" not in str(caught.value)


def test_a_space_or_an_id_says_which_memory_of_a_path_is_meant(two: Hexad) -> None:
    assert "in_a" == two.tag(PATH, add=["x"], space="a").id
    assert "in_b" == two.pin("b", PATH).id
    assert "in_a" == two.forget("in_a").id


def test_an_archived_memory_of_another_space_does_not_make_a_path_ambiguous(two: Hexad) -> None:
    two.forget(PATH, space="a")

    assert "in_b" == two.tag(PATH, add=["x"]).id


def test_restoring_by_a_path_asks_which_one_where_another_space_has_it_too(two: Hexad) -> None:
    two.forget(PATH, space="a")

    with pytest.raises(hexad.Conflict, match="in_a"):
        two.restore(PATH)
    assert "active" == two.restore(PATH, space="a").status.value


def test_within_one_space_the_active_memory_changed_last_is_changed(
    hx: Hexad, clock: hexad.FrozenClock
) -> None:
    hx.remember("The older text.", path=PATH, id="older")
    clock.advance(seconds=1)
    hx.remember("The newer text.", path=PATH, id="newer")

    assert "newer" == hx.tag(PATH, add=["x"]).id


def test_reading_by_a_path_of_several_spaces_goes_on(two: Hexad) -> None:
    assert two.get(PATH).id in {"in_a", "in_b"}


def test_many_spaces_with_a_path_are_not_all_named(hx: Hexad) -> None:
    for number in range(30):
        hx.remember(f"Text {number}.", space=f"s{number:02}", path=PATH)

    with pytest.raises(hexad.Conflict, match="and 25 more") as caught:
        hx.forget(PATH)
    assert len(str(caught.value)) < 600


def test_a_role_is_told_only_of_the_memories_that_it_may_see(opened: Opener) -> None:
    owner = opened()
    owner.remember("The first text of two.", space="a", path=PATH, id="in_a")
    owner.remember("The second text of two.", space="b", path=PATH, id="in_b")
    owner.spaces.set_policy("b", {"roles": ["keeper"]})

    assert "in_a" == opened(role="guest").tag(PATH, add=["x"]).id


def test_the_command_line_names_the_option(two: Hexad, capsys: pytest.CaptureFixture[str]) -> None:
    assert 4 == main(["-C", str(two.path), "forget", PATH])
    assert "--space" in capsys.readouterr().err
    assert 0 == main(["-C", str(two.path), "forget", PATH, "--space", "a"])
