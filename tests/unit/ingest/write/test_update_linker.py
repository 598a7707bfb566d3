from __future__ import annotations

import pytest

from hexad.ingest.write import updates
from hexad.text.claims.reader import Claim, claims
from opener import Opener


def test_what_a_text_claims_is_read_before_the_store_is_locked(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[bool] = []

    def noting(text: str) -> tuple[Claim, ...]:
        locked.append(hx._services.context.db.in_transaction)
        return claims(text)

    monkeypatch.setattr(updates, "claims", noting)
    hx = opened()
    hx.remember("The API rate limit is 100 requests a minute.")
    newer = hx.remember("We raised the API rate limit to 250 requests a minute.")

    assert newer.receipt is not None
    assert ["The API rate limit is 100 requests a minute."] == [old.text for old in newer.receipt.supersedes]
    assert [False, False] == locked
