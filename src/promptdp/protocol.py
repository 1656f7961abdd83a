"""The protocol: dated choices of an experiment as files that later steps depend on (Table VIII).

A decision freezes files by their SHA-256 and fixes settings of the study; it names the outputs that had been
seen when it was taken, and the jobs that must follow it. Its stamp is a plain file, equal whenever it is made
again from equal files: made from those outputs, an input of those jobs, so that the workflow's graph carries
the order of the protocol. A stamp proves the order of one execution, not when its authors decided.
"""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import JsonValue, ValidationError

from promptdp.decisions import Decision, Protocol, setting
from promptdp.errors import InputError
from promptdp.files import parse_json, sha256_file, write_json, write_text
from promptdp.study import Study, load_study, read_yaml
from promptdp.timeline import road


def load_protocol(path: str | Path) -> Protocol:
    """Read and validate a protocol file.

    Raises:
        InputError: the file is missing or malformed, or a key is unknown.
    """
    try:
        return Protocol.model_validate(read_yaml(path))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        message = f"{key}: {first['msg'].removeprefix('Value error, ')}".removeprefix(": ")
        raise InputError(f"{path}: {message}; see config/protocol/micro.yaml") from None


def read_lock(path: str | Path) -> dict[str, str]:
    """The hashes of a lock file (the format of `sha256sum -c`) as {file: sha256}.

    Raises:
        InputError: the file can't be read, or a line is not `<64 hexadecimal digits>  <file>`.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); freeze its files first") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text; freeze its files again") from None
    hashes = {}
    for number, line in enumerate(lines, 1):
        match = re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line)
        if not match:
            raise InputError(f"{path}:{number}: not a line of sha256sum; freeze its files again")
        hashes[match[2]] = match[1]
    return hashes


def frozen_files(decision: Decision) -> dict[str, str | None]:
    """Every file a decision freezes, directly or through a lock, with the hash it must have."""
    files = dict(decision.freezes)
    for name in decision.freezes:
        if name.endswith(".sha256"):
            files |= read_lock(name)
    return files


def check_decision(name: str, protocol_path: str | Path) -> dict[str, str | None]:
    """Check that what a decision fixes is as it was, and return its frozen files with their hashes.

    Raises:
        InputError: the decision is unknown, its order can't be, a file is missing or changed since it was
            frozen, or a setting is another than the decision's.
    """
    protocol, decision = _decision(name, protocol_path)
    files = frozen_files(decision)
    for file, digest in files.items():
        if sha256_file(file) != digest:
            raise InputError(f"{file}: {_changed(name, decision, protocol_path, file)}")
    study = _study(protocol, protocol_path)
    for key, value in decision.settings.items():
        if study and setting(study, key) != value:
            raise InputError(f"{protocol.study}: {key}: {_changed(name, decision, protocol_path)}")
    return files


def decide(
    name: str, protocol_path: str | Path, stamp: str | Path, evidence: Sequence[str | Path] = ()
) -> None:
    """Check what a decision fixes and write its stamp, which holds no clock.

    Args:
        evidence: the files that the decision came after, in any order.

    Raises:
        InputError: as `check_decision`, or `evidence` is not as many files as had been seen.
    """
    files = check_decision(name, protocol_path)
    protocol, decision = _decision(name, protocol_path)
    study = _study(protocol, protocol_path)
    count = len(decision.seen_files()) + (len(decision.seen_jobs(road(study))) if study else 0)
    if len(set(map(str, evidence))) != count:
        raise InputError(
            f"--evidence: the decision '{name}' came after {count} files, not {len(evidence)}; "
            "give each once, or make the stamp with the workflow"
        )
    amendments = [a for a in read_amendments(protocol_path) if a["decision"] == name]
    write_json(
        stamp,
        {
            "schema": "promptdp/decision/1",
            "decision": name,
            **decision.model_dump(mode="json", exclude={"freezes"}),
            "reenacts": protocol.reenacts,
            "frozen": files,
            "evidence": {str(path): sha256_file(path) for path in evidence},
            "amendments": amendments,
        },
    )


def amend(name: str, protocol_path: str | Path, reason: str) -> None:
    """Freeze a decision's files, and fix its settings, as they are now; the reason goes to a log beside.

    Raises:
        InputError: the decision is unknown, or a file that it freezes or a setting that it fixes is missing.
    """
    protocol, decision = _decision(name, protocol_path)
    study = _study(protocol, protocol_path)
    text = Path(protocol_path).read_text(encoding="utf-8")
    start = re.search(rf"^  {name}:$", text, re.MULTILINE)
    if start is None:
        raise InputError(f"{protocol_path}: write '  {name}:' on a line of its own")
    following = re.search(r"^  \S", text[start.end() :], re.MULTILINE)
    end = start.end() + following.start() if following else len(text)
    head, body, tail = text[: start.end()], text[start.end() : end], text[end:]
    now: dict[str, JsonValue] = {file: sha256_file(file) for file in decision.freezes}
    now |= {key: setting(study, key) for key in decision.settings if study}
    old = {**decision.freezes, **decision.settings}
    for key, value in now.items():
        line = rf"^(\s+{re.escape(key)}:).*$"
        where = re.search(line, body, re.MULTILINE)
        if where is None or len(re.findall(line, body, re.MULTILINE)) > 1:
            what = "HASH" if key in decision.freezes else "VALUE"
            raise InputError(
                f"{protocol_path}: write '{key}: {what}' once, on a line of its own under {name}"
            )
        written = value if key in decision.freezes else _on_a_line(value)
        body = f"{body[: where.end(1)]} {written}{body[where.end() :]}"
    changed = {key: {"from": old[key], "to": value} for key, value in now.items() if value != old[key]}
    if any(key in decision.settings or decision.freezes[key] is not None for key in changed):
        entries = [*read_amendments(protocol_path), {"decision": name, "reason": reason, "changed": changed}]
        log = "".join(json.dumps(entry, sort_keys=True) + "\n" for entry in entries)
        write_text(_amendment_log(protocol_path), log)
    write_text(protocol_path, head + body + tail)


def read_amendments(protocol_path: str | Path) -> list[dict[str, Any]]:
    """The amendments of a protocol, oldest first: decision, reason, and what changed from what to what."""
    log = _amendment_log(protocol_path)
    if not log.is_file():
        return []
    return [parse_json(line, log, number) for number, line in enumerate(log.read_bytes().splitlines(), 1)]


def _decision(name: str, protocol_path: str | Path) -> tuple[Protocol, Decision]:
    protocol = load_protocol(protocol_path)
    if name not in protocol.decisions:
        known = ", ".join(protocol.decisions)
        raise InputError(f"{protocol_path}: no decision is named '{name}'; there are {known}")
    return protocol, protocol.decisions[name]


def _study(protocol: Protocol, protocol_path: str | Path) -> Study | None:
    """The study that a protocol names, after a check of their order."""
    if protocol.study is None:
        return None
    study = load_study(protocol.study)
    try:
        protocol.check(study)
    except InputError as error:
        raise InputError(f"{protocol_path}: {error}") from None
    return study


def _changed(name: str, decision: Decision, protocol_path: str | Path, file: str | None = None) -> str:
    """What is wrong with something that changed since a decision, and the commands that amend it."""
    amending = f"promptdp decide {name} --protocol {protocol_path} --amend REASON"
    if file is not None and file not in decision.freezes:
        locks = [lock for lock in decision.freezes if lock.endswith(".sha256") and file in read_lock(lock)]
        amending = " && ".join([*(f"promptdp freeze {Path(lock).stem}" for lock in locks), amending])
    return f"is not what the decision '{name}' froze; restore it, or record an amendment: {amending}"


def _amendment_log(protocol_path: str | Path) -> Path:
    return Path(protocol_path).with_suffix(".amendments.jsonl")


def _on_a_line(value: JsonValue) -> str:
    """A setting as YAML on one line. JSON would not do: YAML takes its 5e-06 for a text."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return yaml.safe_dump([value], default_flow_style=True, width=math.inf)[1:-2]
