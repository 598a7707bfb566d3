"""Lifecycle contracts: what an agent's memory may hold, and the least that it is due."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import hexad
from hexad import (
    AccessDenied,
    HexadError,
    InvalidInput,
    LifecycleContract,
    LimitExceeded,
    LimitSource,
    NotFound,
)
from hexad.experience.values.contract import MINIMUMS, parse_contract
from programs import command
from tables import everything_stored

MINIMUM = LimitSource.MINIMUM


def memory(**limits: object) -> dict[str, object]:
    return {"resources": {"memory": limits}}


def limits(contract: LifecycleContract) -> tuple[int, int, int]:
    return contract.warm_quota_tokens, contract.cold_storage_bytes, contract.context_window_tokens


@pytest.mark.row("H187")
def test_without_a_contract_the_tribes_minimums_are_in_force(hx):
    contract = hx.xdb.contract

    assert (100_000, 100 * 1024 * 1024, 8_192) == limits(contract)
    assert {MINIMUM} == set(contract.sources.values())
    assert not contract.active


@pytest.mark.row("H183", "H185", "H186", "H187")
def test_a_contract_sets_limits_and_says_which_of_them_are_its_own(hx):
    given = memory(warm_quota_tokens=250_000, context_window_tokens=32_768) | {
        "parties": ["agent", "tribe"],
        "term": 1.5,
    }
    given["resources"]["compute"] = {"gpu_hours": 3}

    contract = hx.xdb.set_contract(given)

    assert contract == hx.xdb.contract
    assert (250_000, 100 * 1024 * 1024, 32_768) == limits(contract)
    assert {
        "warm_quota_tokens": LimitSource.CONTRACT,
        "cold_storage_bytes": MINIMUM,
        "context_window_tokens": LimitSource.CONTRACT,
    } == contract.sources
    assert given == contract.document
    assert contract.active


@pytest.mark.row("H185")
def test_the_contracts_cold_storage_is_the_limit_of_cold_records(hx):
    hx.xdb.set_contract(memory(cold_storage_bytes=300_000_000))

    assert 300_000_000 == hx.xdb.storage_manager.max_storage_bytes == hx.xdb.usage().cold_limit_bytes


@pytest.mark.row("H183")
def test_the_contracts_warm_quota_is_what_may_be_pinned(hx):
    session = hx.xdb.start_session("monday", compaction=False)
    session.record("input", "A book.", token_count=150_000)
    session.record("input", "A page.", token_count=1)

    with pytest.raises(LimitExceeded, match="100,000"):
        session.pin_window((1, 2))
    hx.xdb.set_contract(memory(warm_quota_tokens=200_000))
    session.pin_window((1, 2))

    assert (200_000, 150_001) == (hx.xdb.usage().warm_quota_tokens, hx.xdb.usage().warm_used_tokens)


@pytest.mark.row("H186")
def test_a_new_session_has_the_contracts_window_and_may_not_ask_for_more(hx):
    hx.xdb.set_contract(memory(context_window_tokens=20_000))
    hx.xdb.start_session("monday")

    assert 20_000 == hx.xdb.get_context_state()["max_tokens"]
    with pytest.raises(LimitExceeded, match="20,000"):
        hx.xdb.start_session("tuesday", 20_001)


@pytest.mark.row("H187")
def test_a_contract_is_there_for_other_programs_and_after_reopening(hx, opened, project):
    other = opened()
    assert not other.xdb.contract.active
    hx.xdb.set_contract(memory(warm_quota_tokens=123_456))

    assert 123_456 == other.xdb.contract.warm_quota_tokens
    ask = "import sys, hexad; print(hexad.open(sys.argv[1], embedder=None, background=False).xdb.contract.warm_quota_tokens)"
    told = subprocess.run(
        [sys.executable, "-c", ask, str(project)], capture_output=True, text=True, check=True
    )
    assert "123456" == told.stdout.strip()

    hx.xdb.set_contract(None)
    assert not other.xdb.contract.active
    assert 100_000 == opened(readonly=True).xdb.contract.warm_quota_tokens


@pytest.mark.row("H187")
@pytest.mark.parametrize("name", MINIMUMS)
def test_less_than_a_minimum_is_refused_and_exactly_the_minimum_is_not(hx, name):
    before = hx.xdb.set_contract(memory(warm_quota_tokens=200_000))

    with pytest.raises(
        LimitExceeded, match=f"{name} = {MINIMUMS[name] - 1} is less than .* {MINIMUMS[name]:,}"
    ):
        hx.xdb.set_contract(memory(**{name: MINIMUMS[name] - 1}))

    assert before == hx.xdb.contract
    assert MINIMUMS[name] == getattr(hx.xdb.set_contract(memory(**{name: MINIMUMS[name]})), name)


@pytest.mark.parametrize(
    "value",
    [True, "200000", None, [200_000], -200_000, 0, 200_000.5, float("nan"), float("inf"), 1 << 80, 1e300],
)
def test_what_is_no_limit_is_refused_and_nothing_changes(hx, value):
    before = hx.xdb.set_contract(memory(warm_quota_tokens=200_000))

    with pytest.raises(HexadError) as caught:
        hx.xdb.set_contract(memory(cold_storage_bytes=200_000_000, warm_quota_tokens=value))

    assert isinstance(caught.value, InvalidInput | LimitExceeded)
    assert before == hx.xdb.contract


@pytest.mark.parametrize(
    "given",
    [[], 7, {"resources": []}, {"resources": {"memory": 5}}, {1: 2}, {"a": object()}, {"a": float("inf")},
     {"resources": None}],
)  # fmt: skip
def test_what_is_no_contract_is_refused(hx, given):
    with pytest.raises(InvalidInput, match="contract"):
        hx.xdb.set_contract(given)

    assert not hx.xdb.contract.active


def test_a_contract_that_is_nested_without_end_is_refused():
    given: dict[str, object] = {}
    given["again"] = given

    with pytest.raises(InvalidInput, match="nested"):
        parse_contract(given)


def test_a_contract_without_limits_is_one_all_the_same(hx):
    contract = hx.xdb.set_contract({})

    assert contract.active
    assert {MINIMUM} == set(contract.sources.values())


def test_a_whole_number_may_be_written_with_a_point(hx):
    assert 200_000 == hx.xdb.set_contract(memory(warm_quota_tokens=2e5)).warm_quota_tokens


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("contract.json", json.dumps(memory(warm_quota_tokens=222_222))),
        ("contract.toml", "signed = 2026-01-01\n[resources.memory]\nwarm_quota_tokens = 222_222\n"),
        ("contract", "\ufeff" + json.dumps(memory(warm_quota_tokens=222_222))),
    ],
)
def test_a_contract_is_read_from_a_file(hx, tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")

    assert (
        222_222
        == hx.xdb.set_contract(file).warm_quota_tokens
        == hx.xdb.set_contract(str(file)).warm_quota_tokens
    )


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("bad.json", b"{"), ("bad.toml", b"a = "), ("list.json", b"[1]"), ("latin.json", b'{"a": "\xff"}'),
        ("deep.json", b"[" * 100_000), ("large.json", b'{"a": "' + b"x" * (1 << 20) + b'"}'),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_contract_is_refused_by_name(hx, tmp_path, name, data):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(InvalidInput, match=name):
        hx.xdb.set_contract(tmp_path / name)

    assert not hx.xdb.contract.active


def test_a_contract_that_is_not_there_is_not_found(hx, tmp_path):
    with pytest.raises(NotFound, match=r"none\.json"):
        hx.xdb.set_contract(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match="is a folder, a pipe or a device; give a file"):
        hx.xdb.set_contract(tmp_path)


def test_who_is_not_the_owner_sets_no_contract(hx, opened):
    agent = opened(role="agent")

    with pytest.raises(AccessDenied, match="role agent"):
        agent.xdb.set_contract(memory(warm_quota_tokens=10**9))

    assert not hx.xdb.contract.active


def test_who_set_which_contract_is_noted(hx):
    hx.xdb.set_contract(memory(warm_quota_tokens=200_000))

    [(_, what, detail)] = hx._services.stores.meta.logged(limit=1)

    assert ("set_contract", "owner") == (what, detail["by"])
    assert 200_000 == detail["contract"]["warm_quota_tokens"]


@pytest.mark.parametrize("given", [{"note": "\ud800"}, {"\udfff": 1}, {"a": ["x", {"b": "\ud800"}]}])
def test_half_a_character_is_refused(hx, given):
    with pytest.raises(InvalidInput, match="half of a character"):
        hx.xdb.set_contract(given)

    assert not hx.xdb.contract.active


def test_a_secret_in_a_contract_is_not_kept(hx):
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    given = memory(warm_quota_tokens=200_000) | {"owner": {"name": "Anna", "api_key": token}}

    contract = hx.xdb.set_contract(given)

    assert (200_000, "Anna") == (contract.warm_quota_tokens, contract.document["owner"]["name"])
    assert "[REDACTED:" in contract.document["owner"]["api_key"]
    assert token not in everything_stored(hx)


@pytest.mark.parametrize(
    "given",
    [
        {"memory": {"warm_quota_tokens": 250_000}},
        {"resources": {"warm_quota_tokens": 250_000}},
        {"warm_quota_tokens": 250_000, "resources": {"memory": {}}},
    ],
)
def test_a_limit_that_stands_elsewhere_is_refused_and_its_place_named(hx, given):
    with pytest.raises(InvalidInput, match=r"belongs below resources\.memory"):
        hx.xdb.set_contract(given)
    assert not hx.xdb.contract.active


def test_a_contract_that_sets_no_limit_is_kept_for_what_else_it_says(hx):
    assert hx.xdb.set_contract({"work": {"hours": 40}}).active
    assert hx.xdb.set_contract(
        {**memory(warm_quota_tokens=250_000), "memory": {"warm_quota_tokens": 1}}
    ).active


def test_the_command_line_says_that_a_contract_sets_no_limit(tmp_path):
    hexad.open(tmp_path, embedder=None).close()
    (tmp_path / "contract.json").write_text('{"memory": {"size": 5}}')
    ended = command("--store", tmp_path, "xdb", "contract", tmp_path / "contract.json")
    assert 0 == ended.returncode
    assert "sets no limit" in ended.stdout + ended.stderr
