"""A full disk and a read-only folder: one line that says so, nothing lost, and the same command goes on."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from promptdp.errors import InputError, PromptDPError
from promptdp.files import write_json
from promptdp.policy.lora import Adapter
from promptdp.privacy import ledger as ledger_module
from promptdp.privacy.accounting import account
from promptdp.privacy.ledger import Ledger, verify_ledger
from promptdp.privacy.register import Register
from promptdp.training import run as run_module
from tests.training.conftest import EXPECTED, ROUNDS, SLOTS, Run, small_study
from tests.training.kills import is_ledger, note_coins
from tests.training.test_run import verify

SIZE = 1 << 20
FULL = r"was not written \(No space left on device\); see to the disk and run again"
READ_ONLY = r"cannot be written \(Read-only file system\); choose another path"


@pytest.fixture
def mounted(tmp_path):
    """Mounts a small file system of its own on a folder, and takes it away at the end."""
    folders = []

    def mount(folder: Path, *options: str) -> Path:
        folder.mkdir(exist_ok=True)
        told = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True)
        if told.returncode:
            pytest.skip(f"this test mounts a small file system, which is not permitted here: {told.stderr}")
        folders.append(folder)
        return folder

    yield mount
    for folder in reversed(folders):
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def small_disk(mounted, tmp_path) -> Path:
    return mounted(tmp_path / "disk", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs")


def fill(folder: Path) -> Path:
    """Leave no block free."""
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as stream:
        try:
            while stream.write(bytes(4096)):
                pass
        except OSError as error:
            assert error.errno == errno.ENOSPC
    return filler


def begun_and_drawn(run, coins):
    """The attempts the ledger charges, against our own note of those whose coins were drawn."""
    drawn = coins.read_text().splitlines()
    assert len(set(drawn)) == len(drawn)
    return verify(run).begun_attempts, len(drawn)


def one_line(error: PromptDPError, status: int) -> None:
    assert error.exit_status == status and "\n" not in str(error) and "MARK" not in str(error)


@pytest.mark.parametrize(
    ("owner", "name", "call", "lost"),
    [
        (Register, "append", 1, 0),
        (run_module, "zone_key", 1, 0),
        (Ledger, "open", 1, 0),
        (run_module, "save_checkpoint", 1, 1),
        (Ledger, "begin", 2, 1),
        (run_module, "save_checkpoint", 3, 1),
        (Adapter, "save", 1, 0),
        (run_module, "write_json", 1, 0),
        (run_module, "write_text", 1, 0),
    ],
)
def test_a_disk_that_fills_up_at_any_moment_loses_nothing(
    small_disk, tiny_folder, tmp_path, monkeypatch, owner, name, call, lost
):
    run, coins = Run(small_disk, tiny_folder), tmp_path / "coins"
    note_coins(coins, monkeypatch.setattr)
    original, calls = getattr(owner, name), []

    def filling(*args, **kwargs):
        calls.append(name)
        if len(calls) == call:
            fill(small_disk)
        return original(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, filling)
        with pytest.raises(PromptDPError, match=FULL) as caught:
            run()
    one_line(caught.value, status=1)
    assert not run.ledger.exists()
    with pytest.raises(PromptDPError):  # as long as nothing is freed
        run()
    (small_disk / "filler").unlink()
    run()
    begun, drawn = begun_and_drawn(run, coins)
    again = 1 if lost else 0  # the attempt that was made while nothing was freed
    assert ROUNDS + lost <= begun <= ROUNDS + lost + again
    assert begun == drawn


def test_a_ledger_line_that_a_full_disk_cuts_is_no_line_and_its_round_is_begun_anew(
    small_disk, tiny_folder, tmp_path, monkeypatch
):
    """Lines fit into the one block the ledger has, up to the line in which its second would begin."""
    rounds = 12
    run, coins = Run(small_disk, tiny_folder), tmp_path / "coins"
    bench = run.study.benchmarks["sums"].model_dump() | {"rounds": rounds}
    arm = run.study.arms["dp"].model_dump() | {"noise_multiplier": 1.0}
    run.study = small_study(benchmarks={"sums": bench}, arms={"dp": arm})
    write_json(run.calibration, account(SLOTS, EXPECTED, rounds, 1.0, delta=0.01).as_json())
    note_coins(coins, monkeypatch.setattr)
    append = ledger_module.append_line

    def full_meanwhile(path, line, size=None):
        filler = fill(small_disk) if size else None
        append(path, line, size)
        if filler:
            filler.unlink()

    with monkeypatch.context() as patched:
        patched.setattr(ledger_module, "append_line", full_meanwhile)
        with pytest.raises(PromptDPError, match=rf"ledger\.jsonl: {FULL}") as caught:
            run()
    one_line(caught.value, status=1)
    ledger = run.recovered / "ledger.jsonl"
    assert ledger.stat().st_size == 4096 and not ledger.read_bytes().endswith(b"\n")
    (small_disk / "filler").unlink()
    run()
    summary = verify_ledger(run.ledger)
    assert summary.rounds == rounds <= summary.begun_attempts == len(coins.read_text().splitlines())


@pytest.mark.parametrize("event", ["open", "begin", "commit", "closed"])
def test_a_disk_that_fills_up_within_any_line_of_the_ledger_loses_nothing(run, monkeypatch, event):
    coins, opened = run.folder / "coins", os.fdopen
    note_coins(coins, monkeypatch.setattr)

    class Full:
        """A stream on which half of the event's line fits."""

        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

        def __getattr__(self, name):
            return getattr(self.stream, name)

        def write(self, content):
            if b'"event":"%s"' % event.encode() in content:
                os.write(self.stream.fileno(), content[: len(content) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.stream.write(content)

    with monkeypatch.context() as patched:
        patched.setattr(
            os, "fdopen", lambda fd, mode: Full(opened(fd, mode)) if is_ledger(fd) else opened(fd, mode)
        )
        for _ in range(2):
            with pytest.raises(PromptDPError, match=rf"ledger\.jsonl: {FULL}") as caught:
                run()
            one_line(caught.value, status=1)
    run()
    assert begun_and_drawn(run, coins) == (ROUNDS, ROUNDS)


@pytest.mark.parametrize("complete", [False, True])
def test_a_private_zone_that_cannot_be_written_is_refused_before_records_are_read(
    small_disk, tiny_folder, mounted, complete
):
    run = Run(small_disk, tiny_folder)
    if complete:
        run()
    before = run.public_files(), sorted(path.name for path in run.private.rglob("*"))
    mounted(run.private, "--bind", str(run.private))
    subprocess.run(["mount", "-o", "remount,bind,ro", str(run.private)], check=True)
    with pytest.raises(InputError, match=f"{READ_ONLY}|private folder .Read-only file system") as caught:
        run()
    one_line(caught.value, status=2)
    assert (run.public_files(), sorted(path.name for path in run.private.rglob("*"))) == before
    subprocess.run(["mount", "-o", "remount,bind,rw", str(run.private)], check=True)
    run()
    assert verify(run).begun_attempts == ROUNDS


def test_results_that_cannot_be_written_cost_no_round_that_was_trained(small_disk, tiny_folder, mounted):
    run = Run(small_disk, tiny_folder)
    run.results.mkdir()
    mounted(run.results, "--bind", str(run.results))
    subprocess.run(["mount", "-o", "remount,bind,ro", str(run.results)], check=True)
    for _ in range(2):
        with pytest.raises(InputError, match=rf"adapter: {READ_ONLY}") as caught:
            run()
        one_line(caught.value, status=2)
    trained = (run.recovered / "ledger.jsonl").read_bytes()
    subprocess.run(["mount", "-o", "remount,bind,rw", str(run.results)], check=True)
    run()
    assert verify(run).begun_attempts == ROUNDS
    assert run.ledger.read_bytes() == trained
