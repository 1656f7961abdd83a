"""A table, and the one grid of text it is in every format: CSV, Markdown, LaTeX and JSON."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from promptdp.files import with_ending, write_text
from promptdp.reporting.cells import Cell, label
from promptdp.reporting.twin import write_twin

SCHEMA = "promptdp/table/1"
LONG = 60
"""Characters of a text that LaTeX breaks into lines."""
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A table of a study.

    `rows` have one cell for each of `columns`; the first `groups` columns say what a row belongs to and are
    left blank in Markdown and LaTeX where they repeat the row above. `inputs` maps each file it was made from
    to its SHA-256; `study` is the study's name, `study_sha256` the hash of its settings. `number` is the
    paper's; where the paper has no such table it is 0, and `name` names the table.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    groups: int = 0
    number: int = 0
    inputs: dict[str, str] = field(default_factory=dict)
    study: str = ""
    study_sha256: str = ""
    name: str = "table"

    @property
    def heading(self) -> str:
        """What the table is called: `Table 2`, or its name."""
        return f"Table {self.number}" if self.number else self.name.capitalize()


def by_evaluation_set(columns: Sequence[str], rows: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """The columns, rows and groups of a table over evaluation sets, named in a first column if several."""
    if len(rows) < 2:
        return {"columns": tuple(columns), "rows": tuple(row for some in rows.values() for row in some)}
    return {
        "columns": ("Evaluation set", *columns),
        "rows": tuple((label(name), *row) for name, some in rows.items() for row in some),
        "groups": 1,
    }


def write_table(table: Table, stem: str | Path) -> None:
    """Write a table as STEM.csv (full precision), STEM.md, STEM.tex and STEM.json."""
    texts = {"csv": as_csv(table), "md": as_markdown(table), "tex": as_latex(table)}
    for ending, text in texts.items():
        write_text(with_ending(stem, ending), text)
    content = {
        "schema": SCHEMA,
        "number": table.number,
        "caption": table.caption,
        "columns": list(table.columns),
        "rows": [[{"text": cell.text, "values": dict(cell.values)} for cell in row] for row in table.rows],
        "notes": list(table.notes),
        "study": table.study,
        "study_sha256": table.study_sha256,
    }
    write_twin(stem, content, table.inputs, texts)


def as_csv(table: Table) -> str:
    """One line for each row; a cell of several numbers takes several columns, `COLUMN ending`."""
    endings = [
        list(dict.fromkeys(ending for row in table.rows for ending in row[place].values)) or [""]
        for place in range(len(table.columns))
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        f"{column} {ending}".rstrip()
        for column, column_endings in zip(table.columns, endings, strict=True)
        for ending in column_endings
    )
    for row in table.rows:
        writer.writerow(
            cell.values.get(ending)
            for cell, column_endings in zip(row, endings, strict=True)
            for ending in column_endings
        )
    return text.getvalue()


def as_markdown(table: Table) -> str:
    """A caption, a table with columns of even width, and a paragraph for each note."""
    grid = [[_markdown(text) for text in line] for line in [table.columns, *_display(table)]]
    widths = [max(3, *(len(line[place]) for line in grid)) for place in range(len(table.columns))]
    right = _numeric(table)

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = ["-" * (width - to_right) + ":" * to_right for width, to_right in zip(widths, right, strict=True)]
    body = "\n".join([line(grid[0]), line(rule), *map(line, grid[1:])])
    notes = "".join(f"\n{_markdown(note)}\n" for note in table.notes)
    return f"**{table.heading}.** {_markdown(table.caption)}\n\n{body}\n{notes}"


def as_latex(table: Table) -> str:
    """A `table` environment in the style of the booktabs package, its notes below."""
    alignment = "".join(_alignment(table))

    def line(cells: Sequence[str]) -> str:
        return " & ".join(_latex(cell) for cell in cells) + r" \\"

    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(table.caption)}}}",
            rf"\label{{tab:{table.number or table.name}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            line(table.columns),
            r"\midrule",
            *(line(row) for row in _display(table)),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\smallskip{{\footnotesize {_latex(note)}}}" for note in table.notes),
            r"\end{table}",
            "",
        ]
    )


def _alignment(table: Table) -> list[str]:
    """LaTeX's columns: numbers to the right, words to the left, and long texts broken into lines."""
    longest = [
        max((len(row[place].text) for row in table.rows), default=0) for place in range(len(table.columns))
    ]
    broken = [length > LONG for length in longest]
    share = f"p{{{0.9 / max(1, sum(broken)):.2f}\\linewidth}}"
    numeric = _numeric(table)
    return [share if long else "r" if right else "l" for long, right in zip(broken, numeric, strict=True)]


def _numeric(table: Table) -> list[bool]:
    """Which columns hold numbers, and are aligned to the right."""
    return [
        place > 0 and not all(isinstance(row[place].values.get(""), str) for row in table.rows)
        for place in range(len(table.columns))
    ]


def _display(table: Table) -> list[list[str]]:
    """The rows' texts, with repeated groups left blank."""
    lines: list[list[str]] = []
    above: list[str] = []
    for row in table.rows:
        texts = [cell.text for cell in row]
        same = 0
        while same < table.groups and above[: same + 1] == texts[: same + 1]:
            same += 1
        lines.append([""] * same + texts[same:])
        above = texts
    return lines


def _markdown(text: str) -> str:
    return re.sub(r"([\\|*<])", r"\\\1", " ".join(text.split()))


_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "σ": r"$\sigma$",
    "×": r"$\times$",
    "†": r"$^{\dagger}$",
    "−": r"$-$",
    "–": "--",
    "<": r"$<$",
    ">": r"$>$",
}
_NUMBER = re.compile(r"(?<![\w.-])[-+]\d[\d.,]*\d|(?<![\w.-])[-+]\d")
_RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def _latex(text: str) -> str:
    """Text with LaTeX's own characters escaped, and signed numbers and powers set as mathematics."""
    escaped = "".join(_LATEX.get(character, character) for character in " ".join(text.split()))
    signed = _NUMBER.sub(lambda match: f"${match.group()}$", escaped)
    return _RAISED.sub(lambda match: f"$^{{{match.group().translate(_LOWERED)}}}$", signed)
