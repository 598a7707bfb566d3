"""Tokens: made, listed, revoked, over; only hashes are kept."""

from __future__ import annotations

import stat

import pytest

import hexad
from hexad import FrozenClock
from hexad.interfaces.http_server.tokens import TokenFile


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def tokens(tmp_path, clock) -> TokenFile:
    return TokenFile(tmp_path, clock=clock)


def test_the_first_token_is_made_once(tokens):
    made = [tokens.ensure_first(), tokens.ensure_first()]
    token = tokens.first_token.read_text().strip()

    assert [True, False] == made
    assert "owner" == tokens.login(token).role
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in tokens.folder.iterdir()}


def test_no_file_has_a_token_that_was_added(tokens):
    _, token = tokens.add(role="lead", spaces=["shop"])

    assert ("lead", ("shop",)) == (tokens.login(token).role, tokens.login(token).spaces)
    assert [] == [file for file in tokens.folder.iterdir() if token in file.read_text()]


def test_a_token_ends_when_its_time_is_over(tokens, clock):
    _, token = tokens.add(role="lead", expires_at="2026-01-02")
    before = tokens.login(token)
    clock.advance(days=2)

    assert (True, None) == (before is not None, tokens.login(token))


def test_a_revoked_token_is_none_for_whoever_reads_the_file(tokens, tmp_path, clock):
    other = TokenFile(tmp_path, clock=clock)
    login, token = tokens.add(role="lead")
    known = other.login(token)
    tokens.revoke(login.name)

    assert (login, None) == (known, other.login(token))


def test_revoking_the_first_token_takes_its_file(tokens):
    tokens.ensure_first()
    tokens.revoke("owner")

    assert not tokens.first_token.exists()
    with pytest.raises(hexad.NotFound, match="owner"):
        tokens.revoke("owner")


def test_names_are_free_or_refused(tokens):
    names = [tokens.add(role="lead")[0].name for _ in range(3)]

    assert ["lead-1", "lead-2", "lead-3"] == names
    with pytest.raises(hexad.Conflict):
        tokens.add(role="dev", name="lead-1")
    for options in ({"role": "No Role"}, {"role": "x", "name": " "}, {"role": "x", "expires_at": "soon"}):
        with pytest.raises(hexad.InvalidInput):
            tokens.add(**options)
    assert 4 == len(tokens.list())


def test_a_damaged_file_lets_nobody_in(tokens):
    _, token = tokens.add(role="lead")
    (tokens.folder / "tokens.json").write_text('{"tokens": [{}]}')

    with pytest.raises(hexad.IntegrityError, match=r"tokens\.json"):
        tokens.login(token)
