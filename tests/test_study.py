"""A study is complete, frozen and validated: bad input is one line that says what to do."""

import json
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from promptdp.errors import InputError, PrivacyRefusal
from promptdp.study import RunSettings, find_study, json_schema, load_study, resolve

MICRO = "config/studies/micro.yaml"


def write(tmp_path, change) -> str:
    """Micro's file with a change applied, under a name of its own."""
    raw = yaml.safe_load(Path(MICRO).read_text())
    change(raw)
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump(raw))
    return str(path)


def set_key(*keys, value):
    def change(raw):
        for key in keys[:-1]:
            raw = raw[key]
        raw[keys[-1]] = value

    return change


def transfer(**keys):
    """A transfer set of stories, or what some keys make of it."""
    spec = {"benchmark": "stories", "problems": 5, "cap": 8, "scorers": {"strict": "svamp"}}
    return set_key("evaluation_sets", "far", value=spec | {"transfer": True} | keys)


def without_noise(raw):
    """Leave out the arms that add no noise."""
    raw["arms"] = {name: arm for name, arm in raw["arms"].items() if arm.get("noise_multiplier") != 0}


def contrast(arm, versus="base", **keys):
    return {"arm": arm, "versus": versus, "family": "f", **keys}


BAD = {
    "an unknown key": (set_key("arms", "gold", "learning_rat", value=1e-3), "did you mean 'learning_rate'"),
    "an unknown key at the top": (set_key("benchmark", value={}), "did you mean 'benchmarks'"),
    "an arm without seeds": (set_key("arms", "gold", "seeds", value=[]), "arms.gold.seeds"),
    "a repeated seed": (set_key("arms", "gold", "seeds", value=[1, 1]), "seeds repeat"),
    "seed 0 of a trained arm": (set_key("arms", "gold", "seeds", value=[0]), "seed 0"),
    "a seed on one benchmark alone": (
        set_key("arms", "gold", "seeds_on", value={"stories": [3]}),
        "seeds_on.stories: names some of the arm's seeds",
    ),
    "seeds on an unknown benchmark": (
        set_key("arms", "gold", "seeds_on", value={"poems": [1]}),
        "no benchmark of the arm is named",
    ),
    "epsilon of zero": (set_key("benchmarks", "stories", "epsilon", value=0), "benchmarks.stories.epsilon"),
    "epsilon below zero": (set_key("benchmarks", "stories", "epsilon", value=-1), "greater than 0"),
    "epsilon that is no number": (set_key("benchmarks", "stories", "epsilon", value=float("nan")), "epsilon"),
    "epsilon without end": (set_key("benchmarks", "stories", "epsilon", value=float("inf")), "epsilon"),
    "more expected than slots": (
        set_key("benchmarks", "stories", "expected", value=875),
        "more than the 874 slots",
    ),
    "an arm's expected above slots": (set_key("arms", "gold", "expected", value=875), "more than the slots"),
    "delta of 1/n": (set_key("benchmarks", "stories", "delta", value=1 / 874), "below 1/slots"),
    "an unknown benchmark of an arm": (
        set_key("arms", "gold", "benchmarks", value=["poems"]),
        "no benchmark is named",
    ),
    "an unknown benchmark of a set": (
        set_key("evaluation_sets", "stories", "benchmark", value="poems"),
        "no benchmark is named",
    ),
    "an unknown source": (
        set_key("benchmarks", "stories", "source", value="poems"),
        "benchmarks.stories.source",
    ),
    "an unknown arm in a contrast": (
        set_key("contrasts", value=[{"arm": "dp_grpo", "versus": "silver", "family": "f"}]),
        "no arm is named 'silver'",
    ),
    "a contrast with itself": (
        set_key("contrasts", value=[{"arm": "gold", "versus": "gold", "family": "f"}]),
        "contrasted with itself",
    ),
    "no rounds": (set_key("benchmarks", "stories", "rounds", value=0), "benchmarks.stories.rounds"),
    "half a round": (set_key("benchmarks", "stories", "rounds", value=2.5), "benchmarks.stories.rounds"),
    "a private arm that does not clip": (
        set_key("arms", "gold", "clipping_norm", value=None),
        "clipping_norm",
    ),
    "no arms": (set_key("arms", value={}), "arms"),
    "a source without its file": (
        set_key("benchmarks", "stories", "source", value="jsonl"),
        "path goes with",
    ),
    "a name that is no path": (set_key("name", value="../micro"), "name"),
    "a seed too large": (set_key("arms", "gold", "seeds", value=[10**30]), "arms.gold.seeds"),
    "no matrices to adapt": (set_key("lora", "targets", value=[]), "lora.targets"),
    "a name with a newline": (set_key("name", value="micro\n"), "name"),
    "an arm's name with a newline": (set_key("arms", "gold\n", value={}), "arms.gold"),
    "a width that heads don't divide": (set_key("base", "train", "heads", value=5), "base.train"),
    "an unknown table": (set_key("tables", value=[15]), "tables.0"),
    "an unknown figure": (set_key("figures", value=[4]), "figures.0"),
    "a transfer set from nowhere": (transfer(), "from path or from source; give one"),
    "a transfer set from two places": (transfer(source="choices", path="more.jsonl"), "give one"),
    "a transfer set of the benchmark's own world": (transfer(source="stories"), "names another world"),
    "a transfer set of an unknown world": (transfer(source="poems"), "evaluation_sets.far.source"),
    "a source without transfer": (transfer(transfer=False, source="choices"), "goes with transfer: true"),
    "a path without transfer": (transfer(transfer=False, path="more.jsonl"), "path goes with source: jsonl"),
    "a block without a heading": (
        set_key("contrasts", value=[{"arm": "gold", "versus": "base", "family": "f", "block": ""}]),
        "contrasts.0.block",
    ),
    "a contrast on an unknown set": (
        set_key("contrasts", value=[contrast("gold", evaluation_sets=["poems"])]),
        "no evaluation set is named 'poems'",
    ),
    "a contrast on no set": (
        set_key("contrasts", value=[contrast("gold", evaluation_sets=[])]),
        "contrasts.0.evaluation_sets",
    ),
    "a pair of arms twice on one set": (
        set_key("contrasts", value=[contrast("gold"), contrast("gold", evaluation_sets=["stories"])]),
        "stands twice",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_that_names_file_and_key(case, tmp_path):
    change, expected = BAD[case]
    path = write(tmp_path, change)
    with pytest.raises(InputError) as error:
        load_study(path)
    message = str(error.value)
    assert message.startswith(path) and expected in message and "\n" not in message


def test_two_arms_of_one_name_are_an_error_with_its_line(tmp_path):
    path = tmp_path / "twice.yaml"
    path.write_text("arms:\n  gold: {}\n  gold: {}\n")
    with pytest.raises(InputError, match=r"twice.yaml:3: 'gold' stands twice"):
        load_study(path)


@pytest.mark.parametrize(
    "text",
    ["", "- a\n", "name: [\n", "name: \t{", "? [a]\n: b\n", "name: 2020-13-45\n", "name: \x01\n", "[" * 5000],
)
def test_a_file_that_is_no_mapping_is_refused(text, tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match="odd"):
        load_study(path)


def test_a_missing_study_names_those_that_exist():
    with pytest.raises(InputError, match=r"name one of: .*micro"):
        load_study("nosuch")


def test_a_study_is_frozen():
    study = load_study("micro")
    with pytest.raises(ValidationError):
        study.benchmarks["stories"].epsilon = 1.0


def test_the_committed_schema_is_the_one_the_types_give(root):
    assert json.loads((root / "workflow/schemas/study.schema.json").read_text()) == json_schema()


def test_the_schema_and_the_types_know_the_same_keys():
    schema = json_schema()
    assert set(schema["properties"]) == {*type(load_study("micro")).model_fields, "extends"}


def test_extending_merges_maps_by_key_and_replaces_lists():
    small = load_study("tests/workflow/small.yaml")
    micro = load_study("micro")
    assert small.arms["dp_grpo"].learning_rate == micro.arms["dp_grpo"].learning_rate
    assert small.arms["dp_grpo"].seeds == (1, 2)
    assert small.name == "small"


def test_extending_with_null_leaves_out_what_the_other_study_has(tmp_path):
    (tmp_path / "a.yaml").write_text("name: a\narms: {one: {label: One}, two: {label: Two}}\nprotocol: p\n")
    (tmp_path / "b.yaml").write_text("extends: a\narms: {two: null}\nprotocol: null\n")
    assert resolve(tmp_path / "b.yaml") == {"name": "a", "arms": {"one": {"label": "One"}}}


def test_a_study_extends_one_level_only(tmp_path):
    (tmp_path / "a.yaml").write_text("name: a\n")
    (tmp_path / "b.yaml").write_text("extends: a\n")
    (tmp_path / "c.yaml").write_text("extends: b\n")
    assert resolve(tmp_path / "b.yaml") == {"name": "a"}
    with pytest.raises(InputError, match="itself extends"):
        resolve(tmp_path / "c.yaml")


def test_overrides_of_an_arm_reach_its_runs_and_name_its_mechanism(tmp_path):
    path = write(tmp_path, set_key("arms", "gold", "rounds", value=7))
    study = load_study(path)
    assert study.run_settings("stories", "gold").rounds == 7
    slots = study.benchmarks["stories"].slots
    assert study.run_settings("stories", "gold").mechanism_name.startswith(f"n{slots}-m")
    assert "-T7-eps" in study.run_settings("stories", "gold").mechanism_name


def test_delta_is_a_tenth_of_one_over_n_unless_given():
    settings = load_study("micro").run_settings("stories", "gold")
    assert settings.delta == 1 / (10 * settings.slots)


def test_mechanisms_that_differ_in_delta_alone_have_files_of_their_own(tmp_path):
    path = write(tmp_path, set_key("benchmarks", "stories", "delta", value=1e-6))
    study = load_study(path)
    names = {study.run_settings(benchmark, "gold").mechanism_name for benchmark in ("stories", "choices")}
    assert names == {"n874-m16-T50-eps8", "n874-m16-T50-eps8-delta1e-06"}


def test_a_replay_reserve_is_budgeted_for_and_names_its_mechanism(tmp_path):
    path = write(tmp_path, set_key("benchmarks", "stories", "replay_reserve", value=2))
    settings = load_study(path).run_settings("stories", "gold")
    assert (settings.rounds, settings.calibrated_rounds) == (50, 52)
    assert settings.mechanism_name == "n874-m16-T50+2-eps8"
    assert load_study("micro").run_settings("stories", "gold").calibrated_rounds == 50


@pytest.mark.parametrize("reserve", [-1, 1.5, True, "2"])
def test_a_replay_reserve_that_is_no_count_is_refused(tmp_path, reserve):
    path = write(tmp_path, set_key("benchmarks", "stories", "replay_reserve", value=reserve))
    with pytest.raises(InputError, match=r"benchmarks\.stories\.replay_reserve"):
        load_study(path)


def test_settings_recorded_before_there_was_a_reserve_read_as_without(root):
    settings = load_study("micro").run_settings("stories", "gold")
    earlier = settings.model_dump(mode="json")
    del earlier["replay_reserve"]
    assert RunSettings.model_validate(earlier) == settings


@pytest.mark.parametrize("keys", [{"source": "choices"}, {"path": "more.jsonl"}])
def test_a_transfer_set_takes_problems_of_another_source_to_the_adapters_of_its_benchmark(tmp_path, keys):
    study = load_study(write(tmp_path, transfer(**keys)))
    assert study.evaluations("far") == study.evaluations("stories")


def test_a_study_without_the_newer_keys_means_what_it_meant():
    study = load_study("micro-pilot")
    assert not any(spec.transfer or spec.source for spec in study.evaluation_sets.values())
    assert study.supporting_arms() == set()
    assert [c.name for c in study.evaluated_contrasts("stories")] == [c.name for c in study.contrasts]


def test_a_pair_of_arms_may_stand_in_another_family_on_another_set(tmp_path):
    def two_families(raw):
        transfer(source="choices")(raw)
        raw["contrasts"] = [
            contrast("gold", evaluation_sets=["stories"]) | {"family": "own"},
            contrast("gold", evaluation_sets=["far"]) | {"family": "all"},
            contrast("filtered"),
        ]

    study = load_study(write(tmp_path, two_families))
    families = {
        name: [(c.name, c.family) for c in study.evaluated_contrasts(name)] for name in study.evaluation_sets
    }
    assert families["stories"] == [("gold-base", "own"), ("filtered-base", "f")]
    assert families["far"] == [("gold-base", "all"), ("filtered-base", "f")]
    assert families["choices"] == [("filtered-base", "f")]


def test_the_arms_of_blocks_alone_are_supporting_and_the_method_and_its_comparators_are_not(tmp_path):
    def blocks(raw):
        arms = raw["arms"]
        for name in ("early", "tight", "loose"):
            arms[name] = {**arms["dp_grpo"], "seeds": [1]}
        raw["contrasts"] = [
            contrast("dp_grpo", "nonprivate"),
            contrast("tight", "early", block="Budget"),
            contrast("tight", block="Budget"),
            contrast("loose", "dp_grpo", block="Clipping"),
            contrast("nonprivate", "dp_grpo", block="Noiseless reference"),
        ]

    assert load_study(write(tmp_path, blocks)).supporting_arms() == {"early", "tight", "loose"}


def test_the_method_is_the_first_arm_with_group_advantages(tmp_path):
    assert load_study("micro").method() == "dp_grpo"
    bare = write(tmp_path, lambda raw: raw.update(arms={"base": raw["arms"]["base"]}, contrasts=[]))
    assert load_study(bare).method() is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda raw: raw["arms"].pop("clipped"), "arms.nonprivate: adds no noise"),
        (lambda raw: (without_noise(raw), raw.update(randomness="seeded")), "randomness: seeded"),
    ],
)
def test_confidential_records_refuse_arms_without_noise_and_seeded_randomness(change, why, tmp_path):
    def confidential(raw):
        change(raw)
        raw["records"] = "confidential"
        raw["contrasts"] = []

    with pytest.raises(PrivacyRefusal, match=why):
        load_study(write(tmp_path, confidential))


def test_the_untrained_base_has_no_run():
    study = load_study("micro")
    assert not [run for run in study.runs() if run[1] == "base"]
    assert ("base", 0) in study.evaluations("stories")
    with pytest.raises(InputError):
        study.run_settings("stories", "base")


def test_micro_has_the_main_arms_and_seeds_of_the_paper():
    study = load_study("micro")
    main = study.arms.keys() - study.supporting_arms()
    seeds = {name: len(study.arms[name].seeds) for name in main}
    assert seeds == {"base": 1, "control": 4, "filtered": 2, "gold": 2, "dp_grpo": 4, "nonprivate": 2}
    assert all(evalset.problems >= 1000 for evalset in study.evaluation_sets.values())


def test_supervised_arms_of_micro_train_at_the_learning_rate_of_dp_grpo():
    arms = load_study("micro").arms
    assert arms["filtered"].learning_rate == arms["gold"].learning_rate == arms["dp_grpo"].learning_rate


def test_a_study_is_found_by_name_or_path():
    assert find_study("micro") == find_study(MICRO)


def test_an_arm_may_have_fewer_seeds_on_a_benchmark(tmp_path):
    study = load_study(write(tmp_path, set_key("arms", "gold", "seeds_on", value={"stories": [2]})))
    seeds = {benchmark: [] for benchmark in study.benchmarks}
    for benchmark, arm, seed in study.runs():
        seeds[benchmark] += [seed] * (arm == "gold")
    assert seeds == {"arithmetic": [1, 2], "stories": [2], "choices": [1, 2]}
    assert ("gold", 1) not in study.evaluations("stories") and ("gold", 1) in study.evaluations("choices")
