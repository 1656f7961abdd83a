"""The protocol: dated choices of an experiment as files that later steps depend on (Table VIII).

A decision freezes files by their SHA-256 and names the rules that must follow it. Its stamp is a plain file,
equal whenever it is made again from equal files, so that the workflow's graph carries the order of the
protocol. A stamp proves the order of one execution, not when its authors decided.
"""

import json
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from promptdp.errors import InputError
from promptdp.files import parse_json, sha256_file, write_json, write_text
from promptdp.study import Name, Settings, read_yaml


class Decision(Settings):
    """One choice: what was decided, the files it freezes with their hashes, the rules that must follow it.

    A decision with a `scorer` gates only the jobs that use that scorer. A frozen file whose name ends in
    `.sha256` is a lock: every file it lists is frozen too.
    """

    statement: str
    freezes: dict[str, str | None] = Field(min_length=1)
    before: tuple[Literal["records_eval", "train", "score"], ...] = Field(min_length=1)
    scorer: Name | None = None


class Protocol(Settings):
    """The decisions of a study by name."""

    decisions: dict[Name, Decision]

    def gates(self, rule: str, scorer: str | None = None) -> list[str]:
        """The decisions that must be stamped before a job of `rule` runs, in the protocol's order."""
        return [
            name
            for name, decision in self.decisions.items()
            if rule in decision.before and decision.scorer in (None, scorer)
        ]


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
        raise InputError(f"{path}: {key}: {first['msg']}; see config/protocol/micro.yaml") from None


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


def decide(name: str, protocol_path: str | Path, stamp: str | Path) -> None:
    """Check a decision's frozen files and write its stamp, which holds no clock.

    Raises:
        InputError: the decision is unknown, or a file is missing or changed since it was frozen.
    """
    decision = _decision(name, protocol_path)
    files = frozen_files(decision)
    for file, digest in files.items():
        if sha256_file(file) != digest:
            raise InputError(
                f"{file}: is not what the decision '{name}' froze; restore it, or record an amendment: "
                f"promptdp decide {name} --protocol {protocol_path} --amend REASON"
            )
    amendments = [a for a in _amendments(protocol_path) if a["decision"] == name]
    write_json(
        stamp,
        {
            "schema": "promptdp/decision/1",
            "decision": name,
            "statement": decision.statement,
            "frozen": files,
            "before": list(decision.before),
            "amendments": amendments,
        },
    )


def amend(name: str, protocol_path: str | Path, reason: str) -> None:
    """Freeze a decision's files as they are now: new hashes in the protocol file, the reason in a log beside.

    Raises:
        InputError: the decision is unknown, or a file it freezes is missing.
    """
    decision = _decision(name, protocol_path)
    text = Path(protocol_path).read_text(encoding="utf-8")
    start = re.search(rf"^  {name}:$", text, re.MULTILINE)
    if start is None:
        raise InputError(f"{protocol_path}: write '  {name}:' on a line of its own")
    following = re.search(r"^  \S", text[start.end() :], re.MULTILINE)
    end = start.end() + following.start() if following else len(text)
    head, body, tail = text[: start.end()], text[start.end() : end], text[end:]
    changed = {}
    for file, old in decision.freezes.items():
        new = sha256_file(file)
        body, found = re.subn(rf"^(\s+{re.escape(file)}:).*$", rf"\1 {new}", body, flags=re.MULTILINE)
        if found != 1:
            raise InputError(f"{protocol_path}: write '{file}: HASH' once, on a line of its own under {name}")
        if new != old:
            changed[file] = {"from": old, "to": new}
    if any(change["from"] is not None for change in changed.values()):
        log = _amendment_log(protocol_path)
        entries = [*_amendments(protocol_path), {"decision": name, "reason": reason, "changed": changed}]
        write_text(log, "".join(json.dumps(entry, sort_keys=True) + "\n" for entry in entries))
    write_text(protocol_path, head + body + tail)


def _decision(name: str, protocol_path: str | Path) -> Decision:
    decisions = load_protocol(protocol_path).decisions
    if name not in decisions:
        raise InputError(f"{protocol_path}: no decision is named '{name}'; there are {', '.join(decisions)}")
    return decisions[name]


def _amendment_log(protocol_path: str | Path) -> Path:
    return Path(protocol_path).with_suffix(".amendments.jsonl")


def _amendments(protocol_path: str | Path) -> list[dict[str, Any]]:
    log = _amendment_log(protocol_path)
    if not log.is_file():
        return []
    return [parse_json(line, log, number) for number, line in enumerate(log.read_bytes().splitlines(), 1)]
