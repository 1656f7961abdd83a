"""The release: six files of a run that holds, in which a record has touched nothing but the weights."""

import shutil

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from promptdp.assurance.check import FILES, check_release
from promptdp.assurance.page import CERTIFICATE, PAGE
from promptdp.assurance.published import LEDGER, MANIFEST, WEIGHTS
from promptdp.assurance.release import release
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import read_json
from promptdp.policy.base import load_base
from promptdp.policy.lora import load_adapter
from promptdp.privacy.randomness import Randomness
from promptdp.training import run as run_module
from tests.assurance.finished import contents_of, write_certificate, write_release
from tests.training.conftest import Run, small_study
from tests.training.test_run import seed_that


def test_a_release_holds_the_six_files_and_nothing_else(finished, released):
    assert {path.name for path in released.iterdir()} == set(FILES) and len(FILES) == 6
    assert (released / MANIFEST).read_bytes() == finished.manifest.read_bytes()
    assert (released / LEDGER).read_bytes() == finished.ledger.read_bytes()
    assert (released / WEIGHTS).read_bytes() == (finished.adapter / WEIGHTS).read_bytes()


def test_its_page_states_the_budget_the_statuses_and_how_to_check(released):
    text = (released / PAGE).read_text()
    for words in (
        "**ε = 8.0000 at δ = 0.01**",
        "| all 2 private runs on the same records |",
        "| A2 | enforced |",
        "promptdp certificate --check",
        "PeftModel.from_pretrained",
        "## Not covered",
    ):
        assert words in text, words
    assert "{" not in text and "None" not in text


def test_numbers_on_the_page_are_never_rounded_down(released):
    certificate = read_json(released / CERTIFICATE)
    text = (released / PAGE).read_text()
    for key in ("epsilon", "epsilon_rdp", "epsilon_composed"):
        rows = [float(cell) for cell in text.split("|") if cell.strip().replace(".", "", 1).isdigit()]
        assert any(0 <= row - certificate[key] < 1.0001e-4 for row in rows), key


def test_peft_loads_it_as_the_page_says(finished, released):
    base = load_base(finished.base)
    theirs = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(finished.base), released)
    ours = load_adapter(base, finished.adapter)
    ids = torch.tensor([[2, 10, 20, 3]])
    torch.testing.assert_close(theirs(ids).logits, ours.model(ids).logits)


def test_a_release_is_replaced_as_a_whole_and_leaves_no_half_of_one(copied):
    first = contents_of(write_release(copied))
    assert contents_of(write_release(copied)) == first
    assert not [path for path in copied.folder.iterdir() if path.name.startswith(".")]


def test_a_folder_that_holds_something_else_is_left_alone(copied):
    (copied.folder / "released").mkdir()
    (copied.folder / "released" / "thesis.txt").write_text("years")
    with pytest.raises(InputError, match=r"holds thesis\.txt"):
        write_release(copied)
    assert contents_of(copied.folder / "released") == {"thesis.txt": b"years"}


# --- refusals ---


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"randomness": "seeded"}, "the randomness is seeded"),
        ({"isolation": "packed"}, "records share batches"),
    ],
)
def test_a_study_that_is_not_safe_is_refused(tmp_path, tiny_folder, changes, reason):
    run = Run(tmp_path, tiny_folder, "dp", small_study(**changes))
    run()
    with pytest.raises(PrivacyRefusal, match=reason) as caught:
        write_release(run)
    assert caught.value.exit_status == 3 and not (run.folder / "released").exists()


def test_a_failed_attempt_is_refused_here_and_beside(copied, monkeypatch):
    certificate = write_certificate(copied)
    with monkeypatch.context() as patched:
        patched.setattr(run_module, "private_round", lambda *_, **__: 1 / 0)
        with pytest.raises(Exception, match="failed inside"):
            copied(execution=2)
    release(copied.results, certificate, copied.folder / "before")
    with pytest.raises(PrivacyRefusal, match="another run on these slots failed inside the mechanism"):
        write_release(copied)
    copied(execution=2)
    with pytest.raises(PrivacyRefusal, match="a round failed inside the mechanism"):
        write_release(copied)


def cut_ledger(run):
    run.ledger.write_bytes(b"".join(run.ledger.read_bytes().splitlines(keepends=True)[:-1]))


def break_ledger(run):
    run.ledger.write_bytes(run.ledger.read_bytes().replace(b'"round":2', b'"round":3'))


def another_certificate(run):
    certificate = read_json(run.folder / CERTIFICATE)
    shutil.copytree(run.folder / "two", run.results, dirs_exist_ok=True)
    assert certificate["seed"] == 1


REFUSED = {
    "an unclosed ledger": cut_ledger,
    "a broken ledger": break_ledger,
    "a certificate of another run": another_certificate,
    "an edited certificate": lambda run: (run.folder / CERTIFICATE).write_text(
        (run.folder / CERTIFICATE).read_text().replace('"seed": 1', '"seed": 2')
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_files_and_a_certificate_that_do_not_hold_are_refused(copied, case):
    certificate = write_certificate(copied)
    REFUSED[case](copied)
    with pytest.raises(PrivacyRefusal) as caught:
        release(copied.results, certificate, copied.folder / "released")
    assert "\n" not in str(caught.value) and not (copied.folder / "released").exists()


def test_an_arm_without_noise_is_refused_with_any_certificate(copied):
    with pytest.raises(PrivacyRefusal):
        release(copied.folder / "free", write_certificate(copied), copied.folder / "released")


def test_the_command_line_refuses_with_3_and_misses_a_file_with_2(copied, capsys):
    from promptdp.cli import main

    where = ["release", "--run", str(copied.results), "--out", str(copied.folder / "released")]
    certificate = write_certificate(copied)
    main([*where, "--certificate", str(certificate)])
    main(["certificate", "--check", str(copied.folder / "released")])
    cut_ledger(copied)
    capsys.readouterr()
    for path, status in ((certificate, 3), (copied.folder / "missing.json", 2)):
        with pytest.raises(SystemExit) as leaving:
            main([*where, "--certificate", str(path)])
        assert leaving.value.code == status and capsys.readouterr().err.count("\n") == 1


# --- what the presence of a record changes ---


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("arm", ["dp", "gold"])
def test_the_presence_of_a_record_changes_no_byte_of_a_release_beyond_the_weights(
    tmp_path, tiny_folder, monkeypatch, arm, drawn
):
    """Coins, rollouts and noise are the same in both studies, of a source that takes itself for hidden."""
    seed = seed_that(drawn, slot=6)

    def hidden(cls):
        source = cls.seeded(seed)
        monkeypatch.setattr(cls, "description", {**Randomness.seeded(0).description, "source": "os"})
        source.private = True
        return source

    monkeypatch.setattr(Randomness, "from_os", classmethod(hidden))
    folders = []
    for count in (6, 7):
        run = Run(tmp_path / str(count), tiny_folder, arm, small_study())
        run.write_records(count)
        run()
        folders.append(write_release(run))
        check_release(folders[-1])
    without, present = map(contents_of, folders)
    differing = {name for name in FILES if without[name] != present[name]}
    assert differing == ({WEIGHTS, LEDGER, MANIFEST, CERTIFICATE} if drawn else set())
    certificates = [read_json(folder / CERTIFICATE) for folder in folders]
    hashes = {"files", "sha256"} if drawn else set()
    assert {key for key in certificates[0] if certificates[0][key] != certificates[1][key]} == hashes
