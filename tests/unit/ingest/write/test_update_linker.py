from __future__ import annotations

import tracemalloc
from itertools import combinations

import apsw
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


def test_the_room_that_claims_take_in_the_cache_is_about_what_they_take() -> None:
    texts = [
        f"The gateway number {n} retries {n} times on Tuesday. Its owner is Ann{n}, and she lives in Porto. "
        f"We moved service {n} from MySQL to Postgres, because the backups of host{n} took too long."
        for n in range(200)
    ]
    claims(texts[0])
    tracemalloc.start()
    try:
        found = [claims(text) for text in texts]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert 0.75 < sum(map(updates._size_of_claims, found)) / taken < 1.33


@pytest.mark.parametrize(
    "text", ["It is Python 3.11 of Python.", "Now it is version 3.11 of the version manager."]
)
def test_a_word_that_is_said_twice_is_not_two_words_in_common(text: str) -> None:
    word = next(word for word in ("python", "version") if word in text.lower())

    for claim in claims(text):
        for match in updates._matches(claim):
            assert not match.startswith(f'("{word}" AND ("{word}"')


@pytest.mark.parametrize("count", range(5))
def test_two_of_a_claims_words_are_looked_for_in_each_text_that_has_them(count: int) -> None:
    words = ["team", "blue", "ship", "noon"][:count]
    texts = [held for size in range(count + 1) for held in combinations(words, size)]
    index = apsw.Connection(":memory:")
    index.execute("CREATE VIRTUAL TABLE texts USING fts5(body)")
    index.executemany("INSERT INTO texts VALUES(?)", [(" ".join(held) or "none",) for held in texts])

    match = " OR ".join(updates._any_two(words))

    found = index.execute("SELECT body FROM texts(?) ORDER BY rowid", (match,)) if match else ()
    assert [" ".join(held) for held in texts if len(held) > 1] == [body for (body,) in found]
