"""Budgets of calls to models: text generators and embedders behind endpoints, over real HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import hexad
from hexad.config import load_settings
from hexad.config_template import TEMPLATE
from hexad.errors import AccessDenied, BudgetExceeded, InvalidInput, NotFound, ProviderError
from hexad.interfaces.cli.app.main import main
from hexad.testing import ScriptedGenerator
from llm_server import Say

ANSWER = {
    "path": "docs/lock-gates",
    "tags": ["locks"],
    "relevance": "medium",
    "summary_micro": "Lock gates are green.",
    "summary_short": "Lock gates are painted green.",
    "summary_long": "Lock gates are painted green each spring.",
}
TEXT = "The lock gates are painted green each spring."


def settings(project, text):
    folder = project / ".hexad"
    folder.mkdir(exist_ok=True)
    (folder / "hexad.toml").write_text(text)


def remember_raw(hx, space="docs", text=TEXT, **options):
    return hx.remember_raw(space, "note", text, **options)


def prompts(llm):
    return [asked for asked in llm.asked if asked.path.endswith("/chat/completions")]


def embedded(llm):
    return [text for asked in llm.asked if asked.path.endswith("/embeddings") for text in asked.body["input"]]


# Text generators ----------------------------------------------------------------------------------------------------


@pytest.mark.row("L141", "L143")
def test_what_a_call_cost_is_in_the_spaces_budget(opened, llm, project):
    settings(project, '[prices]\n"openai:tiny" = {input = 1.0, output = 2.0}\n')
    llm.always(Say(text=json.dumps(ANSWER), input_tokens=500, output_tokens=250))
    hx = opened(generator=f"openai:tiny@{llm.base_url}")
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"budget": {"usd": 0.01, "period": "month"}})
    memory = remember_raw(hx)

    total, provider = hx.spaces.budget("docs")
    assert memory.receipt.semantic.endswith(":tiny")
    assert (750, pytest.approx(0.001), 0) == (total.spent.tokens, total.spent.usd, total.spent.reserved_calls)
    assert pytest.approx(0.009) == total.left_usd
    assert ("docs", f"openai@{llm.url.removeprefix('http://')}", 750) == (
        provider.space,
        provider.provider,
        provider.spent.tokens,
    )
    assert 750 == hx.spaces.budget()[0].spent.tokens


@pytest.mark.row("L141", "L143")
def test_over_a_spaces_budget_no_call_is_made_and_the_text_is_read_by_rules(opened, llm):
    llm.always(json.dumps(ANSWER))
    hx = opened(generator=f"openai:tiny@{llm.base_url}")
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"budget": {"tokens": 100}})
    memory = remember_raw(hx)

    assert "local" == memory.receipt.semantic
    assert any("space 'docs' (total) allows 100 tokens" in note for note in memory.receipt.notes)
    with pytest.raises(BudgetExceeded, match="No call was made"):
        remember_raw(hx, text="Another text about cranes.", strict=True)
    assert [] == llm.asked
    assert remember_raw(hx, space="notes").receipt.semantic != "local"


@pytest.mark.row("L142")
@pytest.mark.parametrize(
    ("providers", "said"),
    [
        ({"openai": {"usd": 1}, "OpenAI": {"usd": 900}}, "named twice"),
        ({"hf": {"usd": 1}, "huggingface": {"usd": 900}}, "named twice"),
        ({"": {"usd": 1}}, "give a provider's name"),
        ({"open ai": {"usd": 1}}, "give a provider's name"),
        ({"openai:gpt-4o": {"usd": 1}}, "give a provider's name"),
    ],
)
def test_a_cap_that_would_bind_nobody_is_refused(opened, providers, said):
    hx = opened()
    hx.spaces.create("docs")

    with pytest.raises(InvalidInput, match=said):
        hx.spaces.set_policy("docs", {"budget": {"providers": providers}})
    assert {} == hx.spaces.get("docs").policies


@pytest.mark.row("L142")
def test_a_providers_cap_in_the_settings_counts_for_all_spaces(opened, llm, project):
    settings(project, "[budget]\nproviders = {openai = {tokens = 6000, period = 'day'}}\n")
    llm.always(Say(text=json.dumps(ANSWER), input_tokens=5_000, output_tokens=900))
    hx = opened(generator=f"openai:tiny@{llm.base_url}")
    first = remember_raw(hx)
    second = remember_raw(hx, space="notes", text="Cranes lift forty tons.")

    assert ("openai" in first.receipt.semantic, "local") == (True, second.receipt.semantic)
    assert any("of the project for openai (day)" in note for note in second.receipt.notes)


@pytest.mark.row("L142")
def test_a_cap_in_dollars_needs_a_price(opened, llm, project):
    settings(project, "[budget]\nusd = 5.0\n")
    hx = opened(generator=f"openai:tiny@{llm.base_url}")
    with pytest.raises(BudgetExceeded, match=r"no price of openai@127.0.0.1:\d+:tiny is known"):
        remember_raw(hx, strict=True)

    assert [] == llm.asked


def test_a_failed_call_that_cost_nothing_is_not_counted(opened, llm):
    llm.will(status=401, body=b"{}")
    hx = opened(generator=f"openai:tiny@{llm.base_url}")
    with pytest.raises(ProviderError):
        remember_raw(hx, strict=True)

    assert 0 == hx.spaces.budget()[0].spent.all_tokens


@pytest.mark.row("L084")
@pytest.mark.parametrize(
    ("toml", "environ", "given", "expected"),
    [
        ("", {}, None, "own"),
        ('llm_model = "general"', {}, None, "general"),
        ('llm_model = "general"', {"LEXON_MEMORY_SEMANTIC_MODEL": "theirs"}, None, "theirs"),
        ('memory_semantic_model = "file"', {"HEXAD_MEMORY_SEMANTIC_MODEL": "ours"}, None, "ours"),
        ("", {"HEXAD_MEMORY_SEMANTIC_MODEL": "ours", "LEXON_MEMORY_SEMANTIC_MODEL": "theirs"}, None, "ours"),
        ("", {"HEXAD_MEMORY_SEMANTIC_MODEL": "ours"}, "of-the-call", "of-the-call"),
    ],
)
def test_the_model_is_the_calls_else_the_semantic_one_else_the_general_one_else_the_generators(
    opened, llm, project, monkeypatch, toml, environ, given, expected
):
    settings(project, f'generator = "openai:own@{llm.base_url}"\n{toml}\n')
    hexad.trust_settings(project)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    llm.always(json.dumps(ANSWER))
    memory = remember_raw(opened(generator="default"), model=given)

    assert [expected] == [asked.body["model"] for asked in prompts(llm)]
    assert memory.receipt.semantic.endswith(f":{expected}")


@pytest.mark.row("L071", "L072", "L073", "L074", "L075")
@pytest.mark.parametrize(
    "spec",
    [
        "openai:tiny@{url}/v1",
        "anthropic:claude-haiku-4-5@{url}",
        "google:gemini-2.5-flash@{url}",
        "ollama:llama3:8b@{url}",
        "hf:org/tiny@{url}/v1",
    ],
)
def test_every_provider_can_write_what_a_memory_is_filed_under(opened, llm, project, monkeypatch, spec):
    settings(project, f'generator = "{spec.format(url=llm.url)}"\n')
    hexad.trust_settings(project)
    monkeypatch.setenv("HEXAD_LLM_API_KEY", "sk-from-the-environment")
    llm.always(json.dumps(ANSWER))
    memory = remember_raw(opened(generator="default"))

    assert ("Lock gates are green.", ("locks",)) == (memory.summary_micro, memory.tags[:1])
    assert ["sk-from-the-environment" in json.dumps(asked.headers) for asked in llm.asked] == [True]


def test_a_model_with_its_provider_is_enough_where_no_generator_is_set(opened, llm, monkeypatch):
    hx = opened(generator="default")
    memory = remember_raw(hx, model="anthropic:claude-x")

    assert any("no key for anthropic:claude-x" in note for note in memory.receipt.notes)
    with pytest.raises(InvalidInput, match="provider:MODEL"):
        remember_raw(hx, text="Another text about cranes.", model="bare-name")


def test_opening_a_store_asks_no_model_and_loads_no_library_for_one(llm, project):
    settings(project, f'generator = "openai:tiny@{llm.base_url}"\nembedder = "openai:tiny@{llm.base_url}"\n')
    hexad.trust_settings(project)
    code = """
import sys, hexad
with hexad.open(sys.argv[1], background=False) as hx:
    assert hx.status().generator.endswith(":tiny"), hx.status()
loaded = {"pydantic_ai", "openai", "httpx2", "genai_prices", "asyncio", "http.client"} & set(sys.modules)
assert not loaded, loaded
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(project)], capture_output=True, text=True, timeout=60, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert [] == llm.asked


def test_keys_are_found_where_the_providers_own_tools_look_for_them():
    found = load_settings(
        None,
        {
            "HEXAD_LLM_API_KEY": "sk-own",
            "OPENAI_API_KEY": "sk-o",
            "ANTHROPIC_API_KEY": "sk-a",
            "GEMINI_API_KEY": "sk-second",
            "GOOGLE_API_KEY": "sk-g",
            "HF_TOKEN": "sk-h",
            "OLLAMA_API_KEY": "",
        },
    )

    assert "sk-own" == found.llm_api_key
    assert {
        "openai": "sk-o",
        "anthropic": "sk-a",
        "google": "sk-g",
        "huggingface": "sk-h",
    } == found.provider_keys
    assert "sk-" not in repr(found)


def test_a_broken_key_of_a_provider_that_nobody_asks_is_nobodys_trouble(opened, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "two words\n")

    assert "local" == remember_raw(opened(generator="default")).receipt.semantic


def test_the_template_of_the_settings_can_be_used_as_it_is_shown(project, opened):
    lines = TEMPLATE.splitlines()
    shown = [line.removeprefix("# ") for line in lines if re.match(r'# (\[|"|[a-z_]+ = )', line)]
    settings(project, "\n".join(shown).replace('project = "name of the folder"', "") + "\n")

    assert len(shown) > 15
    assert opened(generator="default").status().generator is None


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ('generator = "nobody:tiny"', "nobody:tiny"),
        ('generator = "openai:tiny@https://me:pw@host"', "HEXAD_LLM_API_KEY"),
        ('llm_model = "bare"', "provider:MODEL"),
        ("llm_timeout_s = 0", "llm_timeout_s"),
        ("llm_max_tokens = -1", "llm_max_tokens"),
        ("llm_max_tokens = true", "llm_max_tokens"),
        ("[budget]\nusd = -1", r"\[budget\] in hexad.toml: 'budget.usd'"),
        ("[budget]\nyears = 1", "years"),
        ('[budget]\nperiod = "year"', "year"),
        ("[budget]\nproviders = {openai = 5}", "budget.providers.openai"),
        ('[prices]\n"tiny" = {input = 1}', r"\[prices\] 'tiny'"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_before_anything_is_made(opened, project, toml, named):
    settings(project, toml + "\n")
    with pytest.raises(InvalidInput, match=named) as raised:
        opened(generator="default")

    assert "pw" not in str(raised.value).split()
    assert ["hexad.toml"] == [path.name for path in (project / ".hexad").iterdir()]


# Embedders ----------------------------------------------------------------------------------------------------------


@pytest.mark.row("L141", "L143")
def test_vectors_are_charged_to_the_space_of_each_memory(opened, llm):
    hx = opened(embedder=f"openai:tiny@{llm.base_url}")
    for space, text in [("docs", "Green gates."), ("notes", "Tall cranes."), ("docs", "Blue boats.")]:
        hx.remember(text, space=space)
    assert 3 == hx.embed_pending()

    provider = f"openai@{llm.url.removeprefix('http://')}"
    spent = {space: hx.spaces.budget(space) for space in ("docs", "notes")}
    assert {"docs": 20, "notes": 10} == {space: lines[0].spent.tokens for space, lines in spent.items()}
    assert {provider} == {lines[1].provider for lines in spent.values()}


@pytest.mark.row("L141", "L143")
def test_a_used_up_budget_leaves_its_spaces_vectors_waiting_and_no_others(opened, llm, project, capsys):
    spec = f"openai:tiny@{llm.base_url}"
    hx = opened(embedder=spec)
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"budget": {"tokens": 8}})
    texts = ["Green gates by water.", "Blue boats by night.", "Red rails by day."]
    for text in texts:
        hx.remember(text, space="docs")
    hx.remember("Tall cranes.", space="notes")
    for _ in range(5):  # more often than a failing embedder is asked
        hx.embed_pending()

    status = hx.status()
    assert ["Green gates by water.", "Tall cranes."] == sorted(t for t in embedded(llm) if t != "dimensions")
    assert (2, 0, 2) == (status.embeddings_pending, status.embeddings_failed, status.vectors)
    assert "space 'docs' (total) allows 8 tokens" in status.embeddings_paused
    hx.close()
    settings(project, f'embedder = "{spec}"\n')
    hexad.trust_settings(project)
    main(["doctor", "-C", str(project)])
    assert "Vectors wait for a budget." in capsys.readouterr().out

    hx = opened(embedder=spec)
    hx.spaces.set_policy("docs", {"budget": {"tokens": 1_000}})
    llm.will(body=None)  # what the length of a vector is
    llm.will(status=400, body=b"{}")
    with pytest.raises(ProviderError):
        hx.embed_pending()
    assert 0 == hx.status().embeddings_failed, "having waited for a budget counts as no attempt"
    assert 2 == hx.embed_pending()
    assert (0, None) == (hx.status().embeddings_pending, hx.status().embeddings_paused)


@pytest.mark.row("L141", "L142")
def test_a_used_up_budget_of_the_project_sends_nothing_in_the_background(opened, llm, project, clock):
    settings(project, "[budget]\ntokens = 2\nperiod = 'day'\n")
    hx = opened(embedder=f"openai:tiny@{llm.base_url}", background=True)
    hx.remember("Green gates by water.")
    assert hx.wait_for_background()

    assert [] == llm.asked
    assert (1, 0) == (hx.status().embeddings_pending, hx.status().embeddings_failed)
    assert "of the project (day) allows 2 tokens" in hx.status().embeddings_paused


def test_a_memory_that_is_paid_for_is_paid_for_as_a_whole(opened, llm):
    hx = opened(embedder=f"openai:tiny@{llm.base_url}")
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"budget": {"tokens": 5_000}})
    hx.remember("\n\n".join(f"# Part {n}\n\n{'word ' * 150}" for n in range(100)), space="docs")
    hx.embed_pending()

    assert ["dimensions"] == embedded(llm), "it has more than one request's texts, and all of them do not fit"
    assert 1 == hx.status().embeddings_pending


@pytest.mark.row("L141", "L143")
def test_a_question_is_charged_to_the_one_space_that_it_is_asked_of(opened, llm):
    hx = opened(embedder=f"openai:tiny@{llm.base_url}")
    hx.remember("Green gates by water.", space="docs")
    hx.remember("Tall cranes.", space="notes")
    hx.embed_pending()
    before = hx.spaces.budget("docs")[0].spent.tokens, hx.spaces.budget()[0].spent.tokens
    hx.recall("gates", space="docs")
    hx.recall("gates", space=["docs", "notes"])
    hx.recall("gates")

    after = hx.spaces.budget("docs")[0].spent.tokens, hx.spaces.budget()[0].spent.tokens
    assert (10, 30) == (after[0] - before[0], after[1] - before[1])


def test_each_call_to_an_embedder_behind_an_endpoint_is_a_span_with_what_it_used(opened, llm):
    hx, spans = opened(embedder=f"openai:tiny@{llm.base_url}"), []
    hx.remember("Green gates by water.", space="docs")
    stop = hexad.listen(spans.append)
    try:
        hx.embed_pending()
        hx.recall("gates", space="docs")
    finally:
        stop()

    told = [span.attributes for span in spans if span.name == "embed"]
    assert len(told) == len(embedded(llm))
    assert {"tiny"} == {span["model"] for span in told}
    assert all(str(span["provider"]).startswith("openai@127.0.0.1") for span in told)
    assert hx.spaces.budget()[0].spent.tokens == sum(int(span["input_tokens"]) for span in told)


@pytest.mark.row("L141", "L143")
def test_over_its_budget_a_space_is_recalled_by_full_text_with_a_note(opened, llm):
    hx = opened(embedder=f"openai:tiny@{llm.base_url}")
    hx.remember("Green gates by water.", space="docs")
    hx.embed_pending()
    hx.spaces.set_policy("docs", {"budget": {"tokens": 0}})
    asked = len(llm.asked)
    hits = hx.recall("gates", space="docs")

    assert (["Green gates by water."], "lexical") == ([hit.text for hit in hits], hits.mode)
    assert "allows 0 tokens" in hits.notes[0]
    assert asked == len(llm.asked)
    with pytest.raises(BudgetExceeded):
        hx.recall("gates", space="docs", semantic=True)
    assert "hybrid" == hx.recall("gates").mode


def test_what_is_embedded_here_is_never_metered(opened, project):
    settings(project, "[budget]\ntokens = 0\n")
    hx = opened()
    hx.remember("Green gates by water.", space="docs")

    assert 1 == hx.embed_pending()
    assert "hybrid" == hx.recall("gates").mode
    assert 0 == hx.spaces.budget()[0].spent.calls


def test_a_store_that_is_embedded_anew_is_metered_too(opened, llm):
    hx = opened()
    hx.remember("Green gates by water.", space="docs")
    hx.reindex(embedder=f"openai:tiny@{llm.base_url}")
    hx.embed_pending()

    assert 10 == hx.spaces.budget("docs")[0].spent.tokens


# Showing ------------------------------------------------------------------------------------------------------------


def test_the_command_shows_caps_spending_and_what_is_left(opened, project, capsys):
    settings(project, '[budget]\nusd = 2.0\n[prices]\n"scripted:*" = {input = 1000.0, output = 1000.0}\n')
    hx = opened(generator=ScriptedGenerator([ANSWER]))
    for space in ("docs", "idle"):
        hx.spaces.create(space)
    hx.spaces.set_policy("docs", {"budget": {"tokens": 9_000, "providers": {"hf": {"usd": 1}}}})
    remember_raw(hx, max_tokens=100)
    used = hx.spaces.budget("docs")[0].spent.tokens
    hx.close()

    assert 0 == main(["spaces", "budget", "-C", str(project)])
    rows = [re.split(r"  +", line.strip()) for line in capsys.readouterr().out.splitlines()]
    spent = f"${used / 1000:g}, {used:,} tokens"
    assert [
        ["of", "provider", "period", "cap", "spent", "reserved", "left"],
        ["project", "all", "total", "$2.00", spent, "nothing", f"${2 - used / 1000:g}"],
        ["project", "scripted", "total", "none", spent, "nothing", "no bound"],
        ["space docs", "all", "total", "9,000 tokens", spent, "nothing", f"{9_000 - used:,} tokens"],
        ["space docs", "huggingface", "total", "$1.00", "nothing", "nothing", "$1.00"],
        ["space docs", "scripted", "total", "none", spent, "nothing", "no bound"],
    ] == rows


def test_the_command_says_the_same_as_json_and_how_many_calls_have_no_price(opened, project, capsys):
    hx = opened(generator=ScriptedGenerator([ANSWER]))
    remember_raw(hx)
    hx.spaces.set_policy("docs", {"budget": {"tokens": 9_000, "providers": {"hf": {"usd": 1}}}})
    used = hx.spaces.budget("docs")[0].spent.tokens
    hx.close()

    assert 0 == main(["spaces", "budget", "docs", "--json", "-C", str(project)])
    lines = json.loads(capsys.readouterr().out)
    assert [None, "huggingface", "scripted"] == [line["provider"] for line in lines]
    assert {
        "space": "docs",
        "provider": None,
        "period": "total",
        "cap": {"tokens": 9_000, "usd": None},
        "calls": 1,
        "spent": {"tokens": used, "usd": 0.0},
        "reserved": {"tokens": 0, "usd": 0.0},
        "left": {"tokens": 9_000 - used, "usd": None},
        "unpriced_calls": 1,
    } == lines[0]
    assert 0 == main(["spaces", "budget", "docs", "-C", str(project)])
    assert "Calls without a known price: 1." in capsys.readouterr().err
    assert 3 == main(["spaces", "budget", "never", "-C", str(project)])


def test_a_budget_of_a_space_that_hides_memories_is_its_owners(opened):
    hx = opened()
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"visibility": [{"kinds": ["decision"], "roles": ["reviewer"]}]})
    hx.close()

    with pytest.raises(AccessDenied, match="its budget"):
        opened(role="intern").spaces.budget("docs")


def test_a_space_that_was_never_created_has_no_budget(hx):
    with pytest.raises(NotFound):
        hx.spaces.budget("never")
