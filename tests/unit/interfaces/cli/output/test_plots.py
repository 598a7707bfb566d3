"""Plots of text: their widths, their proportions, and that each part can be told apart without colours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.interfaces.cli.output.plots import (
    ASCII,
    BLOCKS,
    Gauge,
    Line,
    Part,
    Row,
    chart_columns,
    gauges,
    glyphs,
    number,
    over_time,
    shares,
    stacked,
)
from hexad.interfaces.cli.output.render import columns

HOUR = timedelta(hours=1)
START = datetime(2026, 1, 5, 22, tzinfo=UTC)


def text(line: Line) -> str:
    return "".join(part for part, _ in line)


def chart(values, heat=(), *, room=80, of=BLOCKS, step=HOUR):
    times = [START + step * at for at in range(len(values))]
    lines = over_time(
        Row(label="tokens per hour", values=values), heat, times=times, step=step, room=room, of=of
    )
    return [text(line) for line in lines]


# Shares -----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=8), st.integers(20, 200))
def test_shares_fill_the_room_and_leave_out_nothing_that_is_there(amounts, room):
    widths = shares(amounts, room)

    assert (room if any(amounts) else 0) == sum(widths)
    assert [amount > 0 for amount in amounts] == [width > 0 for width in widths]


def test_a_stacked_bar_is_as_wide_as_its_room_with_a_line_for_each_part():
    parts = [Part(label="hot", amount=750, said="750 B"), Part(label="warm", amount=250, said="250 B")]
    bar, *legend = [text(line) for line in stacked(parts, room=40, of=BLOCKS)]

    assert "█" * 30 + "▓" * 10 == bar
    assert ["██ hot   750 B   75.0%", "▓▓ warm  250 B   25.0%"] == legend


def test_parts_of_a_stack_look_different_without_colours():
    for of in (BLOCKS, ASCII):
        assert len(of.fills) == len(set(of.fills)) >= 8
        assert of.empty not in of.fills


def test_a_stack_of_nothing_says_so():
    bar, line = stacked([Part(label="hot", amount=0, said="0 B")], room=10, of=BLOCKS)

    assert ("·" * 10, "██ hot  0 B       –") == (text(bar), text(line))


# Gauges -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [60, 80, 120])
def test_gauges_are_of_one_length_and_fit(room):
    rows = [
        Gauge(label="cold", amount=40, limit=100, said="40 of 100", mark=0.8),
        Gauge(label="pinned", amount=7, limit=9, said="7 of 9"),
        Gauge(label="all", amount=500, limit=100, said="500 of 100", mark=0.8),
    ]
    lines = [text(line) for line in gauges(rows, room=room, of=BLOCKS)]

    assert all(columns(line) <= room for line in lines)
    assert 1 == len({line.index("%") for line in lines})
    assert ["40.0%", "77.8%", "500.0%"] == [line.split("%")[0].split()[-1] + "%" for line in lines]
    assert ("┃" in lines[0], "┃" in lines[1], "┃" in lines[2]) == (True, False, False)


def test_the_little_that_is_there_shows():
    [line] = gauges([Gauge(label="x", amount=1, limit=10**9, said="")], room=60, of=BLOCKS)

    assert "▏" in text(line)


# Over time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [80, 100, 120])
@pytest.mark.parametrize("many", [1, 2, 5, 24, 40])
def test_a_chart_fits_its_room_whatever_it_shows(room, many):
    heat = [Row(label="a concept with a very long name indeed", values=[0.5] * many, said="peak 0.50")]
    lines = chart([10.0 * at for at in range(many)], heat, room=room)

    assert max(map(columns, lines)) <= room
    assert "a concept with a very…" in lines[-1]


def test_columns_are_as_high_as_their_values():
    lines = chart([0, 50, 100, None])
    head, *rows = lines
    plot = [row.split("│", 1)[1] for row in rows[:5]]
    cell = len(plot[4]) // 4 if len(plot[4]) % 4 == 0 else 12

    assert "tokens per hour" == head
    heights = [sum(row[at * cell : at * cell + 1] not in ("", " ") for row in plot) for at in range(4)]
    assert [0, 3, 5, 0] == heights
    assert ("100", "60") == (rows[0].split("│")[0].strip(), rows[2].split("│")[0].strip())


def test_times_stand_below_what_began_then_and_a_new_day_is_named():
    axis, times = chart([1.0] * 6)[6:8]

    assert "01-05 22:00" in times and "01-06 00:00" in times
    for shown in ("01-05 22:00", "01-06 00:00"):
        assert "┬" == axis[times.index(shown)]


def test_a_day_is_named_at_the_first_time_that_is_shown_of_it():
    times = chart([1.0] * 60)[7]

    assert ["01-05", "22:00", "01-06"] == times.split()[:3]
    assert "01-07" in times


def test_cells_of_a_heat_map_grow_with_their_values():
    row = chart([1.0] * 4, [Row(label="Tide", values=[None, 0.1, 0.45, 0.9])])[-1]
    cells = row.split("│")[1]

    assert (" ", "▁", "▄", "█") == tuple(cells[at * 12] for at in range(4))


def test_a_terminal_without_block_characters_gets_ascii(monkeypatch):
    class Plain:
        encoding = "ascii"

    monkeypatch.setattr("sys.stdout", Plain())
    assert ASCII == glyphs()
    assert all(line.isascii() for line in chart([1.0, 2.0], [Row(label="x", values=[0.1, 0.2])], of=glyphs()))


def test_room_for_columns_is_what_labels_leave():
    assert 80 - 4 - 9 - 5 == chart_columns(["Tide"], ["peak 0.50"], room=80)


def test_numbers_are_short():
    assert ["0", "0.12", "7", "9,999", "12k", "1.5M", "2G"] == [
        number(value) for value in (0, 0.123, 7, 9_999, 12_000, 1_500_000, 2e9)
    ]
