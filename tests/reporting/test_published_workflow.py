"""The rule that checks the published values, as the workflow runs it."""

import pytest

from tests.workflow.conftest import Checkout, copy_to

pytestmark = pytest.mark.workflow
TABLE = "resources/published/table2.csv"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(copy_to(tmp_path_factory.mktemp("published") / "checkout"))


def test_the_rule_needs_no_training_and_no_evaluation(checkout):
    assert checkout.jobs("compare_published") == {"compare_published": 1}


@pytest.mark.slow
def test_it_passes_once_and_fails_by_name_for_a_changed_value(checkout):
    result = checkout.snakemake("compare_published")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "5 exceptions, 0 differ" in result.stdout + result.stderr
    assert checkout.jobs("compare_published") == {}
    path = checkout.folder / TABLE
    path.write_text(path.read_text(encoding="utf-8").replace("+2.99", "+2.89"), encoding="utf-8")
    result = checkout.snakemake("compare_published")
    assert result.returncode == 1
    assert "differs: Table II: Gold DP-SFT, MATH: printed +2.89" in result.stdout + result.stderr
