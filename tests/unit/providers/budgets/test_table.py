from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from hexad.core.clock import FrozenClock
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.errors import BudgetExceeded, NotFound
from hexad.lifecycle.schema import migrations as store_migrations
from hexad.memory.policy import Period, parse_space_budget
from hexad.memory.tables.spaces import Spaces
from hexad.providers.budgets.table import Budgets
from hexad.providers.spending import Spend

CALL = Spend(input_tokens=60, output_tokens=40, usd=0.4)


@pytest.fixture
def db(tmp_path, clock):
    db = Database.open(tmp_path / "memory.db", clock=clock)
    migrations.apply(db, store_migrations(), clock)
    yield db
    db.close()


def book(db, clock, **project):
    return Budgets(db, clock=clock, project=parse_space_budget(project or None))


def space(db, clock, name="docs", **budget):
    spaces = Spaces(db)
    spaces.ensure(name, at=clock.now())
    spaces.set_policies(name, {"budget": budget}, at=clock.now())


def reserve(book, *, space=None, provider="openai", estimate=CALL):
    return book.reserve(space=space, provider=provider, model="tiny", operation="test", estimate=estimate)


def spend(book, times=1, **call):
    for _ in range(times):
        book.settle(reserve(book, **call), call.get("estimate", CALL))


@pytest.mark.row("L142", "L143")
def test_without_a_budget_everything_is_allowed_and_noted(db, clock):
    budgets = book(db, clock)
    spend(budgets, 3, space="docs")

    spent = budgets.spent("docs")
    assert (3, 300, 0) == (spent.calls, spent.tokens, spent.reserved_calls)
    assert pytest.approx(1.2) == spent.usd


@pytest.mark.row("L143")
def test_a_space_may_spend_its_last_token_and_not_one_more(db, clock):
    space(db, clock, tokens=200)
    budgets = book(db, clock)
    spend(budgets, 2, space="docs")

    with pytest.raises(
        BudgetExceeded,
        match=r"space 'docs' \(total\) allows 200 tokens; 200 are spent.*openai:tiny may take 1 more",
    ):
        reserve(budgets, space="docs", estimate=Spend(input_tokens=1))
    spend(budgets, space="notes")
    assert 200 == budgets.spent("docs").all_tokens


@pytest.mark.row("L143")
def test_a_space_may_spend_its_last_cent(db, clock):
    space(db, clock, usd=1.2)
    budgets = book(db, clock)
    spend(budgets, 3, space="docs")  # three times 0.4 is more than 1.2 in binary fractions

    with pytest.raises(BudgetExceeded, match=r"allows \$1.20; \$1.20 are spent.* may cost \$0.001 more"):
        reserve(budgets, space="docs", estimate=Spend(input_tokens=1, usd=0.001))


@pytest.mark.row("L143")
def test_a_refusal_can_be_reckoned_up_and_names_what_can_be_done(db, clock):
    space(db, clock, usd=0.0125, tokens=1000)
    budgets = book(db, clock, tokens=100, period="day")
    spend(budgets, space="docs", estimate=Spend(input_tokens=10, usd=0.0049))

    with pytest.raises(BudgetExceeded, match=r"allows \$0.0125; \$0.0049 .* cost \$0.0077 more") as dollars:
        reserve(budgets, space="docs", estimate=Spend(output_tokens=50, usd=0.0077))
    with pytest.raises(BudgetExceeded, match=r"100 tokens; 10 .* take 91 more") as tokens:
        reserve(budgets, estimate=Spend(output_tokens=91))
    with pytest.raises(BudgetExceeded) as embedded:
        reserve(budgets, estimate=Spend(input_tokens=91))

    shorter = "allow a shorter answer (max_tokens of the call, --max-tokens; or llm_max_tokens)"
    assert str(dollars.value).endswith(f"{shorter} or raise it in the space's policy.")
    assert str(tokens.value).endswith(f"{shorter}, raise [budget] in hexad.toml or wait for the next period.")
    assert str(embedded.value).endswith("made; raise [budget] in hexad.toml or wait for the next period.")


@pytest.mark.row("L142")
def test_each_provider_has_its_own_cap_and_its_endpoints_count_with_it(db, clock):
    space(
        db, clock, providers={"OpenAI": {"tokens": 200}, "openai@box": {"tokens": 100}, "hf": {"tokens": 0}}
    )
    budgets = book(db, clock)
    spend(budgets, space="docs", provider="openai@BOX")
    with pytest.raises(BudgetExceeded, match="for openai@box"):
        reserve(budgets, space="docs", provider="openai@box")
    spend(budgets, space="docs", provider="openai@other")
    with pytest.raises(BudgetExceeded, match="for openai "):
        reserve(budgets, space="docs", provider="openai")
    with pytest.raises(BudgetExceeded, match="for huggingface"):
        reserve(budgets, space="docs", provider="huggingface")
    spend(budgets, space="docs", provider="openaix")


@pytest.mark.row("L142")
def test_the_projects_budget_counts_for_every_space_and_for_none(db, clock):
    budgets = book(db, clock, tokens=300, providers={"google": {"usd": 0.5}})
    spend(budgets, space="docs")
    spend(budgets, space="notes", provider="google")
    with pytest.raises(
        BudgetExceeded, match=r"of the project for google \(total\).*raise \[budget\] in hexad.toml"
    ):
        reserve(budgets, provider="google")
    spend(budgets)

    with pytest.raises(BudgetExceeded, match=r"of the project \(total\) allows 300 tokens"):
        reserve(budgets, space="docs")


@pytest.mark.row("L142", "L143")
def test_a_cap_in_dollars_refuses_what_has_no_known_price_and_says_how_to_name_it(db, clock):
    space(db, clock, usd=5)
    budgets = book(db, clock)
    with pytest.raises(BudgetExceeded, match=r'\[prices\] "openai:tiny" = \{input'):
        reserve(budgets, space="docs", estimate=Spend(input_tokens=1))

    assert 0 == budgets.spent("docs").reserved_calls
    spend(budgets, space="notes", estimate=Spend(input_tokens=1))
    assert 1 == budgets.spent().unpriced


@pytest.mark.parametrize(
    ("period", "start", "still", "later"),
    [
        (
            "day",
            datetime(2026, 1, 31, tzinfo=UTC),
            datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC),
            datetime(2026, 2, 1, tzinfo=UTC),
        ),
        (
            "month",
            datetime(2026, 1, 1, tzinfo=UTC),
            datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC),
            datetime(2026, 2, 1, tzinfo=UTC),
        ),
    ],
)
def test_a_period_ends_at_midnight_utc(db, period, start, still, later):
    clock = FrozenClock(start)
    space(db, clock, tokens=100, period=period)
    budgets = book(db, clock)
    spend(budgets, space="docs")
    clock.advance(seconds=(still - clock.now()).total_seconds())
    with pytest.raises(BudgetExceeded, match="wait for the next period"):
        reserve(budgets, space="docs")

    clock.advance(seconds=(later - clock.now()).total_seconds())
    spend(budgets, space="docs")
    assert (100, 200) == (budgets.spent("docs", period=Period(period)).tokens, budgets.spent("docs").tokens)


def test_what_is_set_aside_counts_until_it_is_settled_or_released(db, clock):
    space(db, clock, tokens=150)
    budgets = book(db, clock)
    number = reserve(budgets, space="docs")
    with pytest.raises(BudgetExceeded, match="100 are spent or set aside"):
        reserve(budgets, space="docs")

    budgets.release(number)
    number = reserve(budgets, space="docs")
    budgets.settle(number, Spend(input_tokens=5, usd=0.01))
    assert (5, 0) == (budgets.spent("docs").tokens, budgets.spent("docs").reserved_tokens)
    reserve(budgets, space="docs")


def test_a_call_that_took_more_than_was_set_aside_counts_with_all_of_it(db, clock):
    space(db, clock, tokens=150)
    budgets = book(db, clock)
    budgets.settle(reserve(budgets, space="docs"), Spend(input_tokens=1_000))

    assert 1_000 == budgets.spent("docs").all_tokens
    with pytest.raises(BudgetExceeded, match="1,000 are spent"):
        reserve(budgets, space="docs", estimate=Spend(input_tokens=1))


def test_what_is_settled_is_neither_released_nor_settled_again(db, clock):
    budgets = book(db, clock)
    number = reserve(budgets)
    budgets.settle(number, CALL)
    budgets.release(number)
    budgets.settle(number, Spend(input_tokens=7))

    assert (1, 100) == (budgets.spent().calls, budgets.spent().tokens)
    assert [(60, 40)] == db.query("SELECT input_tokens, output_tokens FROM spending")


def test_a_report_has_caps_spending_and_what_is_left_by_provider(db, clock):
    space(db, clock, tokens=500, period="day", providers={"google": {"usd": 1.0}})
    budgets = book(db, clock)
    spend(budgets, space="docs")
    reserve(budgets, space="docs", provider="google")
    spend(budgets, space="notes")

    lines = budgets.report("docs")
    assert [None, "google", "openai"] == [line.provider for line in lines]
    assert [(100, 100, 300), (0, 100, None), (100, 0, None)] == [
        (line.spent.tokens, line.spent.reserved_tokens, line.left_tokens) for line in lines
    ]
    assert [None, pytest.approx(0.6), None] == [line.left_usd for line in lines]
    assert [None, "google", "openai"] == [line.provider for line in budgets.report()]
    assert 300 == budgets.report()[0].spent.all_tokens
    with pytest.raises(NotFound):
        budgets.report("never")


def test_nothing_left_is_never_less_than_nothing(db, clock):
    space(db, clock, tokens=10, usd=0.1)
    budgets = book(db, clock)
    number = reserve(budgets, space="docs", estimate=Spend(input_tokens=1, usd=0.01))
    budgets.settle(number, CALL)

    (line,) = [line for line in budgets.report("docs") if line.provider is None]
    assert (0, 0.0) == (line.left_tokens, line.left_usd)


def test_a_store_open_for_reading_is_held_to_its_caps(db, clock, tmp_path):
    space(db, clock, tokens=100)
    spend(book(db, clock), space="docs")
    reading = Database.open(tmp_path / "memory.db", clock=clock, readonly=True)
    budgets = book(reading, clock)
    with pytest.raises(BudgetExceeded):
        reserve(budgets, space="docs")
    spend(budgets, space="notes")
    budgets.release(reserve(budgets, space="notes"))
    reading.close()

    assert 100 == book(db, clock).spent().all_tokens


SPACES = 60
SPENDER = """
import os
import sys
from pathlib import Path
from hexad.core.clock import SystemClock
from hexad.errors import BudgetExceeded
from hexad.providers.spending import Spend
from hexad.memory.policy import SpaceBudget
from hexad.providers.budgets.table import Budgets
from hexad.database.connection import Database

clock = SystemClock()
db = Database.open(Path(sys.argv[1]), clock=clock)
budgets = Budgets(db, clock=clock, project=SpaceBudget())
made = 0
sys.stdin.readline()  # all begin at once
for number in range(int(sys.argv[2])):
    try:
        reserved = budgets.reserve(
            space=f"space-{number}", provider="openai", model="m", operation="test", estimate=Spend(input_tokens=10)
        )
    except BudgetExceeded:
        continue
    made += 1
    if sys.argv[3] == "dies" and made == 3:
        print(made, flush=True)
        os._exit(9)
    budgets.settle(reserved, Spend(input_tokens=10))
print(made, flush=True)
db.close()
"""


@pytest.mark.row("L141", "L143")
def test_processes_cannot_overspend_together_and_what_a_dead_one_set_aside_counts(db, clock, tmp_path):
    for number in range(SPACES):
        space(db, clock, f"space-{number}", tokens=19)  # one call, and not two: each is a race for all
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SPENDER, str(tmp_path / "memory.db"), str(SPACES), way],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for way in ("lives", "lives", "lives", "dies")
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    made = [int(process.communicate(timeout=120)[0]) for process in processes]

    spent = book(db, clock).spent()
    assert SPACES == sum(made), "one call for each space was allowed"
    dead = int(processes[3].returncode == 9)
    assert (10 * (SPACES - dead), 10 * dead, dead) == (
        spent.tokens,
        spent.reserved_tokens,
        spent.reserved_calls,
    )


def test_what_a_process_that_was_killed_had_set_aside_goes_on_counting(db, clock, tmp_path):
    for number in range(3):
        space(db, clock, f"space-{number}", tokens=19)
    arguments = [str(tmp_path / "memory.db"), "3", "dies"]
    done = subprocess.run(
        [sys.executable, "-c", SPENDER, *arguments], input="go\n", text=True, capture_output=True, check=False
    )

    budgets = book(db, clock)
    assert 9 == done.returncode
    assert (20, 10, 1) == (
        budgets.spent().tokens,
        budgets.spent().reserved_tokens,
        budgets.spent("space-2").reserved_calls,
    )
    with pytest.raises(BudgetExceeded, match="10 are spent or set aside"):
        reserve(budgets, space="space-2", estimate=Spend(input_tokens=10))
