import pytest

from tests.reporting import fabricated, swept


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A study and all its files."""
    folder = tmp_path_factory.mktemp("tiny")
    study = fabricated.study(folder)
    scores = fabricated.write_scores(study, folder)
    contrasts = fabricated.write_contrasts(study, folder, scores)
    return study, [*scores, *contrasts, *fabricated.write_budgets(study, folder)]


@pytest.fixture(scope="session")
def with_blocks(tmp_path_factory):
    """A study with blocks and the files of its figures."""
    folder = tmp_path_factory.mktemp("swept")
    study = swept.study(folder)
    return study, fabricated.write_contrasts(study, folder, fabricated.write_scores(study, folder))
