"""The audit's record as a page to read."""

from typing import Any

ORDER = ("agrees", "differs")


def page(record: dict[str, Any]) -> str:
    """A Markdown page: all counts at a glance, the letters of multiple choice, the differences by kind."""
    versions = ", ".join(f"{package} {number}" for package, number in sorted(record["versions"].items()))
    limits = record["limits"]
    lines = [
        f"# A second opinion on the scores of study {record['study']}",
        "",
        record["statement"],
        "",
        f"- asked: {versions}; math-verify rounds decimals to six places, the verdicts are exact",
        f"- one question takes {limits['seconds']} s and {limits['megabytes']} MB at most, about a text of "
        f"{limits['characters']} characters at most",
        f"- code of this audit: `{record['code_sha256']}`",
        "",
        "## Verdicts",
        "",
        "| evaluation set | scorer | responses | credited | answer, but another | stopped at a limit |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_verdicts(rule) for rule in record["rules"]),
        "",
        "## Opinions",
        "",
        "Each distinct question is asked once; in brackets, the responses that it stands for.",
        "",
        "| evaluation set | scorer | opinion of | agrees | differs | none, and why |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_opinion(rule, name, said) for rule in record["rules"] for name, said in rule["opinions"].items()),
    ]
    for rule in record["rules"]:
        if any("recognised_without_second_letter" in run for run in rule["runs"]):
            lines += _letters(rule)
    for rule in record["rules"]:
        for name, said in rule["opinions"].items():
            if said["differences"]:
                lines += ["", f"## {rule['evaluation_set']}, {rule['scorer']}: where {name} differs"]
            for kind in said["differences"]:
                lines += _kind(name, kind)
    return "\n".join(lines) + "\n"


def _verdicts(rule: dict[str, Any]) -> str:
    reasons = rule["reasons"]
    counts = (reasons.get("equal", 0), reasons.get("different", 0), reasons.get("limit", 0))
    return _row(rule["evaluation_set"], rule["scorer"], rule["responses"], *counts)


def _opinion(rule: dict[str, Any], name: str, said: dict[str, Any]) -> str:
    questions, responses = said["questions"], said["responses"]
    none = (f"{why} {n} ({responses['none'][why]})" for why, n in questions["none"].items())
    counts = (f"{questions[outcome]} ({responses[outcome]})" for outcome in ORDER)
    return _row(rule["evaluation_set"], rule["scorer"], name, *counts, ", ".join(none) or "-")


def _letters(rule: dict[str, Any]) -> list[str]:
    return [
        "",
        f"## {rule['evaluation_set']}, {rule['scorer']}: letters recognised and credited",
        "",
        "The stricter rule takes no answer from a response in which a second option letter stands anywhere.",
        "",
        "| arm | seed | responses | recognised | credited | stricter: recognised | stricter: credited |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            _row(
                run["arm"],
                run["seed"],
                run["responses"],
                run["recognised"],
                run["credited"],
                run["recognised_without_second_letter"],
                run["credited_without_second_letter"],
            )
            for run in rule["runs"]
        ),
    ]


def _kind(name: str, kind: dict[str, Any]) -> list[str]:
    ours = "credits" if kind["credited"] else f"gives no credit ({kind['reason']})"
    theirs = "does not" if kind["credited"] else "would"
    listed = kind["listed"]
    return [
        "",
        f"### The scorer {ours}, {name} {theirs}: {kind['questions']} ({kind['responses']} responses)",
        "",
        *(_difference(entry) for entry in listed),
        *([f"- and {kind['questions'] - len(listed)} more"] if kind["questions"] > len(listed) else []),
    ]


def _difference(entry: dict[str, Any]) -> str:
    where = "; ".join(f"{_code(one['problem_id'])} {one['arm']} seed {one['seed']}" for one in entry["some"])
    more = entry["responses"] - len(entry["some"])
    read = "nothing" if entry["extracted"] is None else _code(entry["extracted"])
    return f"- read {read}, reference {_code(entry['gold'])}: {where}{f'; {more} more' if more else ''}"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _code(text: str) -> str:
    """A text of anyone's making as a piece of code on one line, which no text can end."""
    line = "".join(char if char.isprintable() else " " for char in text).replace("`", "'")
    return f"`{line}`" if line.strip() else "(blank)"
