"""A chain as people read it, like parts folded into one line, and as programs do."""

from collections.abc import Iterable, Sequence
from itertools import groupby, takewhile
from typing import Any

from promptdp.files import shown
from promptdp.reporting.provenance.chain import Explanation
from promptdp.reporting.provenance.links import Link

SCHEMA = "promptdp/explanation/1"
STAGES: dict[str, tuple[int, str, tuple[str, ...]]] = {
    "table": (0, "table", ()),
    "figure": (0, "figure", ()),
    "executions": (0, "executions", ()),
    "format": (1, "also as", ()),
    "study": (1, "settings of study", ()),
    "contrast": (1, "contrast", ("evaluation_set", "scorer")),
    "scores": (2, "scores", ("evaluation_set", "scorer")),
    "scorer": (3, "scorer", ("rule",)),
    "lock": (4, "lock", ()),
    "source": (5, "source", ()),
    "records": (3, "evaluation records", ("evaluation_set",)),
    "predictions": (3, "predictions", ("evaluation_set",)),
    "manifest": (4, "manifest", ()),
    "base": (4, "base", ("from",)),
    "base file": (5, "file", ()),
    "adapter": (4, "adapter", ()),
    "run": (5, "run", ("benchmark", "arm")),
    "ledger": (6, "ledger", ()),
    "calibration": (6, "calibration", ("slots", "rounds", "sigma")),
    "training records": (6, "training records", ()),
    "composition": (1, "composition", ("benchmark",)),
    "execution": (1, "kept execution", ()),
    "decision": (1, "decision", ()),
    "frozen": (2, "froze", ()),
    "seen": (2, "came after", ()),
    "file": (1, "file", ()),
}
"""In the order of the page: how deep each kind of link stands, what it is called, and the facts that set its
links apart; links that differ in nothing else share a line."""

ORDER = list(STAGES)


def broken(explanation: Explanation) -> list[Link]:
    """The links that changed or are missing, those nearest to the table first, files before what is none."""
    found = [link for link in explanation.links if link.broken]
    return sorted(found, key=lambda link: (link.file is None, ORDER.index(link.kind)))


def as_json(explanation: Explanation) -> dict[str, Any]:
    """Every link with the places in the list of those that it was made from."""
    place = {id(link): number for number, link in enumerate(explanation.links)}
    first = next(iter(broken(explanation)), None)
    return {
        "schema": SCHEMA,
        "of": str(explanation.of),
        "title": explanation.title,
        "unchanged": first is None,
        "first_broken": first and _subject(first),
        "links": [
            {
                "kind": link.kind,
                "name": link.name,
                "file": link.file and str(link.file),
                "sha256": link.sha256,
                "status": link.status,
                "facts": link.facts,
                "made_from": [place[id(part)] for part in link.made_from],
            }
            for link in explanation.links
        ],
    }


def as_text(explanation: Explanation, every: bool = False) -> str:
    """The chain as an indented page; with `every`, each file on a line of its own.

    A line has the kind, the file or the pattern of several, their status, the first digits of the hash or how
    many files there are, and what they say of themselves.
    """
    lines = []
    for kind, links in groupby(sorted(explanation.links, key=_rank), key=lambda link: link.kind):
        depth, called, _ = STAGES[kind]
        for some in _folded(links, every):
            lines.append(("  " * depth + f"{called}  {_pattern(some)}", *_state(some), _facts(some[0])))
    wide = [max(len(line[column]) for line in lines) for column in range(3)]
    rows = [
        "  ".join([cell.ljust(width) for cell, width in zip(line, wide, strict=False)] + [line[3]]).rstrip()
        for line in lines
    ]
    return "\n".join([*([shown(explanation.title)] if explanation.title else []), *rows])


def verdict(explanation: Explanation) -> str:
    """One line: that nothing changed, or what did first."""
    found = broken(explanation)
    if not found:
        return f"{explanation.of}: nothing that it was made from has changed"
    first, *more = found
    others = f" (and {len(more)} more)" if more else ""
    what = "is missing" if first.status == "missing" else "has changed"
    return f"{_subject(first)}: {what}, and {explanation.of} was made from it as it was{others}"


def _rank(link: Link) -> int:
    return ORDER.index(link.kind)


def _subject(link: Link) -> str:
    return shown(f"{link.kind} {link.name}" if link.file is None else str(link.file))


def _folded(links: Iterable[Link], every: bool) -> Iterable[list[Link]]:
    """Links of one kind in parts that share a line, in the order in which each part was met first."""
    parts: dict[Any, list[Link]] = {}
    for link in links:
        apart = [str(link.facts.get(key)) for key in STAGES[link.kind][2]]
        parts.setdefault((*apart, link.status, id(link) if every else None), []).append(link)
    return parts.values()


def _pattern(links: Sequence[Link]) -> str:
    """What a line is about: the file or name of one link, or the pattern that the files of several share."""
    if len(links) == 1 or links[0].file is None:
        return ", ".join(shown(str(link.file or link.name)) for link in links)
    split = [str(link.file).split("/") for link in links]
    if len({len(parts) for parts in split}) == 1:
        return shown("/".join(_shared(names) for names in zip(*split, strict=True)))
    same = takewhile(lambda names: len(set(names)) == 1, zip(*split, strict=False))
    start = [names[0] for names in same] or [f"{{{','.join(sorted({parts[0] for parts in split}))}}}"]
    return shown("/".join([*start, "**"]))


def _shared(names: Sequence[str]) -> str:
    """A part of a path: what several names begin and end with, and a star for what differs."""
    if len(set(names)) == 1:
        return names[0]
    head = _beginning(names)
    tail = _beginning([name[len(head) :][::-1] for name in names])[::-1]
    return f"{head}*{tail}"


def _beginning(names: Sequence[str]) -> str:
    letters = zip(*names, strict=False)
    return "".join(some[0] for some in takewhile(lambda some: len(set(some)) == 1, letters))


def _state(links: Sequence[Link]) -> tuple[str, str]:
    first = links[0]
    status = first.status.upper() if first.broken else first.status
    many = len(links) > 1 and first.file is not None
    return status, f"{len(links)} files" if many else (first.sha256 or "")[:12]


def _facts(link: Link) -> str:
    """What the links of a line say of themselves, as far as their paths don't."""
    facts = link.facts
    words: list[Any] = []
    match link.kind:
        case "run" if facts:
            mechanism = facts["mechanism"]
            budget = (
                f"q={mechanism['q']} sigma={mechanism['sigma']:.6g} T={mechanism['T']} "
                f"delta={mechanism['delta']:.4g} epsilon={mechanism['epsilon']:.6g}"
                if mechanism
                else "no noise"
            )
            words = [budget, facts["objective"], None if facts["code_here"] else "trained by other code"]
        case "calibration" if facts:
            words = [f"sigma={facts['sigma']:.6g} epsilon={facts['epsilon_pld']:.6g}"]
        case "composition" if facts:
            words = [f"{facts['runs']} private runs, epsilon={facts['epsilon']:.6g}"]
        case "predictions":
            versions = " ".join(f"{name} {version}" for name, version in facts["versions"].items())
            words = [facts["decoding"], facts["dtype"], facts["device"], versions]
        case "base" if facts:
            words = [facts["from"], facts["revision"], facts["dtype"]]
    return shown(", ".join(str(word) for word in words if word))
