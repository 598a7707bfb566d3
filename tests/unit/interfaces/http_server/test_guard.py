"""Rates and places: one name does not use up another's, and open streams take no place of a request."""

from __future__ import annotations

import asyncio

import pytest

from hexad import FrozenClock
from hexad.interfaces.http_server.guard import Buckets, Limits, RequestGuard
from hexad.interfaces.http_server.tokens import TokenFile


def test_more_than_the_rate_has_to_wait():
    clock = FrozenClock()
    buckets = Buckets(10, clock)
    burst = [buckets.wait_s("ann") for _ in range(21)]
    other = buckets.wait_s("bob")
    clock.advance(seconds=1)
    later = [buckets.wait_s("ann") for _ in range(11)]

    assert [0.0] * 20 == burst[:20]
    assert pytest.approx(0.1) == burst[20]
    assert 0.0 == other
    assert [0.0] * 10 == later[:10]
    assert later[10] > 0


def test_no_more_names_are_kept_than_have_room():
    buckets = Buckets(1, FrozenClock())
    for number in range(10_000):
        buckets.wait_s(f"address {number}")

    assert 4_096 >= len(buckets._levels)


def test_one_token_leaves_places_to_others_and_its_streams_leave_places_to_its_requests(tmp_path):
    clock, tokens = FrozenClock(), TokenFile(tmp_path)
    ann, bob, eve = (tokens.add(role="owner", name=name)[1] for name in ("ann", "bob", "eve"))

    async def statuses() -> list[int]:
        end = asyncio.Event()

        async def app(scope, receive, send):
            await end.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})

        guard = RequestGuard(
            app, tokens=tokens, hosts=["here"], origins=[], limits=Limits(waiting=4, streams=4), clock=clock
        )
        answers: list[int] = []

        async def ask(path: str, token: str) -> None:
            async def send(message):
                if message["type"] == "http.response.start":
                    answers.append(message["status"])

            headers = [(b"host", b"here"), (b"authorization", f"Bearer {token}".encode())]
            await guard({"type": "http", "method": "GET", "path": path, "headers": headers}, send, send)

        async with asyncio.TaskGroup() as group:
            for path in ("/v1/changes", "/v1/memories"):
                for token in (ann, ann, ann, bob, bob, eve):
                    group.create_task(ask(path, token))
                    await asyncio.sleep(0)
            end.set()
        await ask("/v1/memories", ann)
        return answers

    # The third of ann is over her share, that of eve over all places; the rest is answered when it may end.
    assert [429, 503, 429, 503, *[200] * 9] == asyncio.run(statuses())
