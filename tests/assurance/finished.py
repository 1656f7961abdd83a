"""Finished runs of the small study, certified and released, and forgeries of them."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from promptdp.assurance import budget as budgets
from promptdp.assurance import certificate as certificates
from promptdp.assurance.page import CERTIFICATE, PAGE, page
from promptdp.assurance.published import IN_RUN, LEDGER, MANIFEST, _settings_sha256, read_published
from promptdp.assurance.release import release
from promptdp.files import read_json, sha256_bytes, write_json, write_text
from promptdp.privacy import accounting
from promptdp.privacy.ledger import LedgerSummary, verify_ledger
from tests.training.conftest import Run


@pytest.fixture(autouse=True, scope="session")
def _numbers_are_computed_once() -> Iterator[None]:
    """The accountants' true values, kept: many certificates here are of one mechanism."""
    with pytest.MonkeyPatch.context() as patched:
        for owner, name in ((accounting, "pld_epsilon"), (accounting, "rdp_epsilon"), (budgets, "bracket")):
            patched.setattr(owner, name, _remembered(getattr(owner, name)))
        yield


def _remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def recall(*arguments: Any, **named: Any) -> Any:
        key = f"{arguments!r} {named!r}"
        if key not in known:
            known[key] = function(*arguments, **named)
        return known[key]

    return recall


@pytest.fixture(scope="session")
def finished(tmp_path_factory, tiny_folder) -> Run:
    """Three runs on the same slots: dp with seeds 1 (the one to release) and 2, and one without noise."""
    run = Run(tmp_path_factory.mktemp("finished") / "study", tiny_folder)
    run()
    train_beside(run, "two", seed=2)
    train_beside(run, "free", arm="free")
    return run


@pytest.fixture(scope="session")
def released(finished, tmp_path_factory) -> Path:
    """The folder of its release; only for tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("released") / "release"
    release(finished.results, write_certificate(finished), folder)
    return folder


@pytest.fixture
def copied(finished, tmp_path) -> Run:
    """The finished runs with their private zone, to be damaged."""
    return Run(Path(shutil.copytree(finished.folder, tmp_path / "study")), finished.base)


def train_beside(run: Run, name: str, arm: str = "dp", **which: Any) -> Path:
    """Train another run of the study in the same private zone; returns its public folder."""
    other, folder = Run(run.folder, run.base, arm, run.study), run.folder / name
    other.results, other.adapter = folder, folder / "adapter"
    other.manifest, other.ledger = folder / "run.json", folder / "ledger.jsonl"
    other(**which)
    return folder


def certified(run: Run, verification: Path | None = None) -> dict[str, Any]:
    return certificates.certify(run.results, run.register, verification)


def write_certificate(run: Run) -> Path:
    path = run.folder / CERTIFICATE
    write_text(path, certificates.rendered(certified(run)))
    return path


def write_release(run: Run) -> Path:
    release(run.results, write_certificate(run), run.folder / "released")
    return run.folder / "released"


class Forgery:
    """A copy of a release whose maker can write every file, and makes them agree with one another."""

    def __init__(self, original: Path, folder: Path):
        self.folder = Path(shutil.copytree(original, folder))
        self.certificate = read_json(folder / CERTIFICATE)
        self.header = verify_ledger(folder / LEDGER).header

    def edit_manifest(self, edit: Callable[[dict[str, Any]], Any], honest_digest: bool = True) -> None:
        """Change the manifest, and the digest of its settings with it."""
        manifest = read_json(self.folder / MANIFEST)
        edit(manifest)
        if honest_digest:
            manifest["settings_sha256"] = _settings_sha256(manifest)
        write_json(self.folder / MANIFEST, manifest)

    def rebuild_ledger(self, events: list[tuple[str, Any]], header: dict[str, Any]) -> None:
        """Another ledger with a sound chain, and the manifest's attempts and last hash with it."""
        summary, lines = LedgerSummary(), []
        for event, theta in [("open", None), *events, ("closed", None)]:
            lines.append(summary.entry_line(event, header=header, theta_sha256=theta))
            summary = summary.after(lines[-1])
        (self.folder / LEDGER).write_bytes(b"".join(line + b"\n" for line in lines))

        def follow(manifest: dict[str, Any]) -> None:
            manifest["attempts"], manifest["ledger_head"] = summary.begun_attempts, summary.head

        self.edit_manifest(follow, honest_digest=False)

    def write_certificate(self, stated: dict[str, Any]) -> None:
        """Write a certificate with its digest."""
        self.certificate = stated | {"sha256": certificates.digest(stated)}
        text = certificates.rendered(self.certificate)
        (self.folder / CERTIFICATE).write_text(text, encoding="utf-8")

    def seal(self, **changes: Any) -> Path:
        """Change what the certificate states; the hashes of the files, its digest and the page follow."""
        files = {name: sha256_bytes((self.folder / name).read_bytes()) for name in IN_RUN}
        self.write_certificate(self.certificate | changes | {"files": files})
        (self.folder / PAGE).write_text(page(self.certificate), encoding="utf-8")
        return self.folder

    def derive(self, **changes: Any) -> Path:
        """The same, and every text that follows from files and numbers is derived as a curator's would be."""
        run = read_published({name: self.folder / name for name in IN_RUN})
        stated = self.certificate | changes
        self.certificate = certificates.contents(run, stated, stated)
        return self.seal()


def contents_of(folder: Path) -> dict[str, bytes]:
    """The content of every file of a folder by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
