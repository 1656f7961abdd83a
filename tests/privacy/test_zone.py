import os
import stat
import subprocess
import sys

import pytest

from promptdp.errors import InputError
from promptdp.privacy.zone import private_directory, run_lock


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_every_folder_made_is_its_owners_alone(tmp_path, umask):
    before = os.umask(umask)
    try:
        made = private_directory(tmp_path / "private" / "micro" / "recovery")
    finally:
        os.umask(before)
    assert [mode(folder) for folder in (made, *made.parents[:2])] == [0o700] * 3


def test_a_folder_that_others_could_read_is_closed_to_them(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    private_directory(folder)
    assert mode(folder) == 0o700


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be a private folder"):
        private_directory(tmp_path / "file" / "folder")


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
