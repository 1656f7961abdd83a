import pytest

from tests.reporting import fabricated


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A study and all its files."""
    folder = tmp_path_factory.mktemp("tiny")
    study = fabricated.study(folder)
    scores = fabricated.write_scores(study, folder)
    contrasts = fabricated.write_contrasts(study, folder, scores)
    return study, [*scores, *contrasts, *fabricated.write_budgets(study, folder)]
