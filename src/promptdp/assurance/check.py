"""Whether a release holds: everything that its folder lets a stranger recompute.

A certificate is derived again from the files beside it and must come out the same, word for word; its budgets
are computed again from the ledger and from the list of runs. Cheap checks come first.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from promptdp import __version__
from promptdp.assurance.budget import budget, check_budget
from promptdp.assurance.certificate import SCHEMA, contents, digest, rendered
from promptdp.assurance.forms import CertificateFile
from promptdp.assurance.page import CERTIFICATE, PAGE, page
from promptdp.assurance.published import IN_RUN, PublishedRun, read_published
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import canonical_json, parse_json, read_bytes, sha256_bytes, shown
from promptdp.forms import validated
from promptdp.privacy.accounting import Event

FILES = (*IN_RUN, CERTIFICATE, PAGE)
"""The files of a release, all of them."""


def check_release(folder: Path) -> str:
    """Check somebody's release with nothing but its folder.

    Returns:
        one line that says what was checked.

    Raises:
        InputError: a file is missing, damaged, of another release, or not what a release holds.
        PrivacyRefusal: a budget doesn't hold, the ledger is not closed, or the run may not be released.
    """
    try:
        present = {path.name: path for path in folder.iterdir()}
    except OSError as error:
        raise InputError(f"{folder}: is no release ({error.strerror}); give the folder of one") from None
    if odd := sorted(set(present) ^ set(FILES)):
        state = "is not part of a release" if odd[0] in present else "is missing"
        raise InputError(
            f"{folder / odd[0]}: {state}; get the release again, or make one with `promptdp release`: "
            f"it holds {', '.join(FILES)}"
        )
    for path in present.values():
        if path.is_symlink() or not path.is_file():
            raise InputError(f"{path}: is no plain file; get the release again")
    run, certificate = check_files({name: present[name] for name in (*IN_RUN, CERTIFICATE)})
    if read_bytes(present[PAGE]) != page(certificate).encode():
        raise InputError(_changed(present[PAGE], "is not the page of its certificate", certificate))
    check_budgets(run, certificate, present[CERTIFICATE])
    return (
        f"{folder}: holds: 6 files agree, ledger closed after {run.ledger.rounds} rounds "
        f"({run.ledger.begun_attempts} begun), weights are its last, epsilon {certificate['epsilon']:.4f} at "
        f"delta {certificate['delta']:.6g} recomputed by two accountants; "
        f"{certificate['epsilon_composed']:.4f} for the {len(certificate['selected_from'])} runs that the "
        f"curator lists; certificate {certificate['sha256']}, to compare with the curator's"
    )


def check_files(paths: Mapping[str, Path]) -> tuple[PublishedRun, dict[str, Any]]:
    """Check everything but the budgets of a run and its certificate, wherever the files lie.

    Args:
        paths: the files by their name in a release, its page left out.

    Raises:
        InputError, PrivacyRefusal: as `check_release`.
    """
    certificate = _read_certificate(paths[CERTIFICATE])
    for name in IN_RUN:
        if sha256_bytes(read_bytes(paths[name])) != certificate["files"].get(name):
            raise InputError(_changed(paths[name], "is not the file that the certificate names", certificate))
    run = read_published({name: paths[name] for name in IN_RUN})
    if reasons := [*run.obstacles, *certificate["not_releasable"]]:
        raise PrivacyRefusal(f"{paths[CERTIFICATE]}: is of a run that can't be released: {reasons[0]}")
    derived = contents(run, numbers=certificate, rest=certificate)
    for key in sorted((derived.keys() | certificate.keys()) - {"sha256"}):
        if key not in derived or canonical_json(certificate.get(key)) != canonical_json(derived[key]):
            raise InputError(
                _changed(
                    paths[CERTIFICATE], f"{shown(key)} does not follow from the files beside it", certificate
                )
            )
    own = {key: derived["mechanism"][key] for key in ("expected", "noise_multiplier")} | {
        key: derived[key] for key in ("arm", "seed", "execution")
    }
    own["charged_attempts"] = derived["begun_attempts"]
    if own not in certificate["selected_from"]:
        raise InputError(
            _changed(paths[CERTIFICATE], "selected_from does not list the run itself", certificate)
        )
    return run, certificate


def check_budgets(run: PublishedRun, certificate: dict[str, Any], path: Path) -> None:
    """Compute the budgets of a certificate again.

    Raises:
        InputError, PrivacyRefusal: as `check_release`.
    """
    looks: list[Event] = [
        (run.mechanism.slots, look["expected"], look["charged_attempts"], look["noise_multiplier"])
        for look in certificate["selected_from"]
    ]
    check_budget(certificate, budget(run.mechanism, run.ledger.begun_attempts, looks, path), path)


def _read_certificate(path: Path) -> dict[str, Any]:
    """A certificate that says all it must, in its one rendering, with its own digest."""
    content = read_bytes(path)
    certificate = parse_json(content, path)
    if not isinstance(certificate, dict) or certificate.get("schema") != SCHEMA:
        raise InputError(
            f"{path}: is no certificate of schema {SCHEMA}; give what `promptdp certificate` wrote"
        )
    validated(CertificateFile, certificate, path)
    if rendered(certificate).encode() != content or certificate["sha256"] != digest(certificate):
        raise InputError(_changed(path, "was changed after it was written", certificate))
    return certificate


def _changed(path: Path, what: str, certificate: dict[str, Any]) -> str:
    made_by = certificate["versions"]["promptdp"]
    cure = "get the release again"
    if made_by != __version__:
        cure = f"check with promptdp {made_by}, which made it (this is {__version__}), or {cure}"
    return f"{path}: {what}; {cure}"
