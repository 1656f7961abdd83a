"""What all statistics of a study of the paper's size cost on one core, and a bootstrap beside scipy's.

47 prediction sets on 4,499 problems: a seedless base, eleven arms of four seeds and one of two, drawn so that
answers of one problem go together. Every arm is contrasted with every other, more than the paper does. Median
CPU seconds; scipy resamples problems as the paper does (100,000 draws, percentile, paired), in batches, since
without them it wants 3.6 GB an array.
"""

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.stats
from stopwatch import medians

from promptdp.statistics import lattice
from promptdp.statistics.contrast import CONFIDENCE, contrast
from promptdp.statistics.scores import Scores, one_arm, read_scores_files

PROBLEMS = 4499
SEEDS = [[0]] + [[1, 2, 3, 4]] * 11 + [[1, 2]]
DRAWS = 100_000


def written(folder: Path) -> list[list[Path]]:
    """The files of every arm, one for each prediction set."""
    generator = np.random.default_rng(1)
    ids = [f"problem/{number}" for number in range(PROBLEMS)]
    chances = generator.beta(0.4, 0.4, PROBLEMS)
    arms = []
    for arm, seeds in enumerate(SEEDS):
        arms.append([folder / f"arm{arm}-seed{seed}.parquet" for seed in seeds])
        for path in arms[-1]:
            correct = generator.random(PROBLEMS) < chances + 0.004 * arm
            pq.write_table(pa.table({"problem_id": ids, "correct": correct}), path)
    return arms


def study(arms: list[list[Path]]) -> None:
    """Read every prediction set once and contrast all pairs of arms."""
    scores = [one_arm(read_scores_files(paths)) for paths in arms]
    for a, b in itertools.combinations(scores, 2):
        contrast(a, b)


def seed_means(scores: Scores) -> np.ndarray:
    """The share of seeds that answer each problem correctly."""
    return np.array([list(problems.values()) for problems in scores.values()]).mean(axis=0)


def main() -> None:
    """Print the medians and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        arms = written(Path(folder))
        first, second = (one_arm(read_scores_files(arms[index])) for index in (1, 2))
        a, b = seed_means(first), seed_means(second)
        units = (4 * (a - b)).astype(np.int64)

        def scipy_bootstrap() -> None:
            scipy.stats.bootstrap(
                (a, b),
                lambda x, y, axis: (x - y).mean(axis=axis),
                paired=True,
                method="percentile",
                n_resamples=DRAWS,
                batch=500,
                rng=2,
            )

        seconds = medians(
            {
                "study": lambda: study(arms),
                "contrast": lambda: contrast(first, second),
                "exact": lambda: lattice.bootstrap_quantiles(units, CONFIDENCE),
                "drawn": lambda: lattice.drawn_bootstrap_quantiles(
                    units, CONFIDENCE, DRAWS, np.random.default_rng(2)
                ),
                "scipy": scipy_bootstrap,
            },
            repeats=3,
        )
    count = len(arms) * (len(arms) - 1) // 2
    print(f"{sum(map(len, arms))} prediction sets, {count} contrasts: {seconds['study']:.2f} s")
    print(f"one contrast of four seeds with all its tests: {1000 * seconds['contrast']:.1f} ms")
    for name, what in (
        ("exact", "exact"),
        ("drawn", "drawn, multinomial"),
        ("scipy", "scipy.stats.bootstrap"),
    ):
        ratio = seconds[name] / seconds["exact"]
        print(f"interval, {what:22} {1000 * seconds[name]:9.1f} ms, {ratio:7.1f} of exact")
    print(f"intervals of all {count} by scipy, {count} times one: {count * seconds['scipy']:.0f} s")


if __name__ == "__main__":
    main()
