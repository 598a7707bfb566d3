"""`make upstream`: what it makes of a report of a suite. The suites themselves run by that command alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from upstream.run import HERE, SuiteMissing, _tests, judge, outcomes

SUITE = {"package": "shop", "version": "1.2", "count": 2, "expected": {"*.test_link?": "there are no links"}}


def test_a_report_says_how_each_test_ended(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite><testcase classname='a' name='one'/><testcase classname='a' name='two'><failure/>"
        "</testcase><testcase classname='a' name='three'><error/></testcase><testcase classname='a' name='four'>"
        "<skipped/></testcase></testsuite></testsuites>"
    )

    expected = {"a.one": "passed", "a.two": "failed", "a.three": "failed", "a.four": "skipped"}
    assert expected == outcomes(report)


def test_what_fails_by_design_is_named_with_its_reason_and_is_no_failure(capsys):
    assert judge("shop", SUITE, {"a.test_link1": "failed", "a.test_b": "passed"})
    printed = capsys.readouterr().out
    assert "1 of 2 passed, 1 failed by design, 0 otherwise" in printed
    assert "1 by design: there are no links" in printed


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        ({"a.test_link1": "failed", "a.test_b": "failed"}, "FAILED a.test_b"),
        ({"a.test_link1": "passed", "a.test_b": "passed"}, "is expected to fail and did not"),
        ({"a.test_link1": "failed"}, "1 tests ran, and suites.toml says 2"),
    ],
)
def test_another_failure_one_that_is_over_and_tests_that_did_not_run_fail_the_command(ended, said, capsys):
    assert not judge("shop", SUITE, ended)
    assert said in capsys.readouterr().out


def test_a_folder_without_the_tests_is_refused_by_its_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("SHOP", str(tmp_path))
    with pytest.raises(SuiteMissing, match=r"SHOP = .* has no tests/a.py"):
        _tests("shop", {**SUITE, "variable": "SHOP", "tests": ["tests/a.py"]}, Path("python"))


def test_every_suite_names_a_plugin_that_is_there():
    for suite in tomllib.loads((HERE / "suites.toml").read_text(encoding="utf-8")).values():
        assert (HERE / f"{suite['plugin']}.py").is_file()
