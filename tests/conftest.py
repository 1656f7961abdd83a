"""What every test may use: the repository's root, and the shared cases where they are present."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


def pytest_collection_modifyitems(config, items):
    """Slow tests run only when asked for."""
    if "slow" not in config.option.markexpr:
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow; run with make test-slow"))


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    """Paths in configuration files are relative to the repository."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def shared() -> Path:
    """The folder of shared cases and data, which is no part of the repository."""
    if not SHARED.is_dir():
        pytest.skip("the shared cases and data are not beside this checkout")
    return SHARED
