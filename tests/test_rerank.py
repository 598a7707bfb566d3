"""A reranker orders the best of a recall: a function, or an endpoint over real HTTP that may be slow, broken or too dear."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

import hexad
from hexad.errors import BudgetExceeded, InvalidInput, ProviderError
from hexad.interfaces.cli.app.main import main
from llm_server import Say

QUESTION = "Which colour do the lock gates have?"
COLOURS = ["green", "red", "blue", "white", "black"]


def backwards(question, texts):
    """Turn what it is given around."""
    return range(len(texts))


def filled(hx):
    for colour in COLOURS:
        hx.remember(f"The lock gates of {colour}haven have the colour {colour}.")
    hx.embed_pending()
    return hx


def texts(hits):
    return [hit.text for hit in hits]


def asked_texts(llm):
    return [text for asked in llm.asked for text in asked.body["documents"]]


def by_length(asked):
    """Score as a sound endpoint: the longest text first."""
    order = sorted(range(len(asked.body["documents"])), key=lambda at: -len(asked.body["documents"][at]))
    results = [{"index": at, "relevance_score": 1 / (rank + 1)} for rank, at in enumerate(order)]
    return Say(body=json.dumps({"results": results, "usage": {"total_tokens": 321}}).encode())


def settings(project, text):
    folder = project / ".hexad"
    folder.mkdir(exist_ok=True)
    (folder / "hexad.toml").write_text(text)


# The order ------------------------------------------------------------------------------------------------------------


def test_hits_come_in_the_order_of_the_scores_with_the_stores_own_relevance(opened):
    hx = filled(opened(rerank=backwards))
    local, reranked = hx.recall(QUESTION, rerank=False), hx.recall(QUESTION)

    assert texts(local)[::-1] == texts(reranked)
    assert {hit.id: (hit.score, hit.relevance, hit.parts) for hit in local} == {
        hit.id: (hit.score, hit.relevance, hit.parts) for hit in reranked
    }
    assert "rerank score 4, place 5 without it" == reranked[0].why[-1]
    assert ((), ()) == (reranked.notes, reranked.late)


def test_of_more_than_the_limit_the_best_fifty_are_scored(opened):
    calls = []

    def last_first(question, given):
        calls.append(len(given))
        return range(len(given))

    hx = opened(rerank=last_first)
    for number in range(70):
        hx.remember(f"Lock gate number {number} of the canal was painted.")
    local = hx.recall("Which lock gate of the canal was painted?", limit=70, rerank=False)

    hits = hx.recall("Which lock gate of the canal was painted?", limit=3, explain=True)
    assert [hit.id for hit in local[:50]][::-1][:3] == [hit.id for hit in hits]
    assert [50] == calls
    beyond = [row for row in hits.dropped if row.reason == "after the limit of 3"]
    assert local[0].id in {row.memory_id for row in beyond}

    wide = hx.recall("Which lock gate of the canal was painted?", limit=70)
    assert [hit.id for hit in local[:50]][::-1] + [hit.id for hit in local[50:]] == [hit.id for hit in wide]


def test_the_bound_of_tokens_is_that_of_what_is_handed_out(opened):
    hx = filled(opened(rerank=backwards))
    local = hx.recall(QUESTION, rerank=False)
    hits = hx.recall(QUESTION, max_tokens=15)

    assert texts(local)[-1:] == texts(hits)
    assert all("left of max_tokens" in row.reason for row in hits.dropped)


def test_equal_scores_leave_the_stores_own_order(opened):
    hx = filled(opened(rerank=lambda question, given: [7] * len(given)))

    assert texts(hx.recall(QUESTION, rerank=False)) == texts(hx.recall(QUESTION))


def test_an_explanation_has_the_scores_and_the_time(opened):
    hx = filled(opened(rerank=backwards))
    explanation = hx.recall(QUESTION, explain=True).explanation

    assert [0.0, 1.0, 2.0, 3.0, 4.0] == [row["rerank_score"] for row in explanation.considered]
    assert "rerank" in explanation.timings_ms
    plain = hx.recall(QUESTION, explain=True, rerank=False).explanation
    assert "rerank" not in plain.timings_ms
    assert all("rerank_score" not in row for row in plain.considered)


def test_what_took_the_place_of_another_stays_before_it(opened):
    def old_first(question, given):
        return [2 if "Postgres" in text else 3 if "weather" in text else 1 for text in given]

    hx = opened(rerank=old_first)
    hx.remember(
        "We use Postgres as the database of orders.", subject="orders", attribute="database", value="Postgres"
    )
    hx.remember(
        "We use SQLite as the database of orders.", subject="orders", attribute="database", value="SQLite"
    )
    hx.remember("The database of orders is slow in rainy weather.")
    older = hx.remember("The database of bills is Postgres 12.")
    newer = hx.remember("The database of bills moved to MySQL 9.")
    hx.link(newer.id, older.id, kind="supersedes")

    for question in ("Which database do orders use?", "Which is the database of bills?"):
        hits = hx.recall(question, min_relevance=0)
        ids = [hit.id for hit in hits]
        assert "weather" in hits[0].text
        for at, hit in enumerate(hits):
            if hit.superseded_by is not None:
                assert ids.index(hit.superseded_by.id) < at, question
    assert ids.index(newer.id) < ids.index(older.id)


def test_fewer_than_two_hits_need_no_scores(opened):
    hx = opened(rerank=lambda question, given: pytest.fail("asked for one text"))
    hx.remember("The lock gates are green.")

    assert 1 == len(hx.recall("Which colour do the lock gates have?", min_relevance=0))
    assert not hx.recall("How do I bake bread?")


def test_layers_of_memories_are_reranked_and_those_of_others_are_not(opened):
    hx = filled(opened(rerank=backwards))
    local = texts(hx.recall(QUESTION, rerank=False))

    assert local[::-1] == texts(hx.recall(QUESTION, layers=["project"]))
    assert local == texts(hx.recall(QUESTION, layers=["project", "session"]))
    assert local == texts(hx.recall(QUESTION, as_of="2026-01-01T00:00:00Z"))
    for more in ({"layers": ["project", "session"]}, {"as_of": "2026-01-01"}):
        with pytest.raises(InvalidInput, match="not reranked"):
            hx.recall(QUESTION, rerank=True, **more)


def test_only_recall_asks_it(opened):
    hx = filled(opened(rerank=lambda question, given: pytest.fail("asked")))
    hx.spaces.create("docs")

    assert hx.context(QUESTION).render()
    hx.query(QUESTION)
    hx.recall_context("default", QUESTION)
    hx.governance.query(QUESTION)


# Failures -------------------------------------------------------------------------------------------------------------


def broken(question, given):
    raise RuntimeError(f"cannot score {given[0]}")


@pytest.mark.parametrize(
    ("rerank", "said"),
    [
        (broken, "raised RuntimeError"),
        (lambda question, given: [float("nan")] * len(given), "no finite number"),
        (lambda question, given: [1.0], "1 scores for 5 texts"),
    ],
)
def test_a_failure_leaves_the_stores_own_order_and_is_told(opened, rerank, said):
    hx = filled(opened(rerank=rerank))
    local, hits = hx.recall(QUESTION, rerank=False), hx.recall(QUESTION)

    assert texts(local) == texts(hits)
    assert ("rerank",) == hits.late
    assert "In the store's own order: " in hits.notes[0]
    assert said in hits.notes[0]
    assert "haven" not in hits.notes[0]
    with pytest.raises(ProviderError, match=said):
        hx.recall(QUESTION, rerank=True)


def test_what_comes_too_late_leaves_the_stores_own_order_and_still_counts(opened, project):
    settings(project, "rerank_timeout_s = 0.1\n")
    over = threading.Event()

    def slow(question, given):
        over.wait(60)
        return range(len(given))

    hx = filled(opened(rerank=slow))
    try:
        hits = hx.recall(QUESTION)
    finally:
        over.set()

    assert texts(hx.recall(QUESTION, rerank=False)) == texts(hits)
    assert ("rerank",) == hits.late
    assert "gave no scores in 0.1 s; raise rerank_timeout_s" in hits.notes[0]
    spent = hx.spaces.budget()[0].spent
    assert (1, 0) == (spent.calls, spent.reserved_calls)
    assert spent.tokens > 0


def test_questions_do_not_pile_up_behind_one_that_never_ends(opened, project):
    settings(project, "rerank_timeout_s = 0.05\n")
    over = threading.Event()
    calls = []

    def endless(question, given):
        calls.append(1)
        over.wait(60)

    hx = filled(opened(rerank=endless))
    try:
        notes = [hx.recall(QUESTION).notes[0] for _ in range(10)]
    finally:
        over.set()

    assert 8 == len(calls)
    assert "is busy with 8 earlier questions" in notes[-1]
    assert 8 == hx.spaces.budget()[0].spent.calls


def test_who_insists_without_a_reranker_is_told(opened):
    hx = filled(opened())

    with pytest.raises(ProviderError, match="opened without a reranker"):
        hx.recall(QUESTION, rerank=True)
    with pytest.raises(InvalidInput, match="rerank must be True, False or None"):
        hx.recall(QUESTION, rerank="cohere:x")


# An endpoint ----------------------------------------------------------------------------------------------------------


def test_an_endpoint_of_the_settings_is_asked_and_counted(opened, llm, project):
    settings(project, f'rerank = "openai:tiny@{llm.base_url}"\n[prices]\n"openai:tiny" = {{input = 1.0}}\n')
    hexad.trust_settings(project)
    llm.always(by_length)
    hx = filled(opened(rerank="default"))
    hits = hx.recall(QUESTION, space="default")

    assert sorted(texts(hits), key=len, reverse=True) == texts(hits)
    assert ["/v1/rerank"] == [asked.path for asked in llm.asked]
    total, provider = hx.spaces.budget("default")
    assert (321, pytest.approx(0.000321)) == (total.spent.tokens, total.spent.usd)
    assert f"openai@{llm.url.removeprefix('http://')}" == provider.provider


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Say(status=500, headers={"Retry-After": "0"}), "answered 500"),
        (Say(status=429, headers={"Retry-After": "99"}), "answered 429"),
        (Say(body=b"<html>"), "not JSON"),
        (Say(hang=True), "in time|no scores in 0.3 s"),
        (Say(body=b"{}", wait_s=20), "in time|no scores in 0.3 s"),
        (Say(body=b" " * 200, drip_s=0.1), "in time|no scores in 0.3 s"),
    ],
)
def test_an_endpoint_that_fails_leaves_the_stores_own_order(opened, llm, project, answer, said):
    settings(project, "rerank_timeout_s = 0.3\n")
    llm.always(answer)
    hx = filled(opened(rerank=f"openai:tiny@{llm.base_url}"))

    hits = hx.recall(QUESTION)
    assert texts(hx.recall(QUESTION, rerank=False)) == texts(hits)
    assert ("rerank",) == hits.late
    with pytest.raises(ProviderError, match=said):
        hx.recall(QUESTION, rerank=True)


def test_an_answer_of_some_texts_puts_these_first_and_says_so(opened, llm):
    llm.always(Say(body=b'{"results": [{"index": 3, "relevance_score": 0.1}]}'))
    hx = filled(opened(rerank=f"openai:tiny@{llm.base_url}"))
    local, hits = texts(hx.recall(QUESTION, rerank=False)), hx.recall(QUESTION)

    assert [local[3], *local[:3], local[4]] == texts(hits)
    assert any("scored 1 of 5 hits" in note for note in hits.notes)


def test_over_a_budget_nothing_is_sent(opened, llm, project):
    settings(project, "[budget]\ntokens = 10\n")
    llm.always(by_length)
    hx = filled(opened(rerank=f"openai:tiny@{llm.base_url}"))

    hits = hx.recall(QUESTION)
    assert "allows 10 tokens" in hits.notes[0]
    assert texts(hx.recall(QUESTION, rerank=False)) == texts(hits)
    with pytest.raises(BudgetExceeded, match="No call was made"):
        hx.recall(QUESTION, rerank=True)
    assert [] == llm.asked


def test_a_budget_of_a_space_holds_for_questions_to_that_space(opened, llm):
    llm.always(by_length)
    hx = filled(opened(rerank=f"openai:tiny@{llm.base_url}"))
    hx.spaces.set_policy("default", {"budget": {"tokens": 0}})

    assert hx.recall(QUESTION, space="default").late
    assert not hx.recall(QUESTION).late


def test_secrets_of_the_question_and_what_a_role_may_not_see_are_never_sent(opened, llm, project):
    llm.always(by_length)
    owner = filled(opened())
    owner.spaces.create("board")
    for number in range(3):
        owner.remember(f"The lock gates of boardhaven {number} have the colour gold.", space="board")
    owner.spaces.set_policy("board", {"visibility": [{"kinds": ["note"], "roles": ["director"]}]})
    owner.close()
    key = "ghp_" + "a1B2" * 9
    hx = opened(rerank=f"openai:tiny@{llm.base_url}", role="guest")
    assert hx.recall(f"{QUESTION} My token is {key}.")

    assert 1 == len(llm.asked)
    assert key not in llm.asked[0].text
    assert "boardhaven" not in llm.asked[0].text
    assert "lock gates" in llm.asked[0].body["query"]


def test_no_lock_is_held_while_it_is_asked(opened):
    written = []

    def writes(question, given):
        done = threading.Event()

        def remember():
            written.append(hx.remember("Written while the reranker thinks."))
            done.set()

        threading.Thread(target=remember, daemon=True).start()
        assert done.wait(60)
        return range(len(given))

    hx = filled(opened(rerank=writes))
    assert () == hx.recall(QUESTION).late
    assert 1 == len(written)


def test_a_memory_that_is_erased_meanwhile_takes_nothing_with_it(opened):
    def erases(question, given):
        hx.spaces.set_policy("default", {"allow_delete": True})
        hx.forget(first.id, purge=True)
        return range(len(given))

    hx = filled(opened(rerank=erases))
    first = hx.recall(QUESTION, rerank=False)[0]
    other = hx.recall(QUESTION, rerank=False)[1]
    hx.link(first.id, other.id)

    hits = hx.recall(QUESTION, follow_links=True)
    assert 5 == len(hits)
    assert hx.recall(QUESTION, rerank=False, min_relevance=0)[0].id != first.id


# Everywhere -----------------------------------------------------------------------------------------------------------


def test_a_store_with_a_reranker_that_cannot_be_used_is_not_made(project):
    settings(project, 'rerank = "bge"\n')
    with pytest.raises(InvalidInput, match=r"rerank in hexad.toml: Unknown reranker 'bge'"):
        hexad.open(project, embedder=None)
    settings(project, "rerank_timeout_s = 600\n")
    with pytest.raises(InvalidInput, match=r"rerank_timeout_s"):
        hexad.open(project, embedder=None)
    assert not (project / ".hexad" / "memory.db").exists()


def test_the_command_line_uses_the_one_that_is_set(opened, llm, project, monkeypatch, capsys):
    filled(opened()).close()
    monkeypatch.setenv("HEXAD_RERANK", f"openai:tiny@{llm.base_url}")
    monkeypatch.setenv("HEXAD_RERANK_API_KEY", "sk-rerank")
    monkeypatch.setenv("HEXAD_EMBEDDER", "none")
    llm.always(by_length)

    def recall(*options):
        code = main(["--store", str(project), "--json", "recall", QUESTION, *options])
        out, err = capsys.readouterr()
        return code, [hit["text"] for hit in json.loads(out)] if out else [], err

    code, found, _ = recall()
    assert (0, sorted(found, key=len, reverse=True)) == (code, found)
    assert "Bearer sk-rerank" == llm.asked[0].headers["Authorization"]
    recall("--no-rerank")
    assert 1 == len(llm.asked)
    llm.always(Say(status=401))
    code, found, err = recall()
    assert (0, 5) == (code, len(found))
    assert "In the store's own order" in err
    assert "answer in time" not in err
    code, found, err = recall("--rerank")
    assert (1, []) == (code, found)
    assert "answered 401" in err


def test_a_cold_recall_without_one_loads_nothing_of_it(project):
    code = (
        "import sys, hexad\n"
        f"with hexad.open({str(project)!r}, embedder=None, background=False) as hx:\n"
        "    hx.recall('x')\n"
        "print([name for name in sys.modules if 'rerank' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )

    assert "[]" == done.stdout.strip()
