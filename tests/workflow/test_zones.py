"""Two zones: nothing of a private record, no text, count, norm, hash or clock, leaves `private/`."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
import torch

from promptdp.cli import main
from promptdp.files import sha256_file
from promptdp.policy.local import LocalEngine
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.privacy.sampler import poisson_draw
from promptdp.training import round as round_module
from promptdp.training import run as run_module
from promptdp.training.rollouts import Rollouts
from tests.workflow import zones
from tests.workflow.conftest import Checkout, copy_to
from tests.workflow.marks import leaks, public_files
from tests.workflow.zones import RESULTS, TEXTS, Witness, World, prepare, train_arm, walk

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("zones")]
torch.set_num_threads(1)

RECORDS, DRAWN, SLOTS, EXPECTED = 1117, 1013, 1361, 4
PLANTED = "a batch of 1013 with ZEBRAASK5 and norm 0.731059"


@pytest.fixture
def world(tmp_path, monkeypatch) -> World:
    """A world of its own, the working folder, whose temporary files lie inside it."""
    made = World(tmp_path / "world", SLOTS, EXPECTED, rounds=1)
    made.folder.mkdir()
    (tmp_path / "world/tmp").mkdir()
    monkeypatch.chdir(made.folder)
    monkeypatch.setenv("TMPDIR", str(made.folder / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return made


def seen_by_all(world: World, capfd) -> list[Path]:
    """Every public file, what was printed among them."""
    out, err = capfd.readouterr()
    (world.folder / "stdout").write_text(out)
    (world.folder / "stderr").write_text(err)
    return public_files(world.folder, world.folder / "private")


# --- marked texts and marked numbers, verb by verb ---


def test_no_private_number_or_text_is_in_any_public_file_from_records_to_tables(world, monkeypatch, capfd):
    witness = Witness()
    witness.watch(monkeypatch, DRAWN)
    world.fill(RECORDS)
    walk(world)
    marks, files = witness.marks(world, RECORDS), seen_by_all(world, capfd)
    assert {RECORDS, DRAWN, 2 * DRAWN} <= marks.counts
    assert len(marks.values) > 1000 and len(marks.hashes) > 3 * RECORDS and len(files) > 40
    assert "round 1 of 1" in (world.folder / "stdout").read_text()
    assert leaks(marks, files) == {}
    # The same search finds the marks where they belong.
    inside = leaks(marks, [path for path in (world.folder / "private").rglob("*") if path.is_file()])
    assert set().union(*inside.values()) >= {*TEXTS, f"{RECORDS}"}


def quick(monkeypatch):
    """Draw the planted number of slots, and compute nothing for any of them."""
    monkeypatch.setattr(round_module, "poisson_draw", lambda *_: list(range(DRAWN)))

    class Idle(LocalEngine):
        def generate(self, prompts, *rest):
            return [[] for _ in prompts]

    monkeypatch.setattr(run_module, "LocalEngine", Idle)
    monkeypatch.setattr(run_module, "preflight", lambda *rest: None)


def printing(monkeypatch):
    """A round with the fault of most trainers' telemetry: it prints its batch size."""
    draw = Rollouts.draw

    def talkative(self, source, batch, *rest):
        print(f"batch: {len(batch)} records")
        return draw(self, source, batch, *rest)

    monkeypatch.setattr(Rollouts, "draw", talkative)


def dumping(monkeypatch):
    """A round that leaves a prompt in a temporary file for a debugger."""
    draw = Rollouts.draw

    def careless(self, source, batch, *rest):
        with tempfile.NamedTemporaryFile("w", delete=False) as stream:
            stream.write(batch[0].question)
        return draw(self, source, batch, *rest)

    monkeypatch.setattr(Rollouts, "draw", careless)


@pytest.mark.parametrize(("fault", "found"), [(None, set()), (printing, {f"{DRAWN}"}), (dumping, {TEXTS[1]})])
def test_a_program_that_prints_its_batch_size_or_keeps_a_prompt_is_caught(
    world, monkeypatch, capfd, fault, found
):
    quick(monkeypatch)
    if fault:
        fault(monkeypatch)
    world.fill(RECORDS)
    prepare(world)
    train_arm("dp")
    witness = Witness(counts={DRAWN})
    seen = leaks(witness.marks(world, RECORDS), seen_by_all(world, capfd))
    assert set().union(*seen.values()) == found


@pytest.mark.parametrize("verbose", [[], ["--verbose"]])
def test_a_failure_whose_message_holds_the_marks_tells_nobody(world, monkeypatch, capfd, verbose):
    def fail(*rest):
        raise RuntimeError(PLANTED)

    quick(monkeypatch)
    monkeypatch.setattr(round_module, "gaussian_noise", fail)
    world.fill(RECORDS)
    monkeypatch.setattr(zones, "main", lambda words: main([*verbose, *words]))
    prepare(world)
    with pytest.raises(SystemExit) as leaving:
        train_arm("dp")
    files = seen_by_all(world, capfd)
    error = (world.folder / "stderr").read_text()
    assert leaving.value.code == 1 and "round 1 failed inside the private mechanism" in error
    assert leaks(Witness(counts={DRAWN}, values={0.731059}).marks(world, RECORDS), files) == {}
    kept = [path.read_text() for path in (world.folder / "private").rglob("failure-*.txt")]
    assert len(kept) == 1 and PLANTED in kept[0]


# --- one presence bit ---


def source_that_draws(slot: int, draws: bool) -> int:
    """A seed under which some round draws the slot, or none does."""
    mechanism = Mechanism(10, 4, 2, 1.0, 1.0, 0.01)
    for seed in range(1000):
        streams = [Randomness.seeded(seed).stream(t, "coins") for t in (1, 2)]
        if any(slot in poisson_draw(mechanism, stream) for stream in streams) == draws:
            return seed
    raise AssertionError("no such seed")


def injected(seed: int) -> Randomness:
    """Known randomness that passes for the operating system's in every public file."""
    source = Randomness.seeded(seed)
    source.private = True
    return source


@pytest.mark.parametrize("drawn", [False, True])
def test_a_presence_bit_changes_no_byte_from_records_to_tables_unless_a_round_draws_it(
    tmp_path, monkeypatch, capfd, drawn
):
    seed = source_that_draws(6, drawn)
    monkeypatch.setattr(Randomness, "from_os", classmethod(lambda cls: injected(seed)))
    trees = []
    for count in (6, 7):
        world = World(tmp_path / str(count), 10, 4, rounds=2)
        world.folder.mkdir()
        monkeypatch.chdir(world.folder)
        world.fill(count)
        capfd.readouterr()  # transformers tells how fast it wrote the base
        walk(world)
        files = seen_by_all(world, capfd)
        trees.append({str(path.relative_to(world.folder)): path.read_bytes() for path in files})
    absent, present = trees
    assert absent.keys() == present.keys() and len(absent) > 40
    if drawn:  # what is printed of a certificate is its digest, which follows from the weights
        for tree in trees:
            tree["stdout"] = re.sub(rb"certificate [0-9a-f]{64}", b"certificate", tree["stdout"])
    differing = {name for name in absent if absent[name] != present[name]}
    weights = {f"{RESULTS}/runs/own/{arm}/seed1/adapter/adapter_model.safetensors" for arm in ("dp", "gold")}
    assert (differing & weights if drawn else differing) == (weights if drawn else set())
    # What differs then follows from the weights: never the calibration, the base, the records or settings.
    made_from_weights = "runs release assurance predictions scores contrasts tables".split()
    assert all(
        name.startswith(tuple(f"{RESULTS}/{part}/" for part in made_from_weights)) for name in differing
    )
    assert not [name for name in differing if name.endswith("adapter_config.json") or "/base/" in name]


# --- the workflow: logs, notes, report, a failing job ---


@pytest.fixture(scope="module")
def campaign(tmp_path_factory) -> tuple[World, list[Path], list[subprocess.CompletedProcess]]:
    """The marked study through Snakemake, its report, and another execution that fails inside a round.

    The files are those that this made outside the private zone.
    """
    folder = copy_to(tmp_path_factory.mktemp("zones") / "checkout")
    copied = set(public_files(folder))
    checkout, world = Checkout(folder), World(folder, SLOTS, EXPECTED, rounds=1)
    (folder / "tmp").mkdir()
    checkout.environment["TMPDIR"] = str(folder / "tmp")
    world.fill(RECORDS)
    results = [checkout.snakemake("tables", study="zones.yaml")]
    results.append(checkout.snakemake("tables", "--report", "report.html", study="zones.yaml"))
    source = folder / "src/promptdp/training/round.py"
    text, line = source.read_text(), "    # Line 8:"
    assert line in text
    failing = "    raise RuntimeError([slots[i] for i in range(9)])\n"
    source.write_text(text.replace(line, failing + line))
    target = f"{RESULTS}/runs/own/dp/seed1/run.json"
    results.append(checkout.snakemake(target, "--printshellcmds", study="zones.yaml", execution=2))
    source.write_text(text)
    for number, result in enumerate(results):
        (folder / f"printed{number}").write_text(result.stdout + result.stderr)
    return world, [path for path in public_files(folder, folder / "private") if path not in copied], results


def test_snakemakes_notes_logs_and_report_hold_nothing_of_the_private_records(campaign):
    world, files, (tables, report, failing) = campaign
    assert (tables.returncode, report.returncode) == (0, 0), tables.stderr[-3000:] + report.stderr[-3000:]
    assert failing.returncode != 0 and "Error in rule train" in failing.stderr
    names = {str(path.relative_to(world.folder)) for path in files}
    assert {"report.html", "printed2"} <= names
    for part in (".snakemake/metadata/", ".snakemake/log/", f"{RESULTS}/logs/", f"{RESULTS}/tables/"):
        assert any(name.startswith(part) for name in names), part
    size = (world.folder / "private/own.jsonl").stat().st_size
    assert leaks(Witness(counts={size}).marks(world, RECORDS), files) == {}
    # The failing job left its message where only the curator looks.
    failures = list((world.folder / "private").rglob("failure-*.txt"))
    assert failures and all(TEXTS[1] in path.read_text() for path in failures)


def test_a_note_that_keeps_the_hash_of_a_private_input_would_be_noticed(campaign, tmp_path):
    world, _, _ = campaign
    note = tmp_path / "note"
    note.write_text(json.dumps({"input_checksums": {"x": sha256_file(world.folder / "private/own.jsonl")}}))
    assert leaks(Witness().marks(world, RECORDS), [note])
