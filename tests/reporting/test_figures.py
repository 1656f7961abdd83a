"""Figure 2: the data it shows, and files that are the same bytes from the same inputs."""

import csv
import os
import subprocess
import sys

import pytest

from promptdp.errors import InputError
from promptdp.files import read_json
from promptdp.reporting.figures import differences_to_base, make_figure
from promptdp.reporting.inputs import read_inputs
from promptdp.statistics.contrast_files import contrast_files
from tests.reporting import fabricated

ENDINGS = ("pdf", "svg", "png", "csv")


def contents(stem):
    return {ending: stem.with_name(f"{stem.name}.{ending}").read_bytes() for ending in ENDINGS}


@pytest.fixture(scope="module")
def drawn(tiny, tmp_path_factory):
    stem = tmp_path_factory.mktemp("figure") / "fig2"
    make_figure(2, *tiny, stem)
    return stem


def test_the_data_are_every_arm_and_every_seed_against_the_base(tiny, drawn):
    study, paths = tiny
    with open(drawn.with_suffix(".csv"), newline="") as stream:
        rows = list(csv.DictReader(stream))
    shown = {(row["evaluation_set"], row["arm"], row["seed"]) for row in rows}
    expected = {
        (evaluation_set, arm, seed)
        for evaluation_set in study.evaluation_sets
        for arm, s in study.evaluations(evaluation_set)
        if arm != "base"
        for seed in (str(s), "mean")
    }
    assert shown == expected
    row = next(r for r in rows if (r["evaluation_set"], r["arm"], r["seed"]) == ("stories", "gold", "mean"))
    contrast = next(read_json(p) for p in paths if p.parts[-3:] == ("stories", "gsm8k", "gold-base.json"))
    assert [float(row["low_pp"]), float(row["high_pp"])] == contrast["ci95_pp"]
    assert float(row["base_accuracy_pp"]) == contrast["versus_accuracy_pp"]


def test_a_seeds_interval_is_that_of_a_contrast_of_this_seed_alone(tiny):
    study, paths = tiny
    folder = next(p for p in paths if p.parts[-3:-1] == ("gsm8k", "control")).parent
    alone = contrast_files([folder / "seed2.parquet"], [folder.parent / "base" / "seed0.parquet"])
    points = differences_to_base(study, read_inputs(study, paths))
    point = next(p for p in points if (p.evaluation_set, p.arm, p.seed) == ("stories", "control", 2))
    assert [point.low_pp, point.high_pp] == alone["ci95_pp"]
    assert point.difference_pp == alone["difference_pp"]


def test_the_same_inputs_give_the_same_bytes_in_another_process(tiny, drawn, tmp_path):
    study, paths = tiny
    program = (
        "import sys; from pathlib import Path; from promptdp.study import load_study;"
        "from promptdp.reporting.figures import make_figure;"
        "make_figure(2, load_study(sys.argv[1]), [Path(p) for p in sys.argv[3:]], sys.argv[2])"
    )
    study_file = tmp_path / "tiny.yaml"
    assert fabricated.study(tmp_path) == study
    arguments = [
        sys.executable,
        "-c",
        program,
        str(study_file),
        str(tmp_path / "fig2"),
        *map(str, paths[::-1]),
    ]
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}
    subprocess.run(arguments, check=True, env=environment)
    assert contents(tmp_path / "fig2") == contents(drawn)


def test_the_pdf_embeds_its_fonts_as_truetype_and_bears_no_date(drawn):
    pdf = drawn.with_suffix(".pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf


def test_the_svg_has_text_for_no_installed_font_and_no_date(drawn):
    svg = drawn.with_suffix(".svg").read_text()
    assert "<svg" in svg
    assert "font-family" not in svg
    assert "<dc:date>" not in svg


def test_a_seeded_study_says_on_the_figure_that_it_is_not_private(tiny, drawn, tmp_path):
    study = fabricated.study(tmp_path, randomness="seeded")
    make_figure(2, study, tiny[1], tmp_path / "fig2")
    assert contents(tmp_path / "fig2")["svg"] != contents(drawn)["svg"]
    # The SVG names each text in a comment before its outlines.
    assert "NOT PRIVATE (seeded)" in (tmp_path / "fig2.svg").read_text()
    assert "NOT PRIVATE" not in drawn.with_suffix(".svg").read_text()
    assert "† not private" in drawn.with_suffix(".svg").read_text()


def test_a_study_without_contrasts_to_the_base_draws_a_figure_that_says_so(tmp_path):
    study = fabricated.study(tmp_path, contrasts=[])
    make_figure(2, study, [], tmp_path / "fig2")
    assert "No arm is contrasted with the public base." in (tmp_path / "fig2.svg").read_text()
    assert (tmp_path / "fig2.csv").read_text().count("\n") == 1


def test_inputs_without_a_contrast_to_the_base_are_refused_and_nothing_is_written(tiny, tmp_path):
    study, paths = tiny
    for useless in ([], [p for p in paths if "-base" not in p.name]):
        with pytest.raises(
            InputError, match="figure 2: no input is one of the contrasts it shows; give those"
        ):
            make_figure(2, study, useless, tmp_path / "fig2")
    assert not list(tmp_path.iterdir())


def test_a_stem_that_is_a_folder_is_refused(tiny, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        make_figure(2, *tiny, tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_unknown_figure_is_refused(tiny, tmp_path):
    with pytest.raises(InputError, match="figure 3: is not made here"):
        make_figure(3, tiny[0], [], tmp_path / "fig3")
