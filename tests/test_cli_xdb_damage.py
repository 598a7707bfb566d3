"""What the command line says of an experience store that is damaged."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import hexad
from hexad import HexadError
from programs import command


def told(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command("--store", folder, *words)


def recorded(folder: Path) -> None:
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("s")
        hx.xdb.record_many([{"event_type": "input", "content": f"word {i}"} for i in range(200)])
        hx.xdb.flush()
        hx.xdb.record("input", "more")


@pytest.mark.parametrize("words", [["xdb", "seal"], ["--json", "xdb", "seal"]])
def test_sealing_a_damaged_log_ends_with_5(tmp_path: Path, words: list[str]) -> None:
    recorded(tmp_path)
    (log,) = (tmp_path / ".hexad" / "stream" / "log").glob("*.log")
    data = bytearray(log.read_bytes())
    data[len(data) // 3] ^= 0xFF
    log.write_bytes(data)

    ended = told(tmp_path, *words)

    assert ended.returncode == 5
    assert log.name in ended.stdout + ended.stderr
    if "--json" in words:
        assert json.loads(ended.stdout)["problems"]
    assert log.exists()


def test_maintain_says_that_a_log_that_is_due_is_damaged(tmp_path: Path) -> None:
    recorded(tmp_path)
    (log,) = (tmp_path / ".hexad" / "stream" / "log").glob("*.log")
    data = bytearray(log.read_bytes())
    data[len(data) // 3] ^= 0xFF
    log.write_bytes(data)
    os.truncate(log, 129 << 20)  # large enough to be sealed

    ended = told(tmp_path, "--json", "maintain")

    assert ended.returncode == 5
    assert log.name in json.loads(ended.stdout)["problems"][0]


@pytest.mark.parametrize("words", [["sessions"], ["usage"], ["context", "s"], ["context"]])
def test_commands_say_on_stderr_what_a_damaged_segment_leaves_out(tmp_path: Path, words: list[str]) -> None:
    recorded(tmp_path)
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.xdb.seal()
    (segment,) = (tmp_path / ".hexad" / "stream" / "segments").glob("*.parquet")
    segment.write_bytes(segment.read_bytes()[:-100])

    ended = told(tmp_path, "xdb", *words)

    assert 0 == ended.returncode
    assert "up to 201 timesteps are missing" in " ".join(ended.stderr.split())
    assert segment.name in "".join(ended.stderr.split())


def test_a_segment_that_was_cut_off_is_named_with_its_remedy_and_no_statement(tmp_path: Path) -> None:
    recorded(tmp_path)
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.xdb.seal()
        (segment,) = (tmp_path / ".hexad" / "stream" / "segments").glob("*.parquet")
        segment.write_bytes(segment.read_bytes()[:-100])

        steps = hx.xdb.recall(text_search="word")
        with pytest.raises(HexadError) as caught:
            hx.xdb.get_timestep("ts-s-7")

    assert [] == steps
    (note,) = steps.notes
    for told_of in (note, str(caught.value)):
        assert "SELECT" not in told_of
        assert "LINE" not in told_of
        assert "\n" not in told_of
        assert "segments" in told_of
        assert "hexad check" in told_of
