"""The worked example, run as a user runs it: real git, real commands, no network and no key."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hexad

EXAMPLES = Path(__file__).parent.parent / "examples"
PAGE = Path(__file__).parent.parent / "docs" / "worked-example.md"


def run(*args: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the examples with this interpreter's `hexad`, cut off from any key and proxy."""
    kept = ("HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
    environment = {name: value for name, value in os.environ.items() if name in kept}
    return subprocess.run(
        [str(EXAMPLES / args[0]), *args[1:]],
        cwd=cwd,
        env={
            **environment,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHON": sys.executable,
            "TMPDIR": str(cwd),
            "HEXAD_EMBEDDER": "none",
            "DEADLINE_MS": "120000",
            "PYTHONWARNINGS": "error",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **variables,
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )


Ran = subprocess.CompletedProcess[str]


def demo_repository(parent: Path) -> Path:
    folder = parent / "demo repository"
    folder.mkdir()
    assert 0 == run("demo_repository.sh", str(folder), cwd=parent).returncode
    return folder


@pytest.fixture
def repository(tmp_path) -> Path:
    """A folder with a store that knows one thing."""
    folder = tmp_path / "project"
    folder.mkdir()
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.remember("Spans are sent over a socket.", space="lexon_repo")
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran, Path, Ran]:
    """A repository as the script left it, and one where it ran again, with an agent of one's own."""
    folder = tmp_path_factory.mktemp("worked")
    again = demo_repository(folder)
    first = run("repository_delta.sh", str(again), cwd=folder, PATTERN=r"\.rs$")
    once = shutil.copytree(again, folder / "once")
    second = run(
        *("repository_delta.sh", str(again), "telemetry", "What is new?"),
        cwd=folder, PATTERN=r"\.rs$", AGENT="cat",
    )  # fmt: skip
    return once, first, again, second


@pytest.mark.row("L161", "L162", "L163", "L164", "L165")
def test_the_last_commit_is_remembered_recalled_answered_from_exported_and_pruned(runs):
    repository, done, *_ = runs

    assert 0 == done.returncode, done.stderr
    assert "Context bundle for 'telemetry' (3 items):" in done.stdout
    paths = re.findall(r"^• (\S+) — ", done.stdout, flags=re.MULTILINE)
    assert {"telemetry", "socket"} <= {Path(path).stem for path in paths}
    assert "[local stand-in, no model was asked] From memory:" in done.stdout
    assert "no longer there" not in done.stdout
    assert "archived 0" in done.stdout and "verified" in done.stdout
    export = hexad.verify_export(repository / "exports" / "lexon_repo.json")
    assert ("lexon_repo", 3) == (export.space, export.objects)
    with hexad.open(repository, embedder=None, background=False) as hx:
        assert [] == hx.check()
        kinds = {memory.kind for memory in hx.memories(space="lexon_repo")}
        assert ({"code"}, 3) == (kinds, hx.count(space="lexon_repo"))
        assert not any("README" in memory.raw for memory in hx.memories(space="lexon_repo"))


@pytest.mark.row("L162")
def test_a_second_run_begins_with_an_empty_space_and_finds_the_same(runs):
    _, first, repository, second = runs

    bundles = [done.stdout.split("== 4.")[0].split("== 3.")[1] for done in (first, second)]
    assert 0 == second.returncode, second.stderr
    assert bundles[0] == bundles[1]
    with hexad.open(repository, embedder=None, background=False) as hx:
        assert 3 == hx.count(space="lexon_repo", status=None)


@pytest.mark.row("L163")
def test_an_agent_of_ones_own_gets_the_bundle_before_the_question(runs):
    answer = runs[3].stdout.split("== 4.")[1].split("== 5.")[0].strip()
    assert "lexon_telemetry_dropped_total" in answer
    assert answer.endswith("What is new?")
    assert "stand-in" not in answer


def test_without_a_repository_it_makes_one_of_its_own_and_leaves_nothing_behind(tmp_path):
    done = run("repository_delta.sh", cwd=tmp_path)

    assert 0 == done.returncode, done.stderr
    assert "Context bundle for 'telemetry'" in done.stdout
    assert [] == list(tmp_path.iterdir())


@pytest.mark.row("L163")
@pytest.mark.parametrize("agent", ["sleep 30", "cat"])
def test_an_agent_that_misses_the_deadline_has_no_answer(repository, agent):
    deadline = "400" if agent == "sleep 30" else "60000"

    done = subprocess.run(
        [
            sys.executable,
            str(EXAMPLES / "agent_with_context.py"),
            *("--deadline-ms", deadline, "--command", agent),
            *("lexon_repo", "spans", "What is new?"),
        ],
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    if agent == "cat":
        assert (0, "") == (done.returncode, done.stderr)
    else:
        assert (1, "", "No answer within 400 ms.\n") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("options", "missing", "words"),
    [
        (("--command", "nosuchcmd"), "", "'nosuchcmd' cannot be run"),
        (("--command", "'open quote"), "", "cannot be run"),
        (("--command", "sh -c 'echo broken >&2; exit 3'"), "", "ended with 3: broken"),
        (("--model", "openai:gpt-4o-mini"), "pydantic_ai", "pip install 'hexad[llm]'"),
        (("--model", "nosuch:gpt"), "", "'nosuch:gpt' did not answer"),
    ],
)
def test_an_agent_that_cannot_answer_is_one_line_and_no_traceback(
    repository, tmp_path, options, missing, words
):
    if missing:  # as it is where only the core is installed
        (tmp_path / f"{missing}.py").write_text(f"raise ModuleNotFoundError('No module named {missing}')")

    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "agent_with_context.py"), *options, "lexon_repo", "spans", "What?"],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (1, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n")), done.stderr
    assert done.stderr.startswith("The agent failed: ")
    assert words in done.stderr


def test_a_repository_with_one_commit_is_said_to_be_too_young(tmp_path):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)

    done = run("repository_delta.sh", str(tmp_path), cwd=tmp_path)

    assert 1 == done.returncode
    assert "nothing to compare" in done.stderr


def test_the_page_names_every_variable_of_the_script():
    script = (EXAMPLES / "repository_delta.sh").read_text(encoding="utf-8")
    named = set(re.findall(r"^#   ([A-Z_]+) ", script, flags=re.MULTILINE))
    used = set(re.findall(r"\$\{([A-Z_]+):", script)) - {"PYTHON", "TMPDIR"}

    assert named == used
    assert [] == [name for name in sorted(named) if f"`{name}" not in PAGE.read_text(encoding="utf-8")]
    assert json.dumps(sorted(named))
