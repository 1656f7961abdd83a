"""The figures: the data that each shows, beside it and drawn, and what a study or its files may lack."""

import csv
import os
import subprocess
import sys
from importlib import import_module

import pytest

from promptdp.closure import import_closure
from promptdp.errors import InputError
from promptdp.files import read_json
from promptdp.reporting import style
from promptdp.reporting.figures import MODULES, make_figure, module_of
from promptdp.reporting.inputs import read_inputs
from promptdp.reporting.points import against_base
from promptdp.reporting.tables import make_table
from promptdp.statistics.contrast_files import contrast_files
from tests.reporting import fabricated, swept

ENDINGS = ("pdf", "svg", "png", "csv", "json")


def contents(stem):
    return {ending: stem.with_suffix(f".{ending}").read_bytes() for ending in ENDINGS}


def data(stem):
    with open(stem.with_suffix(".csv"), newline="") as stream:
        return list(csv.DictReader(stream))


def draw(number, study, paths):
    """The figure itself, as its module draws it."""
    with style.applied():
        return import_module(module_of(number)).draw(study, paths).figure


@pytest.fixture(scope="module", params=MODULES)
def made(request, with_blocks, tmp_path_factory):
    stem = tmp_path_factory.mktemp("figure") / f"fig{request.param}"
    make_figure(request.param, *with_blocks, stem)
    return request.param, stem


# --- what the figures show ---


def test_figure_2_has_every_arm_outside_blocks_and_every_seed_against_the_base(with_blocks, tmp_path):
    study, paths = with_blocks
    make_figure(2, study, paths, tmp_path / "fig2")
    rows = data(tmp_path / "fig2")
    assert {(row["evaluation_set"], row["arm"], row["seed"]) for row in rows} == {
        (evaluation_set, arm, seed)
        for evaluation_set in study.evaluation_sets
        for arm, s in study.evaluations(evaluation_set)
        if arm != "base" and arm not in swept.ARMS
        for seed in (str(s), "mean")
    }
    row = next(r for r in rows if (r["evaluation_set"], r["arm"], r["seed"]) == ("stories", "gold", "mean"))
    contrast = next(read_json(p) for p in paths if p.parts[-3:] == ("stories", "gsm8k", "gold-base.json"))
    assert [float(row["low_pp"]), float(row["high_pp"])] == contrast["ci95_pp"]
    assert float(row["base_accuracy_pp"]) == contrast["versus_accuracy_pp"]


def test_figure_3_has_the_blocks_that_contrast_an_arm_with_the_base_and_their_references(
    with_blocks, tmp_path
):
    make_figure(3, *with_blocks, tmp_path / "fig3")
    shown = dict.fromkeys(
        tuple(row[column] for column in ("evaluation_set", "block", "role", "arm"))
        for row in data(tmp_path / "fig3")
    )
    assert list(shown) == [
        ("arithmetic", "Budget", "reference", "dp_grpo"),
        ("arithmetic", "Budget", "alternative", "eps4"),
        ("arithmetic", "Budget", "alternative", "eps1"),
        ("arithmetic", "Noiseless reference", "reference", "dp_grpo"),
        ("arithmetic", "Noiseless reference", "alternative", "noiseless"),
        ("stories", "Noiseless reference", "reference", "dp_grpo"),
        ("stories", "Noiseless reference", "alternative", "noiseless"),
    ]


def test_table_9_names_the_figures_that_show_an_arm(with_blocks, tmp_path):
    study, paths = with_blocks
    study = study.model_copy(update={"figures": (2, 3), "tables": ()})
    reported = {
        (benchmark.text, label.text.rstrip("†"), number)
        for benchmark, label, _, places in make_table(9, study, []).rows
        for number in (2, 3)
        if str(number) in places.text
    }
    shown = set()
    for number in (2, 3):
        make_figure(number, study, paths, tmp_path / f"fig{number}")
        shown |= {(row["evaluation_set"], row["label"], number) for row in data(tmp_path / f"fig{number}")}
    assert reported == shown


def test_a_seeds_interval_is_that_of_a_contrast_of_this_seed_alone(tiny):
    study, paths = tiny
    folder = next(p for p in paths if p.parts[-3:-1] == ("gsm8k", "control")).parent
    alone = contrast_files([folder / "seed2.parquet"], [folder.parent / "base" / "seed0.parquet"])
    points = against_base(study, read_inputs(study, paths), "stories", "control")
    point = next(p for p in points if p.seed == 2)
    assert [point.low_pp, point.high_pp] == alone["ci95_pp"]
    assert point.difference_pp == alone["difference_pp"]


@pytest.mark.parametrize("number", [2, 3])
def test_what_is_drawn_is_the_data_beside_it_at_full_precision(number, with_blocks, tmp_path):
    make_figure(number, *with_blocks, tmp_path / "figure")
    rows = data(tmp_path / "figure")
    figure = draw(number, *with_blocks)
    axes = {axis.get_title(loc="left").split(") ")[1]: axis for axis in figure.axes}
    marks, intervals = (
        sorted(
            (name, *line.get_xdata())
            for name, axis in axes.items()
            for line in axis.lines
            if line.get_linestyle() == "-"
            and len(line.get_xdata()) == size
            and list(line.get_xdata()) != [0, 0]
        )
        for size in (1, 2)
    )
    with_interval = rows if number == 2 else [row for row in rows if row["seed"] == "mean"]
    assert marks == sorted((row["evaluation_set"], float(row["difference_pp"])) for row in rows)
    assert intervals == sorted(
        (row["evaluation_set"], float(row["low_pp"]), float(row["high_pp"])) for row in with_interval
    )


def test_figure_1_draws_every_part_of_its_data_in_the_algorithms_order(with_blocks, tmp_path):
    make_figure(1, *with_blocks, tmp_path / "fig1")
    parts = data(tmp_path / "fig1")
    drawn = {text.get_text() for text in draw(1, *with_blocks).axes[0].texts}
    assert {
        part[key] for part in parts for key in ("title", "text", "lines") if part["kind"] != "slot"
    } <= drawn
    numbered = {part["title"]: part["lines"] for part in parts if part["lines"]}
    assert numbered == {
        "Poisson sampling": "2, 3",
        "Rollouts": "4",
        "Verifier": "5",
        "Advantages": "5",
        "Gradient of the record": "6",
        "Clip once": "7",
        "Noisy mean": "8",
        "Noise": "8",
        "AdamW step": "9",
    }


def test_figure_1_has_private_what_the_adversary_does_not_see_and_public_the_rest(with_blocks, tmp_path):
    make_figure(1, *with_blocks, tmp_path / "fig1")
    parts = {part["title"]: part for part in data(tmp_path / "fig1") if part["title"]}

    def inside(part, zone):
        return float(zone["y"]) <= float(part["y"]) < float(zone["y"]) + float(zone["height"])

    private, public = (zone for title, zone in parts.items() if zone["kind"] in ("private", "public"))
    boxes = [part for part in parts.values() if part["kind"] in ("box", "mechanism", "slots")]
    assert {box["title"] for box in boxes if inside(box, public)} == {
        "AdamW step",
        "Released weights",
        "Public inputs",
    }
    assert all(inside(box, public) != inside(box, private) for box in boxes)


# --- what a study or its files may lack ---


def test_a_study_of_one_seed_and_one_benchmark_fits_in_one_column(tmp_path):
    arms = {name: fabricated.SETTINGS["arms"][name] for name in ("base", "dp_grpo")}
    arms["dp_grpo"] = arms["dp_grpo"] | {"seeds": [1], "benchmarks": ["stories"]}
    study = fabricated.study(
        tmp_path, arms=arms, contrasts=[{"arm": "dp_grpo", "versus": "base", "family": "base"}]
    )
    paths = fabricated.write_contrasts(study, tmp_path, fabricated.write_scores(study, tmp_path))
    make_figure(2, study, paths, tmp_path / "fig2")
    assert [row["seed"] for row in data(tmp_path / "fig2")] == ["mean", "1"]
    assert draw(2, study, paths).get_figwidth() == style.COLUMN


def test_arms_whose_contrasts_are_not_given_are_left_out_and_the_others_keep_their_colours(with_blocks):
    study, paths = with_blocks
    some = [path for path in paths if path.name in ("dp_grpo-base.json", "nonprivate-base.json")]
    label = dict.fromkeys(text.get_text() for text in draw(2, study, some).axes[0].get_yticklabels())
    assert list(label) == ["DP-GRPO", "Non-private GRPO†"]

    def colours(figure):
        return {line.get_color() for line in figure.axes[0].lines if len(line.get_xdata()) == 1}

    assert colours(draw(2, study, some)) <= colours(draw(2, study, paths))


def test_a_non_private_arm_carries_a_dagger_and_the_key_explains_it(tiny, with_blocks):
    study, paths = tiny
    private = [p for p in paths if p.suffix == ".json" and "nonprivate" not in p.name]

    def key(figure):
        return [text.get_text() for text in figure.legends[0].get_texts()]

    assert "not private" in key(draw(2, study, paths))
    assert "not private" not in key(draw(2, study, private))
    assert "not private" in key(draw(3, *with_blocks))


@pytest.mark.parametrize(
    ("number", "changes", "statement"),
    [
        (2, {"contrasts": []}, "No arm of this study is contrasted with the public base."),
        (3, {}, "No block of this study contrasts an arm with the base."),
    ],
)
def test_a_study_that_lacks_what_a_figure_shows_gets_a_figure_that_says_so(
    number, changes, statement, tmp_path
):
    study = fabricated.study(tmp_path, **changes)
    make_figure(number, study, [], tmp_path / "figure")
    assert " ".join(draw(number, study, []).texts[0].get_text().split()) == statement
    assert (tmp_path / "figure.csv").read_text().count("\n") == 1


@pytest.mark.parametrize("number", MODULES)
def test_a_seeded_study_says_on_every_figure_that_it_is_not_private(number, with_blocks, tmp_path):
    _, paths = with_blocks
    seeded = swept.study(tmp_path, randomness="seeded")
    make_figure(number, seeded, paths, tmp_path / "seeded")
    make_figure(number, swept.study(tmp_path), paths, tmp_path / "private")
    # The SVG names each text in a comment before its outlines.
    assert "NOT PRIVATE (seeded)" in (tmp_path / "seeded.svg").read_text()
    assert "NOT PRIVATE" not in (tmp_path / "private.svg").read_text()


@pytest.mark.parametrize("number", [2, 3])
def test_inputs_without_a_contrast_to_the_base_are_refused_and_nothing_is_written(
    number, with_blocks, tmp_path
):
    study, paths = with_blocks
    for useless in ([], [p for p in paths if "-base" not in p.name]):
        with pytest.raises(
            InputError, match=f"figure {number}: no input is one of the contrasts it shows; give those"
        ):
            make_figure(number, study, useless, tmp_path / "figure")
    assert not list(tmp_path.iterdir())


def test_a_stem_that_is_a_folder_is_refused(tiny, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        make_figure(2, *tiny, tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_unknown_figure_is_refused(tiny, tmp_path):
    with pytest.raises(InputError, match="figure 4: is not made here; there are 1, 2, 3"):
        make_figure(4, tiny[0], [], tmp_path / "fig4")


# --- files ---


def test_the_same_inputs_give_the_same_bytes_in_another_process(made, with_blocks, tmp_path):
    (number, stem), (study, paths) = made, with_blocks
    program = (
        "import sys; from pathlib import Path; from promptdp.study import load_study;"
        "from promptdp.reporting.figures import make_figure;"
        "make_figure(int(sys.argv[1]), load_study(sys.argv[2]), [*map(Path, sys.argv[4:])], sys.argv[3])"
    )
    assert swept.study(tmp_path) == study
    (tmp_path / "matplotlibrc").write_text("font.family: monospace\nlines.linewidth: 9\nsavefig.dpi: 50\n")
    arguments = [str(number), str(tmp_path / "tiny.yaml"), str(tmp_path / stem.name), *map(str, paths[::-1])]
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}
    environment["MATPLOTLIBRC"] = str(tmp_path)
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, env=environment)
    assert contents(tmp_path / stem.name) == contents(stem)


def test_a_figures_code_is_its_own_module_and_what_all_share_and_that_of_no_other_figure_or_table():
    closures = {number: set(import_closure(module_of(number))) for number in MODULES}
    for number, closure in closures.items():
        assert not closure & (set(MODULES.values()) - {module_of(number)}), number
        assert "promptdp.reporting.style" in closure
    tables = set(import_closure("promptdp.reporting.tables"))
    assert not tables & {"promptdp.reporting.style", *MODULES.values()}
