"""The certificate: all is recomputed, all is named, nothing is believed that another file contradicts."""

import json
import math
import shutil

import pytest

from promptdp.assurance import budget as budgets
from promptdp.assurance import certificate as certificates
from promptdp.assurance.published import MANIFEST, WEIGHTS, read_published, run_paths
from promptdp.assurance.verification.row import Claim
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import read_json, sha256_file, write_json
from promptdp.policy import lora
from promptdp.privacy.accounting import composed_epsilon, epsilon_pld, epsilon_rdp
from promptdp.privacy.ledger import Ledger, verify_ledger
from promptdp.privacy.register import Register
from tests.assurance.finished import certified, train_beside
from tests.training.conftest import EXPECTED, ROUNDS, SLOTS, Run, calibration, small_study

SIGMA = calibration()["sigma"]


def event(attempts):
    return SLOTS, EXPECTED, attempts, SIGMA


# --- what it says ---


def test_the_budget_is_recomputed_from_the_ledger_by_every_accountant(finished):
    found = certified(finished)
    epsilon = epsilon_pld(*event(ROUNDS), 0.01)
    assert found["epsilon"] == found["epsilon_all"] == found["epsilon_retained"] == epsilon
    assert (found["epsilon_rdp"], found["rdp_order"]) == epsilon_rdp(*event(ROUNDS), 0.01)
    low, high = found["bracket"]
    assert 0 < low <= epsilon <= high < found["epsilon_rdp"]
    assert (found["delta"], found["relation"], found["begun_attempts"]) == (0.01, "add-or-remove-one", ROUNDS)


def test_replacing_one_prompt_and_two_prompts_follow_from_the_epsilon_that_is_stated(finished):
    found = certified(finished)
    exact = (1 + 2.718281828459045 ** found["epsilon"]) * 0.01
    assert exact > 1 and found["replace_one"]["vacuous"]
    for key in ("replace_one", "group"):
        assert (found[key]["epsilon"], found[key]["delta"]) == (2 * found["epsilon"], 1.0)
    small = budgets.two_steps(1.0, 1e-5)
    assert small == {"epsilon": 2.0, "delta": 3.71829e-05, "vacuous": False}
    assert small["delta"] >= (1 + 2.718281828459045) * 1e-5


def test_it_names_every_look_on_the_same_slots_and_composes_the_private_ones(finished):
    found = certified(finished)
    one = {"arm": "dp", "execution": 1, "expected": EXPECTED, "noise_multiplier": SIGMA}
    assert found["selected_from"] == [one | {"seed": seed, "charged_attempts": ROUNDS} for seed in (1, 2)]
    assert found["epsilon_composed"] == composed_epsilon([event(ROUNDS), event(ROUNDS)], 0.01)
    (free,) = found["nonprivate_looks"]
    assert (free["arm"], free["noise_multiplier"]) == ("free", 0)
    assert "1 of them read the same slots" in found["not_covered"][-1]


def test_other_executions_and_runs_never_finished_are_looks_too(copied, monkeypatch):
    train_beside(copied, "again", execution=2)
    monkeypatch.setattr(Ledger, "commit", lambda *_: exec("raise KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        train_beside(copied, "interrupted", arm="gold")
    found = certified(copied)
    looks = [(look["arm"], look["seed"], look["execution"]) for look in found["selected_from"]]
    assert looks == [("dp", 1, 1), ("dp", 1, 2), ("dp", 2, 1), ("gold", 1, 1)]
    assert found["selected_from"][-1]["charged_attempts"] == ROUNDS
    composed = composed_epsilon([event(look["charged_attempts"]) for look in found["selected_from"]], 0.01)
    assert found["epsilon_composed"] == composed


def test_every_begun_attempt_is_charged_and_the_retained_rounds_are_stated_beside(tmp_path, tiny_folder):
    run = Run(tmp_path, tiny_folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Ledger, "commit", lambda *_: exec("raise KeyboardInterrupt"))
        with pytest.raises(KeyboardInterrupt):
            run()
    next(run.recovered.glob("checkpoint*")).unlink()
    run()
    found = certified(run)
    assert found["begun_attempts"] == ROUNDS + 1 and found["not_releasable"] == []
    assert found["epsilon"] == found["epsilon_all"] == epsilon_pld(*event(ROUNDS + 1), 0.01)
    assert found["epsilon_retained"] == epsilon_pld(*event(ROUNDS), 0.01) < found["epsilon"]
    (told,) = [text for text in found["not_covered"] if "interruptions" in text]
    assert "1 attempts were cut off or trained again" in told and "assumes that no record caused one" in told


def test_a_run_that_was_never_interrupted_says_nothing_of_interruptions(finished):
    found = certified(finished)
    assert not [text for text in found["not_covered"] if "interruptions" in text]
    assert "not complete is charged all its rounds" in found["statement"]


def test_its_bytes_follow_from_its_inputs_alone(finished, copied):
    here, there = (certificates.rendered(certified(run)) for run in (finished, copied))
    assert here == there
    assert str(finished.folder) not in here
    names = [look.run for look in Register(copied.register).looks("sums")]
    assert len(names) == 3 and not [name for name in names if name in here]


def test_it_names_the_files_of_a_release_by_their_hashes(finished):
    paths = run_paths(finished.results)
    assert certified(finished)["files"] == {name: sha256_file(path) for name, path in sorted(paths.items())}
    assert paths[WEIGHTS].name == lora.WEIGHTS


# --- the assumptions ---


def test_the_status_of_each_assumption_is_that_of_a_strict_run_with_hidden_randomness(finished):
    found = certified(finished)["assumptions"]
    statuses = {name: one["status"] for name, one in found.items()}
    assert statuses == {"A1": "assumed", "A2": "enforced", "A3": "enforced", "A4": "assumed"}
    assert "computational security" in found["A3"]["why"] and "Dropout" not in found["A3"]["why"]
    assert "float64-gaussian" in found["A4"]["why"]


@pytest.mark.parametrize(
    ("changes", "assumption", "status", "words"),
    [
        ({"isolation": "packed"}, "A2", "not met", "no verification record that measures it is cited"),
        ({"randomness": "seeded"}, "A3", "not met", "whoever has the seed can draw it again"),
        ({"lora": {"dropout": 0.1}}, "A3", "enforced", "Dropout takes a 32-bit seed"),
    ],
)
def test_an_assumption_that_a_setting_breaks_or_weakens_says_so(
    tmp_path, tiny_folder, changes, assumption, status, words
):
    run = Run(tmp_path, tiny_folder, "dp", small_study(**changes))
    run()
    found = certified(run)
    assert found["assumptions"][assumption]["status"] == status
    assert words in found["assumptions"][assumption]["why"]
    assert found["not_releasable"] == read_json(run.manifest)["not_releasable"]
    assert bool(found["not_releasable"]) == (status == "not met")


def test_isolation_is_assumed_on_a_device_where_it_was_never_shown(finished, tmp_path):
    folder = shutil.copytree(finished.results, tmp_path / "run")
    manifest = read_json(folder / "run.json")
    assert manifest["device"] == "cpu"
    write_json(folder / "run.json", manifest | {"device": "cuda"})
    found = certificates.certify(folder, finished.register, None)["assumptions"]["A2"]
    assert found["status"] == "assumed" and "on a CPU alone" in found["why"]
    assert "No verification record is cited" in found["why"]


ROW = {"id": "alone", "source": "(A2)", "verdict": "pass", "measured": 0}


@pytest.fixture
def verification(finished, tmp_path):
    """A record of the run's base and code: one row of each kind."""
    manifest = read_json(finished.manifest)
    record = {
        "schema": "promptdp/verification/1",
        "study": "small",
        "base_sha256": manifest["base_sha256"],
        "training_code_sha256": manifest["code_sha256"],
        "passed": True,
        "rows": [
            Claim("alone", "x", "Appendix B; assumption (A2)", "x", "x").at_most(0, 0).as_json(),
            Claim("law", "x", "Assumption (A4)", "x", "x").at_least(0.5, 1e-6).as_json(),
            Claim("shared", "x", "(A2)", "x", "x").reported("3 of 12 records").as_json(),
        ],
    }
    write_json(tmp_path / "verification.json", record)
    return tmp_path / "verification.json"


def test_a_verification_is_cited_with_its_rows(finished, verification):
    found = certified(finished, verification)
    assert found["verification"]["sha256"] == sha256_file(verification)
    assert [row["id"] for row in found["verification"]["rows"]] == ["alone", "law", "shared"]
    whys = {name: one["why"] for name, one in found["assumptions"].items()}
    assert whys["A2"].endswith("Verified by alone.") and whys["A4"].endswith("not made exact, by law.")
    assert "shared" not in whys["A2"] and "Verified" not in whys["A1"]


def test_packed_isolation_states_the_discrepancy_that_was_measured(tmp_path, tiny_folder, verification):
    run = Run(tmp_path, tiny_folder, "dp", small_study(isolation="packed"))
    run()
    why = certified(run, verification)["assumptions"]["A2"]["why"]
    assert "Discrepancy: 3 of 12 records (shared)." in why and "alone" not in why


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"passed": False}, PrivacyRefusal, "the verification failed"),
        ({"base_sha256": "0" * 64}, InputError, "base_sha256 is not the run's"),
        ({"training_code_sha256": "0" * 64}, InputError, "training_code_sha256 is not the run's"),
        ({"study": "other"}, InputError, "is not of study small"),
        ({"schema": "promptdp/run/1"}, InputError, "its schema is not"),
        ({"rows": [{"id": "alone"}]}, InputError, "lacks rows.0"),
        ({"rows": [ROW | {"id": "NIST approved"}]}, InputError, "rows.0.id"),
        ({"rows": [ROW | {"source": "(A2) | **proved**"}]}, InputError, "rows.0.source"),
        ({"rows": [ROW | {"measured": "0\n# ok"}]}, InputError, "rows.0.measured"),
        ({"rows": [ROW | {"verdict": "perfect"}]}, InputError, "rows.0.verdict"),
    ],
)
def test_a_verification_that_failed_or_is_of_something_else_is_not_cited(
    finished, verification, changes, error, message
):
    write_json(verification, read_json(verification) | changes)
    with pytest.raises(error, match=rf"^{verification}: .*{message}"):
        certified(finished, verification)


# --- what it refuses ---


def test_a_run_without_noise_has_no_budget_to_certify(finished):
    with pytest.raises(PrivacyRefusal, match="adds no noise"):
        certificates.certify(finished.folder / "free", finished.register, None)


@pytest.mark.parametrize("key", ["epsilon_all", "epsilon_retained"])
@pytest.mark.parametrize(("claimed", "refused"), [(-2e-6, True), (-5e-7, False), (1.0, False)])
def test_a_claim_below_what_was_spent_is_refused_with_both_numbers(copied, key, claimed, refused):
    manifest, spent = read_json(copied.manifest), epsilon_pld(*event(ROUNDS), 0.01)
    manifest["accounting"][key] = spent + claimed
    write_json(copied.manifest, manifest)
    if not refused:
        assert certified(copied)["epsilon"] == spent
        return
    with pytest.raises(PrivacyRefusal) as caught:
        certified(copied)
    assert repr(spent) in str(caught.value) and repr(spent + claimed) in str(caught.value)


def test_accountants_that_disagree_state_nothing(finished, monkeypatch):
    right = budgets.epsilon_all
    monkeypatch.setattr(budgets, "epsilon_all", lambda *given: 0.9 * right(*given))
    with pytest.raises(PrivacyRefusal, match="the accountants disagree"):
        certified(finished)


@pytest.mark.parametrize(
    ("accountant", "answer"),
    [
        ("composed_epsilon", math.inf),
        ("bracket", (0.0, math.inf)),
        ("epsilon_rdp", (math.inf, 1.1)),
    ],
)
def test_a_budget_that_is_not_finite_is_not_stated(finished, monkeypatch, accountant, answer):
    monkeypatch.setattr(budgets, accountant, lambda *_: answer)
    with pytest.raises(InputError, match="certifies no finite epsilon"):
        certified(finished)


def another(path, finished):
    """Put the other run's file in the place of this one's."""
    shutil.copy(finished.folder / "two" / path, finished.results / path)


def edited(change):
    def edit(run):
        manifest = read_json(run.manifest)
        change(manifest)
        write_json(run.manifest, manifest)

    return edit


MISMATCHES = {
    "another run's ledger": (lambda run: another("ledger.jsonl", run), "its first line's seed is 2, but 1"),
    "another run's manifest": (lambda run: another("run.json", run), "its first line's seed is 1, but 2"),
    "another run's weights": (lambda run: another(f"adapter/{WEIGHTS}", run), "its hash is"),
    "other noise": (
        edited(lambda m: m["mechanism"].update(noise_multiplier=2.0)),
        "its first line's mechanism is",
    ),
    "another sampling rate": (
        edited(lambda m: (m["mechanism"].update(expected=2), m["settings"].update(expected=2))),
        "its first line's mechanism is",
    ),
    "another sampling rate in one place": (
        edited(lambda m: m["settings"].update(expected=2)),
        "settings.expected is 2, but 4",
    ),
    "fewer attempts": (edited(lambda m: m.update(attempts=3)), "its number of begun attempts is 4, but 3"),
    "another end of the ledger": (edited(lambda m: m.update(ledger_head="0" * 64)), "its last hash is"),
    "other settings": (edited(lambda m: m["settings"].update(samples=3)), "settings_sha256 is"),
    "another isolation": (edited(lambda m: m.update(isolation="packed")), "settings_sha256 is"),
    "another source": (edited(lambda m: m["randomness"].update(source="seeded")), "settings_sha256 is"),
    "other coordinates": (edited(lambda m: m.update(theta_sha256="0" * 64)), "the hash of its coordinates"),
    "more coordinates": (edited(lambda m: m["lora"].update(coordinates=1)), "its number of coordinates is"),
    "another delta claimed": (
        edited(lambda m: m["accounting"].update(delta=0.02)),
        "accounting.delta is not",
    ),
    "a claim that is no number": (edited(lambda m: m["accounting"].update(epsilon_all="8")), "epsilon_all"),
    "no manifest": (edited(lambda m: m.update(schema="x")), "is no manifest of a run"),
    "a key more": (edited(lambda m: m.update(batch_sizes=[1, 2])), "batch_sizes: Extra inputs"),
    "a key more below": (edited(lambda m: m["lora"].update(norm=1)), "lora.norm: Extra inputs"),
    "a seed that is none": (edited(lambda m: m.update(seed=True)), "seed: "),
    "another backend": (
        edited(lambda m: m["randomness"].update(backend="a certified chip")),
        "randomness.backend is a certified chip, but AES",
    ),
    "a seed of dropout that takes none": (
        edited(lambda m: m["randomness"].update(dropout="32-bit seed from the record's stream of the round")),
        "whether dropout has a seed is true, but false",
    ),
    "another PEFT": (edited(lambda m: m["versions"].update(peft="0.1")), "was written by peft 0.1; check"),
    "no mechanism": (edited(lambda m: m.update(mechanism=None)), "mechanism: "),
    "no file": (lambda run: run.ledger.unlink(), "cannot be read"),
    "weights that are none": (
        lambda run: (run.adapter / WEIGHTS).write_bytes(b"\0" * 20),
        r"is not an adapter",
    ),
    "another rank": (
        lambda run: write_json(
            run.adapter / "adapter_config.json",
            read_json(run.adapter / "adapter_config.json") | {"lora_alpha": 16},
        ),
        "lora_alpha is 16, but 8",
    ),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_files_that_are_not_of_one_run_are_refused_by_name(copied, case):
    damage, message = MISMATCHES[case]
    damage(copied)
    with pytest.raises(InputError, match=message):
        certified(copied)


def test_the_digest_of_the_settings_is_recomputed_as_training_computed_it(finished):
    published = read_published(run_paths(finished.results))
    assert published.manifest["settings_sha256"] == verify_ledger(finished.ledger).header["settings_sha256"]
    assert MANIFEST in published.files


def cut(path, lines):
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


def test_a_ledger_that_is_not_closed_is_refused(copied):
    cut(copied.ledger, -1)
    with pytest.raises(PrivacyRefusal, match=r"ledger\.jsonl: is not closed"):
        certified(copied)


def test_a_broken_ledger_is_refused_with_its_line(copied):
    lines = copied.ledger.read_bytes().splitlines(keepends=True)
    copied.ledger.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    with pytest.raises(InputError, match=r"ledger\.jsonl:4: the line records"):
        certified(copied)


def test_a_run_with_a_failed_attempt_and_every_run_beside_it_can_not_be_released(copied, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("promptdp.training.run.private_round", lambda *_, **__: 1 / 0)
        with pytest.raises(Exception, match="failed inside the private mechanism"):
            train_beside(copied, "failed", execution=2)
    assert certified(copied)["not_releasable"] == [certificates.ANOTHER_FAILED]
    folder = train_beside(copied, "failed", execution=2)
    found = certificates.certify(folder, copied.register, None)
    assert found["not_releasable"] == ["a round failed inside the mechanism"]
    assert found["begun_attempts"] == ROUNDS + 1


# --- in one line ---


def test_the_command_line_says_in_one_line_what_was_certified(finished, tmp_path, capsys):
    from promptdp.cli import main

    where = ["--run", finished.results, "--register", finished.register, "--out", tmp_path / "c.json"]
    main(["certificate", *map(str, where)])
    (line,) = capsys.readouterr().out.splitlines()
    assert "c.json: epsilon 8.0000 at delta 0.01 for 4 begun rounds" in line
    assert "for 2 private runs on the same slots; A1 assumed, A2 enforced" in line
    assert line.endswith("can be released")
    assert json.loads((tmp_path / "c.json").read_text()) == certified(finished)


def test_the_command_line_asks_for_what_is_missing(capsys):
    from promptdp.cli import main

    with pytest.raises(SystemExit) as leaving:
        main(["certificate", "--run", "x"])
    assert leaving.value.code == 2 and "--register is missing" in capsys.readouterr().err


def test_seeded_randomness_that_claims_to_be_hidden_is_not_believed(tmp_path, tiny_folder):
    run = Run(tmp_path, tiny_folder, "dp", small_study(randomness="seeded"))
    run()
    edited(lambda m: (m["randomness"].update(private=True), m.update(not_releasable=[])))(run)
    assert certified(run)["not_releasable"] == ["the randomness is seeded"]
    edited(lambda m: m["randomness"].update(source="os"))(run)
    with pytest.raises(InputError, match="settings_sha256 is"):
        certified(run)
