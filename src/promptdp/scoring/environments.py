"""Matrices, determinants, and cases."""

from promptdp.scoring.grammar import Grammar, ParseError
from promptdp.scoring.nodes import Node, nary, negated, symbol
from promptdp.scoring.vocabulary import vocabulary

MATRICES = {
    rf"\begin{{{name}}}"
    for name in vocabulary("pmatrix bmatrix matrix Bmatrix smallmatrix vmatrix array cases")
}
DETERMINANT = 3
"""Most rows of a determinant that is written out."""
CASE_WORDS = vocabulary("if for when otherwise")


def environment(grammar: Grammar, name: str) -> Node:
    """The matrix or the cases that an environment begins.

    Raises:
        ParseError: a cell is empty, or nothing is in it.
    """
    end = name.replace(r"\begin", r"\end")
    cases = name == r"\begin{cases}"
    if name == r"\begin{array}" and grammar.sees("{"):
        grammar.group()
    rows: list[Node] = []
    while not grammar.skip(end):
        cells = [_case(grammar, end) if cases else grammar.sum()]
        while grammar.skip("&"):
            cells.append(_case(grammar, end) if cases else grammar.sum())
        rows.append(Node("row", children=tuple(cells)))
        if not grammar.skip(r"\\") and not grammar.sees(end):
            raise ParseError
    if not rows:
        raise ParseError
    if name == r"\begin{vmatrix}":
        return _determinant(rows)
    if cases and all(len(row.children) == 1 for row in rows):
        return nary("list", [row.children[0] for row in rows], "and")
    if name == r"\begin{array}" and len(rows) == len(rows[0].children) == 1:
        return rows[0].children[0]
    return Node("matrix", "cases" if cases else "", tuple(rows))


def _case(grammar: Grammar, end: str) -> Node:
    """A cell of cases: a relation, perhaps with a word before it and a comma after it; or the word alone."""
    token = grammar.peek()
    if token is not None and token.kind == "text" and token.text.lower() in CASE_WORDS:
        grammar.take()
        if grammar.sees(r"\\", end):
            return symbol(f"text {token.text.lower()}")
    cell = grammar.relation()
    if grammar.kind() == "separator":
        grammar.take()
    return cell


def _determinant(rows: list[Node]) -> Node:
    """A small determinant written out; any other as an undefined function of its cells."""
    square = all(len(row.children) == len(rows) for row in rows)
    if not square or len(rows) > DETERMINANT:
        return Node("opaque", "determinant", tuple(rows))
    return _expanded([list(row.children) for row in rows])


def _expanded(cells: list[list[Node]]) -> Node:
    """The expansion of a determinant along its first row."""
    terms = []
    for i, cell in enumerate(cells[0]):
        minor = [row[:i] + row[i + 1 :] for row in cells[1:]]
        term = Node("product", children=(cell, _expanded(minor))) if minor else cell
        terms.append(negated(term) if i % 2 else term)
    return nary("sum", terms)
