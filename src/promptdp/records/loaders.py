"""From a study's sources to its record files: private training records, public evaluation problems."""

from pathlib import Path
from typing import TYPE_CHECKING

from promptdp.errors import InputError
from promptdp.files import private_directory, sha256_file, write_json
from promptdp.records.ingest import ingest_report
from promptdp.records.record import Record, read_records, write_records
from promptdp.records.slots import Slots
from promptdp.records.worlds import draw

if TYPE_CHECKING:
    from promptdp.study import Study


def write_training_records(study: "Study", benchmark: str, out: str | Path) -> None:
    """Write the records of a benchmark's slots to a file of the private zone, and what they are beside it.

    A synthetic world fills every slot. A JSON-lines source may hold fewer records than there are slots. A
    missing folder is made with mode 0700; the file and `report.json` (`ingest_report`) have mode 0600.

    Raises:
        InputError: the source can't be read, a line is no record, there are more records than slots, or
            others can reach the file's folder.
    """
    settings = study.benchmarks[benchmark]
    private_directory(Path(out).parent)
    if settings.path is not None:
        records = read_records(settings.path)
    else:
        records = draw(settings.source, "train", settings.slots, settings.seed)
    Slots.fill(settings.slots, records)
    write_records(out, records, private=True)
    write_json(Path(out).with_name("report.json"), ingest_report(settings.slots, records), private=True)


def write_evaluation_records(study: "Study", name: str, out: str | Path, split: str | Path) -> None:
    """Write the public problems of an evaluation set, and a split file with their ids and hash.

    Raises:
        InputError: the source can't be read or does not hold as many problems as the study says.
    """
    evaluation_set = study.evaluation_sets[name]
    settings = study.benchmarks[evaluation_set.benchmark]
    if evaluation_set.path is not None:
        records = _of_number(read_records(evaluation_set.path), evaluation_set.problems, evaluation_set.path)
    else:
        world = evaluation_set.source or settings.source
        records = draw(world, evaluation_set.split, evaluation_set.problems, settings.seed)
    write_records(out, records)
    write_json(
        split,
        {
            "schema": "promptdp/split/1",
            "evaluation_set": name,
            "split": evaluation_set.split,
            "problems": len(records),
            "ids": sorted(record.id for record in records),
            "excluded": [],
            "records_sha256": sha256_file(out),
        },
    )


def _of_number(records: list[Record], number: int, path: str) -> list[Record]:
    if len(records) != number:
        raise InputError(f"{path}: holds {len(records)} problems, the study says {number}; make them agree")
    return records
