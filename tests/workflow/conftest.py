"""A copy of the repository's tracked files in which the small study can be run, killed and looked at."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = "tests/workflow/small.yaml"


class Checkout:
    """A working copy with its own results/ and private/."""

    def __init__(self, folder: Path):
        self.folder = folder
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder / "src")}

    def command(self, *arguments, study=SMALL, **config) -> list[str]:
        settings = [f"{key}={value}" for key, value in {"study": study, **config}.items()]
        return ["snakemake", *map(str, arguments), "--cores", "2", "--config", *settings]

    def snakemake(self, *arguments, **config) -> subprocess.CompletedProcess:
        return subprocess.run(
            self.command(*arguments, **config),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )

    def start(self, *command) -> subprocess.Popen:
        """Start a command as the leader of a process group of its own."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def jobs(self, *targets, **config) -> dict[str, int]:
        """How many jobs of each rule a dry run would start, from the table that Snakemake prints."""
        result = self.snakemake(*targets, "--dry-run", "--quiet", "rules", "host", **config)
        assert result.returncode == 0, result.stdout + result.stderr
        text = result.stdout + result.stderr
        counts = dict(re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE))
        assert counts or "Nothing to be done" in text, text
        return {rule: int(count) for rule, count in counts.items() if rule != "total"}


def kill_group(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    return Checkout(copy_to(tmp_path / "checkout"))


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Checkout:
    """The small study, run to its end once for all tests that only look at it."""
    shared = Checkout(copy_to(tmp_path_factory.mktemp("finished") / "checkout"))
    result = shared.snakemake("all")
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return shared


def copy_to(folder: Path) -> Path:
    """Copy every file git tracks, as it is in the working tree."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in names.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder
