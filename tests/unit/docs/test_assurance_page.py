from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from hexad.providers.embedders.minilm import MODEL_SHA256

REPOSITORY = Path(__file__).parents[3]
SCRIPT = REPOSITORY / "docs" / "assurance.py"
PROMISE = """
[[promise]]
title = "Nothing is lost"
promise = "What was acknowledged is there."
tests = ["tests/test_a.py::test_kills"]
results = "Kills"
limit = "Fire."
"""
RUN = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_kills[1]"><properties><property name="kills" value="40"/></properties></testcase>
<testcase classname="tests.test_a" name="test_kills[2]"><properties><property name="kills" value="2"/></properties></testcase>
<testcase classname="tests.test_a" name="test_other">{}</testcase>
</testsuite></testsuites>"""


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("assurance_page", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in {
        "docs/assurance.toml": PROMISE,
        "tests/test_a.py": "def test_kills(): ...\n",
        "benchmarks/RESULTS.md": "# Results\n\n## Kills\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def test_what_a_run_counted_stands_with_its_test_until_another_run_counts_anew(page, repository):
    run = repository / "run.xml"
    run.write_text(RUN.format(""), encoding="utf-8")

    assert 0 == page.main(["--counted", str(run)], repository=repository)
    assert 0 == page.main([], repository=repository)
    assert 0 == page.main(["--check"], repository=repository)

    text = (repository / "docs" / "assurance.md").read_text(encoding="utf-8")
    assert re.search(
        r"- `tests/test_a.py::test_kills`\n  - \d{4}-\d\d-\d\d at an unknown commit: 42 kills\n", text
    )
    assert "*Not promised.* Fire." in text
    assert "(../benchmarks/RESULTS.md#kills)" in text


def test_a_long_form_without_a_count_is_said_to_have_no_whole_run(page, repository, capsys):
    (repository / "tests" / "test_a.py").write_text(
        "@pytest.mark.parametrize('seed', [1])\n@pytest.mark.long\ndef test_kills(): ...\n", encoding="utf-8"
    )
    assert 1 == page.main([], repository=repository)
    assert "Long forms of the stress tests" in capsys.readouterr().err

    (repository / "benchmarks" / "RESULTS.md").write_text(
        "# Results\n\n## Kills\n\n## Long forms of the stress tests\n", encoding="utf-8"
    )
    assert 0 == page.main([], repository=repository)
    text = (repository / "docs" / "assurance.md").read_text(encoding="utf-8")
    assert (
        "- `tests/test_a.py::test_kills`\n  - a long form of which no whole run is counted: "
        "[what was run of it](../benchmarks/RESULTS.md#long-forms-of-the-stress-tests)\n"
    ) in text

    (repository / "run.xml").write_text(RUN.format(""), encoding="utf-8")
    assert 0 == page.main(["--counted", str(repository / "run.xml")], repository=repository)
    assert "no whole run" not in (repository / "docs" / "assurance.md").read_text(encoding="utf-8")


def test_a_run_with_a_failure_counts_for_nothing(page, repository, capsys):
    run = repository / "run.xml"
    run.write_text(RUN.format("<failure/>"), encoding="utf-8")

    assert 1 == page.main(["--counted", str(run)], repository=repository)

    assert "test_other failed" in capsys.readouterr().err
    assert not (repository / "docs" / "assurance.json").exists()
    assert not (repository / "docs" / "assurance.md").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("test_kills", "test_gone", "names tests/test_a.py::test_gone, which is not there"),
        ("test_a.py", "test_b.py", "names tests/test_b.py::test_kills, which is not there"),
        ('results = "Kills"', 'results = "Power"', "the heading 'Power'"),
        ("limit", "limits", "has 'limits'; known are"),
        ('title = "Nothing is lost"\n', "", "has no title"),
        ('["tests/test_a.py::test_kills"]', "[]", "no test shows 'Nothing is lost'"),
    ],
)
def test_a_promise_that_nothing_shows_is_no_page(page, repository, capsys, old, new, said):
    (repository / "docs" / "assurance.toml").write_text(PROMISE.replace(old, new, 1), encoding="utf-8")

    assert 1 == page.main([], repository=repository)

    assert said in capsys.readouterr().err
    assert not (repository / "docs" / "assurance.md").exists()


def test_a_stale_page_is_said(page, repository, capsys):
    page.main([], repository=repository)
    (repository / "docs" / "assurance.toml").write_text(PROMISE.replace("Fire", "Floods"), encoding="utf-8")

    assert 1 == page.main(["--check"], repository=repository)

    assert "docs/assurance.md is out of date" in capsys.readouterr().err


def test_the_page_of_this_repository_is_up_to_date(page):
    assert 0 == page.main(["--check"], repository=REPOSITORY)


def test_the_digest_of_the_embedder_is_the_one_that_is_checked():
    assert f"`{MODEL_SHA256}`" in (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
