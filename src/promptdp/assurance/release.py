"""A release: a folder that holds a private run's adapter and what is needed to check it, and nothing else."""

import os
import shutil
from pathlib import Path

from promptdp.assurance.certificate import rendered
from promptdp.assurance.check import FILES, check_budgets, check_files
from promptdp.assurance.page import CERTIFICATE, PAGE, page
from promptdp.assurance.published import run_paths
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import atomic, read_bytes
from promptdp.policy.folders import check_replaceable, replace_folder


def release(run: Path, certificate: Path, out: Path) -> None:
    """Build the release of a finished run, the whole folder or nothing.

    The check that a stranger would run must accept it first.

    Args:
        run: the run's public folder.
        certificate: its certificate.
        out: the release's folder; an earlier release there is replaced.

    Raises:
        InputError: a file can't be read, or `out` holds something else than a release.
        PrivacyRefusal: the run may not be released, or its files, its certificate or its budget don't hold.
    """
    paths = run_paths(run) | {CERTIFICATE: certificate}
    for path in paths.values():
        read_bytes(path)
    check_replaceable(out, FILES)
    try:
        published, stated = check_files(paths)
        check_budgets(published, stated, certificate)
    except InputError as error:
        raise PrivacyRefusal(
            f"{run}: is not released: {error}; if the certificate is another run's, make this run's with "
            "`promptdp certificate`"
        ) from None
    fresh = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        content = published.files | {CERTIFICATE: rendered(stated).encode(), PAGE: page(stated).encode()}
        for name in FILES:
            with atomic(fresh / name) as temporary:
                temporary.write_bytes(content[name])
        replace_folder(out, fresh, FILES)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
