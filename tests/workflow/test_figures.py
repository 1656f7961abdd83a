"""An edit of one figure redraws that figure alone, one of the shared style all figures and nothing else."""

import pytest

from promptdp.reporting.figures import MODULES, module_of
from promptdp.study import load_study
from tests.workflow.conftest import SMALL

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
STUDY = load_study(SMALL)


def source(module):
    return f"src/{module.replace('.', '/')}.py"


def jobs_after_an_edit(finished, file):
    path = finished.folder / file
    kept = path.read_text()
    path.write_text(f"{kept}\n# edited\n")
    try:
        return finished.jobs("all")
    finally:
        path.write_text(kept)


def redrawn(jobs):
    """How many figures some jobs draw, each with the report's page of it; other jobs would be an error."""
    made = {rule: count for rule, count in jobs.items() if rule not in ("all", "figures", "tables")}
    assert made == dict.fromkeys(("figure", "figure_page"), made.get("figure")), made
    return made["figure"]


def test_the_small_study_has_every_figure():
    assert STUDY.figures == tuple(MODULES)


@pytest.mark.parametrize("number", MODULES)
def test_an_edit_of_one_figures_code_redraws_that_figure_alone(number, finished):
    assert redrawn(jobs_after_an_edit(finished, source(module_of(number)))) == 1


def test_an_edit_of_the_shared_style_redraws_every_figure_and_nothing_else(finished):
    assert redrawn(jobs_after_an_edit(finished, source("promptdp.reporting.style"))) == len(MODULES)


def test_an_edit_of_the_tables_code_redraws_no_figure(finished):
    jobs = jobs_after_an_edit(finished, source("promptdp.reporting.tables"))
    assert jobs["table"] > 0 and "figure" not in jobs


def test_deleted_figures_are_drawn_again_alone_with_the_same_bytes(finished):
    files = [finished.folder / f"results/small/figures/fig{number}.pdf" for number in MODULES]
    kept = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    assert redrawn(finished.jobs("all")) == len(MODULES)
    assert finished.snakemake("figures").returncode == 0
    assert [file.read_bytes() for file in files] == kept


def test_another_figure_than_the_studys_is_no_target(finished):
    assert finished.snakemake("results/small/figures/fig4.pdf", "--dry-run").returncode != 0
