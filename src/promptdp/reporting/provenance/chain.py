"""Following a table or a figure down to records, base, mechanism and scorer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import read_object
from promptdp.reporting.provenance.forms import ContrastForm, TwinForm, read_form
from promptdp.reporting.provenance.frozen import decision, decisions_before
from promptdp.reporting.provenance.links import Book, Link, Status, above, found, is_private
from promptdp.reporting.provenance.scored import scores
from promptdp.reporting.provenance.trained import calibration, composition, run
from promptdp.reporting.twin import seal, settings_sha256
from promptdp.study import find_study, load_study

TWINS = {
    "promptdp/table/1": "table",
    "promptdp/figure/1": "figure",
    "promptdp/executions/1": "executions",
}
SCHEMAS = {
    "promptdp/contrast/1": "contrast",
    "promptdp/calibration/1": "calibration",
    "promptdp/composition/1": "composition",
    "promptdp/decision/1": "decision",
    "promptdp/run/1": "run",
    "promptdp/execution/1": "execution",
}
FOLDERS = {
    "contrasts": "contrast",
    "scores": "scores",
    "calibration": "calibration",
    "protocol": "decision",
    "runs": "run",
    "executions": "execution",
}
"""What a file is that can't say so, by a folder on its path."""


@dataclass(frozen=True)
class Explanation:
    """The chain of the file `of`: its links, each once, that of the file first."""

    of: Path
    title: str
    links: list[Link]


def explain(path: Path, study: Path | None = None) -> Explanation:
    """Follow a table, figure, contrast or file of scores down to what it was made from.

    Args:
        path: any file that the verbs table, checks, figure, executions, contrast-run or score-run wrote.
        study: the study's file, to see whether its settings changed; default: the one in config/studies.

    Raises:
        InputError: there is no such file, or it is not one of these.
    """
    if not path.is_file() or is_private(path):
        raise InputError(f"{path}: is no public file; give a table, figure, contrast or file of scores")
    book, title = Book(), ""
    if path.suffix == ".parquet":
        start = scores(book, path, None)
    elif (content := _twin_content(path)).get("schema") in TWINS:
        form = read_form(TwinForm, path.with_suffix(".json"))
        if form is None or (path.suffix != ".json" and path.name not in (form.files or {path.name: ""})):
            raise InputError(f"{path}: the JSON beside it does not name it; make both again with their rule")
        start, title = _twin(book, path.with_suffix(".json"), content, form, study), form.caption
    elif content.get("schema") == "promptdp/contrast/1" and path.suffix == ".json":
        start = contrast(book, path, None)
    else:
        raise InputError(f"{path}: is no table, figure, contrast or file of scores; give one of those")
    if not start.made_from:
        raise InputError(f"{path}: does not say what it was made from; make it again with its rule")
    start.need(*decisions_before(book))
    return Explanation(path, title, book.links)


def contrast(book: Book, file: Path, sha256: str | None) -> Link:
    """A contrast, and the scores it was made from."""
    link, fresh = book.link("contrast", file.stem, file, sha256)
    form = read_form(ContrastForm, file) if fresh and link.readable else None
    if form is not None:
        link.facts = {"evaluation_set": form.evaluation_set, "scorer": form.scorer}
        link.need(*(_input(book, named, recorded, above(file, 3)) for named, recorded in form.inputs.items()))
    return link


Follow = Callable[[Book, Path, str | None], Link]
FOLLOW: dict[str, Follow] = {
    "contrast": contrast,
    "scores": scores,
    "calibration": calibration,
    "composition": composition,
    "decision": decision,
    "run": run,
}


def _twin_content(path: Path) -> dict[str, Any]:
    twin = path.with_suffix(".json")
    if not twin.is_file():
        raise InputError(f"{path}: has no {twin.name} beside it that says what it was made from")
    return read_object(twin)


def _twin(book: Book, file: Path, content: Mapping[str, Any], form: TwinForm, study: Path | None) -> Link:
    """A table, a figure or a list by its JSON; one written before there was a seal has none."""
    status: Status = "unrecorded"
    if form.sha256 is not None:
        status = "unchanged" if seal(content) == form.sha256 else "changed"
    link, _ = book.link(TWINS[content["schema"]], file.stem, file, form.sha256, status)
    for name, recorded in (form.files or {}).items():
        link.need(book.link("format", name, file.with_name(name), recorded)[0])
    if form.study_sha256 is not None:
        link.need(_study(book, study or _file_of_study(form.study), form.study, form.study_sha256))
    for named, recorded in form.inputs.items():
        link.need(_input(book, named, recorded, above(file, 1)))
    return link


def _file_of_study(name: str | None) -> Path | None:
    try:
        return None if name is None else find_study(name)
    except InputError:
        return None


def _study(book: Book, file: Path | None, name: str | None, sha256: str) -> Link:
    """The settings of a study, and whether those of its file are still the same."""
    status: Status = "unrecorded"
    if file is not None:
        try:
            status = "unchanged" if settings_sha256(load_study(file)) == sha256 else "changed"
        except InputError:
            status = "changed" if file.is_file() else "missing"
    return book.link("study", name or "of no name", file, sha256, status)[0]


def _input(book: Book, named: str, sha256: str, root: Path) -> Link:
    """A file that another names, followed as what it is; the private zone is not looked into."""
    file = found(named, root)
    kind = "file" if is_private(file) else _kind(file)
    if kind in FOLLOW:
        return FOLLOW[kind](book, file, sha256)
    return book.link(kind, file.stem, file, sha256)[0]


def _kind(file: Path) -> str:
    """What a file is, by what it says or else by its folder."""
    if file.suffix == ".parquet":
        return "scores"
    try:
        schema = str(read_object(file).get("schema"))
    except InputError:
        schema = ""
    by_folder = next((FOLDERS[part] for part in reversed(file.parts) if part in FOLDERS), "file")
    return SCHEMAS.get(schema, by_folder)
