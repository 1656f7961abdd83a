"""The certificate of one run: what its curator states, recomputed from the run's public files.

Of the run's manifest nothing is believed that the ledger or the weights can say; budgets are computed again.
The bytes of a certificate follow from its inputs: it holds no clock, no path and nothing of a record.
"""

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from promptdp import __version__
from promptdp.assurance.assumptions import assumptions
from promptdp.assurance.budget import NUMBERS, UNDERSTATED, budget, two_steps
from promptdp.assurance.forms import VerificationFile
from promptdp.assurance.looks import ChargedLook, charged_looks, look_of, private_looks
from promptdp.assurance.published import LEDGER, PublishedRun, read_published, run_paths
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import canonical_json, read_object, sha256_bytes, sha256_file
from promptdp.forms import of_study, validated

SCHEMA = "promptdp/certificate/1"
REST = ("selected_from", "nonprivate_looks", "verification", "versions", "not_releasable")
VERSIONS = ("dp-accounting", "opacus")
ANOTHER_FAILED = "a round of another run on these slots failed inside the mechanism"
"""Whether it did may depend on a record, and so would this run's list of what it was selected from."""

STATEMENT = (
    "The curator of the records states this. With the release folder alone, anyone can check that its files "
    "are those named here, that the ledger is unbroken and closed, that the weights are those of its last "
    "round, and that the budgets follow from the ledger and the list of runs. In that list, a run that is "
    "not complete is charged all its rounds, as if it were. Nobody can check from outside that training ran "
    "as the ledger says, with fresh and hidden randomness, that the list is complete, and that the rows of a "
    "verification record that are cited were measured: for these there is the curator's word."
)
NOT_COVERED = (
    "People: the unit is a prompt. Who contributes k prompts is protected by group privacy alone, which "
    "degrades with k.",
    "Evaluation problems, and predictions and scores on them, which are public by assumption.",
    "Pilot runs and the choice of settings, and runs of other studies on the same records.",
    "Runs in the list that a test had seeded: they have no guarantee, and their ledgers don't tell.",
    "A curator who is not trusted, and the private zone: recovery files, logs and keys, if they leave it.",
    "The execution in finite precision (A4), and what can be measured at the machine while it trains: "
    "clocks, memory, power.",
    "What the public base model says about a prompt without this adapter.",
)


def certify(run: Path, register: Path, verification: Path | None) -> dict[str, Any]:
    """The certificate of a finished run.

    Args:
        run: the run's public folder: run.json, ledger.jsonl, adapter/.
        register: the study's private register, which knows every look at the same slots.
        verification: the record of `promptdp verify` on the same base, if it is to be cited.

    Raises:
        InputError: a file is missing, malformed, or not of the run that the others are of.
        PrivacyRefusal: there is no budget to state: the run adds no noise or claims less than it spent, its
            ledger is not closed, that of another look is gone or cut short (one that is not closed is charged
            all its rounds), the accountants disagree, or the verification failed.
    """
    paths = run_paths(run)
    published = read_published(paths)
    if not published.mechanism.private:
        raise PrivacyRefusal(f"{run}: adds no noise, so that there is no budget; certify a private arm's run")
    looks = charged_looks(register, published.manifest["settings"]["benchmark"])
    if look_of(published.ledger.head, looks) is None:
        raise InputError(
            f"{register}: no look in it has the ledger {paths[LEDGER]}; give the register of the zone in "
            "which this run was trained"
        )
    events = [look.event for look in private_looks(looks)]
    numbers = budget(published.mechanism, published.ledger.begun_attempts, events, paths[LEDGER])
    _check_claim(published, numbers, run)
    rest = {
        "selected_from": [look.as_json() for look in private_looks(looks)],
        "nonprivate_looks": [look.as_json() for look in looks if not look.mechanism.private],
        "verification": _cited(published, verification) if verification else None,
        "versions": {"promptdp": __version__, **{package: version(package) for package in VERSIONS}},
        "not_releasable": published.obstacles + _failed_elsewhere(published, looks),
    }
    return contents(published, numbers, rest)


def contents(run: PublishedRun, numbers: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """A certificate, all of whose keys follow from its arguments.

    Args:
        run: the run's public files.
        numbers: what the accountants computed, NUMBERS.
        rest: what the files of a release can't say, REST: the looks, the verification cited, the versions
            that computed, and what stands against a release.
    """
    manifest, mechanism = run.manifest, run.mechanism
    steps = two_steps(numbers["epsilon"], mechanism.delta)
    body = {
        **{key: numbers[key] for key in NUMBERS},
        **{key: rest[key] for key in REST},
        "schema": SCHEMA,
        "statement": STATEMENT,
        "study": manifest["study"],
        "benchmark": manifest["settings"]["benchmark"],
        "arm": manifest["settings"]["arm"],
        "seed": manifest["seed"],
        "execution": manifest["execution"],
        "base_sha256": manifest["base_sha256"],
        "unit": _unit(manifest, mechanism.slots),
        "relation": mechanism.relation,
        "mechanism": mechanism.as_json(),
        "delta": mechanism.delta,
        "begun_attempts": run.ledger.begun_attempts,
        "replace_one": steps | {"source": "Corollary 1: one prompt replaced by another"},
        "group": steps | {"prompts": 2, "source": "Proposition 1: two prompts present or absent"},
        "assumptions": assumptions(manifest, mechanism, (rest["verification"] or {}).get("rows", [])),
        "not_covered": [
            *NOT_COVERED,
            *_interruptions(run.ledger.begun_attempts - mechanism.rounds),
            *_selection(rest["nonprivate_looks"]),
        ],
        "files": {name: sha256_bytes(content) for name, content in sorted(run.files.items())},
    }
    return body | {"sha256": digest(body)}


def digest(certificate: dict[str, Any]) -> str:
    """The SHA-256 of a certificate without this digest."""
    return sha256_bytes(canonical_json({k: v for k, v in certificate.items() if k != "sha256"}).encode())


def rendered(certificate: dict[str, Any]) -> str:
    """The one text of a certificate."""
    return json.dumps(certificate, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


def in_one_line(certificate: dict[str, Any]) -> str:
    """What a certificate says, for whoever just made it."""
    low, high = certificate["bracket"]
    stands = "; ".join(certificate["not_releasable"])
    statuses = ", ".join(f"{name} {found['status']}" for name, found in certificate["assumptions"].items())
    return (
        f"epsilon {certificate['epsilon']:.4f} at delta {certificate['delta']:.6g} for "
        f"{certificate['begun_attempts']} begun rounds, bracket [{low:.4f}, {high:.4f}], Renyi "
        f"{certificate['epsilon_rdp']:.4f}; {certificate['epsilon_composed']:.4f} for "
        f"{len(certificate['selected_from'])} private runs on the same slots; {statuses}; "
        f"{f'can not be released: {stands}' if stands else 'can be released'}"
    )


def _check_claim(run: PublishedRun, numbers: dict[str, Any], folder: Path) -> None:
    """Refuse a run whose manifest claims a smaller budget than its ledger spent."""
    claimed = run.manifest["accounting"]
    if claimed["delta"] != run.mechanism.delta:
        raise InputError(f"{folder}: accounting.delta is not the mechanism's; give the manifest as written")
    for key in ("epsilon_retained", "epsilon_all"):
        if claimed[key] is None or numbers[key] > claimed[key] + UNDERSTATED:
            raise PrivacyRefusal(
                f"{folder}: claims {key} = {claimed[key]!r}, but its ledger spent {numbers[key]!r}; "
                "it gets no certificate"
            )


def _cited(run: PublishedRun, path: Path) -> dict[str, Any]:
    """What a certificate says of a verification record: which one, and the verdict of each row."""
    record = of_study(run.manifest["study"], read_object(path, "promptdp/verification/1"), path)
    validated(VerificationFile, record, path)
    own = {"base_sha256": "base_sha256", "training_code_sha256": "code_sha256"}
    for key, stated in own.items():
        if record[key] != run.manifest[stated]:
            raise InputError(
                f"{path}: {key} is not the run's; verify with the base and the code that trained it, or cite "
                "no verification"
            )
    failed = [row["id"] for row in record["rows"] if row["verdict"] == "fail"]
    if failed or not record["passed"]:
        raise PrivacyRefusal(
            f"{path}: the verification failed ({', '.join(failed)}); a run of this code gets no certificate"
        )
    keys = ("id", "source", "verdict", "measured")
    return {
        "sha256": sha256_file(path),
        "rows": [{key: row[key] for key in keys} for row in record["rows"]],
    }


def _failed_elsewhere(run: PublishedRun, looks: Sequence[ChargedLook]) -> list[str]:
    others = [look for look in looks if look.head != run.ledger.head]
    return [ANOTHER_FAILED] if any(look.failed_attempts for look in others) else []


def _unit(manifest: dict[str, Any], slots: int) -> str:
    settings = manifest["settings"]
    if settings["objective"] == "gold":
        what = "one problem together with its reference solution"
    else:
        what = f"one prompt with its reference answer and all its completions, {settings['samples']} a round"
    return f"{what}, present or absent in one of {slots} public slots"


def _interruptions(more: int) -> list[str]:
    if not more:
        return []
    return [
        f"What the interruptions of training tell: {more} attempts were cut off or trained again, and the "
        "ledger shows at which rounds. The guarantee assumes that no record caused one; a process that was "
        "killed for lack of memory, or by a clock, may have been killed by a record."
    ]


def _selection(nonprivate: Sequence[dict[str, Any]]) -> list[str]:
    if not nonprivate:
        return []
    return [
        f"The choice of this run by the results of runs without noise: {len(nonprivate)} of them read the "
        "same slots, have no finite budget and are not in the composed one."
    ]
