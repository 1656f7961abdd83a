import subprocess
import sys

from promptdp.privacy.zone import run_lock

HOLDER = """
import sys
from promptdp.privacy.zone import run_lock
with run_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(path):
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_second_run_waits_for_the_first_and_says_so_once(tmp_path):
    first = hold(tmp_path / "lock")
    assert first.stdout.readline() == "held\n"
    second = hold(tmp_path / "lock")
    assert "waiting" in second.stderr.readline()
    assert second.poll() is None
    first.stdin.close()
    assert second.stdout.readline() == "held\n"
    second.stdin.close()
    assert (first.wait(), second.wait(), second.stderr.read()) == (0, 0, "")


def test_a_killed_run_holds_nothing(tmp_path, capsys):
    first = hold(tmp_path / "lock")
    first.stdout.readline()
    first.kill()
    first.wait()
    with run_lock(tmp_path / "lock"):
        assert capsys.readouterr().err == ""
