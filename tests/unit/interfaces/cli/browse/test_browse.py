"""The browser without a terminal: keys in, states and lines out, over a real store."""

from __future__ import annotations

import doctest
from collections.abc import Iterable

import pytest

from hexad import Hexad
from hexad.interfaces.cli.browse import model as browse_edit
from hexad.interfaces.cli.browse import model as browse_query
from hexad.interfaces.cli.browse import view as browse_view
from hexad.interfaces.cli.browse.browse import Browser
from hexad.interfaces.cli.browse.model import BrowserState, resized, understand
from hexad.interfaces.cli.browse.view import Screen, wrapped
from hexad.interfaces.cli.output.render import columns


class Keyboard:
    """Stands where the terminal does: gives keys that were pressed, keeps the screens that were shown."""

    def __init__(self, *presses: Iterable[str], size: tuple[int, int] = (80, 24)) -> None:
        self.presses = [list(keys) for keys in presses]
        self.width, self.height = size
        self.screens: list[Screen] = []
        self.redrawn = 0

    def size(self) -> tuple[int, int]:
        return self.width, self.height

    def show(self, shown: Screen) -> None:
        self.screens.append(shown)

    def redraw(self) -> None:
        self.redrawn += 1

    def read(self) -> Iterable[str]:
        # At the end out of whatever is open, then out of the list.
        return self.presses.pop(0) if self.presses else ["esc", "esc", "esc", "q"]

    @property
    def text(self) -> str:
        return "\n".join("".join(span.text for span in row) for row in self.screens[-1].rows)


def browsed(
    hx: Hexad, *presses: Iterable[str], size: tuple[int, int] = (80, 24), state: BrowserState | None = None
) -> list[str]:
    """Press keys, burst by burst, and return what the screen showed after each burst."""
    keyboard = Keyboard(*presses, size=size)
    Browser(hx, keyboard).run(state or BrowserState())  # type: ignore[arg-type]
    return ["\n".join("".join(span.text for span in row) for row in shown.rows) for shown in keyboard.screens]


@pytest.fixture
def shelf(hx, clock):
    for number in range(60):
        hx.remember(
            f"Item {number:02} says something of its own, {number * 7919}.",
            id=f"mem_{number:02}",
            space="shop" if number % 3 else "fleet",
            kind="decision" if number % 2 else "note",
            tags=["even"] if number % 2 == 0 else ["odd", "release"],
            path=f"shop/items/item-{number:02}",
        )
        clock.advance(minutes=1)
    return hx


@pytest.mark.parametrize("module", [browse_edit, browse_query, browse_view])
def test_the_examples_in_the_docstrings_hold(module):
    results = doctest.testmod(module)

    assert (0, True) == (results.failed, results.attempted > 0)


@pytest.mark.row("L171")
def test_the_list_begins_with_what_changed_last(shelf):
    first = browsed(shelf)[0]

    assert "1 of 60 memories, by last change" in first.splitlines()[0]
    assert "shop/items/item-59" in first.splitlines()[3]
    assert "mem_59" in first and "#odd #release" in first


@pytest.mark.row("L172")
def test_the_filter_narrows_the_list_while_it_is_typed(shelf):
    shown = browsed(
        shelf, "/item", " kind:decision", " is:pinned", ["ctrl-w", "enter"], ["p"], ["/", *" is:pinned"]
    )

    totals = [text.splitlines()[0].split(" of ")[1].split(",")[0] for text in shown]
    assert [
        "60 memories",
        "60 memories",
        "30 memories",
        "0 memories",
        "30 memories",
        "30 memories",
        "1 memory",
    ] == totals
    assert [
        "/ filters: words kind: tag: path: status: is:pinned", "filter: item", "filter: item kind:decision",
        "filter: item kind:decision is:pinned", "filter: item kind:decision", "filter: item kind:decision",
        "filter: item kind:decision  is:pinned",
    ] == [text.splitlines()[1].strip() for text in shown]  # fmt: skip
    empty = ["Nothing matches; Esc clears the filter." in text for text in shown]
    assert [False, False, False, True, False, False, False] == empty


@pytest.mark.row("L172")
@pytest.mark.parametrize(
    ("typed", "total"),
    [
        ("tag:release", 30),
        ("tag:release,odd kind:note", 0),
        ("path:shop/items/item-1", 10),
        ("path:*-59", 1),
        ("status:archived", 1),
        ("status:any", 60),
        ("item-17", 1),
        ("is:unpinned", 58),
        ("space:fleet", 20),
    ],
)
def test_each_part_of_a_filter_does_what_it_says(shelf, typed, total):
    shelf.pin("mem_01")
    shelf.forget("mem_02")

    shown = browsed(shelf, state=BrowserState().filtered(typed))

    assert f" of {total} memor" in shown[0].splitlines()[0]


def test_a_filter_that_is_not_finished_says_what_it_misses_and_hides_nothing(shelf):
    shown = browsed(shelf, "/status:arch")[-1]

    assert "60 memories" in shown
    assert "status:arch is none of active" in shown


@pytest.mark.parametrize(
    ("presses", "order"),
    [(0, "last change"), (1, "creation"), (2, "path"), (3, "relevance"), (4, "kind"), (5, "last change")],
)
def test_s_goes_through_the_orders(shelf, presses, order):
    assert f"by {order} " in browsed(shelf, "s" * presses)[-1].splitlines()[0]


def test_tab_goes_through_the_spaces_and_back(shelf):
    shown = browsed(shelf, ["tab"], ["tab"], ["tab"], ["back-tab"])

    names = [text.split("  ")[1].strip() for text in shown]
    assert ["all spaces", "fleet", "shop", "all spaces", "shop"] == names


def test_the_list_is_read_in_pages_and_every_memory_can_be_reached(shelf):
    asked: list[tuple[int, int]] = []
    real = shelf.memories

    class Counting:
        def __getattr__(self, name):
            return getattr(shelf, name)

        def memories(self, **options):
            asked.append((options["offset"], options["limit"]))
            return real(**options)

    shown = browsed(Counting(), ["end"], ["home"], *[["page-down"]] * 4, size=(80, 15))  # type: ignore[arg-type]

    assert "item-00" in shown[1] and "item-59" in shown[2] and "41 of 60" in shown[-1]
    assert all(limit <= 30 for _, limit in asked)


def test_keys_that_come_faster_than_the_store_answers_are_all_heeded(shelf):
    browsed(shelf, ["end", "p", "up", "up", "p"])

    assert ["mem_02", "mem_00"] != [memory.id for memory in shelf.memories(pinned=True)]
    assert 2 == shelf.count(pinned=True)


@pytest.mark.row("L171")
def test_a_memory_is_pinned_tagged_archived_and_brought_back(shelf):
    shown = browsed(
        shelf,
        ["/", *"item-07", "enter"],
        ["p"],
        ["t", "ctrl-u", *"odd new_one", "enter"],
        ["a"],
        ["u"],
    )

    assert "Pinned." in shown[2] and "* 2026" in shown[2]
    assert "Tags: new-one odd" in shown[3]
    assert "Archived" in shown[4] and "u undo" in shown[4] and "Nothing matches" in shown[4]
    assert "Back in recall." in shown[5]
    memory = shelf.get("mem_07")
    assert (True, ("new-one", "odd"), "active") == (memory.pinned, memory.tags, memory.status.value)


def test_esc_leaves_the_tags_as_they_were(shelf):
    browsed(shelf, ["t", *"more", "esc"])

    assert ("odd", "release") == shelf.get("mem_59").tags


@pytest.mark.row("L171")
def test_an_open_memory_shows_its_whole_record_its_history_and_what_is_alike(hx):
    hx.remember("The harbour closes at noon on Fridays and opens again on Monday at six.", id="mem_a")
    hx.remember("The harbour closes at one on Fridays and opens again on Monday at six.", id="mem_a")
    hx.remember("The harbour closes at one on Fridays and opens again on Monday at six!!", id="mem_b")

    hx.remember("Gates are painted green.", id="mem_gate", space="fleet", path="fleet/gates/paint")
    hx.link("mem_a", "mem_gate", kind="based-on")

    text = browsed(hx, ["enter"], size=(100, 60), state=BrowserState(space="default"))[-1]

    assert "closes at one" in text and "What it said before" in text and "closes at noon" in text
    assert "Near-duplicates" in text and "mem_b" in text
    assert "Linked" in text and "to fleet:fleet/gates/paint" in text and "based-on  mem_gate" in text
    for name in ("id", "path", "kind", "relevance", "created_at", "chunks"):
        assert f" {name} " in text


def test_an_open_memory_scrolls_to_its_end_and_no_further(hx):
    hx.remember("\n".join(f"line {number}" for number in range(100)), kind="code")

    shown = browsed(hx, ["enter"], ["end"], ["up"], ["page-down", "page-down", "home"])

    assert "line 1 to 21 of" in shown[1] and "line 0" in shown[1]
    last, total = shown[2].splitlines()[0].rsplit("to ", 1)[1].split(" of ")
    assert last == total.strip()
    assert shown[2] != shown[3] and shown[1] == shown[4]


def test_n_and_b_go_to_the_memory_beside_the_open_one(shelf):
    shown = browsed(shelf, ["enter"], ["n"], ["n"], ["b"])

    assert [f"shop/items/item-{number}" for number in (59, 58, 57, 58)] == [
        text.split()[0] for text in shown[1:5]
    ]


def test_what_another_process_wrote_appears_after_r(shelf, opened):
    with opened() as other:
        keyboard = Keyboard(["down"], ["r"])
        given = keyboard.read

        def read():
            pressed = given()
            if pressed == ["r"]:
                other.remember("Written elsewhere.", id="mem_other")
            return pressed

        keyboard.read = read  # type: ignore[method-assign]
        Browser(shelf, keyboard).run(BrowserState())  # type: ignore[arg-type]

    assert "61 memories" in keyboard.text and "3 of 61" in keyboard.text  # the cursor stays on its memory
    assert 1 == keyboard.redrawn


def test_what_the_store_refuses_is_said_and_the_browser_goes_on(shelf):
    shown = browsed(shelf, ["t", "ctrl-u", *"???", "enter"], ["down"])

    assert "has no letter or digit" in shown[1]
    assert "has no letter or digit" not in shown[2]
    assert ("odd", "release") == shelf.get("mem_59").tags


SIZES = [(80, 24), (120, 40), (40, 10), (20, 6), (9, 3), (1, 1), (300, 80)]
ODD = [
    "\x1b[2J\x1b[31mred\x07 \x9b5A \x1b]0;title\x07 end",
    "記憶の容れ物はここにある。とても長い文章が続きます。" * 3,
    "family 👨‍👩‍👧‍👦 heart ❤️ flags 🇩🇪🇫🇷 🎉",
    "z" + "\u0301" * 50 + "algo",
    "\u202eevil.exe\u202c \u2066x\u2069 \u200bzero \ufeff \u2028 line",
    "tab\tseparated\r\nlines\rand returns",
    "x" * 900,
    "🎉" * 300,
]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_no_memory_breaks_the_layout_at_any_size(hx, size):
    for number, text in enumerate(ODD):
        hx.remember(
            text, tags=["記憶", "b" * 60], path=f"odd/{number}/記憶の容れ物はここにある🎉" + "z\u0301" * 30
        )
    width, height = size
    states = ["", ["?"], ["esc"], "/ab記憶" + "c" * 90, ["enter"], ["esc"], ["t", *"🎉" * 60], ["esc"]]
    states += [["enter"], ["end"], ["n"], ["n"], ["n"], ["n"], ["n"], ["n"], ["n"], ["t"], ["esc"], ["esc"]]

    keyboard = Keyboard(*states, size=size)
    Browser(hx, keyboard).run(BrowserState())  # type: ignore[arg-type]

    for shown in keyboard.screens:
        assert len(shown.rows) <= height
        for row in shown.rows:
            text = "".join(span.text for span in row)
            assert columns(text) <= width
            assert all(char.isprintable() or char == "\u3000" for char in text), repr(text)
        if shown.cursor is not None and width > 20:
            assert 0 <= shown.cursor[1] < width


def test_a_smaller_terminal_keeps_the_cursor_in_sight():
    state = BrowserState(width=80, height=40, total=1000, cursor=30, top=0, stale=False)

    small = resized(state, 80, 12)

    assert small.top <= small.cursor < small.top + small.room


def test_a_long_text_is_broken_at_spaces_and_never_wider_than_its_room():
    for text in ODD:
        for room in (2, 3, 7, 40):
            assert all(columns(line) <= max(2, room) for line in wrapped(text, room))
    assert ["one two", "three"] == wrapped("one two three", 8)


def test_a_space_that_is_not_there_yet_is_said_while_its_name_is_typed(shelf):
    shown = browsed(shelf, "/space:fle", "et")

    assert "Space 'fle' not found" in shown[1]
    assert " of 20 memories" in shown[2] and "not found" not in shown[2]


def test_words_with_a_colon_that_is_no_part_of_the_filter_are_words():
    assert ("http://host", "a:b") == understand("http://host a:b").words


def test_the_help_names_every_key_and_any_key_leads_back(shelf):
    shown = browsed(shelf, ["?"], ["x"])

    for key in ("Enter", "Tab", "PgUp", "archive", "tags", "filter", "quit"):
        assert key in shown[1]
    assert shown[0] == shown[2]


def test_an_empty_store_says_so(hx):
    assert "There is no memory." in browsed(hx)[0]
