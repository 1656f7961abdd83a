"""The README of a release: its certificate in words, and nothing that the certificate doesn't say."""

import math
from typing import Any

from promptdp.assurance.published import CONFIG, LEDGER, MANIFEST, WEIGHTS

PAGE = "README.md"
CERTIFICATE = "certificate.json"

_TEMPLATE = """\
# {arm} on {benchmark}, seed {seed}: an adapter trained under prompt-level differential privacy

Low-rank weights for a public language model, from study `{study}`. For whoever tries to tell from this folder
whether one prompt was among the training records, the guarantee is

**ε = {epsilon} at δ = {delta:.6g}**, with all {begun} rounds charged that were begun ({rounds} are retained).

| what | ε | at δ |
|---|---|---|
| this run, every begun round | {epsilon} | {delta:.6g} |
| this run, its retained rounds | {retained} | {delta:.6g} |
| the same by Rényi accounting, order {order:g} | {renyi} | {delta:.6g} |
| all {looks} private runs on the same records | {composed} | {delta:.6g} |
| one prompt replaced by another (Corollary 1) | {two_steps} | {two_delta:.6g}{vacuous} |
| two prompts (Proposition 1) | {two_steps} | {two_delta:.6g}{vacuous} |

Numbers are rounded up. A second accountant puts the first one between {low} and {high}. The last two rows
follow from the first by theorem alone, at a delta that may be too large to promise much; asked directly, the
accountant gives less at the delta of the first:

    promptdp account {options} --replace-one
    promptdp account {options} --group 2

- Unit: {unit}
- Relation: {relation}
- Mechanism: {slots} slots, {expected} expected in a round, {rounds} rounds, noise multiplier {noise}

## Assumptions

| | status | why |
|---|---|---|
{assumptions}

## Not covered

{not_covered}

## Use

The base model is the one whose files have the combined SHA-256 `{base}`.

    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(BASE_FOLDER), THIS_FOLDER)

## Check

With promptdp {version} installed:

    promptdp certificate --check THIS_FOLDER

{statement}

- `{weights}`, `{config}`: the adapter, as PEFT reads it
- `{ledger}`: which rounds drew on the budget, each line bound to the one before
- `{manifest}`: the public settings of the run
- `{certificate}`: everything above, for programs
"""


def page(certificate: dict[str, Any]) -> str:
    """The README of the release that a certificate is of."""
    mechanism, two_steps = certificate["mechanism"], certificate["replace_one"]
    low, high = certificate["bracket"]
    return _TEMPLATE.format(
        **{
            key: certificate[key]
            for key in ("arm", "benchmark", "seed", "study", "delta", "unit", "statement")
        },
        epsilon=_up(certificate["epsilon"]),
        options=" ".join(
            (
                f"--slots {mechanism['slots']} --expected {mechanism['expected']}",
                f"--rounds {certificate['begun_attempts']} --sigma {mechanism['noise_multiplier']!r}",
                f"--delta {certificate['delta']!r}",
            )
        ),
        begun=certificate["begun_attempts"],
        rounds=mechanism["rounds"],
        retained=_up(certificate["epsilon_retained"]),
        renyi=_up(certificate["epsilon_rdp"]),
        order=certificate["rdp_order"],
        looks=len(certificate["selected_from"]),
        composed=_up(certificate["epsilon_composed"]),
        two_steps=_up(two_steps["epsilon"]),
        two_delta=two_steps["delta"],
        vacuous=" (says nothing)" if two_steps["vacuous"] else "",
        low=f"{math.floor(low * 1e4) / 1e4:.4f}",
        high=_up(high),
        relation=certificate["relation"],
        slots=mechanism["slots"],
        expected=mechanism["expected"],
        noise=mechanism["noise_multiplier"],
        assumptions="\n".join(
            f"| {name} | {found['status']} | {found['why']} |"
            for name, found in certificate["assumptions"].items()
        ),
        not_covered="\n".join(f"- {text}" for text in certificate["not_covered"]),
        base=certificate["base_sha256"],
        version=certificate["versions"]["promptdp"],
        weights=WEIGHTS,
        config=CONFIG,
        ledger=LEDGER,
        manifest=MANIFEST,
        certificate=CERTIFICATE,
    )


def _up(value: float) -> str:
    return f"{math.ceil(value * 1e4) / 1e4:.4f}"
