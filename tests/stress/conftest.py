"""The stress suites: the short forms always run, the long ones only by name (`make stress`)."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "long" in str(config.getoption("-m")):
        return
    skip = pytest.mark.skip(reason="the long form of a stress test; run it with `make stress`")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)
