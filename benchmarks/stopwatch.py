"""CPU seconds of things done in turn, so that whatever else the machine does falls on all of them alike."""

from collections.abc import Callable, Mapping
from statistics import median
from time import process_time


def medians(work: Mapping[str, Callable[[], object]], repeats: int = 9) -> dict[str, float]:
    """The median CPU seconds of each piece of work, after one call of each that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats + 1):
        for name, call in work.items():
            start = process_time()
            call()
            seconds[name].append(process_time() - start)
    return {name: median(values[1:]) for name, values in seconds.items()}
