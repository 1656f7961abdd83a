"""The public base of a study: made once, hashed, and read by every arm."""

import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from promptdp.errors import InputError
from promptdp.files import sha256_file, write_json
from promptdp.policy.folders import check_replaceable, replace_folder
from promptdp.policy.pretrain import train_public_base

if TYPE_CHECKING:
    from promptdp.study import Study

VERSIONS = ("torch", "transformers", "tokenizers")
FILES = {
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
}
"""What the folder of a base trained on the worlds holds."""


def publish_base(study: "Study", out: Path, manifest: Path, progress: Callable[[str], None]) -> None:
    """Train the worlds' base or copy the checkpoint into the folder `out`, and write its manifest.

    A half-written folder of an interrupted attempt is made again from nothing.

    Raises:
        InputError: the checkpoint is no folder of this machine, or `out` holds a file that a base doesn't.
    """
    names = set(FILES)
    checkpoint = Path(str(study.base.checkpoint))
    if study.base.train is None:
        if not checkpoint.is_dir():
            raise InputError(f"{checkpoint}: base.checkpoint is no folder; give a Hugging Face model folder")
        names |= {str(path.relative_to(checkpoint)) for path in checkpoint.rglob("*")}
    check_replaceable(out, names)
    fresh = out.with_name(f".{out.name}.making")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    if study.base.train is not None:
        train_public_base(study.base.train, fresh, progress)
    else:
        shutil.copytree(checkpoint, fresh, dirs_exist_ok=True)
    replace_folder(out, fresh, names)
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
