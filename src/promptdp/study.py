"""A study: one whole experiment as frozen, validated types (public facts only).

The types here are the single source of the configuration: `load_study` validates a YAML file against them,
`json_schema` gives editors the same rules, and every stage of the road reads its settings from a `Study`.
"""

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from promptdp.errors import InputError, PrivacyRefusal

Name = Annotated[str, Field(pattern=r"\A[a-z][a-z0-9_]*\z")]
"""A name that can stand in a path: lower case letters, digits, underscores."""
StudyName = Annotated[str, Field(pattern=r"\A[a-z][a-z0-9_-]*\z")]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, strict=True)]
Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]
Topic = Literal["arithmetic", "stories", "choices", "facts", "letters"]
"""A topic of the worlds' public corpus."""
WorldName = Literal["arithmetic", "stories", "choices"]


class Settings(BaseModel):
    """Frozen settings; an unknown key is an error, and errors never quote a value."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class WorldsBase(Settings):
    """The tiny public base: a Qwen2 model trained by the workflow on the worlds' public corpus.

    `vocabulary` counts 256 bytes, 4 special tokens and 90 two-digit numbers before any word. The first
    `letters_steps` steps are on the letters exercise alone; later ones draw their topic by `mixture`. The
    matrices between the embeddings are trained by Muon at `matrix_learning_rate`, the rest by AdamW.
    """

    hidden_size: Count
    intermediate_size: Count
    layers: Count
    heads: Count
    kv_heads: Count
    vocabulary: Annotated[int, Field(ge=350, strict=True)]
    initial_std: Positive
    steps: Count
    warm_up_steps: Count
    letters_steps: Count
    batch: Count
    learning_rate: Positive
    matrix_learning_rate: Positive
    mixture: dict[Topic, Positive] = Field(min_length=1)
    seed: Seed

    @model_validator(mode="after")
    def _heads_divide(self) -> "WorldsBase":
        if self.hidden_size % (2 * self.heads):
            raise ValueError("hidden_size must be an even multiple of heads")
        if self.heads % self.kv_heads:
            raise ValueError("heads must be a multiple of kv_heads")
        return self


class Base(Settings):
    """The public model every arm starts from: trained on the worlds, or a checkpoint (folder or hub id)."""

    train: WorldsBase | None = None
    checkpoint: str | None = None
    revision: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Base":
        if (self.train is None) == (self.checkpoint is None):
            raise ValueError("give either train or checkpoint")
        return self


class Lora(Settings):
    """Low-rank adapters (Section C-A of the paper): which matrices are trained, and their rank."""

    rank: Count = 4
    alpha: Positive = 8
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    targets: tuple[str, ...] = Field(
        default=("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"), min_length=1
    )


class Rollouts(Settings):
    """Sampling and loss constants of GRPO (Sections III-B, VII-A).

    `samples` is G, `temperature` is tau, `kl_weight` is beta. `logprob_temperature` divides the logits inside
    the loss only; the trainer of the paper leaves them as they are (1.0).
    """

    samples: Count = 8
    temperature: Positive = 0.7
    kl_weight: NonNegative = 0.04
    logprob_temperature: Positive = 1.0


class Optimizer(Settings):
    """AdamW on the noisy mean gradient. The paper does not give these values; they are ours."""

    beta1: Annotated[float, Field(ge=0, lt=1)] = 0.9
    beta2: Annotated[float, Field(ge=0, lt=1)] = 0.999
    eps: Positive = 1e-8
    weight_decay: NonNegative = 0.0


class Benchmark(Settings):
    """What a benchmark gives to training: its slots, its mechanism, its prompt and its reward.

    `slots` is n, a public number chosen before counting records; `expected` is m = qn, the expected number
    of records in a round; `rounds` is T; `cap` is the longest completion in tokens; `delta` is 1/(10 n) when
    left out. `replay_reserve` is R: the noise is calibrated for T + R rounds, so that R attempts may be cut
    off and begun again within the budget.
    """

    source: WorldName | Literal["jsonl"]
    path: str | None = None
    prompt: str = "{question}"
    reward: str
    slots: Count
    expected: Count
    rounds: Count
    cap: Count
    epsilon: Positive
    delta: Annotated[float, Field(gt=0, lt=1)] | None = None
    replay_reserve: Annotated[int, Field(ge=0, strict=True)] = 0
    seed: Seed = 0

    @model_validator(mode="after")
    def _consistent(self) -> "Benchmark":
        if self.expected > self.slots:
            raise ValueError(f"expected is {self.expected}, more than the {self.slots} slots; lower expected")
        if self.delta is not None and self.delta >= 1 / self.slots:
            raise ValueError("delta must be below 1/slots; leave it out for 1/(10 slots)")
        if (self.source == "jsonl") != (self.path is not None):
            raise ValueError("path goes with source: jsonl, and with it alone")
        if "{question}" not in self.prompt:
            raise ValueError("prompt must contain {question}")
        return self


class Scorers(Settings):
    """The scorers of an evaluation set: the primary endpoint and its format-robust companion, if any."""

    strict: str
    robust: str | None = None


class EvaluationSet(Settings):
    """Public problems on which every arm of a benchmark gives one greedy completion each.

    A `transfer` set holds problems of another source than the benchmark's (Section D-D): a file at `path`, or
    the world named by `source`. The benchmark's prompt and adapters answer it without further training.
    """

    benchmark: Name
    split: Literal["dev", "eval"] = "eval"
    transfer: bool = False
    source: WorldName | None = None
    path: str | None = None
    problems: Count
    cap: Count
    scorers: Scorers


class Arm(Settings):
    """A training or evaluation condition.

    `clipping_norm: null` leaves gradients unclipped and `noise_multiplier: 0` adds no noise: together the
    non-private arm. With `noise_multiplier: null` it is calibrated to the benchmark's epsilon. `seeds_on`
    gives the seeds of a benchmark on which the arm has fewer of them.
    """

    label: str
    objective: Literal["none", "grpo", "filtered", "gold"]
    advantage: Literal["group", "zero", "centred", "positive", "shuffled"] = "group"
    seeds: tuple[Seed, ...] = Field(min_length=1)
    seeds_on: dict[Name, Annotated[tuple[Seed, ...], Field(min_length=1)]] = Field(default_factory=dict)
    learning_rate: Positive | None = None
    clipping_norm: Positive | None = None
    noise_multiplier: NonNegative | None = None
    benchmarks: tuple[Name, ...] | None = None
    expected: Count | None = None
    rounds: Count | None = None
    samples: Count | None = None
    epsilon: Positive | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Arm":
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds repeat; give each once")
        for benchmark, fewer in self.seeds_on.items():
            if len(set(fewer)) < len(fewer) or not set(fewer) <= set(self.seeds):
                raise ValueError(f"seeds_on.{benchmark}: names some of the arm's seeds, each once")
        if self.objective == "none":
            if self.seeds != (0,):
                raise ValueError("an untrained arm has the one seed 0; write seeds: [0]")
            return self
        if 0 in self.seeds:
            raise ValueError("seed 0 stands for the untrained base; number seeds from 1")
        if self.learning_rate is None:
            raise ValueError("a trained arm needs a learning_rate")
        if self.clipping_norm is None and self.noise_multiplier != 0:
            raise ValueError("a private arm needs a clipping_norm (noise_multiplier: 0 makes it non-private)")
        if self.noise_multiplier is not None and self.epsilon is not None:
            raise ValueError("give epsilon or noise_multiplier, not both")
        return self

    @property
    def trained(self) -> bool:
        """Whether the arm has an adapter of its own."""
        return self.objective != "none"

    @property
    def private(self) -> bool:
        """Whether the arm runs the private mechanism (clipped, noisy gradients)."""
        return self.trained and self.noise_multiplier != 0


class Contrast(Settings):
    """A paired difference between two arms; Holm's adjustment runs over all contrasts of one `family`.

    `block` is the heading of a supporting comparison (Table XII, Figure 3): there `arm` is the alternative
    and `versus` the reference. A block's contrasts with the public base are for Figure 3 alone.
    `evaluation_sets` are those that it is made on, every set that both arms answer where left out.
    """

    arm: Name
    versus: Name
    family: Name
    block: Annotated[str, Field(min_length=1)] | None = None
    evaluation_sets: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None

    @property
    def name(self) -> str:
        """The contrast's name in file names and tables."""
        return f"{self.arm}-{self.versus}"


class RunSettings(Settings):
    """Everything public that one training run depends on, overrides applied.

    A manifest written before there was a `replay_reserve` reads as one without.
    """

    benchmark: str
    arm: str
    slots: int
    expected: int
    rounds: int
    samples: int
    cap: int
    epsilon: float | None
    noise_multiplier: float | None
    delta: float
    clipping_norm: float | None
    learning_rate: float
    objective: str
    advantage: str
    reward: str
    prompt: str
    replay_reserve: int = 0

    @property
    def calibrated_rounds(self) -> int:
        """T + R, the rounds that the budget covers."""
        return self.rounds + self.replay_reserve

    @property
    def mechanism_name(self) -> str:
        """The name of the calibration file: `n874-m16-T50-eps8`, or `...-sigma0.612` where sigma is set.

        A replay reserve stands beside T: `T50+2`.
        """
        sigma = self.noise_multiplier
        budget = f"eps{self.epsilon:.12g}" if sigma is None else f"sigma{sigma:.12g}"
        delta = "" if self.delta == default_delta(self.slots) else f"-delta{self.delta:.12g}"
        reserve = f"+{self.replay_reserve}" if self.replay_reserve else ""
        return f"n{self.slots}-m{self.expected}-T{self.rounds}{reserve}-{budget}{delta}"

    @property
    def private(self) -> bool:
        """Whether the run adds noise."""
        return self.noise_multiplier != 0


class Study(Settings):
    """A whole experiment, complete in itself."""

    name: StudyName
    title: str
    records: Literal["public", "confidential"]
    randomness: Literal["os", "seeded"] = "os"
    isolation: Literal["strict", "packed"] = "strict"
    engine: Literal["local"] = "local"
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    base: Base
    lora: Lora = Lora()
    rollouts: Rollouts = Rollouts()
    optimizer: Optimizer = Optimizer()
    benchmarks: dict[Name, Benchmark] = Field(min_length=1)
    evaluation_sets: dict[Name, EvaluationSet] = Field(min_length=1)
    arms: dict[Name, Arm] = Field(min_length=1)
    contrasts: tuple[Contrast, ...] = ()
    protocol: str | None = None
    tables: tuple[Literal[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], ...] = ()
    figures: tuple[Literal[1, 2, 3], ...] = ()

    @model_validator(mode="after")
    def _refers_to_what_exists(self) -> "Study":
        for name, arm in self.arms.items():
            for benchmark in arm.benchmarks or ():
                _known(benchmark, self.benchmarks, f"arms.{name}.benchmarks", "benchmark")
            for benchmark in arm.seeds_on:
                _known(benchmark, self.arm_benchmarks(name), f"arms.{name}.seeds_on", "benchmark of the arm")
        for name, evalset in self.evaluation_sets.items():
            _known(evalset.benchmark, self.benchmarks, f"evaluation_sets.{name}.benchmark", "benchmark")
            _check_source(name, evalset, self.benchmarks[evalset.benchmark].source)
        for index, contrast in enumerate(self.contrasts):
            for end in (contrast.arm, contrast.versus):
                _known(end, self.arms, f"contrasts.{index}", "arm")
            if contrast.arm == contrast.versus:
                raise ValueError(f"contrasts.{index}: an arm can't be contrasted with itself")
            for evalset_name in contrast.evaluation_sets or ():
                place = f"contrasts.{index}.evaluation_sets"
                _known(evalset_name, self.evaluation_sets, place, "evaluation set")
        for evalset_name in self.evaluation_sets:
            names = [c.name for c in self.contrasts if evalset_name in (c.evaluation_sets or [evalset_name])]
            if len(set(names)) < len(names):
                raise ValueError("contrasts: the same pair of arms stands twice; remove one")
        for name in self.arms:
            for benchmark in self.arm_benchmarks(name):
                bench = self.benchmarks[benchmark]
                if (self.arms[name].expected or bench.expected) > bench.slots:
                    raise ValueError(f"arms.{name}.expected is more than the slots of {benchmark}; lower it")
        return self

    def arm_benchmarks(self, arm: str) -> tuple[str, ...]:
        """The benchmarks on which an arm runs, in the study's order."""
        chosen = self.arms[arm].benchmarks
        return tuple(name for name in self.benchmarks if chosen is None or name in chosen)

    def seeds(self, arm: str, benchmark: str) -> tuple[int, ...]:
        """The seeds that an arm has on a benchmark."""
        return self.arms[arm].seeds_on.get(benchmark, self.arms[arm].seeds)

    def runs(self) -> list[tuple[str, str, int]]:
        """Every training run as (benchmark, arm, seed), benchmarks outermost."""
        return [
            (benchmark, name, seed)
            for benchmark in self.benchmarks
            for name, arm in self.arms.items()
            if arm.trained and benchmark in self.arm_benchmarks(name)
            for seed in self.seeds(name, benchmark)
        ]

    def evaluations(self, evaluation_set: str) -> list[tuple[str, int]]:
        """Every (arm, seed) that answers an evaluation set, in the study's order."""
        benchmark = self.evaluation_sets[evaluation_set].benchmark
        return [
            (name, seed)
            for name in self.arms
            if benchmark in self.arm_benchmarks(name)
            for seed in self.seeds(name, benchmark)
        ]

    def evaluated_contrasts(self, evaluation_set: str) -> list[Contrast]:
        """The contrasts made on an evaluation set: both of their arms answer it."""
        present = {arm for arm, _ in self.evaluations(evaluation_set)}
        return [
            c
            for c in self.contrasts
            if {c.arm, c.versus} <= present and evaluation_set in (c.evaluation_sets or [evaluation_set])
        ]

    def method(self) -> str | None:
        """The arm that the study is about: the first of GRPO with group advantages."""
        arms = self.arms.items()
        return next((name for name, a in arms if a.objective == "grpo" and a.advantage == "group"), None)

    def supporting_arms(self) -> set[str]:
        """The trained arms that stand in blocks alone: no contrast outside a block names them."""
        inside, outside = (
            {end for c in self.contrasts if (c.block is None) == main for end in (c.arm, c.versus)}
            for main in (False, True)
        )
        return {arm for arm in inside - outside if self.arms[arm].trained} - {self.method()}

    def run_settings(self, benchmark: str, arm: str) -> RunSettings:
        """The settings of an arm's runs on a benchmark, with the arm's overrides applied."""
        bench, spec = self.benchmarks[benchmark], self.arms[arm]
        if spec.learning_rate is None:
            raise InputError(f"{self.name}: arm {arm} is not trained; it has no run settings")
        calibrated = spec.noise_multiplier is None
        return RunSettings(
            benchmark=benchmark,
            arm=arm,
            slots=bench.slots,
            expected=spec.expected or bench.expected,
            rounds=spec.rounds or bench.rounds,
            samples=spec.samples or self.rollouts.samples,
            cap=bench.cap,
            epsilon=(spec.epsilon or bench.epsilon) if calibrated else None,
            noise_multiplier=spec.noise_multiplier,
            delta=default_delta(bench.slots) if bench.delta is None else bench.delta,
            clipping_norm=spec.clipping_norm,
            learning_rate=spec.learning_rate,
            objective=spec.objective,
            advantage=spec.advantage,
            reward=bench.reward,
            prompt=bench.prompt,
            replay_reserve=bench.replay_reserve,
        )

    def check_name(self, where: str, name: str, among: Collection[str]) -> None:
        """Check a name that somebody typed.

        Raises:
            InputError: it is not among the names the study knows.
        """
        if name not in among:
            raise InputError(f"{where}: study {self.name} has no '{name}'; it has {', '.join(among)}")

    def scorers(self) -> tuple[str, ...]:
        """Every scorer the study uses, as reward or endpoint, sorted."""
        used = {bench.reward for bench in self.benchmarks.values()}
        for evalset in self.evaluation_sets.values():
            used |= {s for s in (evalset.scorers.strict, evalset.scorers.robust) if s}
        return tuple(sorted(used))


def default_delta(slots: int) -> float:
    """1/(10 n), an order of magnitude below 1/n (Section VI-C)."""
    return 1 / (10 * slots)


def _check_source(name: str, evalset: EvaluationSet, trained_on: str) -> None:
    """A benchmark's own problems come from its own source, those of a transfer set from another."""
    where = f"evaluation_sets.{name}"
    if evalset.transfer:
        if (evalset.path is None) == (evalset.source is None):
            raise ValueError(f"{where}: a transfer set takes its problems from path or from source; give one")
        if evalset.source == trained_on:
            raise ValueError(f"{where}.source: is the benchmark's own; a transfer set names another world")
    elif evalset.source is not None:
        raise ValueError(
            f"{where}.source: goes with transfer: true; the benchmark gives the source of others"
        )
    elif (evalset.path is None) == (trained_on == "jsonl"):
        raise ValueError(f"{where}: path goes with source: jsonl, and with it alone")


def _known(name: str, among: Any, where: str, kind: str) -> None:
    if name not in among:
        raise ValueError(f"{where}: no {kind} is named '{name}'; there are {', '.join(sorted(among))}")


class _UniqueKeyLoader(yaml.SafeLoader):
    """Safe YAML in which a key that stands twice in one mapping is an error, never the last one wins."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"'{key}' stands twice; rename or remove one", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file in which keys are unique.

    Raises:
        InputError: the file is missing, is not YAML, or repeats a key (with its line).
    """
    try:
        with open(path, encoding="utf-8") as stream:
            return yaml.load(stream, Loader=_UniqueKeyLoader)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{path}:{line}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        raise InputError(
            f"{path}: is not the YAML of a study (odd characters, keys or dates); see micro"
        ) from None


def find_study(name_or_path: str, directory: str | Path = "config/studies") -> Path:
    """The file of a study named in `directory`, or the path itself when it ends in .yaml.

    Raises:
        InputError: there is no such file.
    """
    is_path = name_or_path.endswith((".yaml", ".yml"))
    path = Path(name_or_path) if is_path else Path(directory) / f"{name_or_path}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in Path(directory).glob("*.yaml")))
        if not known:
            raise InputError(
                f"{path}: there is no such study, nor any in {directory}; run from the repository"
            )
        raise InputError(
            f"{path}: there is no such study; name one of: {known}, or give the path of a YAML file"
        )
    return path


def resolve(path: Path) -> dict[str, Any]:
    """The raw settings of a study file with `extends` applied, one level.

    Maps are merged by key, lists replaced; what is set to null is left out, as in a JSON merge patch.

    Raises:
        InputError: the file or the study it extends can't be read, or that study extends another.
    """
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise InputError(f"{path}: a study is a mapping of settings; see config/studies/micro.yaml")
    parent_name = raw.pop("extends", None)
    if parent_name is None:
        return raw
    by_path = str(parent_name).endswith((".yaml", ".yml"))
    parent_path = path.parent / str(parent_name) if by_path else str(parent_name)
    try:
        parent = read_yaml(find_study(str(parent_path), path.parent))
    except InputError as error:
        raise InputError(f"{path}: extends: {error}") from None
    if not isinstance(parent, dict) or "extends" in parent:
        raise InputError(f"{path}: {parent_name} itself extends a study; extend that one directly")
    return _merged(parent, raw)


def _merged(parent: Any, child: Any) -> Any:
    if not (isinstance(parent, dict) and isinstance(child, dict)):
        return child
    merged = {key: _merged(parent[key], child[key]) if key in parent else child[key] for key in child}
    return {key: value for key, value in {**parent, **merged}.items() if value is not None}


def load_study(name_or_path: str | Path) -> Study:
    """Load and validate a study by its name in config/studies or by the path of its YAML file.

    Raises:
        InputError: one line naming the file, the key, what is wrong and what to do.
        PrivacyRefusal: confidential records with an arm that adds no noise, or with seeded randomness.
    """
    path = find_study(str(name_or_path))
    try:
        study = Study.model_validate(resolve(path))
    except ValidationError as error:
        raise InputError(f"{path}: {_first_problem(error)}") from None
    _refuse_confidential(study, path)
    return study


def _refuse_confidential(study: Study, path: Path) -> None:
    if study.records != "confidential":
        return
    bare = [name for name, arm in study.arms.items() if arm.trained and not arm.private]
    if bare:
        raise PrivacyRefusal(f"{path}: arms.{bare[0]}: adds no noise; confidential records need it")
    if study.randomness != "os":
        raise PrivacyRefusal(f"{path}: randomness: seeded is not private; confidential records need 'os'")


def _first_problem(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    # A misspelt key is also a missing one: the spelling is what helps.
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"]).replace("\n", "\\n")
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = f"is not a setting{_suggestion(first['loc'])}"
    elif first["type"] == "missing":
        message = "is missing; add it"
    more = f" ({len(problems) - 1} more after this one)" if len(problems) > 1 else ""
    return f"{key}: {message}{more}" if key else f"{message}{more}"


def _suggestion(location: tuple[int | str, ...]) -> str:
    known = {field for model in Settings.__subclasses__() for field in model.model_fields} - {location[-1]}
    close = difflib.get_close_matches(str(location[-1]), sorted(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else "; remove it"


def json_schema() -> dict[str, Any]:
    """The JSON schema of a study file, for editors; a test keeps workflow/schemas/ equal to it."""
    schema = Study.model_json_schema()
    schema["properties"]["extends"] = {
        "type": "string",
        "description": "A study of the same folder to start from.",
    }
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema
