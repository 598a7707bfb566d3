"""What the command line says: in its own words, with what helps next."""

from __future__ import annotations

import pytest

import hexad
from hexad.interfaces.cli.browse.model import understand
from hexad.interfaces.cli.output import render


def test_init_gives_a_store_its_settings_later(run, tmp_path):
    run("remember", "Deploys happen on Tuesday.")

    late = run("init")

    assert (0, True, True) == (late.code, "Wrote" in late.out, (tmp_path / ".hexad" / "hexad.toml").exists())
    assert 4 == run("init").code


def test_doctor_names_an_ordering_that_is_none(run, monkeypatch):
    run("init")
    assert "memory_backend" not in run("doctor").out
    monkeypatch.setenv("HEXAD_MEMORY_BACKEND", "foo")

    found = run("doctor")

    assert "memory_backend = 'foo'" in " ".join(found.out.split())
    assert 0 == found.code


# In the words of the command line -----------------------------------------------------------------------------


@pytest.fixture
def port(run):
    """A store with a space."""
    run("remember", "The harbour office closes at noon.", "--space", "port", "--id", "m1")
    return run


@pytest.mark.parametrize(
    ("args", "said", "unsaid"),
    [
        (("memory", "list", "--limit", "-1"), "--limit -1", "None"),
        (("recall", "harbour", "--semantic"), "without --semantic", "semantic="),
        (("spaces", "create", "port"), "--reset", "reset=True"),
        (("spaces", "policy", "port", "ttl_days=true"), "true cannot be used", "True"),
        (("spaces", "policy", "port", "allow_delete=null", "backend=[1]"), "[1] cannot be used", "None"),
        (("forget", "nope"), "`hexad memory list`", "None"),
        (("forget", "nope", "--space", "port"), "Memory 'nope' not found in space 'port'", "None"),
    ],
)
def test_an_error_is_in_the_words_of_the_command_line(port, args, said, unsaid):
    ran = port(*args)

    assert ran.code != 0
    assert said in ran.err
    assert unsaid not in ran.err


def test_what_is_in_the_way_of_an_export_names_the_option(port, tmp_path):
    (tmp_path / "mine.json").write_text("mine")

    ran = port("spaces", "export", "port", "--out", "mine.json")

    assert (4, True) == (ran.code, "--force" in ran.err)
    assert "mine" == (tmp_path / "mine.json").read_text()


def test_a_restore_over_memories_names_what_works(port):
    port("spaces", "export", "port", "--out", "port.json")

    ran = port("spaces", "restore", "port.json")

    assert (4, True, False) == (ran.code, "--merge" in ran.err, "--name" in ran.err)
    assert 0 == port("spaces", "restore", "port.json", "--merge").code


@pytest.mark.parametrize("out", ["d1/", "folder", "folder/"])
def test_an_export_goes_to_a_file(port, tmp_path, out):
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())

    ran = port("spaces", "export", "port", "--out", out)

    assert 2 == ran.code
    assert "folder" in ran.err
    assert (before, []) == (sorted(tmp_path.iterdir()), list((tmp_path / "folder").iterdir()))


def test_an_export_says_which_folder_it_made(port, tmp_path):
    assert "Made the folder" in port("spaces", "export", "port", "--out", "not/there/a.json").err
    assert "Made" not in port("spaces", "export", "port", "--out", "not/there/b.json").err


def test_archiving_names_the_command_that_brings_it_back(port):
    ran = port("forget", "m1")

    assert "hexad forget --restore m1" in ran.err


def test_personal_data_that_was_taken_out_is_no_secret(port):
    port("spaces", "policy", "port", "--pii", "email", "--pii", "phone")

    personal = port("remember", "Ask ada@example.org.", "--space", "port")
    both = port("remember", "Ask ada@example.org for AKIAIOSFODNN7EXAMPLE.", "--space", "port")

    assert "1 personal datum taken out: email ×1" in personal.err
    assert "1 secret and 1 personal datum taken out" in both.err


def test_a_list_of_every_status_says_which_each_has(port):
    port("remember", "Another.", "--space", "port", "--id", "m2")
    port("forget", "m2")

    heads, *rows = port("memory", "list", "--status", "any").out.splitlines()

    assert "status" in heads
    assert {"active", "archived"} == {
        word for row in rows for word in row.split() if word in {"active", "archived"}
    }
    assert "status" not in port("memory", "list").out.splitlines()[0]


def test_a_context_that_nothing_fits_into_says_so(port):
    for args in (("use-context", "port", "harbour"), ("spaces", "bundle", "port", "harbour")):
        ran = port(*args, "--max-tokens", "5")

        assert "No memories found" not in ran.out + ran.err
        assert "--max-tokens" in ran.err


def test_a_kind_is_shown_from_the_first_line(port):
    assert port("spaces", "kind", "port", "note").out.splitlines()[0].strip()


# How wide it gets ---------------------------------------------------------------------------------------------


def test_no_line_around_a_context_is_wider_than_a_terminal(port):
    preamble = port("use-context", "port", "harbour").out.split("\n\n")[0].splitlines()[1:]

    assert preamble[0].startswith("What stands between")
    assert max(map(len, preamble)) <= 80


@pytest.fixture
def narrow(monkeypatch):
    """Tables as on a terminal of 80 columns."""
    monkeypatch.setattr(render, "on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("narrow")
def test_amounts_of_a_budget_are_whole_on_a_narrow_terminal(port):
    budget = '{"usd": 0.02, "tokens": 100000000, "period": "month", "providers": {"openai": {"usd": 0.015}}}'
    port("spaces", "policy", "port", f"budget={budget}")

    shown = port("spaces", "budget", "port").out

    assert "…" not in shown
    assert {"0.02", "100,000,000", "0.015"} <= set(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.usefixtures("narrow")
def test_a_list_of_spaces_names_all_policies_on_a_narrow_terminal(port):
    port("spaces", "policy", "port", "allow_delete=true", "ttl_days=3", "backend=raptor", "--pii", "email")

    shown = port("spaces", "list").out

    assert "…" not in shown
    assert "policies: allow_delete, backend, pii_redaction, ttl_days" in " ".join(shown.split())


# Policies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--unset", "ttl-days"), "'ttl-days'"),
        (("--unset", "nope"), "'nope'"),
        (('pii_redaction=["email","phone"]', "--pii", "card"), "'pii_redaction' is given twice"),
        (("ttl_days=3", "ttl_days=4"), "'ttl_days' is given twice"),
        (("ttl_days=3", "--unset", "ttl_days"), "'ttl_days' is given twice"),
        (('budget={"providers": {"open ai": {"usd": 1}}}',), "open ai"),
        (('auto_pin={"kinds": ["dec*"]}',), "dec*"),
        (('retention={"tags": ["a?"], "ttl_days": 3}',), "a?"),
        (('visibility={"kind": "dec*", "roles": ["a"]}',), "paths"),
    ],
)
def test_a_slip_in_a_policy_is_named(port, args, words):
    port("spaces", "policy", "port", "ttl_days=30")

    ran = port("spaces", "policy", "port", *args)

    assert (2, True) == (ran.code, words in ran.err), ran.err
    assert '"ttl_days": 30' in port("spaces", "policy", "port", "--json").out


def test_a_setting_that_is_not_there_may_be_taken_back(port):
    assert 0 == port("spaces", "policy", "port", "--unset", "ttl_days").code


# In the browser -----------------------------------------------------------------------------------------------


def test_a_pair_that_is_no_filter_is_a_word_and_the_browser_says_so():
    wanted = understand("refund bogus:xx")

    assert ("refund", "bogus:xx") == wanted.words
    assert wanted.problem is not None and "bogus: is no filter" in wanted.problem


@pytest.mark.parametrize("word", ["https://example.org", "std::io", "bogus:", ":xx", "12:30"])
def test_a_word_with_a_colon_is_a_word(word):
    wanted = understand(word)

    assert ((word,), None) == (wanted.words, wanted.problem)


def test_a_store_says_what_it_is(tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert f"Hexad({str(hx.path)!r})" == repr(hx)
    with hexad.open(tmp_path, embedder=None, background=False, actor={"role": "dev"}) as hx:
        assert repr(hx).endswith(", role='dev')")


@pytest.mark.parametrize("option", ["--offset", "--limit"])
@pytest.mark.parametrize("scope", [(), ("--scope", "project")])
def test_a_number_that_no_store_can_count_to_is_named(port, option, scope):
    ran = port("memory", "list", *scope, option, "9" * 23)

    assert (2, "") == (ran.code, ran.out)
    assert f"{option} {'9' * 23} is more than" in ran.err


def test_an_export_to_a_folder_says_that_it_is_one(port, tmp_path):
    (tmp_path / "folder").mkdir()
    port("remember", "Ann has the crane.", "--data-subject", "ann")
    for force in ((), ("--force",)):
        ran = port("memory", "export", "--subject", "ann", "--out", str(tmp_path / "folder"), *force)
        assert 2 == ran.code
        assert "is a folder" in ran.err
    assert [] == list((tmp_path / "folder").iterdir())


@pytest.mark.parametrize("name", ["", "  "])
def test_a_person_without_a_name_is_refused(port, name):
    ran = port("remember", "Somebody was here.", "--data-subject", name)

    assert (2, "") == (ran.code, ran.out)
    assert "names nobody" in ran.err
    assert "Somebody" not in port("memory", "list").out


def test_a_record_that_does_not_wait_is_told_with_the_list_of_those_that_do(port):
    for ran in (
        port("memory", "quarantine", "show", "x"),
        port("memory", "quarantine", "release", "x", "--why", "ok"),
    ):
        assert 3 == ran.code
        assert "`hexad memory quarantine list`" in ran.err
        assert "`hexad memory list`" not in ran.err


def test_a_name_that_is_not_found_reaches_no_terminal_raw(port):
    ran = port("forget", "x\x1b[31m\u202ey\n2")

    assert "'x\\x1b[31m\\u202ey\\n2' not found" in ran.err
