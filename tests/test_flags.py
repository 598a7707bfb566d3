"""A text in place of a flag is refused before anything happens: "no" is true in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hexad

CALLS: dict[str, tuple[str, Callable[[hexad.Hexad, Any], object]]] = {
    "a reset": ("reset", lambda hx, flag: hx.spaces.create("docs", reset=flag)),
    "a space's dry run": ("dry_run", lambda hx, flag: hx.spaces.delete("docs", dry_run=flag)),
    "gc's dry run": ("dry_run", lambda hx, flag: hx.spaces.gc("docs", ttl_days=0, dry_run=flag)),
    "gc's purge": ("purge", lambda hx, flag: hx.spaces.gc("docs", ttl_days=0, purge=flag)),
    "a wipe": ("confirm", lambda hx, flag: hx.wipe("project", confirm=flag)),
    "a wipe's dry run": ("dry_run", lambda hx, flag: hx.wipe("project", confirm=True, dry_run=flag)),
    "a purge": ("purge", lambda hx, flag: hx.forget("kept", purge=flag, confirm=True)),
    "a confirmation": ("confirm", lambda hx, flag: hx.forget("kept", purge=True, confirm=flag)),
    "a document's purge": ("purge", lambda hx, flag: hx.xdb.remove_document("a.md", purge=flag)),
    "a wipe of the user layer": ("confirm", lambda hx, flag: hx.user.wipe(confirm=flag)),
    "a dry run of learning": ("dry_run", lambda hx, flag: hx.user.learn(dry_run=flag)),
    "an addition": ("also", lambda hx, flag: hx.user.prefer("db", "Postgres", also=flag)),
    "a tag's removal": ("force", lambda hx, flag: hx.xdb.remove_tag("topic", force=flag)),
}


@pytest.mark.parametrize("flag", ["no", "", 1, None])
@pytest.mark.parametrize("what", CALLS)
def test_what_is_no_flag_is_refused_and_changes_nothing(what: str, flag: Any) -> None:
    name, call = CALLS[what]
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.remember("Deploys happen on Tuesday.", id="kept", space="docs")
        hx.spaces.set_policy("docs", {"allow_delete": True})
        hx.xdb.start_session("s")
        hx.xdb.record("output", "said")
        hx.xdb.tag("topic", tick_range=(1, 1))
        document = hx.xdb.documents.add_document("a.md", "text", "reference")

        with pytest.raises(hexad.InvalidInput, match=name):
            call(hx, flag)

        assert "active" == hx.get("kept").status
        assert ["topic"] == [tag.name for tag in hx.xdb.find_tags()]
        assert hx.xdb.documents.get_document(document.id) is not None


@pytest.mark.parametrize("flag", ["no", 0, None])
def test_a_dry_run_of_a_change_of_keys_is_true_or_false(flag: Any, tmp_path: Path) -> None:
    hexad.init(tmp_path)
    with pytest.raises(hexad.InvalidInput, match="dry_run"):
        hexad.encrypt(tmp_path, key=tmp_path.parent / "key", dry_run=flag)
    assert hexad.encryption_state(tmp_path) is None
