"""Slow tests run on `pytest -m slow` only."""

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than ten seconds; run with -m slow")


def pytest_collection_modifyitems(config, items):
    if "slow" not in config.option.markexpr:
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow; run with -m slow"))
