"""A store's own files that a clone or an archive brought as links or pipes: refused, and nothing behind them is touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hexad
from hexad.errors import InvalidInput

VICTIM = b"# settings of somebody\nexport EDITOR=vi\n"


@pytest.mark.parametrize(
    "name", ["memory.db", "memory.db-commit", "memory.db-wal", "keys.json", "open.lock", "audit/audit.db"]
)
@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("used", [True, False])
def test_a_link_in_the_place_of_a_stores_file_is_refused_and_what_it_leads_to_stays(
    tmp_path: Path, name: str, exists: bool, used: bool
) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "clone"
    store = folder / ".hexad"
    store.mkdir(parents=True)
    if used:
        with hexad.open(folder, embedder=None, background=False) as hx:
            hx.remember("The gate closes at nine.")
    if exists:
        victim.write_bytes(VICTIM)
    place = store / name
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(victim)

    with pytest.raises(InvalidInput, match=f"{place.name} is a link"):
        hexad.open(folder, embedder=None, background=False)

    assert victim.exists() == exists
    assert not exists or victim.read_bytes() == VICTIM


def test_a_pipe_in_the_place_of_the_database_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".hexad").mkdir()
    os.mkfifo(tmp_path / ".hexad" / "memory.db")

    for readonly in (False, True):
        with pytest.raises(InvalidInput, match=r"memory\.db is a pipe"):
            hexad.open(tmp_path, embedder=None, background=False, readonly=readonly)


def test_a_folder_of_a_store_may_be_moved_away_and_linked(tmp_path: Path) -> None:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("The gate closes at nine.")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".hexad" / "spaces").symlink_to(tmp_path / "elsewhere")

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert hx.recall("gate")
