"""Reading a filled sheet back: how often the reader and the rule agree, and how often they could differ."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from promptdp.assurance.extraction_audit.draw import SCHEMA as KEY_SCHEMA
from promptdp.assurance.extraction_audit.outputs import json_text, require_distinct, write_together
from promptdp.assurance.extraction_audit.report import as_markdown
from promptdp.assurance.extraction_audit.sheet import NO_ANSWER, Answer, Asks, read_sheet
from promptdp.errors import InputError
from promptdp.files import read_object, sha256_file
from promptdp.forms import Form, validated
from promptdp.scoring import RULES
from promptdp.scoring.freeze import digest

SCHEMA = "promptdp/extraction-audit/1"
CONFIDENCE = 0.95
YES_NO = {"yes": True, "y": True, "no": False, "n": False}


class _Rule(Form):
    scorer: str
    scorer_digest: str


class _Run(Form):
    arm: str
    seed: int


class _Extracted(Form):
    strict: str | None
    robust: str | None


class _Correct(Form):
    strict: bool
    robust: bool


class _Item(Form):
    item: int
    sha256: str
    problem_id: str
    runs: list[_Run]
    gold: str
    extracted: _Extracted
    correct: _Correct


class _Key(Form):
    """What must be known of a sheet to judge its answers."""

    study: str
    evaluation_set: str
    strict: _Rule
    robust: _Rule
    changed_responses: int
    distinct: int
    sampling: str
    seed: int
    asks: Asks
    items: list[_Item]


def read_audit(
    sheet: Path, key: Path, reader: str, out: Path, out_page: Path | None = None
) -> dict[str, Any]:
    """Compare a filled sheet with its key, write what was found, and return its counts.

    An error of the rule is a reading that differs from the extraction. It is a false positive where the rule
    credits the response though the reading is not the reference answer, and a false negative where it doesn't
    though the reading is. A sheet that shows the candidate can't tell of false negatives.

    Args:
        sheet: the sheet of `draw_sheet`, filled in; blank items are counted as unanswered.
        key: its key.
        reader: who filled it in.
        out: the report, JSON.
        out_page: the report as a page, Markdown.

    Raises:
        InputError: a file is missing or malformed, the sheet is not of this key, an item is altered, missing
            or stands twice, an answer can't be read, or there is none.
    """
    require_distinct({"SHEET": sheet, "--key": key, "--out": out, "--page": out_page})
    reader = " ".join(reader.split())
    if not reader:
        raise InputError("--reader: is blank; say who filled the sheet in")
    content = validated(_Key, read_object(key, KEY_SCHEMA), key)
    if content["robust"]["scorer"] not in RULES:
        raise InputError(f"{key}: its scorer is unknown; use one of {', '.join(sorted(RULES))}")
    answers = _answers(sheet, key, content)
    found = [
        _outcome(content, item, answer, sheet)
        for item in content["items"]
        if (answer := answers[item["item"]]).answer
    ]
    if not found:
        raise InputError(f"{sheet}: no item is answered; fill in the column {content['asks']}")
    report = _report(content, found) | {
        "reader": reader,
        "sheet_sha256": sha256_file(sheet),
        "key_sha256": sha256_file(key),
    }
    pages = {} if out_page is None else {out_page: as_markdown(report)}
    write_together({out: json_text(report)} | pages)
    return _counts(report)


def _answers(sheet: Path, key: Path, content: Mapping[str, Any]) -> dict[int, Answer]:
    """The rows of the sheet by item, each as it was given, complete and without repetition."""
    digests = {item["item"]: item["sha256"] for item in content["items"]}
    if len(digests) < len(content["items"]):
        raise InputError(f"{key}: an item stands twice; give the key as it was written")
    answers: dict[int, Answer] = {}
    rows = list(read_sheet(sheet, content["asks"]))
    if not any(row.of(digests.get(row.item.number, "")) for row in rows):
        raise InputError(f"{sheet}: is not the sheet of {key}; give the key that was written with it")
    for row in rows:
        number, where = row.item.number, f"{sheet}:{row.line}"
        if number not in digests:
            raise InputError(f"{where}: item {number} is not in {key}; remove the row")
        if number in answers:
            raise InputError(f"{where}: item {number} stands on line {answers[number].line} too; keep one")
        if not row.of(digests[number]):
            raise InputError(f"{where}: the text of item {number} was altered; restore it as it was given")
        answers[number] = row
    if missing := sorted(digests.keys() - answers.keys()):
        raise InputError(f"{sheet}: item {missing[0]} is missing; restore its row, blank if unanswered")
    return answers


def _outcome(content: Mapping[str, Any], item: Mapping[str, Any], row: Answer, sheet: Path) -> dict[str, Any]:
    """What one answered item says of the rule."""
    rule, extracted = content["robust"]["scorer"], item["extracted"]["robust"]
    credited, is_gold = item["correct"]["robust"], None
    if content["asks"] == "consistent":
        if row.answer.casefold() not in YES_NO:
            raise InputError(f"{sheet}:{row.line}: consistent is not yes, no or blank; write one of them")
        agrees = YES_NO[row.answer.casefold()]
        false_positive = credited and not agrees
    else:
        reading = None if row.answer.casefold() == NO_ANSWER else row.answer
        agrees, is_gold = _same(rule, reading, extracted), _same(rule, reading, item["gold"])
        false_positive = credited and not is_gold
    return {
        **{name: item[name] for name in ("item", "problem_id", "runs", "gold")},
        "extracted": extracted,
        "credited": credited,
        "answer": row.answer,
        "note": row.note,
        "agrees": agrees,
        "false_positive": false_positive,
        "false_negative": None if is_gold is None else is_gold and not credited,
    }


def _same(rule: str, reading: str | None, other: str | None) -> bool:
    """Whether a reading and an extraction, or the reference, are one answer to the rule.

    Asked either way round: a rule may take in a reference what it takes in no response, a small letter say.
    """
    if reading is None or other is None:
        return reading is other
    judge = RULES[rule].judge
    return judge(reading, other).correct or judge(other, reading).correct


def _report(content: Mapping[str, Any], found: list[dict[str, Any]]) -> dict[str, Any]:
    credited = [outcome for outcome in found if outcome["credited"]]
    refused = [outcome for outcome in found if not outcome["credited"]]
    answered = {outcome["item"] for outcome in found}
    disagreements = _rate((not outcome["agrees"] for outcome in found), len(found))
    false_negatives = None
    if content["asks"] == "reading":
        false_negatives = _rate((outcome["false_negative"] for outcome in refused), len(refused))
    return {
        "schema": SCHEMA,
        **{
            name: content[name]
            for name in (
                *("study", "evaluation_set", "strict", "robust", "asks"),
                *("changed_responses", "distinct", "sampling", "seed"),
            )
        },
        "judge_digest": digest(content["robust"]["scorer"]),
        "confidence": CONFIDENCE,
        "items": len(content["items"]),
        "answered": len(found),
        "unanswered": [item["item"] for item in content["items"] if item["item"] not in answered],
        "agreements": sum(outcome["agrees"] for outcome in found),
        "disagreements": disagreements,
        "false_positives": _rate((outcome["false_positive"] for outcome in credited), len(credited)),
        "false_negatives": false_negatives,
        "listed": [
            outcome
            for outcome in found
            if not outcome["agrees"] or outcome["false_positive"] or outcome["false_negative"]
        ],
    }


def _rate(errors: Iterable[bool], of: int) -> dict[str, float | int | None]:
    """How many of so many are errors, and an exact one-sided upper bound on their rate (Clopper-Pearson)."""
    count = sum(errors)
    if of == 0:
        return {"errors": 0, "of": 0, "rate": None, "upper": None}
    interval = binomtest(count, of, alternative="less").proportion_ci(CONFIDENCE, method="exact")
    return {"errors": count, "of": of, "rate": count / of, "upper": float(interval.high)}


def _counts(report: Mapping[str, Any]) -> dict[str, Any]:
    errors = {
        name: report[name] and report[name]["errors"]
        for name in ("disagreements", "false_positives", "false_negatives")
    }
    return {
        "answered": report["answered"],
        "unanswered": len(report["unanswered"]),
        "agreements": report["agreements"],
        **errors,
        "error_rate_upper95": report["disagreements"]["upper"],
    }
