"""The record of the verification suite, its page, and what the command line makes of a failure."""

import json
import math
from types import SimpleNamespace

import pytest

from promptdp.assurance.verification import accountant, chance, noise, rounds, suite
from promptdp.assurance.verification.check import Check
from promptdp.assurance.verification.page import page
from promptdp.assurance.verification.row import Claim
from promptdp.assurance.verification.subject import Subject
from promptdp.cli import main
from promptdp.closure import code_digest
from promptdp.errors import InputError, PrivacyRefusal, PromptDPError
from promptdp.policy.base import load_base
from promptdp.training import CODE, objectives, round
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


def test_the_record_names_study_base_code_and_versions_and_holds_every_row(found, tmp_path, tiny_folder):
    lines = []
    record = run(tmp_path, tiny_folder, lines.append)
    assert record["schema"] == "promptdp/verification/1" and record["study"] == "small"
    assert record["passed"] is True
    assert record["rows"] == [row.as_json() for row in found]
    assert record["training_code_sha256"] == code_digest(*CODE) != record["code_sha256"]
    assert len(record["base_sha256"]) == 64 and {"torch", "transformers"} <= set(record["versions"])
    assert lines == ["a-claim: pass", "a-claim-binary64: measured"]


def test_a_failing_row_leaves_the_record_and_is_named_with_its_value(found, tmp_path, tiny_folder):
    found.append(CLAIM.on("bad").at_most(0.75, 1e-3))
    with pytest.raises(PromptDPError, match=r"a-claim-bad \(measured 0.75, not <= 0.001\)") as error:
        run(tmp_path, tiny_folder)
    assert error.value.exit_status == 1 and "\n" not in str(error.value)
    assert json.loads((tmp_path / "v.json").read_text())["passed"] is False
    assert "**FAIL**" in (tmp_path / "v.md").read_text()


def test_the_page_says_of_every_row_what_is_claimed_and_how_it_was_measured(found, tmp_path, tiny_folder):
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


def test_a_nan_among_p_values_is_not_passed_over():
    assert math.isnan(chance.adjusted([0.5, math.nan])) and math.isnan(chance.adjusted([math.nan, 0.5]))


# --- what is raised inside a check ---


def raising(error):
    def measure():
        raise error

    return measure


@pytest.mark.parametrize(
    "error", [AssertionError("no\nvalue"), KeyError("3"), InputError("a: is wrong"), PrivacyRefusal("b")]
)
def test_whatever_a_check_raises_fails_each_of_its_claims_with_the_reason(error):
    claims = (CLAIM, CLAIM.on("other"))
    rows = Check(claims, raising(error)).rows()
    assert [(row.id, row.verdict) for row in rows] == [("a-claim", "fail"), ("a-claim-other", "fail")]
    assert all(row.claim == CLAIM.claim for row in rows)
    said = str(rows[0].measured)
    assert said.startswith(f"{type(error).__name__} at test_verification_record.py:") and "\n" not in said


def test_a_check_that_answers_other_claims_fails():
    rows = Check((CLAIM, CLAIM.on("other")), lambda: [CLAIM.at_most(0, 1)]).rows()
    assert [row.verdict for row in rows] == ["fail", "fail"]


def test_an_interruption_is_no_verdict():
    with pytest.raises(KeyboardInterrupt):
        Check((CLAIM,), raising(KeyboardInterrupt())).rows()


def without_empty_rounds(monkeypatch):
    given = round.private_round

    def skipping(t, attempt, mechanism, slots, *rest):
        if any(slots[i] for i in range(len(slots))):
            given(t, attempt, mechanism, slots, *rest)

    given_noise = SimpleNamespace(noise_multiplier=1.0)  # its search takes seconds
    monkeypatch.setattr(accountant, "calibrate", lambda *args: given_noise)
    monkeypatch.setattr(rounds, "private_round", skipping)


def coins_of_a_slot_that_is_not_there(monkeypatch):
    given = round.poisson_draw
    monkeypatch.setattr(round, "poisson_draw", lambda mechanism, stream: given(mechanism, stream)[1:])


def no_gradients(monkeypatch):
    monkeypatch.setattr(objectives.GRPO, "gradient", lambda *args: None)


def calibration_that_fails(monkeypatch):
    monkeypatch.setattr(accountant, "calibrate", raising(ValueError("broken")))


@pytest.mark.parametrize(
    ("mutation", "failing"),
    [
        (without_empty_rounds, "noise-scale"),
        (coins_of_a_slot_that_is_not_there, "isolation-round"),
        (no_gradients, "sensitivity-own"),
        (calibration_that_fails, "accountant-budgets"),
    ],
)
def test_broken_production_code_fails_rows_and_leaves_a_record(
    mutation, failing, monkeypatch, tmp_path, tiny_folder
):
    keep_checks(monkeypatch, {failing, "groups-advantages"})
    monkeypatch.setattr(noise, "PAPERS_COORDINATES", 20_000)
    mutation(monkeypatch)
    with pytest.raises(PromptDPError, match=f"failed: .*{failing} ") as error:
        run(tmp_path, tiny_folder)
    assert error.value.exit_status == 1 and "\n" not in str(error.value)
    rows = {row["id"]: row for row in json.loads((tmp_path / "v.json").read_text())["rows"]}
    assert rows[failing]["verdict"] == "fail" and "Error at " in rows[failing]["measured"]
    assert rows["groups-advantages"]["verdict"] == "pass" and failing in (tmp_path / "v.md").read_text()


def keep_checks(monkeypatch, ids):
    """The suite runs only those of its checks that make one of these rows."""
    given = suite._checks

    def chosen(*args):
        return (check for check in given(*args) if ids & {claim.id for claim in check.claims})

    monkeypatch.setattr(suite, "_checks", chosen)


def test_every_row_of_the_suite_has_a_name_of_its_own(tiny_folder):
    study = small_study()
    subject = Subject(study, load_base(tiny_folder))
    ids = [claim.id for check in suite._checks(study, tiny_folder, subject) for claim in check.claims]
    assert len(ids) == len(set(ids)) > 40 and {"runs-noise", "sensitivity-bfloat16"} <= set(ids)


def test_a_base_without_room_for_a_problem_is_bad_input_before_any_check(tmp_path, tiny_folder):
    bench = small_study().benchmarks["sums"].model_dump() | {"cap": 90}
    study = small_study(benchmarks={"sums": bench})
    with pytest.raises(InputError, match="context has no room") as error:
        suite.verify(study, tiny_folder, tmp_path / "v.json", tmp_path / "v.md", pytest.fail)
    assert error.value.exit_status == 2 and not list(tmp_path.iterdir())


def test_the_command_line_wants_a_base_and_says_so_in_one_line(tmp_path, capsys):
    options = ["verify", "--base", str(tmp_path), "--out", str(tmp_path / "o"), "--page", str(tmp_path / "p")]
    with pytest.raises(SystemExit) as left:
        main([*options, "--study", "tests/workflow/small.yaml"])
    assert left.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"promptdp: error: {tmp_path}: is not a model folder")
    assert not list(tmp_path.iterdir())
