"""A figure together with the data it shows, and the files that both become."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from promptdp.files import sha256_file, with_ending, write_text
from promptdp.reporting import style
from promptdp.reporting.twin import settings_sha256, write_twin
from promptdp.study import Study

SCHEMA = "promptdp/figure/1"


@dataclass(frozen=True)
class Drawing:
    """A figure and its data: every row has a value for each of the columns."""

    figure: Figure
    columns: Sequence[str]
    rows: Sequence[Mapping[str, Any]]


Draw = Callable[[Study, Sequence[Path]], Drawing]
"""What the module of a figure gives as `draw`: the figure of a study, made from files."""


def write_drawing(number: int, draw: Draw, study: Study, inputs: Sequence[Path], stem: Path) -> None:
    """Draw a figure; write STEM.pdf, STEM.svg and STEM.png, and its data at full precision as STEM.csv.

    STEM.json says by hash what it was made from; the study's settings are not of one that shows no file.
    """
    with style.applied():
        drawing = draw(study, inputs)
        style.save(drawing.figure, stem)
    text = io.StringIO()
    writer = csv.DictWriter(text, drawing.columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(drawing.rows)
    write_text(with_ending(stem, "csv"), text.getvalue())
    content = {
        "schema": SCHEMA,
        "number": number,
        "study": study.name,
        "study_sha256": settings_sha256(study) if inputs else None,
    }
    hashes = {str(path): sha256_file(path) for path in inputs}
    write_twin(stem, content, hashes, [*style.FORMATS, "csv"])
