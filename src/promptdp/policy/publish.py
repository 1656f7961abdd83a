"""The public base of a study: made once, hashed, and read by every arm."""

import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from promptdp.errors import InputError
from promptdp.files import sha256_file, write_json
from promptdp.policy.pretrain import train_public_base
from promptdp.study import Study

VERSIONS = ("torch", "transformers", "tokenizers")


def publish_base(study: Study, out: Path, manifest: Path, progress: Callable[[str], None]) -> None:
    """Train the worlds' base or copy the checkpoint into the folder `out`, and write its manifest.

    A half-written folder of an interrupted attempt is made again from nothing.

    Raises:
        InputError: the checkpoint is no folder of this machine.
    """
    fresh = out.with_name(f".{out.name}.making")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    if study.base.train is not None:
        train_public_base(study.base.train, fresh, progress)
    else:
        checkpoint = Path(str(study.base.checkpoint))
        if not checkpoint.is_dir():
            raise InputError(f"{checkpoint}: base.checkpoint is no folder; give a Hugging Face model folder")
        shutil.copytree(checkpoint, fresh, dirs_exist_ok=True)
    shutil.rmtree(out, ignore_errors=True)
    fresh.rename(out)
    write_json(
        manifest,
        {
            "schema": "promptdp/base/1",
            "base": study.base.model_dump(mode="json"),
            "dtype": study.dtype,
            "files": {str(p.relative_to(out)): sha256_file(p) for p in sorted(out.rglob("*")) if p.is_file()},
            "versions": {package: version(package) for package in VERSIONS},
        },
    )
