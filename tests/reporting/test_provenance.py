"""Provenance: a table's whole chain is found, and whatever changed on it is named."""

import json
import os
import shutil
from pathlib import Path

import pytest

from promptdp.cli import main
from promptdp.files import read_json, sha256_file, write_json
from promptdp.reporting.provenance.chain import explain
from promptdp.reporting.provenance.shown import as_json, as_text, broken
from tests.reporting import stored
from tests.reporting.stored import RESULTS, RULE

SCORES = RESULTS / f"scores/arithmetic/{RULE}/dp_grpo/seed1.parquet"
RUN = RESULTS / "runs/arithmetic/dp_grpo/seed1"
PREDICTIONS = RESULTS / "predictions/arithmetic/dp_grpo/seed2.jsonl.gz"
TABLE = RESULTS / "tables/table2.csv"
SOURCE = f"src/promptdp/scoring/rules/{RULE}.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    here = Path.cwd()
    os.chdir(folder)
    try:
        stored.store(folder)
    finally:
        os.chdir(here)
    return folder


@pytest.fixture
def study(made, tmp_path, monkeypatch):
    """A copy of the study, the working folder."""
    shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")


def found(path=TABLE):
    return {(link.kind, str(link.file or link.name)): link for link in explain(Path(path)).links}


def failing(path=TABLE):
    return [str(link.file or link.name) for link in broken(explain(Path(path)))]


def run(capfd, *arguments):
    try:
        main(["explain", *map(str, arguments)])
        status = 0
    except SystemExit as leaving:
        status = leaving.code
    return status, *capfd.readouterr()


def edit(path, text="edited"):
    Path(path).write_text(text)


def test_the_chain_goes_from_a_table_to_records_base_mechanism_and_scorer(study):
    links = explain(TABLE).links
    kinds = [link.kind for link in links]
    wanted = (
        "table format study contrast scores scorer lock source records predictions manifest adapter run "
        "ledger calibration composition base decision frozen"
    ).split()
    assert set(wanted) <= set(kinds)
    assert {kind: kinds.count(kind) for kind in ("contrast", "scores", "predictions", "run")} == {
        "contrast": 1,
        "scores": 3,
        "predictions": 3,
        "run": 2,
    }
    assert not [link for link in links if link.broken]


def test_each_link_leads_to_what_it_was_made_from(study):
    links = found()
    scores = links["scores", str(SCORES)]
    (predictions,) = (link for link in scores.made_from if link.kind == "predictions")
    (adapter,) = (link for link in predictions.made_from if link.kind == "adapter")
    (trained,) = adapter.made_from
    assert {link.kind for link in scores.made_from} == {"scorer", "records", "predictions"}
    assert {link.kind for link in predictions.made_from} == {"manifest", "adapter", "base", "records"}
    assert {link.kind for link in trained.made_from} == {
        "ledger",
        "calibration",
        "base",
        "scorer",
        "training records",
    }
    numbers = {"q": "16/874", "sigma": 0.5, "T": 2, "clipping_norm": 0.06, "delta": 1 / 8740, "epsilon": 7.99}
    assert trained.facts["mechanism"] == numbers


def test_training_records_are_withheld(study):
    (records,) = (link for link in explain(TABLE).links if link.kind == "training records")
    assert (records.file, records.sha256, records.status) == (None, None, "withheld")


def test_hashes_are_those_of_the_files(study):
    for link in explain(TABLE).links:
        if link.kind in ("contrast", "scores", "predictions", "manifest", "adapter", "records", "source"):
            assert link.sha256 == sha256_file(link.file), link.file
            assert link.status == "unchanged"


CHANGES = {
    "a table edited by hand": (TABLE, None),
    "a table's JSON edited by hand": (TABLE.with_suffix(".json"), None),
    "a table's page": (TABLE.with_suffix(".md"), None),
    "scores": (SCORES, None),
    "a contrast": (RESULTS / f"contrasts/arithmetic/{RULE}/dp_grpo-base.json", None),
    "predictions": (PREDICTIONS, None),
    "a manifest of predictions": (PREDICTIONS.with_name("seed2.manifest.json"), None),
    "problems": (RESULTS / "records/arithmetic/eval.jsonl", None),
    "an adapter": (RUN / "adapter/adapter_model.safetensors", None),
    "a ledger": (RUN / "ledger.jsonl", None),
    "a calibration": (RESULTS / "calibration/n874-m16-T2-eps8.json", None),
    "a composition": (RESULTS / "calibration/composed-arithmetic.json", None),
    "the base": (RESULTS / "base/model.safetensors", None),
    "the base's manifest": (RESULTS / "base.json", "model.safetensors"),
    "a lock": (Path(f"config/frozen/{RULE}.sha256"), None),
    "a scorer's source": (Path(SOURCE), None),
    "the study": (stored.STUDY_FILE, "label: DP-GRPO"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_changed_file_is_named_and_nothing_above_it_is_blamed(case, study):
    path, line = CHANGES[case]
    if path.suffix == ".json" and path.parent.name == "tables":
        write_json(path, read_json(path) | {"caption": "Better."})
    elif line:
        edit(path, path.read_text().replace(line, f"{line} anew"))
    else:
        path.write_bytes(path.read_bytes() + b"\n ")
    names = set(failing())  # of a lock, once as the scorer's and once as what a decision froze
    if case == "the base's manifest":
        assert names == {str(path), "results/tiny/base/model.safetensors anew"}
    else:
        assert names == {str(path)}


@pytest.mark.parametrize(
    "case", sorted(CHANGES.keys() - {"a table edited by hand", "a table's JSON edited by hand"})
)
def test_a_missing_file_is_named(case, study, capfd):
    path, _ = CHANGES[case]
    path.unlink()
    given = ("--study", path) if case == "the study" else ()
    status, text, error = run(capfd, TABLE, *given)
    assert status == 1 and str(path) in error and "is missing, and results" in error and "MISSING" in text


def test_a_run_stated_with_another_mechanism_than_its_ledger_has_changed(study):
    content = read_json(RUN / "run.json")
    write_json(RUN / "run.json", content | {"mechanism": stored.MECHANISM | {"noise_multiplier": 5.0}})
    assert str(RUN / "run.json") in failing()
    write_json(RUN / "run.json", content | {"settings_sha256": "00" * 32})
    assert failing() == [str(RUN / "run.json")]


def test_a_run_trained_anew_is_not_the_one_that_answered(study):
    write_json(RUN / "run.json", read_json(RUN / "run.json") | {"adapter_sha256": "00" * 32})
    (adapter,) = broken(explain(TABLE))
    assert (adapter.kind, adapter.status) == ("adapter", "changed")


def test_scores_by_a_scorer_that_has_changed_name_it(study, monkeypatch):
    monkeypatch.setattr("promptdp.reporting.provenance.frozen.digest", lambda rule: "00" * 32)
    assert failing() == [RULE]


def test_a_decision_that_no_job_of_the_chain_waited_for_is_not_on_it(study):
    names = {link.name for link in explain(TABLE).links if link.kind == "decision"}
    assert names == {"rule"}
    edit("config/frozen/gsm8k.sha256")
    assert failing() == []


def test_a_recorded_study_is_followed_where_it_was_moved(study):
    recorded = Path("resources/recorded/tiny")
    recorded.parent.mkdir(parents=True)
    RESULTS.rename(recorded)
    shutil.rmtree(recorded / "base")
    for weights in recorded.rglob("adapter"):
        shutil.rmtree(weights)
    explanation = explain(recorded / "tables/table2.csv")
    assert broken(explanation) == []
    assert {link.kind for link in explanation.links if link.status == "not kept"} == {"adapter", "base file"}
    predictions = recorded / "predictions/arithmetic/dp_grpo/seed2.jsonl.gz"
    predictions.unlink()
    assert failing(recorded / "tables/table2.csv") == [str(predictions)]


@pytest.mark.parametrize("ending", ["csv", "md", "tex", "json"])
def test_any_format_of_a_table_has_the_same_chain(ending, study):
    assert len(explain(TABLE.with_suffix(f".{ending}")).links) == len(explain(TABLE).links)


def test_a_chain_starts_at_a_contrast_or_at_scores_too(study):
    contrast = RESULTS / f"contrasts/arithmetic/{RULE}/dp_grpo-base.json"
    assert [link.kind for link in explain(contrast).links][:2] == ["contrast", "scores"]
    assert explain(SCORES).links[0].kind == "scores"


def test_the_private_zone_is_not_looked_into(study):
    secret = Path("private/tiny/records/arithmetic/train.jsonl")
    secret.parent.mkdir(parents=True)
    secret.write_text("a secret")
    Path("results/way").symlink_to(Path("private").resolve())
    twin = read_json(TABLE.with_suffix(".json"))
    way = "results/way/tiny/records/arithmetic/train.jsonl"
    twin["inputs"] |= {str(secret): sha256_file(secret), way: "00" * 32}
    write_json(TABLE.with_suffix(".json"), twin)
    links = found()
    for file in (str(secret), way):
        assert links["file", file].status == "withheld"


def test_the_page_folds_equal_parts_and_shows_all_on_demand(study, capfd):
    status, folded, error = run(capfd, TABLE)
    assert status == 0 and "nothing that it was made from has changed" in error
    assert f"results/tiny/scores/arithmetic/{RULE}/*/seed*.parquet" in folded and "3 files" in folded
    assert "q=16/874 sigma=0.5 T=2 delta=0.0001144 epsilon=7.99" in folded
    assert len(folded.splitlines()) < 30
    _, whole, _ = run(capfd, TABLE, "--all")
    assert str(SCORES) in whole and len(whole.splitlines()) > len(folded.splitlines())


def test_the_json_holds_every_link_and_its_edges(study, capfd):
    SCORES.write_bytes(b"edited")
    status, text, error = run(capfd, TABLE, "--json")
    content = json.loads(text)
    assert status == 1 and content["first_broken"] == str(SCORES) in error
    assert not content["unchanged"]
    links = content["links"]
    assert len(links) == len(explain(TABLE).links)
    reached, waiting = set(), [0]
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += links[number]["made_from"]
    assert reached == set(range(len(links)))


BAD = {
    "no file": ("results/tiny/tables/table3.csv", "is no public file"),
    "a folder": ("results/tiny/tables", "is no public file"),
    "a file of something else": (str(RUN / "run.json"), "is no table, figure, contrast or file of scores"),
    "a file with no JSON beside it": (SOURCE, f"has no {RULE}.json beside it"),
    "a file in the private zone": ("private/x.csv", "is no public file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_path_is_one_line_that_says_what_to_give(case, study, capfd):
    Path("private").mkdir()
    edit("private/x.csv")
    path, wanted = BAD[case]
    status, text, error = run(capfd, path)
    assert status == 2 and text == "" and wanted in error and error.count("\n") == 1


def test_a_table_from_before_there_was_a_seal_is_followed_without_one(study):
    path = TABLE.with_suffix(".json")
    write_json(path, {k: v for k, v in read_json(path).items() if k not in ("sha256", "files", "study")})
    assert explain(TABLE).links[0].status == "unrecorded"
    assert failing() == []


def test_texts_of_a_file_reach_the_page_on_one_line(study):
    path = TABLE.with_suffix(".json")
    write_json(path, read_json(path) | {"caption": "a\n\x1b[31mb"})
    assert "\x1b" not in as_text(explain(TABLE))
    assert as_json(explain(TABLE))["title"] == "a\n\x1b[31mb"
