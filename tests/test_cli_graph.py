"""`hexad graph`: what people and programs are shown of the code graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_cli_sessions import Shell


@pytest.fixture
def shell(project: Path) -> Shell:
    (project / "auth.py").write_text("def login(name: str) -> bool:\n    return True\n")
    (project / "app.py").write_text("from auth import login\n\n\ndef start():\n    login('ann')\n")
    (project / "test_auth.py").write_text("import auth\n\n\ndef test_login():\n    auth.login('x')\n")
    (project / "old.py").write_text("print 'x'\n")
    return Shell(folder=project)


def test_the_graph_is_indexed_asked_and_shown(shell: Shell) -> None:
    ran = shell("graph", "index")
    assert ran.code == 0
    assert "4 files of code in the graph (4 new)" in ran.out
    assert "old.py: line 1 does not parse" in ran.err
    assert "(4 unchanged)" in shell("graph", "index").out

    ran = shell("graph", "query", "callers", "login")
    assert ["where", "app.py:4", "test_auth.py:4"] == [line.split()[0] for line in ran.out.splitlines()]
    assert "login, auth.py:1" in ran.err
    assert ["app.py", "test_auth.py"] == [
        hit["node"]["path"] for hit in shell("graph", "impact", "auth.py", "--json").data["hits"]
    ]
    ran = shell("graph", "query", "path", "app.py", "--to", "login")
    assert "auth.py:1" in ran.out
    assert "imports 3" not in ran.out
    assert "4 files: python 4" in shell("graph", "show").out


def test_what_is_not_there_is_said(shell: Shell) -> None:
    shell("init")
    assert "There is no code graph yet." in shell("graph", "show").err
    ran = shell("graph", "query", "callers", "login")
    assert (3, "") == (ran.code, ran.out)
    assert "nothing called 'login'" in ran.err
    assert 2 == shell("graph", "query", "path", "auth.py").code
    ran = shell("graph", "query", "callers", "login", "--to", "start")
    assert (2, True) == (ran.code, "give --to with path alone." in ran.err)
    assert "----" not in ran.err
