"""The pinned environments agree with each other and with what the package asks for."""

import re
import tomllib

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def pins(path) -> dict[str, str]:
    lines = path.read_text().split()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines)
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


def test_the_locks_hold_a_version_of_everything_the_package_asks_for(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    train, dev = pins(root / "envs/train.txt"), pins(root / "envs/dev.txt")
    for locked, asked in (
        (train, project["dependencies"]),
        (dev, project["dependencies"] + project["optional-dependencies"]["dev"]),
    ):
        for requirement in map(Requirement, asked):
            assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_the_developers_environment_contains_the_workflows(root):
    train, dev = pins(root / "envs/train.txt"), pins(root / "envs/dev.txt")
    assert train.items() <= dev.items()


def test_the_conda_environment_is_the_lock_file(root):
    dependencies = yaml.safe_load((root / "envs/train.yaml").read_text())["dependencies"]
    assert {"pip": ["--requirement train.txt"]} in dependencies
