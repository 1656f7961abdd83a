"""What the documents say of privacy is so: the tests they name exist, their claims are those of the code."""

import ast
import contextlib
import io
import json
import re
from functools import cache
from pathlib import Path

import pytest

from promptdp.privacy.randomness import Randomness

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
NAMED = re.compile(r"(tests/[\w/]+\.py)(?:::(\w+))?")
WITHOUT_TEST = 3
"""How many pitfalls may be kept out by a written reason alone."""


def missing_tests(text: str) -> set[str]:
    """The tests that a page names and that do not exist."""
    return {
        f"{file}::{name}"
        for file, name in NAMED.findall(text)
        if not (ROOT / file).is_file() or (name and name not in functions(ROOT / file))
    }


@cache
def functions(file: Path) -> frozenset[str]:
    nodes = ast.walk(ast.parse(file.read_text()))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_a_page_names_exists(page):
    assert missing_tests(page.read_text()) == set()


def test_a_test_that_does_not_exist_is_noticed():
    here = "tests/test_privacy_page.py::test_a_test_that_does_not_exist_is_noticed"
    text = f"`{here}`, `{here}x` and `tests/no_such.py`"
    assert missing_tests(text) == {f"{here}x", "tests/no_such.py::"}


# --- the table of pitfalls ---


def rows() -> dict[str, list[str]]:
    """The cells of each row of the table of pitfalls, by its id."""
    lines = (ROOT / "docs/pitfalls.md").read_text().splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| P")
    ]
    assert len({row[0] for row in cells}) == len(cells)
    return {row[0]: row[1:] for row in cells}


def test_every_known_pitfall_has_a_row(shared):
    known = [json.loads(line)["id"] for line in (shared / "cases/pitfalls.jsonl").read_text().splitlines()]
    assert sorted(rows()) == sorted(known)


def test_a_row_has_a_source_a_grade_a_reason_and_all_but_three_have_a_test():
    for name, (fault, grade, prevention, _) in rows().items():
        assert fault.endswith(")") and prevention, name
        assert grade in ("critical", "theoretical", "negligible"), name
    untested = [name for name, row in rows().items() if not re.search(r"tests/\S+::test_", row[-1])]
    assert len(rows()) >= 30 and len(untested) <= WITHOUT_TEST


# --- what is claimed of the noise ---

OVERCLAIMS = re.compile(
    r"secure[ _-]mode|hardened|discrete gaussian|exact gaussian|rounded gaussian|exact noise|"
    r"(?:safe|secure|resist\w+|immune) (?:against|to) (?:attacks on )?floating",
    re.IGNORECASE,
)
DENIALS = re.compile(r"\b(?:not|no|never|nor|outside|instead of|advertised)\b", re.IGNORECASE)


def overclaims(text: str) -> list[str]:
    """What a text says of the noise that is not implemented: another backend, or safety that has no code."""
    backends = set(re.findall(r"[\w-]+-gaussian\b", text)) - {Randomness.from_os().description["noise"]}
    sentences = re.split(r"(?<=[.;:|])\s+|\n\n", text)
    return [*sorted(backends), *(s for s in sentences if OVERCLAIMS.search(s) and not DENIALS.search(s))]


def test_documents_claim_the_noise_that_is_implemented_and_no_other():
    texts = {page: page.read_text() for page in [ROOT / "README.md", *PAGES]}
    assert {page.name: found for page, text in texts.items() if (found := overclaims(text))} == {}
    assert re.search(
        r"\(?assumption \(?A4\)?.{0,60}assum", texts[ROOT / "README.md"], re.IGNORECASE | re.DOTALL
    )
    assert Randomness.from_os().description["noise"] == "float64-gaussian"


@pytest.mark.parametrize(
    "claim",
    [
        "Noise is drawn by the grid-rounded-gaussian backend.",
        "A secure mode protects the low bits.",
        "The mechanism adds exact Gaussian noise.",
        "It is immune to floating-point attacks.",
    ],
)
def test_a_claim_beyond_the_code_is_noticed(claim):
    assert overclaims(f"Here is one. {claim} And another.")


# --- the page about the loss ---


def printed(block: str) -> str:
    """What a Python block prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, "docs/loss.md", "exec"), {})
    return out.getvalue()


def test_the_example_of_the_loss_prints_what_the_page_says():
    page = (ROOT / "docs/loss.md").read_text()
    (block,), (output,) = (
        re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "text")
    )
    assert printed(block) == output
    assert "loss       0.000000" in output and "gradient   0.000000" not in output
