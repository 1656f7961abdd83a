"""The record of the comparison as a page to read."""

from collections import Counter
from typing import Any

WORDS = {"agrees": "agrees", "differs": "**differs**", "exception": "exception"}


def page(record: dict[str, Any]) -> str:
    """A Markdown page: what was checked, what differs and why, what nothing judges, ours beside theirs."""
    counts = record["counts"]
    lines = [
        f"# The published values, checked with the code of study {record['study']}",
        "",
        summary(counts),
        "",
        record["settings"],
        "",
        "A value agrees if ours can be printed as it is. Where ours follows from other printed numbers it is "
        "known to within their rounding.",
        "",
        "| place | values | judged | checks | agree | exceptions | differ |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *_by_place(record),
    ]
    for verdict, title in (("differs", "What differs"), ("exception", "Exceptions")):
        chosen = [one for one in record["findings"] if one["verdict"] == verdict]
        if chosen:
            lines += ["", f"## {title}", "", *_findings(chosen)]
    lines += ["", "## Every check", "", *_findings(record["findings"])]
    lines += [
        "",
        "## Values that nothing judges",
        "",
        "Printed once, and implied by no other value; some of the others are judged by them.",
        "",
        "| place | row | column | printed |",
        "| --- | --- | --- | --- |",
        *(_row(one["source"], one["row"], one["column"], one["published"]) for one in record["unjudged"]),
        "",
        "## Ours beside theirs",
        "",
        record["beside"]["statement"],
    ]
    if record["beside"]["values"]:
        lines += [
            "",
            "| table | row | column | paper | ours | difference |",
            "| ---: | --- | --- | ---: | ---: | ---: |",
            *(_beside(one) for one in record["beside"]["values"]),
        ]
    return "\n".join(lines) + "\n"


def summary(counts: dict[str, int]) -> str:
    """The outcome in one line."""
    return (
        f"checked {counts['judged']} of {counts['published']} published values in {counts['checks']} checks: "
        f"{counts['agree']} agree within the printed rounding, {counts['exceptions']} exceptions, "
        f"{counts['differ']} differ"
    )


def _by_place(record: dict[str, Any]) -> list[str]:
    published = Counter(record["places"])
    judged: dict[str, set[tuple[str, ...]]] = {}
    verdicts: Counter[tuple[str, str]] = Counter()
    for one in record["findings"]:
        judged.setdefault(one["source"], set()).add((one["table"], one["row"], one["column"]))
        verdicts[one["source"], one["verdict"]] += 1
    return [
        _row(
            place,
            number,
            len(judged.get(place, ())),
            sum(verdicts[place, verdict] for verdict in WORDS),
            *(verdicts[place, verdict] for verdict in ("agrees", "exception", "differs")),
        )
        for place, number in published.items()
    ]


def _findings(findings: list[dict[str, Any]]) -> list[str]:
    return [
        "| place | row | column | printed | ours | check | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            _row(
                one["source"],
                one["row"],
                one["column"],
                one["published"],
                one["ours"],
                one["check"],
                WORDS[one["verdict"]] + (f": {one['reason']}" if "reason" in one else ""),
            )
            for one in findings
        ),
    ]


def _beside(one: dict[str, Any]) -> str:
    found = one["ours"] is not None
    ours, difference = (f"{one['ours']:.6g}", f"{one['difference']:+.3g}") if found else ("–", "–")
    return _row(one["table"], one["row"], one["column"], one["published"], ours, difference)


def _row(*cells: object) -> str:
    texts = (str(cell).replace("|", r"\|") for cell in cells)  # a bar would end the cell
    return f"| {' | '.join(texts)} |"
