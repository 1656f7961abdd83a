"""From an adapter down: its run, ledger, mechanism, reward, base and training records."""

from pathlib import Path
from typing import Any

from promptdp.closure import code_digest
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import canonical_json, sha256_bytes
from promptdp.privacy.ledger import LedgerSummary, verify_ledger
from promptdp.reporting.provenance.forms import BaseForm, CalibrationForm, CompositionForm, RunForm, read_form
from promptdp.reporting.provenance.frozen import scorer
from promptdp.reporting.provenance.links import Book, Link, Status, above
from promptdp.timeline import Job
from promptdp.training import CODE


def adapter(book: Book, sha256: str, arm: str, seed: int, root: Path) -> Link:
    """An adapter and the run that made it: the one that states its hash, whatever its benchmark."""
    places = sorted(root.glob(f"runs/*/{arm}/seed{seed}/run.json"))
    for place in places:
        form = read_form(RunForm, place)
        if form is not None and form.adapter_sha256 == sha256:
            file = place.with_name("adapter") / "adapter_model.safetensors"
            link, fresh = book.link("adapter", place.parent.name, file, sha256)
            if fresh:
                link.need(run(book, place, None))
            return link
    pattern = root / f"runs/*/{arm}/seed{seed}/adapter/adapter_model.safetensors"
    return book.link("adapter", arm, pattern, sha256, "changed" if places else "missing")[0]


def run(book: Book, file: Path, sha256: str | None) -> Link:
    """A run by its manifest. No file has to record its hash; its ledger binds settings and mechanism."""
    link, fresh = book.link("run", file.parent.name, file, sha256)
    if not (fresh and link.readable):
        return link
    form = read_form(RunForm, file)
    if form is None:
        link.status = "changed"
        return link
    root, settings = above(file, 4), form.settings
    job = Job("train", settings.benchmark, form.scorer.name, settings.arm, form.seed)
    book.jobs.setdefault(job, root)
    link.facts = {
        "benchmark": settings.benchmark,
        "arm": settings.arm,
        "seed": form.seed,
        "execution": form.execution,
        "objective": settings.objective,
        "advantage": settings.advantage,
        "mechanism": _numbers(form),
        "isolation": form.isolation,
        "code_sha256": form.code_sha256,
        "code_here": form.code_sha256 == code_digest(*CODE),
        "versions": form.versions,
        "not_releasable": form.not_releasable,
    }
    summary = _ledger(file.with_name("ledger.jsonl"))
    if summary is not None and summary.head == form.ledger_head and not _opened_by(summary, form):
        link.status = "changed"
    link.need(
        _ledger_link(book, file.with_name("ledger.jsonl"), summary, form.ledger_head),
        _calibration_of(book, form, root) if form.mechanism.noise_multiplier else None,
        base(book, form.base_sha256, root),
        scorer(book, form.scorer.name, form.scorer.sha256),
        book.link("training records", settings.benchmark, None, None, "withheld")[0],
    )
    return link


def calibration(book: Book, file: Path, sha256: str | None) -> Link:
    """The calibration of a mechanism."""
    link, fresh = book.link("calibration", file.stem, file, sha256)
    form = read_form(CalibrationForm, file) if fresh and link.readable else None
    if form is not None:
        link.facts = form.model_dump()
    return link


def composition(book: Book, file: Path, sha256: str | None) -> Link:
    """What private runs compose to; those of other executions have no file here."""
    link, fresh = book.link("composition", file.stem, file, sha256)
    form = read_form(CompositionForm, file) if fresh and link.readable else None
    if form is not None:
        link.facts = form.model_dump(exclude={"runs"}) | {"runs": len(form.runs)}
        folder = above(file, 1) / "runs" / form.benchmark
        link.need(
            *(run(book, folder / name / "run.json", None) for name in form.runs if name.count("/") == 1)
        )
    return link


def base(book: Book, sha256: str, root: Path) -> Link:
    """The public base, known by the hash of its files' hashes."""
    file = root / "base.json"
    form = read_form(BaseForm, file)
    every = form.files if form is not None else {}
    files = {name: recorded for name, recorded in every.items() if not Path(name).name.startswith(".")}
    same = sha256_bytes(canonical_json(files).encode()) == sha256
    status: Status = "unchanged" if same else "changed" if file.is_file() else "missing"
    link, fresh = book.link("base", root.name, file, sha256, status)
    if fresh and form is not None:
        link.facts = {
            "from": form.base.get("checkpoint") or "trained on the worlds",
            "revision": form.base.get("revision"),
            "dtype": form.dtype,
            "versions": form.versions,
        }
        for name, recorded in files.items():
            link.need(book.link("base file", name, root / "base" / name, recorded)[0])
    return link


def _ledger(file: Path) -> LedgerSummary | None:
    try:
        return verify_ledger(file)
    except (InputError, PrivacyRefusal):
        return None


def _opened_by(summary: LedgerSummary, form: RunForm) -> bool:
    """Whether a ledger was opened with the settings and the mechanism that a run's manifest states."""
    stated = form.mechanism.model_dump()
    opened = summary.header.get("mechanism") or {}
    settings = summary.header.get("settings_sha256")
    return settings == form.settings_sha256 and {key: opened.get(key) for key in stated} == stated


def _ledger_link(book: Book, file: Path, summary: LedgerSummary | None, head: str) -> Link:
    """A ledger, known by the hash of its last line, which stands for all of them."""
    whole = summary is not None and summary.head == head
    status: Status = "unchanged" if whole else "changed" if file.is_file() else "missing"
    return book.link("ledger", file.parent.name, file, head, status)[0]


def _calibration_of(book: Book, form: RunForm, root: Path) -> Link:
    """The calibration of a run's mechanism, which must hold the numbers that the run states."""
    stated, settings = form.mechanism, form.settings
    link = calibration(book, root / "calibration" / f"{settings.mechanism_name}.json", None)
    wanted = {
        "slots": stated.slots,
        "expected": stated.expected,
        "rounds": settings.calibrated_rounds,
        "delta": stated.delta,
        "sigma": stated.noise_multiplier,
    }
    if link.readable and {key: link.facts.get(key) for key in wanted} != wanted:
        link.status = "changed"
    return link


def _numbers(form: RunForm) -> dict[str, Any] | None:
    """The numbers of a run's mechanism; None for a run without noise."""
    stated = form.mechanism
    if not stated.noise_multiplier:
        return None
    return {
        "q": f"{stated.expected}/{stated.slots}",
        "sigma": stated.noise_multiplier,
        "T": stated.rounds,
        "clipping_norm": stated.clipping_norm,
        "delta": stated.delta,
        "epsilon": form.accounting.epsilon_all,
    }
