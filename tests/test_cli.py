"""The command line's contract: one line of error, the right exit status, nothing half-written."""

import json
import subprocess
import sys

import pytest

VERBS = (
    "study records base calibrate account compose train predict score score-run scorers freeze contrast "
    "power contrast-run table checks figure executions decide certificate release audit-sheet audit-read"
).split()


def promptdp(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "promptdp.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        **options,
    )


def test_help_names_every_verb():
    text = promptdp("--help").stdout
    assert all(f"    {verb} " in text or f"    {verb}\n" in text for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_without_heavy_imports(verb):
    code = (
        "import sys; from promptdp.cli import main\n"
        f"try: main([{verb!r}, '--help'])\n"
        "except SystemExit as leaving: assert leaving.code == 0\n"
        "heavy = {'torch', 'transformers', 'pandas', 'scipy', 'sympy', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


CALIBRATE = "calibrate --slots 874 --expected 16 --rounds 50 --epsilon 8".split()
BAD = {
    "no verb": [],
    "an unknown verb": ["fly"],
    "a missing option": ["calibrate", "--slots", "874"],
    "a word for a number": [*CALIBRATE, "--delta", "small"],
    "epsilon of zero": [*CALIBRATE[:-1], "0"],
    "epsilon that is no number": [*CALIBRATE[:-1], "nan"],
    "more expected than slots": "calibrate --slots 10 --expected 16 --rounds 50 --epsilon 8".split(),
    "delta of one": [*CALIBRATE, "--delta", "1"],
    "sigma of zero": "account --slots 874 --expected 16 --rounds 50 --sigma 0".split(),
    "an unknown study": ["study", "show", "nosuch"],
    "an unknown scorer": ["score", "vibes", "--input", "in.jsonl", "--output", "out.jsonl"],
    "a missing input": ["score", "gsm8k", "--input", "missing.jsonl", "--output", "out.jsonl"],
    "missing scores": ["contrast", "--scores", "missing.csv", "--versus", "missing.csv"],
    "an unknown decision": ["decide", "lunch", "--protocol", "config/protocol/micro.yaml", "--out", "s.json"],
    "an output below a file": [*CALIBRATE, "--out", "config/protocol/micro.yaml/below.json"],
    "an output that is a folder": [*CALIBRATE, "--out", "config"],
    "an unknown scorer and no case": ["score", "vibes", "--input", "/dev/null", "--output", "out.jsonl"],
    "a folder of cases": ["score", "gsm8k", "--input", "config", "--output", "out.jsonl"],
    "a folder of scores": ["contrast", "--scores", "config", "--versus", "config"],
    "a table of a folder": ["table", "2", "--study", "micro", "--inputs", "config", "--stem", "t"],
    "a figure of no evidence": [
        "figure",
        "2",
        "--study",
        "micro",
        "--inputs",
        "config/config.yaml",
        "--stem",
        "f",
    ],
    "an unknown benchmark": ["compose", "--study", "micro", "--benchmark", "poems", "--runs", "config"],
    "an unknown lock": ["freeze", "vibes"],
    "a certificate of no register": ["certificate", "--run", "config", "--out", "c.json"],
    "a certificate of no run": ["certificate", "--run", "config", "--register", "r.jsonl", "--out", "c.json"],
    "a check of a file": ["certificate", "--check", "config/config.yaml"],
    "a check of a folder that is no release": ["certificate", "--check", "config"],
    "a release of no run": ["release", "--run", "config", "--certificate", "c.json", "--out", "out"],
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_leaves_with_2_and_one_line(case, tmp_path, root):
    for name in ("config",):
        (tmp_path / name).symlink_to(root / name)
    result = promptdp(*BAD[case], cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("promptdp: error: "), result.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["config"]


def test_an_internal_failure_leaves_with_1_and_shows_no_message_that_may_be_private(monkeypatch, capsys):
    import promptdp.study
    from promptdp.cli import main

    secret = "-".join(["secret", "prompt"])

    def fail(*_):
        raise RuntimeError(secret)

    monkeypatch.setattr(promptdp.study, "load_study", fail)
    for options in ([], ["--verbose"]):
        with pytest.raises(SystemExit) as leaving:
            main([*options, "study", "show", "micro"])
        assert leaving.value.code == 1
        text = capsys.readouterr().err
        assert "RuntimeError" in text and secret not in text


def test_calibrate_prints_the_contract(tmp_path):
    result = promptdp(*CALIBRATE, "--json")
    values = json.loads(result.stdout)
    assert {"sigma", "epsilon_pld", "epsilon_rdp", "rdp_order", "delta", "q"} <= set(values)
    assert values["epsilon_pld"] <= 8 and values["delta"] == 1 / 8740 and values["q"] == 16 / 874


def test_score_writes_one_line_per_line_in_order(tmp_path):
    cases = [
        {"id": "b", "gold": "12", "response": "The answer is \\boxed{12}."},
        {"id": "a", "gold": "12", "response": "The answer is 12."},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    result = promptdp(
        "score", "math_strict", "--input", tmp_path / "in.jsonl", "--output", tmp_path / "out.jsonl"
    )
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(line["id"], line["correct"]) for line in lines] == [("b", True), ("a", False)]
    assert set(lines[0]) == {"id", "extracted", "correct", "reason"}


def test_contrast_prints_the_contract(tmp_path):
    for name, values in (("a", "1101"), ("b", "1000")):
        rows = "".join(f"p{index},{value}\n" for index, value in enumerate(values))
        (tmp_path / f"{name}_seed1.csv").write_text("problem_id,correct\n" + rows)
    result = promptdp(
        "contrast", "--scores", tmp_path / "a_seed1.csv", "--versus", tmp_path / "b_seed1.csv", "--json"
    )
    values = json.loads(result.stdout)
    assert values["difference_pp"] == 50.0 and values["n_problems"] == 4
    assert {"ci95_pp", "mde_pp", "per_seed_pp", "seed_sd_pp", "seed_t_ci95_pp", "mcnemar"} <= set(values)
    assert values["sign_randomization_p"] == 0.5 and values["seed_t_ci95_pp"] is None
