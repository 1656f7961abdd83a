"""What a journal asks of a figure: its size, its fonts, legible text, colours that every eye tells apart."""

import itertools
import re
import zlib

import matplotlib.text
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from promptdp.reporting import figure_sweeps, style
from promptdp.reporting.figures import MODULES, make_figure
from tests.reporting import fabricated, swept
from tests.reporting.test_figures import draw

WIDTHS = {1: style.PAGE, 2: style.PAGE, 3: style.PAGE}
SMALLEST = 6.0  # points


@pytest.fixture(scope="module", params=MODULES)
def made(request, with_blocks, tmp_path_factory):
    stem = tmp_path_factory.mktemp("look") / f"fig{request.param}"
    make_figure(request.param, *with_blocks, stem)
    return request.param, stem


def pdf_of(stem):
    return stem.with_suffix(".pdf").read_bytes()


def pdf_streams(pdf):
    """The text of every compressed stream of a PDF that holds drawing operators."""
    for found in re.finditer(rb"/FlateDecode.*?stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        yield zlib.decompress(found.group(1))


# --- files ---


def test_the_pdf_embeds_every_font_as_truetype_and_bears_no_date(made):
    pdf = pdf_of(made[1])
    kinds = set(
        re.findall(rb"/Type /Font\s.*?/Subtype /(\w+)|/Subtype /(\w+)\s.*?/Type /Font\s", pdf, re.DOTALL)
    )
    assert b"/Type3" not in pdf and kinds
    descriptors = pdf.count(b"/Type /FontDescriptor")
    assert descriptors and descriptors == len(re.findall(rb"/FontFile2 \d+ 0 R", pdf))
    assert b"Date" not in pdf


def test_no_text_is_smaller_than_six_points_subscripts_included(made):
    sizes = [
        float(size)
        for stream in pdf_streams(pdf_of(made[1]))
        for size in re.findall(rb"/F[\w-]+ ([\d.]+) Tf", stream)
    ]
    assert sizes and min(sizes) >= SMALLEST


def test_the_svg_has_text_for_no_installed_font_and_no_date(made):
    svg = made[1].with_suffix(".svg").read_text()
    assert "<svg" in svg
    assert "font-family" not in svg and "<text" not in svg
    assert "<dc:date>" not in svg


def test_every_format_has_the_width_of_a_journals_page_the_png_at_300_dots_an_inch(made):
    number, stem = made
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf_of(stem))
    width, height = (float(points) / 72 for points in box.groups())
    assert width == pytest.approx(WIDTHS[number]) and 1 < height < 9
    pixels = imread(stem.with_suffix(".png")).shape
    assert pixels[:2] == pytest.approx((300 * height, 300 * width), abs=1)


# --- text ---


def boxes_of_text(figure, monkeypatch):
    """Every text that is drawn, with its box in pixels, and the page's box."""
    drawn = []
    draw_text = matplotlib.text.Text.draw

    def draw(self, renderer):
        if self.get_visible() and self.get_text().strip():
            drawn.append(self)
        draw_text(self, renderer)

    canvas = FigureCanvasAgg(figure)
    with style.applied():
        canvas.draw()
        monkeypatch.setattr(matplotlib.text.Text, "draw", draw)
        canvas.draw()
        found = [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in drawn]
    assert len(found) > 5
    return found, figure.bbox


def assert_legible(figure, monkeypatch):
    found, page = boxes_of_text(figure, monkeypatch)
    for text, box in found:
        assert box.x0 >= page.x0 and box.x1 <= page.x1 and box.y0 >= page.y0 and box.y1 <= page.y1, text
    for (one, box), (other, its) in itertools.combinations(found, 2):
        apart = box.x1 <= its.x0 + 1 or its.x1 <= box.x0 + 1 or box.y1 <= its.y0 + 1 or its.y1 <= box.y0 + 1
        assert apart, (one, other)


@pytest.mark.parametrize("number", MODULES)
def test_no_text_leaves_the_page_or_covers_another(number, with_blocks, monkeypatch):
    assert_legible(draw(number, *with_blocks), monkeypatch)


def test_no_text_of_figure_1_leaves_its_box(with_blocks, monkeypatch):
    figure = draw(1, *with_blocks)
    found, _ = boxes_of_text(figure, monkeypatch)
    boxes = [
        patch.get_window_extent()
        for patch in figure.axes[0].patches
        if type(patch).__name__ in ("FancyBboxPatch", "Rectangle")
    ]
    for text, its in found:
        for box in boxes:
            inside = box.x0 <= its.x0 and its.x1 <= box.x1
            assert inside or its.x1 <= box.x0 or box.x1 <= its.x0 or its.y1 <= box.y0 or box.y1 <= its.y0, (
                text
            )


@pytest.mark.parametrize("number", [2, 3])
def test_long_names_and_signs_of_mathematics_are_shown_as_they_are(number, tmp_path, monkeypatch):
    name = "DP-GRPO at $C_{0.1$ for 50% of the price of\\alpha^ and a name that goes on"
    arms = fabricated.SETTINGS["arms"] | swept.ARMS
    arms |= {arm: arms[arm] | {"label": f"{name}: {arm}"} for arm in ("dp_grpo", "noiseless")}
    study = swept.study(tmp_path, arms=arms)
    paths = fabricated.write_contrasts(study, tmp_path, fabricated.write_scores(study, tmp_path))
    figure = draw(number, study, paths)
    shown = [text.get_text().replace("\n", " ") for text in figure.axes[0].get_yticklabels()]
    assert f"{name}: dp_grpo" in shown
    assert_legible(figure, monkeypatch)


def test_five_evaluation_sets_stand_in_two_rows_of_panels(tmp_path, monkeypatch):
    benchmark = fabricated.SETTINGS["benchmarks"]["stories"]
    evaluation_set = fabricated.SETTINGS["evaluation_sets"]["stories"]
    names = ("arithmetic", "stories", "third", "fourth", "fifth")
    study = fabricated.study(
        tmp_path,
        benchmarks=fabricated.SETTINGS["benchmarks"] | dict.fromkeys(names[1:], benchmark),
        evaluation_sets=fabricated.SETTINGS["evaluation_sets"]
        | {name: evaluation_set | {"benchmark": name} for name in names[1:]},
    )
    paths = fabricated.write_contrasts(study, tmp_path, fabricated.write_scores(study, tmp_path))
    figure = draw(2, study, paths)
    titles = [axis.get_title(loc="left") for axis in figure.axes if axis.get_visible()]
    assert titles == ["(a) arithmetic", "(b) stories", "(c) third", "(d) fourth", "(e) fifth"]
    assert figure.get_figwidth() == style.PAGE
    assert_legible(figure, monkeypatch)


# --- colours ---

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SEEN = {
    "in full colour": np.eye(3),
    "without red cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "without green cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "without blue cones": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
PALETTES = {
    "arms": [color for color, _ in style.MARKERS],
    "roles": [color for color, _ in figure_sweeps.LOOKS.values()],
}


def lab(color, matrix):
    """CIE L*a*b* of a colour as it is seen."""
    srgb = np.array(to_rgb(color))
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    x, y, z = to_xyz @ np.clip(matrix @ linear, 0, 1) / [0.95047, 1, 1.08883]
    x, y, z = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize("palette", PALETTES)
def test_any_two_colours_differ_to_every_eye(palette, sight):
    seen = [lab(color, np.array(SEEN[sight])) for color in PALETTES[palette]]
    assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)) > 15


@pytest.mark.parametrize("palette", PALETTES)
def test_any_two_colours_differ_in_grey_and_from_the_page(palette):
    lightness = sorted([*(lab(color, np.eye(3))[0] for color in PALETTES[palette]), 100])
    assert min(np.diff(lightness)) > 7


def test_arms_and_roles_differ_in_shape_too():
    assert len({marker for _, marker in style.MARKERS}) == len(style.MARKERS)
    assert len({marker for _, marker in figure_sweeps.LOOKS.values()}) == 2
