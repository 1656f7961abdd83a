"""Bad input is refused before any job starts, with one line."""

import pytest

pytestmark = pytest.mark.workflow

BAD = {
    "an unknown study": ({"study": "nosuch"}, "there is no such study"),
    "an unknown source": ({"source": "elsewhere"}, "source is 'trained' or 'recorded', not 'elsewhere'"),
    "an unknown setting": ({"exection": 2}, "exection"),
    "a protocol of another study": (
        {"study": "extends: {}\nname: mine\n"},
        "config/protocol/micro.yaml freezes another study",
    ),
    "an unknown key": ({"study": "name: x\nspeed: 9\n"}, "speed"),
    "an arm without seeds": ({"study": "extends: {}\narms: {{gold: {{seeds: []}}}}\n"}, "arms.gold.seeds"),
    "epsilon of zero": ({"study": "extends: {}\nbenchmarks: {{stories: {{epsilon: 0}}}}\n"}, "epsilon"),
    "more expected than slots": (
        {"study": "extends: {}\nbenchmarks: {{stories: {{expected: 900}}}}\n"},
        "slots",
    ),
    "an unknown benchmark": ({"study": "extends: {}\narms: {{gold: {{benchmarks: [poems]}}}}\n"}, "poems"),
    "two arms of one name": ({"study": "arms:\n  gold: {{}}\n  gold: {{}}\n"}, "stands twice"),
    "a missing source": (
        {
            "study": "extends: {}\nbenchmarks: {{stories: {{source: jsonl, path: no.jsonl}}}}\n"
            "evaluation_sets: {{stories: {{path: no.jsonl}}}}\n"
        },
        "no.jsonl is missing",
    ),
    "an unknown scorer": (
        {"study": "extends: {}\nbenchmarks: {{stories: {{reward: vibes}}}}\n"},
        "no scorer is named 'vibes'",
    ),
    "no recorded run": ({"study": "tests/workflow/small.yaml", "source": "recorded"}, "has no recorded run"),
    "a recorded run without the reserve": (
        {
            "study": "extends: {}\nprotocol: null\nbenchmarks: {{stories: {{replay_reserve: 2}}}}\n",
            "source": "recorded",
        },
        "was recorded with other settings",
    ),
    "an execution below one": ({"execution": -3}, "execution is a whole number from 1"),
    "half an execution": ({"execution": 1.5}, "execution is a whole number from 1"),
    "a missing file": ({"study": "extends: missing.yaml\n"}, "missing.yaml"),
}
MODES = [("an unknown key", "--lint"), ("an unknown key", "--printshellcmds")]


@pytest.mark.parametrize(("case", "mode"), [*((case, "--dry-run") for case in BAD), *MODES])
def test_bad_input_stops_before_any_job_with_one_line_and_status_2(case, mode, checkout, tmp_path):
    config, expected = BAD[case]
    if "\n" in config.get("study", ""):
        path = tmp_path / "bad.yaml"
        path.write_text(config["study"].format(checkout.folder / "config/studies/micro.yaml"))
        config = config | {"study": path}
    result = checkout.snakemake("tables", mode, **config)
    assert result.returncode == 2, result.stdout + result.stderr
    errors = [line for line in result.stderr.splitlines() if line.startswith("promptdp: error: ")]
    assert len(errors) == 1 and expected in errors[0]
    assert "Traceback" not in result.stderr
    assert not (checkout.folder / "private").exists()
    assert [path.name for path in (checkout.folder / "results").iterdir()] == ["README.md"]


def test_confidential_records_refuse_an_arm_without_noise_with_status_3(checkout, tmp_path):
    path = tmp_path / "confidential.yaml"
    path.write_text(f"extends: {checkout.folder / 'config/studies/micro.yaml'}\nrecords: confidential\n")
    result = checkout.snakemake("tables", "--dry-run", study=path)
    assert result.returncode == 3
    assert "arms.nonprivate: adds no noise" in result.stderr


def test_a_mechanism_with_a_replay_reserve_is_calibrated_for_all_its_rounds(checkout, tmp_path):
    path = tmp_path / "reserved.yaml"
    path.write_text(
        f"extends: {checkout.folder / 'config/studies/micro.yaml'}\nname: mine\nprotocol: null\n"
        "benchmarks: {stories: {replay_reserve: 2}}\n"
    )
    target = "results/mine/calibration/n874-m16-T50+2-eps8.json"
    result = checkout.snakemake(target, "--dry-run", "--printshellcmds", study=path)
    assert result.returncode == 0, result.stderr
    assert "--rounds 52 " in result.stdout
