"""The verification record as a page to read."""

from typing import Any

from promptdp.assurance.verification.chance import FAMILY_WISE

WORDS = {"pass": "pass", "fail": "**FAIL**", "measured": "measured"}


def page(record: dict[str, Any]) -> str:
    """A Markdown page: the outcome, all rows at a glance, then what each claims and how it was measured."""
    rows = record["rows"]
    judged = [row for row in rows if row["verdict"] != "measured"]
    passed = sum(row["verdict"] == "pass" for row in judged)
    versions = ", ".join(f"{package} {number}" for package, number in sorted(record["versions"].items()))
    lines = [
        f"# Verification of study {record['study']}",
        "",
        f"{passed} of {len(judged)} judged rows pass; {len(rows) - len(judged)} more report a value.",
        "Every check runs the production code on public synthetic records; no private record is read.",
        f"All rows that judge fresh randomness together fail true code with probability {FAMILY_WISE:g}.",
        "",
        f"- base: `{record['base_sha256']}`",
        f"- code that trains: `{record['training_code_sha256']}` (`code_sha256` in the manifest of a run)",
        f"- code of this suite: `{record['code_sha256']}`",
        f"- with {versions}",
        "",
        "| check | tolerance | measured | verdict |",
        "| --- | --- | --- | --- |",
        *(_at_a_glance(row) for row in rows),
    ]
    for row in rows:
        lines += [
            "",
            f'<a id="{row["id"]}"></a>',
            "",
            f"## {row['title']}",
            "",
            f"*Claim* ({row['source']}). {row['claim']}",
            "",
            f"*Measured*. {row['method']}",
            "",
            f"Tolerance `{row['tolerance']}`, measured `{_shown(row['measured'])}`: {WORDS[row['verdict']]}.",
        ]
    return "\n".join(lines) + "\n"


def _at_a_glance(row: dict[str, Any]) -> str:
    verdict = WORDS[row["verdict"]]
    measured = _shown(row["measured"]).replace("|", r"\|")  # a bar would end the cell
    return f"| [{row['title']}](#{row['id']}) | {row['tolerance']} | {measured} | {verdict} |"


def _shown(value: float | int | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("`", "'")
