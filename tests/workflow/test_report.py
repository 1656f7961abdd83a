"""The report of the small study shows all that was made, opens offline, and says nothing of the private zone.

Every table that it shows is followed down to its records by `promptdp explain`.
"""

import base64
import json
import re
import shutil
import subprocess
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest

from promptdp.protocol import load_protocol
from promptdp.study import load_study
from tests.workflow.conftest import SMALL

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
STUDY = load_study(SMALL)
RESULTS = "results/small"
SCORES = f"{RESULTS}/scores/arithmetic/math_strict/dp_grpo/seed1.parquet"
TABLE = f"{RESULTS}/tables/table2.csv"
PRIVATE_RULES = ("records", "train")


@pytest.fixture(scope="module")
def report(finished):
    made = finished.snakemake("all", "--report", "report.html")
    assert made.returncode == 0, made.stderr[-3000:]
    return (finished.folder / "report.html").read_text()


def stated(report, name):
    """A value that the report's own script defines."""
    return json.loads(re.search(rf"^    var {name} = (.*);$", report, re.MULTILINE)[1])


def embedded(result):
    """The content of a file in the report."""
    return base64.b64decode(result["data_uri"].partition("base64,")[2]).decode()


# --- what it shows ---


def test_it_shows_every_table_and_figure_in_the_order_in_which_a_reader_looks(report):
    shown = {name: parts["Other"] for name, parts in stated(report, "categories").items()}
    assert sorted(shown) == ["1 Tables", "2 Figures"]
    names = [*(f"table{number}" for number in STUDY.tables), "checks", "executions"]
    assert set(shown["1 Tables"]) == {f"{RESULTS}/report/tables/{name}.html" for name in names}
    assert set(shown["2 Figures"]) == {
        f"{RESULTS}/report/figures/fig{number}.html" for number in STUDY.figures
    }
    labels = [stated(report, "results")[path]["labels"]["no."] for path in shown["1 Tables"]]
    in_order = sorted(label.replace("\u2007", " ") for label in labels)  # as the viewer sorts them
    assert [label.strip() for label in in_order] == [*map(str, sorted(STUDY.tables)), "A", "B"]


def test_each_page_holds_its_table_or_drawing_and_a_caption(report, finished):
    for path, result in stated(report, "results").items():
        page = embedded(result)
        assert ("<table>" in page) if "/tables/" in path else ("data:image/svg+xml" in page), path
        assert "promptdp explain results/small/" in result["caption"]
        assert "problematic" not in result["caption"] and "system-message" not in result["caption"]
        assert result["mime_type"] == "text/html"  # the viewer shows it in place
    table = (finished.folder / TABLE).with_suffix(".md").read_text()
    gain = re.search(r"[+-]?\d+\.\d\d \[.*?\]", table)[0]
    assert gain in embedded(stated(report, "results")[f"{RESULTS}/report/tables/table2.html"])


def test_the_first_page_leads_to_every_category(report):
    text = stated(report, "workflow_desc")
    assert "app.showCategory('1%20Tables')" in text and "app.showCategory('2%20Figures')" in text
    assert "system-message" not in text


class Fetched(HTMLParser):
    """The addresses from which a page would fetch something."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        self.addresses += [v for k, v in attributes if k in ("src", "href", "srcset", "data", "poster")]


def test_it_opens_offline(report):
    for page in (report, *map(embedded, stated(report, "results").values())):
        parser = Fetched()
        parser.feed(page)
        assert [
            address for address in parser.addresses if not (address or "").startswith(("data:", "#"))
        ] == []
        styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        assert styles and not re.search(r"@import|url\((?!['\"]?data:)", "".join(styles))


# --- what it keeps to itself ---


def test_it_says_how_long_public_steps_took_but_of_no_step_when(report):
    runtimes = stated(report, "runtimes_spec")["data"]["values"]
    timeline = stated(report, "timeline_spec")["data"]["values"]
    assert {job["rule"] for job in runtimes} >= {"train", "records", "predict", "table"}
    assert {job["runtime"] for job in runtimes if job["rule"] in PRIVATE_RULES} == {0.0}
    assert min(job["runtime"] for job in runtimes if job["rule"] == "predict") > 0
    assert {job["starttime"][:4] for job in timeline} <= {"1969", "1970"}  # the epoch, wherever one is


def test_no_file_of_the_private_zone_and_no_record_is_in_it(report, finished):
    results = stated(report, "results")
    assert not [path for path in results if path.startswith("private/")]
    texts = [report, *map(embedded, results.values())]
    for path in finished.folder.glob("private/small/records/*/train.jsonl"):
        for line in path.read_text().splitlines():
            question = json.loads(line)["question"]
            assert not [text for text in texts if question in text or json.dumps(question) in text]


# --- what other targets made ---


MADE_ELSEWHERE = {
    "assurance/verification.md": "verification_page",
    "assurance/scorer_audit.md": "scorer_audit_page",
    "published/published.md": "published_page",
    "release/arithmetic/dp_grpo/seed1/README.md": "certificate_page",
}


@contextmanager
def planted(folder, study):
    """Pages where other targets would have written them, gone again at the end."""
    results = folder / "results"
    there = set(results.rglob("*"))
    try:
        for name in MADE_ELSEWHERE:
            path = results / study / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text("# A page\n")
        yield
    finally:
        for path in sorted(set(results.rglob("*")) - there, reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


def test_what_other_targets_made_gets_a_page_and_what_they_did_not_gets_none(finished):
    before = finished.jobs("pages")
    missing = [
        rule for name, rule in MADE_ELSEWHERE.items() if not (finished.folder / RESULTS / name).exists()
    ]
    assert not [rule for rule in missing if rule in before]
    with planted(finished.folder, "small"):
        jobs = finished.jobs("pages")
    assert all(jobs[rule] == 1 for rule in missing)


def test_a_recorded_run_shows_its_decisions_and_nothing_that_was_not_made_from_it(finished):
    with planted(finished.folder, "micro"):
        jobs = finished.jobs("pages", study="micro", source="recorded")
    protocol = load_protocol(load_study("config/studies/micro.yaml").protocol)
    assert jobs["decision_page"] == len(protocol.decisions)
    assert "train" not in jobs and "verification_page" not in jobs and "certificate_page" not in jobs


# --- where it all comes from ---


def explain(finished, *arguments):
    command = ["promptdp", "explain", *arguments, "--study", SMALL]
    return subprocess.run(
        command, cwd=finished.folder, env=finished.environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    "name", ["tables/table2.csv", "tables/table1.md", "figures/fig2.svg", "tables/executions.csv"]
)
def test_nothing_on_the_chain_of_a_finished_study_has_changed(name, finished):
    result = explain(finished, f"{RESULTS}/{name}")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "nothing that it was made from has changed" in result.stderr
    assert not re.search(r"\bprivate/", result.stdout) and str(finished.folder) not in result.stdout


def test_the_chain_ends_at_records_base_mechanism_and_scorer_of_every_run(finished):
    content = json.loads(explain(finished, TABLE, "--json").stdout)
    by_kind = {}
    for link in content["links"]:
        by_kind.setdefault(link["kind"], []).append(link)
    runs = {
        (link["facts"]["benchmark"], link["facts"]["arm"], link["facts"]["seed"]) for link in by_kind["run"]
    }
    assert runs == set(STUDY.runs())
    for kind in ("scores", "predictions", "manifest", "adapter", "records", "ledger", "source", "base file"):
        assert {link["status"] for link in by_kind[kind]} == {"unchanged"}, kind
    assert all(link["facts"]["code_here"] for link in by_kind["run"])
    assert {link["name"] for link in by_kind["training records"]} == set(STUDY.benchmarks)


def test_a_changed_score_file_is_named_on_the_chain_of_every_table_made_from_it(finished):
    path = finished.folder / SCORES
    kept = path.read_bytes()
    path.write_bytes(kept.replace(b"true", b"eurt") + b" ")
    try:
        result = explain(finished, TABLE)
        other = explain(finished, f"{RESULTS}/tables/table6.csv")
    finally:
        path.write_bytes(kept)
    assert result.returncode == 1 and result.stderr.startswith(f"promptdp: {SCORES}: has changed")
    assert other.returncode == 0, "table 6 is made from budgets alone"


def test_a_copy_of_the_results_elsewhere_is_followed_there(finished, tmp_path):
    shutil.copytree(finished.folder / "results", tmp_path / "results")
    command = ["promptdp", "explain", str(tmp_path / TABLE), "--json"]
    result = subprocess.run(
        command, cwd=finished.folder, env=finished.environment, capture_output=True, text=True
    )
    files = [link["file"] for link in json.loads(result.stdout)["links"] if link["kind"] == "scores"]
    assert files and all(file.startswith(str(tmp_path)) for file in files)
