"""The record of the verification suite, its page, and what the command line makes of a failure."""

import json
import math

import pytest

from promptdp.assurance.verification import chance, suite
from promptdp.assurance.verification.page import page
from promptdp.assurance.verification.row import Claim
from promptdp.cli import main
from promptdp.closure import code_digest
from promptdp.errors import PromptDPError
from promptdp.training import CODE
from tests.tiny import tiny_folder, tiny_folders  # noqa: F401
from tests.training.conftest import small_study

CLAIM = Claim("a-claim", "A claim", "Appendix Z", "It holds.", "By looking. Value: a number.")


@pytest.fixture
def found(monkeypatch):
    """The rows that the suite finds, in the place of those of its checks."""
    rows = [CLAIM.at_most(0.5, 1), CLAIM.on("binary64").reported("3 of 4")]
    monkeypatch.setattr(suite, "run_checks", lambda study, base: iter(rows))
    return rows


def run(folder, base, progress=lambda line: None):
    suite.verify(small_study(), base, folder / "v.json", folder / "v.md", progress)
    return json.loads((folder / "v.json").read_text())


@pytest.mark.parametrize(
    ("row", "verdict", "tolerance"),
    [
        (CLAIM.at_most(1e-10, 1e-10), "pass", "<= 1e-10"),
        (CLAIM.at_most(1.1e-10, 1e-10), "fail", "<= 1e-10"),
        (CLAIM.at_most(math.nan, 1), "fail", "<= 1"),
        (CLAIM.at_least(math.nan, 1), "fail", ">= 1"),
        (CLAIM.at_least(0.9, 1), "fail", ">= 1"),
        (CLAIM.at_least(1, 1), "pass", ">= 1"),
        (CLAIM.failed("nothing there"), "fail", "a value"),
        (CLAIM.reported(7), "measured", "-"),
    ],
)
def test_a_row_passes_within_its_tolerance_and_a_nan_never_does(row, verdict, tolerance):
    assert (row.verdict, row.tolerance) == (verdict, tolerance)
    json.dumps(row.as_json(), allow_nan=False)


def test_a_claim_on_another_subject_says_so():
    other = CLAIM.on("float16", "Appendix Y")
    assert (other.id, other.title, other.source) == ("a-claim-float16", "A claim, float16", "Appendix Y")
    assert (other.claim, other.method) == (CLAIM.claim, CLAIM.method)


def test_the_record_names_study_base_code_and_versions_and_holds_every_row(found, tmp_path, tiny_folder):  # noqa: F811
    lines = []
    record = run(tmp_path, tiny_folder, lines.append)
    assert record["schema"] == "promptdp/verification/1" and record["study"] == "small"
    assert record["passed"] is True
    assert record["rows"] == [row.as_json() for row in found]
    assert record["training_code_sha256"] == code_digest(*CODE) != record["code_sha256"]
    assert len(record["base_sha256"]) == 64 and {"torch", "transformers"} <= set(record["versions"])
    assert lines == ["a-claim: pass", "a-claim-binary64: measured"]


def test_a_failing_row_leaves_the_record_and_is_named_with_its_value(found, tmp_path, tiny_folder):  # noqa: F811
    found.append(CLAIM.on("bad").at_most(0.75, 1e-3))
    with pytest.raises(PromptDPError, match=r"a-claim-bad \(measured 0.75, not <= 0.001\)") as error:
        run(tmp_path, tiny_folder)
    assert error.value.exit_status == 1 and "\n" not in str(error.value)
    assert json.loads((tmp_path / "v.json").read_text())["passed"] is False
    assert "**FAIL**" in (tmp_path / "v.md").read_text()


def test_the_page_says_of_every_row_what_is_claimed_and_how_it_was_measured(found, tmp_path, tiny_folder):  # noqa: F811
    record = run(tmp_path, tiny_folder)
    text = (tmp_path / "v.md").read_text()
    assert text == page(record)
    assert "1 of 1 judged rows pass; 1 more report a value" in text
    for row in record["rows"]:
        for part in (row["title"], row["claim"], row["method"], row["source"], row["tolerance"]):
            assert part in text
        assert text.count(f"(#{row['id']})") == text.count(f'<a id="{row["id"]}"></a>') == 1
    assert "| 3 of 4 | measured |" in text and "| 0.5 | pass |" in text


def test_the_level_of_a_statistical_row_shares_out_the_false_alarms_of_all():
    assert pytest.approx(chance.FAMILY_WISE) == chance.LEVEL * chance.STATISTICAL_ROWS


def test_the_command_line_wants_a_base_and_says_so_in_one_line(tmp_path, capsys):
    options = ["verify", "--base", str(tmp_path), "--out", str(tmp_path / "o"), "--page", str(tmp_path / "p")]
    with pytest.raises(SystemExit) as left:
        main([*options, "--study", "tests/workflow/small.yaml"])
    assert left.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"promptdp: error: {tmp_path}: is not a model folder")
    assert not list(tmp_path.iterdir())
