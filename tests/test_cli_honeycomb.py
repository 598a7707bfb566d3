"""`hexad honeycomb` as people and scripts use it: a real store, and a real terminal where one reads."""

from __future__ import annotations

import html
import io
import json
import os
import re
import unicodedata
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

import hexad
from hexad.interfaces.cli.app.main import main
from hexad.testing import HashEmbedder
from programs import command_on_terminal
from ran import Ran


def run(folder: Path, *args: str) -> Ran:
    """Run a command as a program does, in this process: most of these tests run several."""
    out, err = io.StringIO(), io.StringIO()
    settings = {"HEXAD_EMBEDDER": "hashing", "COLUMNS": "100"}
    with chdir(folder), patch.dict(os.environ, settings), redirect_stdout(out), redirect_stderr(err):
        code = main(list(args))
    assert "Traceback" not in err.getvalue()
    return Ran(code=code, out=out.getvalue(), err=err.getvalue())


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> tuple[Path, list[int]]:
    folder = tmp_path_factory.mktemp("comb")
    (folder / ".hexad").mkdir()
    # Four programs may take longer than ten seconds to start.
    (folder / ".hexad" / "hexad.toml").write_text("[honeycomb]\nloop_window_s = 600\n", encoding="utf-8")
    with hexad.open(folder, embedder=HashEmbedder(), background=False) as hx:
        comb = hx.honeycomb
        ids = comb.add_nodes([(f'node "{at}"', [1.0, at / 10]) for at in range(9)])
        for node in ids[1:8]:
            comb.insert(ids[0], node, score=0.9 - node / 1000)
        comb.insert(ids[1], ids[8], score=0.85, relation="leads_to")
        comb.insert(ids[1], ids[2], score=0.84)
        comb.deactivate(ids[3])
        hx.remember("Deploys happen on Tuesday.", id="deploys", space="ops")
        hx.remember("Tuesday is when deploys are done.", id="tuesday", space="ops")
        hx.embed_pending()
    return folder, ids


def test_show_draws_the_neighbourhood_as_a_tree(store):
    folder, ids = store

    lines = run(folder, "honeycomb", "show", str(ids[0])).out.splitlines()

    assert f'{ids[0]}  node "0"' == lines[0]
    assert lines[1].startswith("├─ 0.90 related") or lines[1].startswith("├─ 0.9")
    assert any(line.startswith("│  ├─ 0.85 leads_to") and 'node "8"' in line for line in lines)
    # Who stands in the tree already is not said again.
    assert f"│  └─ → {ids[2]} related 0.84" in lines
    assert 1 == sum('node "2"' in line for line in lines)
    assert any("(inactive)" in line for line in lines)
    assert "and 1 edge in overflow: --overflow shows them" == lines[-1]
    assert any(
        "ring 1" in line
        for line in run(folder, "honeycomb", "show", str(ids[0]), "--overflow").out.splitlines()
    )


def test_show_says_how_much_the_limit_left_out(store):
    folder, ids = store

    shown = run(folder, "honeycomb", "show", str(ids[0]), "--limit", "3")

    assert 2 == len([line for line in shown.out.splitlines() if line.startswith(("├─", "└─"))])
    assert "At least 5 more nodes within 2 steps; --limit shows them." in shown.err


def test_show_gives_dot_and_json(store):
    folder, ids = store

    dot = run(folder, "honeycomb", "show", str(ids[0]), "--dot", "--overflow").out
    told = json.loads(run(folder, "honeycomb", "show", str(ids[0]), "--json", "--depth", "1").out)

    assert dot.startswith("digraph honeycomb {")
    assert f'{ids[0]} [label="{ids[0]}: node \\"0\\""]' in dot
    assert f'{ids[1]} -> {ids[8]} [label="0.85 leads_to"]' in dot
    assert (
        1 == dot.count('related", style=dashed') == dot.count("style=dashed];") - 1
    )  # an edge, and a node at rest
    assert (ids[0], 7, 6) == (told["start"], len(told["nodes"]), len(told["edges"]))
    assert 1 == len(told["nodes"][0]["fractal_layer"][0])


def test_a_memory_is_shown_by_its_id(store):
    folder, _ = store

    assert "deploys are done" in run(folder, "honeycomb", "show", "deploys").out
    missing = run(folder, "honeycomb", "show", "99999")
    assert (3, True) == (missing.code, "Node 99999 is not in the honeycomb" in missing.err)


def test_stats_say_the_graph_in_numbers(store):
    folder, _ = store

    told, text = (
        json.loads(run(folder, "honeycomb", "stats", "--json").out),
        run(folder, "honeycomb", "stats").out,
    )

    assert (11, 2, 1, 1) == (told["nodes"], told["memory_nodes"], told["inactive"], told["overflow_edges"])
    assert (2, 9) == (told["components"], told["largest_component"])
    assert "11 nodes: 2 memories, 9 added (there is room for 100,000); 1 inactive" in text
    assert "11 edges: 10 in main rings, 1 in overflow; 9 inserted, the others derived" in text
    assert "nodes by edges in the main ring: 7 with none, 2 with 1, 1 with 2, 1 with 6" in text
    assert "nodes by overflow rings: 1 with 1" in text
    assert "2 components, the largest of 9 nodes; 0 nodes without any edge" in text


def test_stats_of_an_empty_graph_say_how_nodes_come_into_it(tmp_path):
    hexad.init(tmp_path)

    told = run(tmp_path, "honeycomb", "stats")

    assert (0, "") == (told.code, told.out)
    assert "The graph is empty. A memory becomes a node when it has its vector" in told.err
    assert 0 == json.loads(run(tmp_path, "honeycomb", "stats", "--json").out)["nodes"]


def test_context_walks_from_a_question_or_a_node(store):
    folder, ids = store

    asked = run(
        folder, "honeycomb", "context", "when", "do", "deploys", "happen", "--scope", "memories", "--trace"
    )
    begun = json.loads(
        run(
            folder,
            "honeycomb",
            "context",
            "--start",
            str(ids[1]),
            "--json",
            "--no-overflow",
            "--max-tokens",
            "40",
        ).out
    )

    assert "Deploys happen on Tuesday." in asked.out
    assert re.search(r"^\d+  entry, strength \d\.\d\d, cosine \d\.\d\d, \d+ tokens$", asked.out, re.MULTILINE)
    assert "thresholds: memories" in asked.err
    assert [ids[1], ids[8], ids[2]] == [piece["id"] for piece in begun["pieces"]]
    assert 2 == run(folder, "honeycomb", "context").code
    assert 3 == run(folder, "honeycomb", "context", "x", "--space", "nowhere").code


def test_context_keeps_to_the_types_of_edges_that_are_named(store):
    folder, ids = store

    def reached(*args: str) -> list[int]:
        begun = run(folder, "honeycomb", "context", "--start", str(ids[1]), "--json", *args)
        return [piece["id"] for piece in json.loads(begun.out)["pieces"]]

    assert [ids[1]] == reached("--relation", "caused-by")
    assert [ids[1], ids[8]] == reached("--relation", "leads_to")
    assert [ids[1], ids[8], ids[2]] == reached("--relation", "related", "--relation", "leads_to")


def test_context_says_when_a_session_goes_in_circles(store):
    folder, ids = store

    said = [
        run(folder, "honeycomb", "context", "--start", str(ids[0]), "--session", "loop").err for _ in range(4)
    ]

    assert "LOOP_DETECTED" not in said[2]
    assert "The loop breaker sees a loop (LOOP_DETECTED)." in said[3]


def test_reindex_derives_the_links_anew(store):
    folder, _ = store
    before = json.loads(run(folder, "honeycomb", "show", "deploys", "--json").out)["edges"]

    done = json.loads(run(folder, "reindex", "--json").out)

    after = json.loads(run(folder, "honeycomb", "show", "deploys", "--json").out)["edges"]
    assert 2 == done["links_queued"]
    assert [(edge["target_id"], edge["relevance_score"]) for edge in before] == [
        (edge["target_id"], edge["relevance_score"]) for edge in after
    ]


# What is read from a terminal, and by Graphviz ------------------------------------------------------------------------

HOSTILE = [
    'quotes " \\" \\',
    "ends in a backslash \\",
    "line\nbreak\r\nand\ttab",
    "steers \x1b[31m \x1b]0;title\x07 \x9b2J \x00 \u202e back",
    "} ]; subgraph { <b>&lt;&amp;</b> // # /* \\N \\G \\l",
    "日本語のメモ、とても長いので四十桁には入らない文章です。",
    "x" * 500,
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> tuple[Path, list[int]]:
    folder = tmp_path_factory.mktemp("hostile")
    with hexad.open(folder, embedder=HashEmbedder(), background=False) as hx:
        comb = hx.honeycomb
        ids = comb.add_nodes([(text, [1.0, at / 10]) for at, text in enumerate(HOSTILE)])
        for node in ids[1:]:
            comb.insert(ids[0], node, score=0.9, relation="größer_als-" + "y" * 50)
            comb.insert(node, ids[0], score=0.8)
        hx.remember("path of digits", id="mem_digits", path=str(ids[1]))
        hx.remember("id of digits", id=str(ids[2]), path="x/y")
        hx.remember("no node has this number", id="mem_many", path="9" * 500)
        hx.embed_pending()
    return folder, ids


def parsed(text: str) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, dict[str, str]]]]:
    """What Graphviz reads in DOT, by its grammar: nodes with attributes, and edges; fails for anything else."""
    token = re.compile(
        r'\s*(?:(->|[{}\[\];=,])|([A-Za-z_][A-Za-z_0-9]*|-?\d+)|"((?:[^"\\]|\\.)*)")', re.DOTALL
    )
    tokens: list[tuple[str, str]] = []
    place = 0
    while place < len(text.rstrip()):
        found = token.match(text, place)
        assert found is not None, text[place : place + 40]
        mark, name, words = found.groups()
        tokens.append(("mark", mark) if mark else ("id", name if name is not None else unescaped(words)))
        place = found.end()
    tokens.reverse()

    def take(kind: str, value: str | None = None) -> str:
        got = tokens.pop()
        assert kind == got[0], got
        assert value in (None, got[1]), got
        return got[1]

    def attributes() -> dict[str, str]:
        read: dict[str, str] = {}
        take("mark", "[")
        while tokens[-1] != ("mark", "]"):
            name = take("id")
            take("mark", "=")
            read[name] = take("id")
            if tokens[-1] == ("mark", ","):
                take("mark")
        take("mark", "]")
        return read

    nodes: dict[str, dict[str, str]] = {}
    edges = []
    take("id", "digraph")
    take("id")
    take("mark", "{")
    while tokens[-1] != ("mark", "}"):
        name = take("id")
        if tokens[-1] == ("mark", "->"):
            take("mark")
            edges.append((name, take("id"), attributes()))
        else:
            nodes[name] = attributes()
        take("mark", ";")
    take("mark", "}")
    assert [] == tokens
    return nodes, edges


def unescaped(words: str) -> str:
    """What a label shows: a backslash begins an escape, and entities of HTML are read."""
    assert not re.search(r"\\[^\\\"]", words), (
        words
    )  # Graphviz would put the node's or the graph's name there
    return html.unescape(re.sub(r"\\(.)", r"\1", words))


def test_dot_is_what_graphviz_reads_whatever_nodes_say(hostile):
    folder, ids = hostile

    nodes, edges = parsed(run(folder, "honeycomb", "show", str(ids[0]), "--dot").out)

    assert {"node", *map(str, ids)} == set(nodes)
    assert len(edges) == 2 * (len(ids) - 1)
    labels = [nodes[str(node)]["label"] for node in ids]
    assert f'{ids[0]}: quotes " \\" \\' == labels[0]
    assert f"{ids[1]}: ends in a backslash \\" == labels[1]
    assert f"{ids[2]}: line break and tab" == labels[2]
    assert labels[4].startswith(f"{ids[4]}: }} ]; subgraph {{ <b>&lt;&amp;</b> // #")
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", "".join(labels))
    assert ("0.90 größer_als-" + "y" * 50) in {edge[2]["label"] for edge in edges}


def on_terminal(folder: Path, columns: int, *args: str) -> str:
    """What a terminal of so many columns gets to see."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEXAD_")}
    kept.pop("COLUMNS", None)
    code, seen = command_on_terminal(
        *args,
        width=columns,
        cwd=folder,
        env={**kept, "HEXAD_EMBEDDER": "hashing", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"},
    )
    assert 0 == code, seen
    return seen


@pytest.mark.parametrize("columns", [40, 200])
def test_what_is_shown_fits_the_terminal_and_does_not_steer_it(hostile, columns):
    folder, ids = hostile

    for args in (
        ("show", str(ids[0]), "--overflow"),
        ("show", "mem_digits"),
        ("stats",),
        ("context", "--start", str(ids[0]), "--trace", "--threshold", "0"),
    ):
        text = on_terminal(folder, columns, "honeycomb", *args)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
        lines = [line for line in text.splitlines() if "tokens; thresholds" not in line]
        assert max(map(columns_of, lines)) <= min(columns, 120), args
        assert max(map(columns_of, lines)) > 30


def columns_of(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


# Names ----------------------------------------------------------------------------------------------------------------


def test_a_number_is_a_nodes_and_the_memory_of_that_name_is_told_of(hostile):
    folder, ids = hostile
    with hexad.open(folder, embedder=None, background=False, readonly=True) as hx:
        by_path, by_id = hx.honeycomb.get("mem_digits").id, hx.honeycomb.get(str(ids[2])).id

    for number, other in ((ids[1], by_path), (ids[2], by_id)):
        shown = run(folder, "honeycomb", "show", str(number), "--json")
        assert number == json.loads(shown.out)["start"]
        assert (
            f"{number} is the number of a node. The memory of that id or path is node {other}.\n" == shown.err
        )
        walked = run(folder, "honeycomb", "context", "--start", str(number), "--json")
        assert number == json.loads(walked.out)["pieces"][0]["id"]
        assert f"is node {other}." in walked.err
        assert "" == run(folder, "honeycomb", "show", str(other), "--json").err


def test_a_number_that_no_node_has_names_a_memory(hostile):
    folder, _ = hostile

    shown = run(folder, "honeycomb", "show", "9" * 500, "--json")

    assert "mem_many" == json.loads(shown.out)["nodes"][0]["memory_id"]
    assert "" == shown.err
    for missing in ("9" * 5_000, "9" * 19, "²", "١٢", "-1", "0"):
        for args in (("show", "--", missing), ("context", "--start", missing)):
            told = run(folder, "honeycomb", *args)
            assert (3, "") == (told.code, told.out)
            assert "is not in the honeycomb; `add_node` makes one" in told.err
            assert len(told.err) < 400


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["show"], "Missing argument 'NODE'"),
        (["show", "1", "2"], "unexpected extra argument"),
        (["show", "1", "--deep"], "No such option '--deep'"),
        (["show", "1", "--depht", "3"], "No such option '--depht'. Did you mean '--depth'?"),
        (["show", "1", "--depth", "7"], "not in the range 1<=x<=6"),
        (["show", "1", "--depth", "two"], "is not a valid integer"),
        (["show", "1", "--limit", "0"], "not in the range x>=1"),
        (["show", "1", "--dot", "--json"], "Choose one of --dot and --json"),
        (["stats", "all"], "unexpected extra argument"),
        (["context"], "Say what the context is for"),
        (["context", "x", "--walk", "random"], "'random' is not one of 'best', 'breadth'"),
        (
            ["context", "x", "--walk", "best", "--scope", "nodes"],
            "choose 'all' or 'memories', or walk = 'breadth'",
        ),
        (["context", "x", "--relation", "caused by"], "--relation 'caused by' cannot be used"),
        (["context", "x", "--scope", "mars"], "'mars' is not one of"),
        (["context", "x", "--threshold", "nan"], "threshold"),
        (["context", "x", "--max-tokens", "9" * 30], "--max-tokens"),
        (["context", "x", "--session", " "], "--session ' '"),
        (["shwo"], "No such command 'shwo'. Did you mean 'show'"),
    ],
)
def test_what_a_command_cannot_use_is_said_with_the_way_out(hostile, args, words):
    told = run(hostile[0], "honeycomb", *args)

    assert (2, "") == (told.code, told.out)
    assert words in told.err
    assert told.err.count("\n") == 1


def test_an_empty_context_says_why(hostile):
    folder, ids = hostile

    small = run(folder, "honeycomb", "context", "--start", str(ids[6]), "--max-tokens", "2")
    with hexad.open(folder, embedder=HashEmbedder(), background=False) as hx:
        hx.honeycomb.deactivate(ids[6])
    resting = run(folder, "honeycomb", "context", "--start", str(ids[6]))

    assert "Nothing that was found fits into 2 tokens." in small.err
    assert "left out: 1 below the threshold, 1 too long" in small.err
    assert "Where the walk begins is inactive." in resting.err
    assert "left out: 1 inactive" in resting.err


# Where texts are from -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def code(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("code")
    for name in ("gates", "bolts"):
        body = "\n\n\n".join(
            f'def {verb}_{name}(count: int) -> int:\n    """{verb} all {name} of the yard."""\n'
            + "    count += 1\n" * 40
            + "    return count"
            for verb in ("open", "close")
        )
        (folder / "app").mkdir(exist_ok=True)
        (folder / "app" / f"{name}.py").write_text(
            f"from __future__ import annotations\n\nimport os\n\n{body}\n"
        )
    run(folder, "init", "--no-detect")
    run(folder, "ingest", "app")
    run(folder, "maintain")
    return folder


def test_code_is_listed_by_its_path_and_what_it_defines(code):
    shown = run(code, "honeycomb", "show", "app/gates").out + run(code, "honeycomb", "stats").out
    dot = run(code, "honeycomb", "show", "app/gates", "--dot").out

    assert "__future__" not in shown + dot
    assert re.search(r"^\d+  app/gates: .*open_gates", shown, re.MULTILINE)
    assert re.search(r"%  \d+  app/bolts: .*open_bolts", shown)
    assert "app/gates: " in dot


def test_each_text_of_a_context_says_where_it_is_from(code, store):
    asked = run(code, "honeycomb", "context", "close all gates of the yard", "--max-tokens", "250").out
    begun = run(store[0], "honeycomb", "context", "--start", str(store[1][1]), "--max-tokens", "40").out

    assert re.search(r"^\d+  mem_\w+  app/gates  gates\.py:\d+  .*close_gates", asked, re.MULTILINE)
    assert begun.splitlines()[:2] == [str(store[1][1]), '  node "1"']
