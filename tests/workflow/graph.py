"""The graph of files that Snakemake would make, as a dry run prints it, and the protocol's order in it.

Nothing of promptdp is used here: protocol and study are plain YAML, files are known by their names.
"""

import re
from dataclasses import dataclass, field
from functools import cache

JOB = re.compile(r"^(?:local)?rule (\w+):\n((?:    .+\n)+)", re.MULTILINE)
FILES = {
    "records_eval": r"records/(?P<evaluation_sets>\w+)/eval\.jsonl",
    "train": r"runs/(?P<benchmarks>\w+)/(?P<arms>\w+)/seed(?P<seeds>\d+)/run\.json",
    "predict": r"predictions/(?P<evaluation_sets>\w+)/(?P<arms>\w+)/seed(?P<seeds>\d+)\.jsonl\.gz",
    "score": r"scores/(?P<evaluation_sets>\w+)/(?P<scorers>\w+)/(?P<arms>\w+)/seed(?P<seeds>\d+)\.parquet",
}


@dataclass
class Graph:
    """`needs` maps a file to the files it is made from; `jobs` are the rules with their outputs."""

    needs: dict[str, set[str]] = field(default_factory=dict)
    jobs: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    @classmethod
    def read(cls, printed: str) -> "Graph":
        """The jobs that a dry run prints."""
        graph = cls()
        for rule, body in JOB.findall(printed):
            keys = dict(re.findall(r"^    (input|output): (.+)$", body, re.MULTILINE))
            made, read = (tuple(keys[key].split(", ")) if key in keys else () for key in ("output", "input"))
            graph.jobs.append((rule, made))
            graph.needs |= {file: set(read) for file in made}
        return graph

    def made(self, rule: str, pattern: str = "") -> list[str]:
        """The first output of every job of a rule whose name holds a pattern, sorted."""
        return sorted(made[0] for name, made in self.jobs if name == rule and re.search(pattern, made[0]))

    def files(self) -> set[str]:
        """Every file that some job makes or reads."""
        return {*self.needs, *(file for read in self.needs.values() for file in read)}

    def ancestors(self):
        """A function that gives the files a file is made from, directly or through others."""

        @cache
        def above(file: str) -> frozenset[str]:
            read = self.needs.get(file, set())
            return frozenset(read).union(*map(above, read))

        return above


def chosen(graph: Graph, written: str | dict, scorer: str | None, rewards: dict[str, str]) -> set[str]:
    """The files of the graph that a line of `after` or `before` speaks of."""
    (rule, lists), *_ = written.items() if isinstance(written, dict) else [(written, {})]
    if rule == "file":
        return {lists}
    found = set()
    for file in graph.needs:
        match = re.fullmatch(rf"results/[\w-]+/{FILES[rule]}", file)
        if match is None:
            continue
        parts = match.groupdict()
        used = parts.get("scorers") or rewards.get(parts.get("benchmarks"))
        wanted = all(parts[key] in map(str, names) for key, names in lists.items())
        if wanted and (scorer is None or used in (None, scorer)):
            found.add(file)
    return found


def disorder(graph: Graph, protocol: dict, study: dict) -> tuple[int, list[str]]:
    """How many pairs of files the protocol orders, and those that the graph does not."""
    above, rewards = graph.ancestors(), {name: b["reward"] for name, b in study["benchmarks"].items()}
    checked, wrong = 0, []
    for name, decision in protocol["decisions"].items():
        (stamp,) = graph.made("decide", f"/{name}\\.json$") or [f"no stamp of {name}"]
        for written in decision.get("after", []):
            files = chosen(graph, written, None, rewards)
            wrong += [f"{file} is not before {name}" for file in files - above(stamp)]
            checked += len(files)
            wrong += [] if files else [f"{name} came after nothing: {written}"]
        for written in decision.get("before", []):
            files = chosen(graph, written, decision.get("scorer"), rewards)
            wrong += [f"{file} is not after {name}" for file in files if stamp not in above(file)]
            checked += len(files)
            # A rule alone, of a decision on a scorer, may be one that no job of this study uses it in.
            wrong += [] if files or written in FILES else [f"{name} precedes nothing: {written}"]
    return checked, sorted(wrong)
