"""The second opinion on the scorers: who is asked is held in check, and what differs is listed, all of it."""

import gzip
import json
import os
import sys
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from promptdp.assurance.scorer_audit import second_letter
from promptdp.assurance.scorer_audit.asker import LONGEST, Asker
from promptdp.assurance.scorer_audit.audit import LISTED, SCHEMA, audit, compare
from promptdp.assurance.scorer_audit.opinion import Opinion, Reason
from promptdp.assurance.scorer_audit.page import page
from promptdp.assurance.scorer_audit.reading import Scored
from promptdp.errors import InputError, PromptDPError
from promptdp.evaluation.rescore import rescore
from promptdp.files import read_json, sha256_file, write_json
from promptdp.records.record import Record, write_records
from promptdp.scoring import score
from promptdp.scoring.rules import math_strict
from promptdp.scoring.verdict import Judgement
from promptdp.scoring.verdict import Reason as Why
from promptdp.study import load_study

SOFTWARE = ("math-verify", "sympy")
STUDY = load_study("micro")


def double(opinions: str, seconds: int = 20, megabytes: int = 2_000) -> Asker:
    """An asker whose child is the real one but for its opinions, a Python dict of `(text, gold) -> bool`."""
    asker = Asker(seconds=seconds)
    code = (
        "import os, pickle, socket, subprocess, sys, time, sympy\n"
        "from promptdp.assurance.scorer_audit import child, library\n"
        f"child.loaded = lambda: {opinions}\n"
        "child.main()"
    )
    asker.command = [sys.executable, "-c", code, str(seconds), str(megabytes)]
    return asker


@pytest.fixture(scope="module")
def software():
    """The real child."""
    with closing(Asker(seconds=60)) as asker:
        yield asker


# --- what the child may do ----------------------------------------------------------------------------------


def test_an_opinion_that_hangs_is_killed_and_the_next_is_asked_of_a_new_child():
    opinions = "{'slow': lambda text, gold: time.sleep(1000), 'fast': lambda text, gold: text == gold}"
    with closing(double(opinions, seconds=1)) as asker:
        assert asker.ask("fast", "1", "1") is True
        hung = asker.process
        assert asker.ask("slow", "1", "1") is Reason.TIMEOUT
        assert hung.returncode is not None and hung.returncode < 0
        assert asker.ask("fast", "1", "2") is False
        assert asker.process.pid != hung.pid


def test_a_child_that_dies_gives_no_opinion_and_is_replaced():
    opinions = "{'die': lambda text, gold: os._exit(0), 'fast': lambda text, gold: text == gold}"
    with closing(double(opinions)) as asker:
        assert asker.ask("die", "1", "1") is Reason.ERROR
        assert asker.ask("fast", "1", "1") is True


def test_an_opinion_that_wants_too_much_memory_is_none():
    opinions = "{'greedy': lambda text, gold: len(bytearray(1 << 40)), 'fast': lambda text, gold: True}"
    with closing(double(opinions, megabytes=1_000)) as asker:
        assert asker.ask("greedy", "1", "1") is Reason.MEMORY
        assert asker.ask("fast", "1", "1") is True


def test_software_that_does_not_fit_into_its_memory_is_reported_in_one_line():
    with closing(Asker(megabytes=60)) as asker, pytest.raises(PromptDPError, match="cannot load"):
        asker.ask("sympy", "1", "1")


def test_a_tower_of_powers_stops_neither_the_software_nor_the_audit():
    with closing(Asker(seconds=2)) as asker:
        for name in SOFTWARE:
            assert isinstance(asker.ask(name, "9^{9^{9^9}}", "3"), Reason)
            assert asker.ask(name, "9^2", "81") is True


def test_no_child_is_left_when_the_asker_is_closed():
    asker = double("{'fast': lambda text, gold: True}")
    asker.ask("fast", "1", "1")
    process = asker.process
    asker.close()
    assert process.returncode is not None


ESCAPES = {
    "eval": "eval(text)",
    "exec": "exec(text)",
    "compile": "compile(text, 'text', 'eval')",
    "sympify": "sympy.sympify(text)",
    "lambdify": "sympy.lambdify((), text)()",
    "pickle": "pickle.loads(text.encode())",
    "open": "open(gold, 'w')",
    "os.open": "os.open(gold, os.O_CREAT)",
    "mkdir": "os.mkdir(gold)",
    "system": "os.system('touch ' + gold)",
    "subprocess": "subprocess.run(['touch', gold])",
    "fork": "os.fork()",
    "socket": "socket.socket()",
}


def cage(escapes: dict[str, str], guard: str) -> Asker:
    opinions = ", ".join(f"{name!r}: lambda text, gold: {body}" for name, body in escapes.items())
    asker = double(f"{{{opinions}}}")
    asker.command[2] = asker.command[2].replace("child.main()", f"{guard}\nchild.main()")
    return asker


def attempt(asker: Asker, escape: str, mark: Path) -> Opinion:
    text = "cos\nsystem\n(S'touch {}'\ntR." if escape == "pickle" else "__import__('os').system('touch {}')"
    return asker.ask(escape, text.format(mark), str(mark))


@pytest.fixture(scope="module")
def caged():
    with closing(cage(ESCAPES, guard="")) as asker:
        yield asker


@pytest.fixture(scope="module")
def free():
    """The same child without its guard: what it is held back from would work."""
    with closing(cage(ESCAPES, guard="child.refuse = lambda *_: None")) as asker:
        yield asker


@pytest.mark.parametrize("escape", ESCAPES)
def test_the_child_runs_no_text_writes_no_file_and_reaches_no_one(escape, caged, tmp_path):
    assert attempt(caged, escape, tmp_path / "mark") is Reason.ERROR
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("escape", sorted(ESCAPES.keys() - {"fork", "sympify"}))
def test_only_the_guard_holds_the_child_back(escape, free, tmp_path):
    assert isinstance(attempt(free, escape, tmp_path / "mark"), bool)


def test_sympy_reads_no_text_but_numerals(caged):
    assert caged.ask("sympify", "12", "") is True
    assert caged.ask("sympify", "1.5e3", "") is True
    assert caged.ask("sympify", "1+1", "") is Reason.ERROR
    assert caged.ask("sympify", "x", "") is Reason.ERROR


def test_the_child_inherits_neither_environment_nor_open_files(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET", "1")
    opinions = (
        "{'environment': lambda text, gold: bool({'SECRET', 'HOME', 'USER'} & set(os.environ)),"
        " 'files': lambda text, gold: any(os.path.realpath('/proc/self/fd/' + name) == gold"
        " for name in os.listdir('/proc/self/fd'))}"
    )
    with open(tmp_path / "file", "w") as stream, closing(double(opinions)) as asker:
        os.set_inheritable(stream.fileno(), True)
        assert asker.ask("environment", "", "") is False
        assert asker.ask("files", "", str(tmp_path / "file")) is False


HOSTILE = (
    "__import__('os').system('touch {mark}')",
    r"\text{{__import__('os').system('touch {mark}')}}",
    r"\operatorname{{__import__}}(os).system(touch {mark})",
    "The answer is 3**(open('{mark}', 'w'))",
    r"\boxed{{[].__class__.__base__.__subclasses__()}}",
    "\ud800\x00\u202e" * 20,
    r"\frac{" * 100,
    "(" * 200,
    "$" * 3000,
    "9" * 6000,
    r"\begin{{pmatrix}}" + "&" * 2000,
)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_text_runs_nothing_and_leaves_the_child_able_to_answer(number, software, tmp_path):
    mark = tmp_path / "mark"
    text = HOSTILE[number].format(mark=mark) if "{mark}" in HOSTILE[number] else HOSTILE[number]
    for name in (*SOFTWARE, "whole response"):
        assert software.ask(name, text, "2") is not True
        assert software.ask(name, "2", text) is not True
    assert not mark.exists()
    assert software.ask("sympy", "2", "2") is True


def test_a_text_of_a_hundred_thousand_characters_is_never_sent():
    with closing(Asker()) as asker:
        assert asker.ask("whole response", "x" * 100_000, "1") is Reason.LONG
        assert asker.ask("math-verify", "1", "1" * (LONGEST + 1)) is Reason.LONG
        assert asker.process is None


# --- what the software says ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("18", "18", True),
        ("18", "18.0", True),
        ("1234", "1,234", True),
        ("-3", "3", False),
        ("0.5", r"\frac{1}{2}", True),
        (r"\dfrac12", r"\frac{1}{2}", True),
        (r"\sqrt{8}", r"2\sqrt{2}", True),
        (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}", True),
        ("1.414", r"\sqrt{2}", False),
        ("(x+1)^2", "x^2+2x+1", True),
        ("(x+1)^2", "x^2+2x", False),
        ("(1,2)", "(2,1)", False),
        ("2, 1", "1, 2", True),
        ("x = 5", "5", True),
        ("[0, 1)", "[0,1)", True),
        ("[0, 1]", "[0,1)", False),
        ("x < 3", r"(-\infty, 3)", True),
        ("6 + 9i", "9i + 6", True),
    ],
)
@pytest.mark.parametrize("name", SOFTWARE)
def test_on_plain_pairs_all_agree(name, answer, gold, right, software):
    assert software.ask(name, answer, gold) is right
    assert score("math_strict", rf"\boxed{{{answer}}}", gold).correct is right


@pytest.mark.parametrize(
    ("answer", "gold", "opinion"),
    [
        ("0.333333", r"\frac13", False),
        (r"\pm 2", "-2, 2", True),
        (r"\pm 2", "2", False),
        (r"28\%", "28", True),
        (r"28\%", "0.28", True),
        ("x=2, x=3", "2, 3", True),
        ("y=2x+1", "2x-y+1=0", True),
        ("y=2x+1", "2x-y=0", False),
        ("x=2", "y=2", False),
        (r"\log_2 64 = 6", "6", True),
        (r"x \in [1,2]", r"1 \le x \le 2", True),
        (r"[1,2) \cup (3,4]", r"1\le x<2 \text{ or } 3<x\le 4", True),
        (r"(-\infty,0)\cup(0,\infty)", r"x \ne 0", True),
        (r"\mathbb{R}", r"(-\infty,\infty)", True),
        (r"\{1, 2, 2\}", r"\{2, 1\}", True),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}2\\1\end{pmatrix}", False),
        (r"\sqrt[3]{-8}", "-2", True),
        (r"\sin 50^\circ", r"\cos 40^\circ", True),
        (r"\sqrt[3]{5\sqrt2-7}", r"\sqrt2-1", True),
        (r"\log_{2} 8", "3", True),
        (r"\binom{10}{3}", "120", True),
        (r"\lfloor 2.5 \rfloor", "2", True),
        (r"\max(1, 2)", "2", True),
        ("1:2", "2:4", True),
        ("1:2:3", "2:4:6", False),
        ("101_2", "0101_2", True),
        (r"\sqrt{x^2}", "|x|", True),
        (r"\text{east}", r"\text{west}", Reason.UNREAD),
        (r"x \approx 3", "3", Reason.UNREAD),
        ("@@", "3", Reason.UNREAD),
        ("(((5!)!)!)!", "3", Reason.LARGE),
        (r"2^{2^{2^{2^2}}}", "3", Reason.LARGE),
        (r"\frac10", "3", Reason.UNDECIDED),
        ("[x, y]", "[1, 2]", Reason.UNDECIDED),
    ],
)
def test_sympy_decides_on_our_parse_by_itself_or_says_why_it_cannot(answer, gold, opinion, software):
    assert software.ask("sympy", answer, gold) is opinion


@pytest.mark.parametrize(
    ("response", "gold", "opinion"),
    [
        ("So we get $x = 3$. The answer is $\\boxed{4}$.", "4", True),
        ("The answer is 12.", "12", True),
        ("The answer is 12.", "13", False),
        ("3*(4+1) = 15", "15", True),
        ("The total is 1,250 dollars.", "1250", True),
        ("I do not know.", "4", Reason.UNREAD),
    ],
)
def test_math_verify_finds_an_answer_in_a_whole_response(response, gold, opinion, software):
    assert software.ask("whole response", response, gold) is opinion


# --- letters ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "letters"),
    [
        ("Answer: B", "B"),
        ("A bank is a place. Answer: C", "C"),
        ("A is wrong, so Answer: C", "AC"),
        ("Not (b) but (C).", "BC"),
        ("**D**", "D"),
        ("Either A or B.\nAnswer: B", "AB"),
        ("DNA, BC and a cab. E", "E"),
        ("D's and A’s are names.", ""),
        ("Answer: A", "A"),
        ("Answer: F", ""),
        ("", ""),
    ],
)
def test_option_letters_are_those_that_stand_alone_and_not_the_article(response, letters):
    assert second_letter.letters(response) == set(letters)


@pytest.mark.parametrize(
    ("response", "extracted", "taken"),
    [
        ("Answer: B", "B", True),
        ("It is B. Answer: B", "B", True),
        ("A is tempting. Answer: B", "B", False),
        ("no letter", None, False),
    ],
)
def test_a_second_letter_conflicts_wherever_it_stands(response, extracted, taken):
    assert second_letter.recognises(response, extracted) is taken


# --- the record ---------------------------------------------------------------------------------------------


def scored(
    rule: str, response: str, gold: str, problem: str = "p", arm: str = "base", seed: int = 0
) -> Scored:
    return Scored(problem, arm, seed, response, gold, score(rule, response, gold))


def says(opinion):
    """A double that says this of every question, and notes what it was asked."""

    def ask(name, text, gold):
        ask.asked.append((name, text, gold))
        return opinion

    ask.asked = []
    return ask


GROUPS = {
    ("sums", "math_strict"): [
        scored("math_strict", r"\boxed{2}", "2", "p1"),
        scored("math_strict", r"so \boxed{2}", "2", "p1", "grpo", 1),
        scored("math_strict", r"\boxed{3}", "2", "p2"),
        scored("math_strict", "no box", "2", "p3"),
        scored("math_strict", rf"\boxed{{{'(' * 5_000}}}", "2", "p4"),
    ],
    ("quiz", "csqa_final"): [
        scored("csqa_final", "Answer: B", "B", "q1"),
        scored("csqa_final", "A is wrong. Answer: B", "B", "q2"),
        scored("csqa_final", "A is wrong. Answer: C", "B", "q3"),
        scored("csqa_final", "none", "B", "q4"),
    ],
}


def test_each_distinct_question_is_asked_once_and_counts_for_every_response():
    ask = says(True)
    record = compare("s", GROUPS, ask)
    assert [question[1:] for question in ask.asked if question[0] == "sympy"] == [
        ("(" * 5_000, "2"),
        ("2", "2"),
        ("3", "2"),
    ]
    said = record["rules"][0]["opinions"]
    assert said["sympy"]["questions"] == {"agrees": 1, "differs": 2, "none": {}}
    assert said["sympy"]["responses"] == {"agrees": 2, "differs": 2, "none": {}}
    assert said["whole response"]["responses"] == {"agrees": 2, "differs": 3, "none": {}}


def test_reasons_are_counted_limits_among_them():
    record = compare("s", GROUPS, says(True))
    assert record["rules"][0]["reasons"] == {"different": 1, "equal": 2, "limit": 1, "no answer": 1}


@pytest.mark.parametrize("reason", Reason)
def test_a_missing_opinion_is_counted_by_its_reason_and_is_no_difference(reason):
    said = compare("s", GROUPS, says(reason))["rules"][0]["opinions"]["math-verify"]
    assert said["questions"] == {"agrees": 0, "differs": 0, "none": {reason: 3}}
    assert said["responses"]["none"] == {reason: 4} and said["differences"] == []


def test_letters_are_counted_for_every_arm_and_seed_with_and_without_the_stricter_rule():
    quiz = compare("s", GROUPS, says(True))["rules"][1]
    assert quiz["runs"] == [
        {
            "arm": "base",
            "seed": 0,
            "responses": 4,
            "recognised": 3,
            "credited": 2,
            "recognised_without_second_letter": 1,
            "credited_without_second_letter": 1,
        }
    ]
    said = quiz["opinions"]["second letter"]
    assert said["responses"] == {"agrees": 3, "differs": 1, "none": {}}
    assert [entry["some"][0]["problem_id"] for entry in said["differences"][0]["listed"]] == ["q2"]


def test_all_but_the_opinions_of_the_software_follows_from_the_files():
    records = [compare("s", GROUPS, says(opinion)) for opinion in (True, False, Reason.TIMEOUT)]
    for record in records:
        for name in (*SOFTWARE, "whole response"):
            del record["rules"][0]["opinions"][name]
    assert records[0] == records[1] == records[2]


def test_the_list_of_a_kind_is_cut_and_its_counts_are_not():
    many = {("sums", "math_strict"): [scored("math_strict", rf"\boxed{{{n}}}", "0") for n in range(1, 200)]}
    kind = compare("s", many, says(True))["rules"][0]["opinions"]["sympy"]["differences"][0]
    assert (len(kind["listed"]), kind["questions"], kind["responses"]) == (LISTED, 199, 199)


def test_no_one_is_asked_about_a_scorer_that_the_audit_does_not_know():
    ask = says(True)
    record = compare("s", {("sums", "math_strict"): GROUPS["sums", "math_strict"]}, ask)
    assert {name for name, *_ in ask.asked} == set(record["rules"][0]["opinions"])


def test_no_text_can_end_its_line_or_its_code_on_the_page():
    nasty = "1`|\n# heading\r\u2028<script>` [link](x)"
    groups = {("sums", "math_strict"): [scored("math_strict", rf"\boxed{{{nasty}}}", nasty + "2")]}
    lines = page(compare("s", groups, says(True))).splitlines()
    shown = [line for line in lines if "script" in line]
    assert shown and all(line.startswith("- read `1'") and line.count("`") % 2 == 0 for line in shown)
    assert not any(line.startswith("# heading") for line in lines)


# --- from files to files ------------------------------------------------------------------------------------


class Files:
    """Two runs of a set of three problems: records, predictions, manifests and scores."""

    def __init__(self, folder):
        self.folder = folder
        self.records, self.out, self.page = (folder / name for name in ("eval.jsonl", "a.json", "a.md"))
        write_records(self.records, [Record(f"p{n}", "What?", str(n)) for n in range(3)])
        responses = {"base": ["no", r"\boxed{1}", r"\boxed{1}"], "control": [r"\boxed{0}"] * 3}
        self.predictions = [self.predict(arm, texts) for arm, texts in responses.items()]
        self.score()

    def predict(self, arm: str, texts: list[str]):
        path = self.folder / f"{arm}.jsonl.gz"
        lines = [
            json.dumps({"problem_id": f"p{n}", "response": text, "tokens": 1, "capped": False})
            for n, text in enumerate(texts)
        ]
        path.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
        manifest = {"study": "micro", "evaluation_set": "sums", "arm": arm, "seed": 0}
        write_json(
            self.folder / f"{arm}.manifest.json", {**manifest, "predictions_sha256": sha256_file(path)}
        )
        return path

    def score(self):
        self.scores = [path.with_name(f"{path.name}.parquet") for path in self.predictions]
        for predictions, path in zip(self.predictions, self.scores, strict=True):
            rescore(predictions, self.records, "math_strict", path)

    def audit(self):
        audit(STUDY, self.scores, self.predictions, [self.records], self.out, self.page)
        return read_json(self.out)


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


def test_right_verdicts_meet_no_other_opinion_and_the_bytes_are_the_same_again(files):
    record = files.audit()
    assert record["schema"] == SCHEMA and record["study"] == "micro"
    said = record["rules"][0]["opinions"]
    assert all(said[name]["responses"] == {"agrees": 5, "differs": 0, "none": {}} for name in SOFTWARE)
    first = files.out.read_bytes(), files.page.read_bytes()
    files.audit()
    assert (files.out.read_bytes(), files.page.read_bytes()) == first


def test_a_wrong_verdict_of_a_broken_rule_is_listed_with_its_problem_and_run(files, monkeypatch):
    monkeypatch.setattr(math_strict, "judge", lambda answer, gold, budget: Judgement(True, Why.EQUAL))
    files.score()
    for name in SOFTWARE:
        (kind,) = files.audit()["rules"][0]["opinions"][name]["differences"]
        assert (kind["credited"], kind["questions"], kind["responses"]) == (True, 3, 3)
        entry = next(entry for entry in kind["listed"] if entry["gold"] == "2" and entry["extracted"] == "1")
        assert entry["some"] == [{"problem_id": "p2", "arm": "base", "seed": 0}]
    assert "read `1`, reference `2`: `p2` base seed 0" in files.page.read_text()


def another_study(files):
    manifest = files.folder / "base.manifest.json"
    write_json(manifest, {**read_json(manifest), "study": "other"})
    files.score()


def rewritten(path, column, values, metadata=None):
    """The same file of scores with a column, or with what it says of itself, replaced."""
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    table = table.set_column(place, table.schema.field(place), pa.array(values))
    pq.write_table(table.replace_schema_metadata(metadata or table.schema.metadata), path)


BROKEN = {
    "not of study micro": another_study,
    "another verdict by math_strict": lambda files: rewritten(files.scores[0], "correct", [False] * 3),
    "lacks evaluation_set": lambda files: rewritten(
        files.scores[0], "correct", [False] * 3, {b"promptdp": b'{"schema": "promptdp/scores/1"}'}
    ),
    "its columns are not those of scores": lambda files: pq.write_table(
        pq.read_table(files.scores[0]).drop_columns("tokens"), files.scores[0]
    ),
    "has exactly its problems": lambda files: rewritten(files.scores[0], "problem_id", ["p0", "p1", "p1"]),
    "predictions are not among those given": lambda files: files.predictions.pop(),
    "the same run is scored in another file": lambda files: files.scores.append(files.scores[0]),
    "no file of --records has exactly its problems": lambda files: write_records(
        files.records, [Record("p0", "What?", "0")]
    ),
    "no file of scores|cannot be read": lambda files: files.scores[0].write_bytes(b"PAR1"),
}


@pytest.mark.parametrize("message", BROKEN)
def test_what_does_not_belong_together_is_refused_in_one_line(message, files):
    BROKEN[message](files)
    with pytest.raises(InputError, match=message) as error:
        files.audit()
    assert "\n" not in str(error.value) and not files.out.exists()
