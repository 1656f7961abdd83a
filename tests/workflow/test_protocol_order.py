"""The order of a protocol is in the graph that Snakemake would run, and goes with the gates of its rules."""

import re
import subprocess

import pytest
import yaml

from promptdp.protocol import amend
from promptdp.scoring import RULES
from promptdp.scoring.freeze import write_lock
from promptdp.study import resolve
from tests.workflow.conftest import SMALL, Checkout, copy_to
from tests.workflow.graph import Graph, disorder

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("protocol")]
PROTOCOL = "tests/workflow/protocol.yaml"
STUDIES = {
    "small": (SMALL, PROTOCOL),
    "micro": ("micro", "config/protocol/micro.yaml"),
    "paper": ("paper", "config/protocol/paper.yaml"),
}


@pytest.fixture(scope="module")
def ordered(tmp_path_factory) -> Checkout:
    """A checkout in which the small study has a protocol, and the paper's files have stand-ins.

    Its rules have no messages: Snakemake prints them in place of a job's files.
    """
    shared = Checkout(copy_to(tmp_path_factory.mktemp("ordered") / "checkout"))
    small = shared.folder / SMALL
    small.write_text(small.read_text().replace("protocol: null", f"protocol: {PROTOCOL}"))
    for rules in (shared.folder / "workflow/rules").glob("*.smk"):
        rules.write_text(re.sub(r"^    message:\n        .*\n", "", rules.read_text(), flags=re.MULTILINE))
    study = yaml.safe_load((shared.folder / "config/studies/paper.yaml").read_text())
    named = [one["path"] for part in ("benchmarks", "evaluation_sets") for one in study[part].values()]
    for path in (*named, f"{study['base']['checkpoint']}/config.json"):
        (shared.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (shared.folder / path).write_text("no record\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(shared.folder)
        for scorer in RULES:
            write_lock(scorer, f"config/frozen/{scorer}.sha256")
        for name in read(shared, PROTOCOL)["decisions"]:
            amend(name, PROTOCOL, "first freeze")
    return shared


def read(checkout: Checkout, path: str) -> dict:
    return yaml.safe_load((checkout.folder / path).read_text())


def printed(checkout: Checkout, *arguments: str, study: str = SMALL, targets=("all", "protocol")) -> Graph:
    """The graph of what a dry run would do; all of it with --forceall."""
    result = checkout.snakemake(*targets, "--dry-run", *arguments, study=study)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return Graph.read(result.stdout)


def found(checkout: Checkout, name: str, graph: Graph, protocol: dict | None = None) -> tuple[int, list[str]]:
    """How many pairs of a study's files its protocol orders, and those that the graph does not."""
    study, path = STUDIES[name]
    file = study if study.endswith(".yaml") else f"config/studies/{study}.yaml"
    return disorder(graph, protocol or read(checkout, path), resolve(checkout.folder / file))


@pytest.fixture(scope="module")
def graphs(ordered) -> dict[str, Graph]:
    """The whole graph of every study."""
    return {name: printed(ordered, "--forceall", study=study) for name, (study, _) in STUDIES.items()}


@pytest.fixture
def edited(ordered):
    """Replace a text of the checkout, put back after the test."""
    kept = {}

    def edit(path: str, old: str, new: str) -> None:
        file = ordered.folder / path
        kept.setdefault(file, file.read_text())
        assert len(re.findall(old, file.read_text(), re.MULTILINE)) == 1, (path, old)
        file.write_text(re.sub(old, new, file.read_text(), flags=re.MULTILINE))

    yield edit
    for file, text in kept.items():
        file.write_text(text)


@pytest.mark.parametrize("name", STUDIES)
def test_what_a_decision_came_after_is_above_its_stamp_and_what_must_follow_below(name, ordered, graphs):
    checked, wrong = found(ordered, name, graphs[name])
    assert wrong == []
    assert checked > {"small": 40, "micro": 100, "paper": 300}[name]


GATES = {
    "records_eval": ("workflow/rules/records.smk", r"^ +gates=records_eval_gates,\n"),
    "train": ("workflow/rules/train.smk", r"^ +gates=train_gates,\n"),
    "predict": ("workflow/rules/evaluate.smk", r"^ +gates=predict_gates,\n"),
    "score": ("workflow/rules/evaluate.smk", r"^ +gates=score_gates,\n"),
}
FOLDERS = {"records_eval": "records", "train": "runs", "predict": "predictions", "score": "scores"}


@pytest.mark.parametrize("rule", GATES)
def test_a_rule_without_its_gate_is_out_of_order(rule, ordered, edited):
    edited(*GATES[rule], "")
    _, wrong = found(ordered, "small", printed(ordered, "--forceall"))
    assert wrong and all(re.match(rf"results/small/{FOLDERS[rule]}/.* is not after ", line) for line in wrong)


def test_a_stamp_that_is_not_made_from_what_had_been_seen_is_out_of_order(ordered, edited):
    edited("workflow/rules/protocol.smk", r"^ +evidence=decision_evidence,\n", "")
    edited("workflow/rules/protocol.smk", r"^ +evidence=evidence_option,\n", "")
    edited("workflow/rules/protocol.smk", r" \{params.evidence\}", "")
    _, wrong = found(ordered, "small", printed(ordered, "--forceall"))
    assert {line.split()[-1] for line in wrong} == {"sizes", "math_robust", "second_seed", "csqa_final"}
    assert all("is not before" in line for line in wrong)


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        (r"^    after:\n      - predict: .*\n", "is not before math_robust"),
        (r"^      - predict: \{evaluation_sets: \[choices\], arms: \[gold\]\}\n", "is not after csqa_final"),
        (r"^    before:\n      - train: .*seeds: \[2\]\}\n", "is not after second_seed"),
    ],
)
def test_a_protocol_that_lost_an_after_or_a_before_is_out_of_order(line, missing, ordered, edited):
    whole = read(ordered, PROTOCOL)
    edited(PROTOCOL, line, "")
    _, wrong = found(ordered, "small", printed(ordered, "--forceall"), whole)
    assert wrong and all(missing in one for one in wrong)


def test_later_seeds_and_the_filtered_arm_wait_for_what_the_paper_says(graphs):
    graph = graphs["paper"]
    above = graph.ancestors()
    late = above("results/paper/runs/gsm8k/dp_grpo/seed3/run.json")
    seen = [f"{arm}/seed{seed}" for arm in ("control", "dp_grpo") for seed in (1, 2)]
    assert {f"results/paper/scores/gsm8k/gsm8k/{run}.parquet" for run in seen} <= late
    early = above("results/paper/runs/gsm8k/dp_grpo/seed2/run.json")
    assert not [file for file in early if file.startswith("results/paper/scores/gsm8k")]
    filtered = above("results/paper/predictions/csqa/filtered/seed1.jsonl.gz")
    assert "results/paper/scores/csqa/csqa_strict/gold/seed2.parquet" in filtered
    assert "results/paper/scores/csqa/csqa_final/gold/seed2.parquet" not in filtered
    assert len(graph.made("decide")) == 14 and len(graph.made("train")) == 59


IMPOSSIBLE = r"""decisions:
  first:
    statement: Scores are looked at before the runs.
    settings:
      rollouts.samples: 2
    after:
      - score: {evaluation_sets: [choices], scorers: [csqa_strict], arms: [gold]}
    before:
      - train: {arms: [dp_grpo]}
  second:
    statement: Runs are looked at before the scores.
    settings:
      rollouts.samples: 2
    after:
      - train: {benchmarks: [choices], arms: [dp_grpo]}
    before:
      - predict: {arms: [gold]}
"""


@pytest.mark.parametrize("mode", ["--dry-run", "--lint", "--printshellcmds"])
def test_an_order_that_can_not_be_stops_before_any_job_with_one_line_that_names_the_decisions(
    mode, ordered, edited
):
    edited(PROTOCOL, r"^decisions:\n(.*\n)+", IMPOSSIBLE)
    result = ordered.snakemake("all", mode)
    assert result.returncode == 2, result.stdout + result.stderr
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("promptdp: error: ")]
    assert line.startswith(
        f"promptdp: error: {PROTOCOL}: the order of first and second can't be: first, before "
    )
    assert "Traceback" not in result.stderr and "Cyclic" not in result.stderr
    assert not (ordered.folder / "private").exists()


@pytest.fixture(scope="module")
def made(ordered, graphs) -> Checkout:
    """The checkout as if the small study were finished: every file of its graph is there and up to date."""
    for file in graphs["small"].files():
        path = ordered.folder / file
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("made\n")
    (ordered.folder / "private").chmod(0o700)
    touched = ordered.snakemake("all", "protocol", "--touch", "--quiet")
    assert touched.returncode == 0, touched.stderr[-2000:]
    assert printed(ordered).jobs == []
    return ordered


def test_a_score_that_a_decision_came_after_is_remade_alone(made):
    score = "results/small/scores/choices/csqa_strict/dp_grpo/seed1.parquet"
    text = (made.folder / score).read_bytes()
    (made.folder / score).unlink()
    try:
        assert printed(made).jobs == []
        assert printed(made, targets=[score]).jobs == [("score", (score,))]
    finally:
        (made.folder / score).write_bytes(text)
    assert printed(made).jobs == []


SOURCES = "src/promptdp/scoring/rules"
FOLLOWS = {
    "csqa_final": {
        "decide": ["csqa_final"],
        "predict": ["choices/gold/"],
        "score": ["choices/csqa_final/", "choices/csqa_strict/gold/"],
    },
    "math_robust": {"decide": ["math_robust"], "score": ["arithmetic/math_robust/"]},
    "gsm8k": {
        "decide": ["gsm8k"],
        "train": ["stories/"],
        "predict": ["(stories|expressions)/dp_grpo/"],
        "score": ["stories/gsm8k/", "expressions/svamp/dp_grpo/"],
    },
}
"""What follows from a scorer in the small study: the gold arm answers after the last declaration is fixed,
and the final number is the reward of stories, whose adapters answer expressions too."""


def promptdp(checkout: Checkout, *arguments: str) -> None:
    command = ["promptdp", *arguments]
    done = subprocess.run(
        command, cwd=checkout.folder, env=checkout.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scorer", FOLLOWS)
def test_a_scorer_that_is_frozen_anew_reruns_what_follows_it_and_nothing_else(scorer, made, graphs, edited):
    for path in (f"{SOURCES}/{scorer}.py", f"config/frozen/{scorer}.sha256", PROTOCOL):
        edited(path, r"\Z", "# edited\n" if path.endswith(".py") else "")
    promptdp(made, "freeze", scorer)
    promptdp(made, "decide", scorer, "--protocol", PROTOCOL, "--amend", "an edit")
    planned = printed(made)
    (made.folder / PROTOCOL).with_suffix(".amendments.jsonl").unlink()
    for rule in (
        "public_base",
        "records",
        "records_eval",
        "calibrate",
        "decide",
        "train",
        "predict",
        "score",
    ):
        expected = "|".join(FOLLOWS[scorer].get(rule, ["nothing"]))
        assert planned.made(rule) == graphs["small"].made(rule, f"/({expected})"), rule


def test_a_scorer_that_is_not_frozen_anew_stops_what_follows_it_and_says_so(made, graphs, edited):
    for scorer in ("csqa_final", "gsm8k"):
        edited(f"{SOURCES}/{scorer}.py", r"\Z", "# edited\n")
    kept = {file: (made.folder / file).stat().st_mtime_ns for file in graphs["small"].needs}
    stopped = made.snakemake("all", "protocol")
    assert stopped.returncode != 0
    lost = {file for file in kept if not (made.folder / file).is_file()}
    assert lost == {f"results/small/protocol/{name}.json" for name in ("csqa_final", "gsm8k")}
    assert all((made.folder / file).stat().st_mtime_ns == kept[file] for file in kept.keys() - lost)
    for name in ("csqa_final", "gsm8k"):
        log = (made.folder / f"results/small/logs/decide/{name}.log").read_text()
        assert f"{SOURCES}/{name}.py: is not what the decision '{name}' froze" in log
        assert f"promptdp freeze {name} && promptdp decide {name} --protocol {PROTOCOL} --amend" in log
