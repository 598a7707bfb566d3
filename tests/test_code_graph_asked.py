"""TypeScript, Go, Rust and Java: the command line, MCP and HTTP answer about them as the library does."""

from __future__ import annotations

import pytest

import hexad
from hexad.ingest.sources.formats import syntax
from http_servers import serving
from mcp_clients import answer, in_process
from test_cli_sessions import Shell

pytestmark = pytest.mark.skipif(
    not syntax.is_readable("typescript"), reason="the extra `code` is not installed"
)

FILES = {
    "web/price.ts": "export function weighCrate(n: number): number {\n  return n * 2;\n}\n",
    "web/cart.ts": "import { weighCrate } from './price';\n\nexport function fill(): number {\n  return weighCrate(3);\n}\n",
    "go.mod": "module example.com/shop\n\ngo 1.22\n",
    "dock/rope.go": "package dock\n\nfunc TieRope() int {\n\treturn 1\n}\n",
    "dock/pier.go": "package dock\n\nfunc Moor() int {\n\treturn TieRope()\n}\n",
    "Cargo.toml": '[package]\nname = "tide"\nversion = "0.1.0"\n',
    "src/lib.rs": "mod level;\n\npub fn flood() -> i32 {\n    level::read_gauge()\n}\n",
    "src/level.rs": "pub fn read_gauge() -> i32 {\n    1\n}\n",
    "java/org/shop/Bell.java": "package org.shop;\n\npublic class Bell {\n    static int ringBell() {\n        return 1;\n    }\n}\n",
    "java/org/shop/Tower.java": "package org.shop;\n\npublic class Tower {\n    int noon() {\n        return Bell.ringBell();\n    }\n}\n",
}
CALLERS = {
    "weighCrate": "web/cart.ts:fill",
    "TieRope": "dock/pier.go:Moor",
    "read_gauge": "src/lib.rs:flood",
    "ringBell": "java/org/shop/Tower.java:Tower.noon",
}


def _named(hits):
    return {
        symbol: [f"{hit['node']['path']}:{hit['node']['name']}" for hit in found]
        for symbol, found in hits.items()
    }


def _place_of(hit):
    """Of an answer of MCP the file and the name, without its class: `path:line` and `fn flood()` say them."""
    path, _, _ = hit["where"].partition(":")
    name = next(each.partition(":")[2] for each in CALLERS.values() if each.startswith(path))
    assert name.rpartition(".")[2] in hit["what"]
    return f"{path}:{name}"


def test_every_way_of_asking_names_the_callers_in_four_languages(project):
    for name, text in FILES.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.graph.index()
    expected = {symbol: [caller] for symbol, caller in CALLERS.items()}

    shell = Shell(folder=project)
    by_command = {
        symbol: shell("graph", "query", "callers", symbol, "--json").data["hits"] for symbol in CALLERS
    }

    async def talk(client):
        return {
            symbol: (await answer(client, "graph", question="callers", target=symbol))["hits"]
            for symbol in CALLERS
        }

    by_mcp = in_process(talk, project)
    with serving(project) as server:
        by_http = {
            symbol: server.get("/v1/graph/query", params={"question": "callers", "target": symbol}).json()[
                "hits"
            ]
            for symbol in CALLERS
        }

    assert expected == _named(by_command)
    assert expected == {symbol: [_place_of(hit) for hit in hits] for symbol, hits in by_mcp.items()}
    assert expected == _named(by_http)
