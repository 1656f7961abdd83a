import json
import os
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.errors import InputError, PrivacyRefusal, PromptDPError
from promptdp.files import canonical_json, sha256_bytes
from promptdp.privacy.ledger import Ledger, LedgerSummary, verify_ledger

HEADER = {"mechanism": {"slots": 874, "expected": 16, "rounds": 3}, "settings": "ab" * 32}


def theta(t):
    return sha256_bytes(b"theta %d" % t)


def run_rounds(ledger, *rounds):
    for t in rounds:
        ledger.commit(t, ledger.begin(t), theta(t))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


@pytest.fixture
def closed(path):
    """A closed ledger of three rounds, the second of which took two attempts."""
    ledger = Ledger.open(path, HEADER)
    run_rounds(ledger, 1)
    ledger.begin(2)
    run_rounds(ledger, 2, 3)
    ledger.close()
    return path


def rewrite(path, change):
    """Apply `change` to the list of entries, and chain them again as an honest writer would."""
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    change(entries)
    head, lines = "0" * 64, []
    for entry in entries:
        line = canonical_json(entry | {"previous": head})
        head = sha256_bytes(line.encode())
        lines.append(line + "\n")
    path.write_text("".join(lines))


def test_a_closed_ledger_tells_what_happened(closed):
    summary = verify_ledger(closed)
    assert summary.header == HEADER
    assert (summary.branch, summary.rounds, summary.begun_attempts, summary.closed) == (1, 3, 4, True)
    assert summary.theta_sha256 == theta(3)
    assert summary.length == len(closed.read_text().splitlines()) == 9
    assert summary.head == sha256_bytes(closed.read_bytes().splitlines()[-1])


def test_lines_hold_data_independent_fields_only(closed):
    fields = {key for line in closed.read_text().splitlines() for key in json.loads(line)}
    assert fields == {
        *("attempt", "branch", "event", "header", "previous", "round", "rounds", "schema", "theta_sha256")
    }


def test_the_same_run_writes_the_same_bytes(tmp_path):
    ledgers = []
    for name in ("a", "b"):
        ledger = Ledger.open(tmp_path / name, HEADER)
        run_rounds(ledger, 1, 2)
        ledgers.append((tmp_path / name).read_bytes())
    assert ledgers[0] == ledgers[1]


def test_every_event_is_forced_to_the_disk_before_its_call_returns(path, monkeypatch):
    forced = []
    fsync = os.fsync

    def recorded(descriptor):
        fsync(descriptor)
        forced.append(path.read_bytes())

    ledger = Ledger.open(path, HEADER)
    monkeypatch.setattr(os, "fsync", recorded)
    for event in (
        lambda: ledger.begin(1),
        lambda: ledger.commit(1, 1, theta(1)),
        ledger.start_branch,
        lambda: ledger.begin(1),
        lambda: ledger.commit(1, 1, theta(1)),
        ledger.close,
    ):
        event()
        assert forced.pop() == path.read_bytes()
        assert sha256_bytes(path.read_bytes().splitlines()[-1]) == ledger.head


def test_a_round_begun_and_not_committed_is_a_new_attempt_after_a_restart(path):
    Ledger.open(path, HEADER).begin(1)
    ledger = Ledger.open(path, HEADER)
    assert ledger.pending == (1, 1) and ledger.next_round() == 1
    assert ledger.begin(1) == 2
    ledger.commit(1, 2, theta(1))
    assert (ledger.pending, ledger.next_round(), ledger.begun_attempts) == (None, 2, 2)


def test_a_commit_cut_off_by_a_kill_can_be_completed_after_a_restart(path):
    Ledger.open(path, HEADER).begin(1)
    ledger = Ledger.open(path, HEADER)
    ledger.commit(*ledger.pending, theta(1))
    assert (ledger.next_round(), ledger.begun_attempts) == (2, 1)


def test_a_new_branch_starts_over_and_keeps_every_attempt_in_the_books(path):
    ledger = Ledger.open(path, HEADER)
    run_rounds(ledger, 1, 2)
    assert ledger.start_branch() == 2
    assert (ledger.next_round(), ledger.summary.theta_sha256) == (1, None)
    run_rounds(ledger, 1)
    ledger.close()
    summary = verify_ledger(path)
    assert (summary.branch, summary.rounds, summary.begun_attempts) == (2, 1, 3)


def test_a_complete_run_can_start_over_and_its_rounds_stay_in_the_books(closed):
    ledger = Ledger.open(closed, HEADER)
    assert ledger.start_branch() == 2 and not ledger.closed
    run_rounds(ledger, 1, 2)
    ledger.close()
    summary = verify_ledger(closed)
    assert (summary.rounds, summary.begun_attempts, summary.closed) == (2, 6, True)


def test_a_failed_attempt_is_begun_anew_and_never_forgotten(path):
    ledger = Ledger.open(path, HEADER)
    run_rounds(ledger, 1)
    ledger.fail(2, ledger.begin(2))
    ledger = Ledger.open(path, HEADER)
    assert ledger.pending is None and ledger.next_round() == 2
    assert ledger.begin(2) == 2
    ledger.commit(2, 2, theta(2))
    ledger.start_branch()
    run_rounds(ledger, 1)
    ledger.close()
    summary = verify_ledger(path)
    assert (summary.failed_attempts, summary.begun_attempts, summary.closed) == (1, 4, True)
    fields = {key for line in path.read_text().splitlines() for key in json.loads(line)}
    assert fields == {
        *("attempt", "branch", "event", "header", "previous", "round", "rounds", "schema", "theta_sha256")
    }


@pytest.mark.parametrize(
    "misuse",
    [
        lambda ledger: ledger.begin(1),
        lambda ledger: ledger.begin(3),
        lambda ledger: ledger.commit(2, 1, theta(2)),
        lambda ledger: ledger.commit(1, 1, theta(1)),
        lambda ledger: (ledger.begin(2), ledger.commit(2, 2, theta(2))),
        lambda ledger: (ledger.begin(2), ledger.commit(2, 1, "not a hash")),
        lambda ledger: (ledger.begin(2), ledger.close()),
        lambda ledger: (ledger.close(), ledger.begin(2)),
        lambda ledger: (ledger.close(), ledger.close()),
        lambda ledger: ledger.fail(2, 1),
        lambda ledger: (ledger.begin(2), ledger.fail(2, 2)),
        lambda ledger: (ledger.begin(2), ledger.fail(2, 1), ledger.fail(2, 1)),
        lambda ledger: (ledger.begin(2), ledger.fail(2, 1), ledger.commit(2, 1, theta(2))),
        lambda ledger: (ledger.begin(2), ledger.fail(2, 1), ledger.close()),
    ],
)
def test_an_event_out_of_order_is_refused_and_not_written(path, misuse):
    ledger = Ledger.open(path, HEADER)
    run_rounds(ledger, 1)
    with pytest.raises(PromptDPError):
        misuse(ledger)
    assert verify_ledger(path, require_closed=False) == ledger.summary


@pytest.mark.parametrize("event", ["close", "start_branch"])
def test_a_run_without_a_round_can_neither_be_closed_nor_start_over(path, event):
    with pytest.raises(PromptDPError):
        getattr(Ledger.open(path, HEADER), event)()


def test_a_ledger_of_other_settings_is_refused(closed):
    with pytest.raises(InputError, match=r"ledger.jsonl:1: belongs to a run with other settings"):
        Ledger.open(closed, HEADER | {"settings": "cd" * 32})


def test_a_second_writer_is_noticed(path):
    first, second = Ledger.open(path, HEADER), Ledger.open(path, HEADER)
    first.begin(1)
    with pytest.raises(PromptDPError, match="changed while in use"):
        second.begin(1)
    assert verify_ledger(path, require_closed=False).begun_attempts == 1


def test_a_ledger_cut_anywhere_keeps_its_complete_lines_and_goes_on(closed):
    content = closed.read_bytes()
    for cut in range(len(content)):
        closed.write_bytes(content[:cut])
        complete = content[:cut].count(b"\n")
        ledger = Ledger.open(closed, HEADER)
        assert ledger.length == max(complete, 1)
        assert not ledger.closed
        if complete:
            assert closed.read_bytes() == content[: content[:cut].rindex(b"\n") + 1]
        before = ledger.begun_attempts
        run_rounds(ledger, ledger.next_round())
        assert verify_ledger(closed, require_closed=False).begun_attempts == before + 1


def test_a_cut_copy_does_not_verify(closed):
    content = closed.read_bytes()
    for cut in range(len(content)):
        closed.write_bytes(content[:cut])
        with pytest.raises((InputError, PrivacyRefusal)):
            verify_ledger(closed)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_changed_byte_anywhere_is_refused_with_the_name_of_a_line(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("ledger") / "ledger.jsonl"
    ledger = Ledger.open(path, HEADER)
    run_rounds(ledger, 1, 2)
    ledger.close()
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[place]))
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"ledger.jsonl:\d+: ") as refusal:
        verify_ledger(path)
    assert "\n" not in str(refusal.value)


def edit(lines):
    lines[4] = lines[4].replace(b'"attempt":2', b'"attempt":1')


def swap(lines):
    lines[3], lines[4] = lines[4], lines[3]


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (lambda lines: lines.pop(), PrivacyRefusal, r"ledger\.jsonl: is not closed"),
        (
            lambda lines: lines.append(lines.pop()[:-9]),
            InputError,
            r"ledger\.jsonl:9: the line is incomplete",
        ),
        (lambda lines: lines.clear(), InputError, r"ledger\.jsonl:1: the line is incomplete"),
        (edit, InputError, r"ledger\.jsonl:5: the line does not follow from the lines before it"),
        (swap, InputError, r"ledger\.jsonl:4: the line does not follow from the lines before it"),
        (lambda lines: lines.reverse(), InputError, r"ledger\.jsonl:1: "),
    ],
    ids=["unclosed", "truncated", "emptied", "edited", "reordered", "reversed"],
)
def test_a_damaged_ledger_is_refused_by_name(closed, damage, error, message):
    lines = closed.read_bytes().splitlines(keepends=True)
    damage(lines)
    closed.write_bytes(b"".join(lines))
    with pytest.raises(error, match=message):
        verify_ledger(closed)


@pytest.mark.parametrize("position", range(9))
def test_a_missing_line_is_refused(closed, position):
    lines = closed.read_bytes().splitlines(keepends=True)
    del lines[position]
    closed.write_bytes(b"".join(lines))
    with pytest.raises((InputError, PrivacyRefusal)):
        verify_ledger(closed)


@pytest.mark.parametrize(
    "change",
    [
        lambda entries: entries.pop(0),
        lambda entries: entries.pop(1),
        lambda entries: entries.pop(3),
        lambda entries: entries[1].update(round=2),
        lambda entries: entries[4].update(attempt=1),
        lambda entries: entries[2].update(theta_sha256="short"),
        lambda entries: entries[2].update(batch_size=17),
        lambda entries: entries[1].update(clock=1.5),
        lambda entries: entries[3].update(header={}),
        lambda entries: entries[3].update(theta_sha256="0" * 64),
        lambda entries: entries[1].update(attempt=True),
        lambda entries: entries[1].update(round=1.0),
        lambda entries: entries[-1].update(rounds=50),
        lambda entries: entries[1].update(branch=2),
        lambda entries: entries[1].update(event="skip"),
        lambda entries: entries[1].pop("event"),
        lambda entries: entries.insert(5, entries[4]),
        lambda entries: entries.append(entries[1]),
    ],
)
def test_a_chain_rebuilt_around_a_wrong_history_is_refused(closed, change):
    rewrite(closed, change)
    with pytest.raises(InputError, match=r"ledger.jsonl:\d+: "):
        verify_ledger(closed)


def test_rewriting_alone_changes_nothing(closed):
    content = closed.read_bytes()
    rewrite(closed, lambda entries: None)
    assert closed.read_bytes() == content


@pytest.mark.parametrize(
    "line",
    [b"[]", b"7", b"\xff", b"{", b"", b'{"event": "begin"}', b"[" * 200_000, b'{"event":' + b"[" * 200_000],
    ids=lambda line: repr(line[:20]),
)
def test_a_line_of_another_kind_is_refused_with_its_number(closed, line):
    lines = closed.read_bytes().splitlines()
    lines[4] = line
    closed.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(InputError, match=r"ledger.jsonl:5: "):
        Ledger.open(closed, HEADER)


def test_half_of_a_surrogate_pair_in_a_header_is_refused(path):
    path.write_bytes(LedgerSummary().entry_line("open", header={"arm": "\ud800"}) + b"\n")
    with pytest.raises(InputError, match=r"ledger\.jsonl:1: the line is not JSON"):
        verify_ledger(path, require_closed=False)


def test_an_unclosed_or_absent_ledger_is_refused(path):
    with pytest.raises(InputError, match="cannot be read"):
        verify_ledger(path)
    run_rounds(Ledger.open(path, HEADER), 1)
    with pytest.raises(PrivacyRefusal, match="is not closed"):
        verify_ledger(path)


def test_a_ledger_shorter_than_its_checkpoint_is_refused(path):
    ledger = Ledger.open(path, HEADER)
    run_rounds(ledger, 1)
    ledger.begin(2)
    old = path.read_bytes()
    note = ledger.length, ledger.head
    ledger.commit(2, 1, theta(2))
    Ledger.open(path, HEADER).confirm(*note)

    path.write_bytes(b"".join(old.splitlines(keepends=True)[:-1]))
    with pytest.raises(PrivacyRefusal, match="does not contain what its newest checkpoint"):
        Ledger.open(path, HEADER).confirm(*note)


def test_another_ledger_than_the_checkpoints_is_refused(path):
    ledger = Ledger.open(path, HEADER)
    run_rounds(ledger, 1)
    note = ledger.length, ledger.head
    path.unlink()
    other = Ledger.open(path, HEADER)
    other.commit(1, other.begin(1), theta(9))
    with pytest.raises(PrivacyRefusal):
        other.confirm(*note)


KILLED = """
import sys
from promptdp.privacy.ledger import Ledger
ledger = Ledger.open(sys.argv[1], {})
while True:
    t = ledger.next_round()
    attempt = ledger.begin(t)
    print("begun", ledger.begun_attempts, flush=True)
    ledger.commit(t, attempt, "a" * 64)
    print("committed", t, flush=True)
"""


def test_a_killed_writer_loses_no_line_it_was_told_is_written(path):
    for life in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
        )
        writer.stdout.readline()
        time.sleep(0.01 + 0.013 * life)
        writer.kill()
        told = [
            line.split() for line in writer.stdout.read().splitlines(keepends=True) if line.endswith("\n")
        ]
        writer.wait()
        summary = Ledger.open(path, {}).summary
        assert verify_ledger(path, require_closed=False) == summary
        assert summary.rounds >= max([int(t) for word, t in told if word == "committed"], default=0)
        assert summary.begun_attempts >= max([int(k) for word, k in told if word == "begun"], default=0)
    assert summary.begun_attempts >= summary.rounds > 5
