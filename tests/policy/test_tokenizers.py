"""Prompts of three families of tokenizers: one list of ids from one call, with at most one start token.

Engine and loss are watched through a whole round. A base that renders the chat as text and reads it again, as
other stacks do, doubles the start token of one family and loses that of another.
"""

import string
from dataclasses import dataclass

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from promptdp.policy.base import Base, load_base
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import attach
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.records.record import Record
from promptdp.records.slots import Slots
from promptdp.training.advantages import Advantage
from promptdp.training.descent import Descent
from promptdp.training.objectives import GRPO, Policy
from promptdp.training.rollouts import Rollouts
from promptdp.training.round import private_round
from tests.tiny import CONFIGS, LORA, moved

TEXT = string.ascii_letters + string.digits + string.punctuation


@dataclass(frozen=True)
class Family:
    """How a family writes a chat, and which tokens it starts and stops with."""

    architecture: str
    start: str | None
    stop: str
    special: tuple[str, ...]
    template: str
    starts_itself: bool
    """Whether the tokenizer puts its start token before any text, too."""


FAMILIES = {
    "ChatML": Family(
        "qwen2",
        None,
        "<|im_end|>",
        ("<|im_start|>",),
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
        starts_itself=False,
    ),
    "Llama": Family(
        "llama",
        "<|begin_of_text|>",
        "<|eot_id|>",
        ("<|start_header_id|>", "<|end_header_id|>"),
        "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
        "{{ m.content }}<|eot_id|>{% endfor %}"
        "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
        starts_itself=True,
    ),
    "Gemma": Family(
        "gemma",
        "<bos>",
        "<end_of_turn>",
        ("<start_of_turn>",),
        "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m.role }}\n{{ m.content }}<end_of_turn>\n"
        "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}",
        starts_itself=False,
    ),
}


def tokenizer_of(family: Family) -> PreTrainedTokenizerFast:
    """Byte-level pieces, or, for Gemma, pieces of text in which a blank is a letter of its own."""
    special = [family.stop, *([family.start] if family.start else []), *family.special]
    like_sentencepiece = family.architecture == "gemma"
    letters = TEXT + ("▁\n" if like_sentencepiece else "ĠĊ")
    pairs = [("t", "h"), ("i", "s"), ("us", "er"), ("u", "s"), ("e", "r")]
    merges = [pair for pair in pairs if len(pair[0]) == 1] + [pair for pair in pairs if len(pair[0]) == 2]
    pieces = [*special, *letters, *("".join(pair) for pair in merges)]
    raw = Tokenizer(models.BPE(vocab={piece: i for i, piece in enumerate(pieces)}, merges=merges))
    if like_sentencepiece:
        raw.normalizer = normalizers.Replace(" ", "▁")
        raw.decoder = decoders.Replace("▁", " ")
    else:
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        raw.decoder = decoders.ByteLevel()
    if family.starts_itself:
        start = (family.start, pieces.index(family.start))
        raw.post_processor = processors.TemplateProcessing(f"{start[0]} $A", special_tokens=[start])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token=family.start,
        eos_token=family.stop,
        pad_token=family.stop,
        additional_special_tokens=list(family.special),
    )
    tokenizer.chat_template = family.template
    return tokenizer


@pytest.fixture(scope="module", params=list(FAMILIES))
def named(request, tmp_path_factory) -> tuple[Family, Base]:
    """A family and a base of its architecture, read from its folder."""
    family, folder = FAMILIES[request.param], tmp_path_factory.mktemp(request.param)
    tokenizer = tokenizer_of(family)
    tokenizer.save_pretrained(folder)
    config = CONFIGS[family.architecture]()
    config.vocab_size = len(tokenizer)
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return family, load_base(folder)


RECORDS = [Record(str(i), question, "1") for i, question in enumerate(["is 1 this?", "a  b\nc"])]


def watched_round(base: Base) -> tuple[list[list[int]], list[list[list[int]]], list[list[int]]]:
    """The engine's prompts and completions, and the first row of every forward pass of the loss."""
    policy = Policy(base, moved(attach(base, 1, **LORA)), template="Q: {question}")
    prompts, completions, rows = [], [], []

    class Engine(LocalEngine):
        def generate(self, asked, *rest):
            answered = super().generate(asked, *rest)
            prompts.extend(asked)
            completions.extend(answered)
            return answered

    def keep(module, args, options):
        rows.append(options["input_ids"][0].tolist())

    rollouts = Rollouts(policy, Engine(base, "strict"), 2, 1.0, cap=5, isolation="strict")
    watching = [
        model.register_forward_pre_hook(keep, with_kwargs=True)
        for model in (policy.adapter.model, base.model)
    ]
    private_round(
        1,
        1,
        Mechanism(2, 2, 1, 0.5, 1.0, 0.01),
        Slots(RECORDS),
        Randomness.seeded(1),
        rollouts,
        GRPO(policy, lambda response, **_: float(len(response)), Advantage.GROUP, kl_weight=0.1),
        Descent(policy.adapter, 0.1, 0.9, 0.999, 1e-8, 0.0),
    )
    for hook in watching:
        hook.remove()
    return prompts, completions, rows


def reads_the_prompts(rows, prompts, completions) -> bool:
    """Whether the loss read each prompt's ids and its first completion's as the engine had them."""
    starts = [[*prompt, *group[0]] for prompt, group in zip(prompts, completions, strict=True)]
    return all(any(row[: len(start)] == start for start in starts) for row in rows) and all(
        any(row[: len(start)] == start for row in rows) for start in starts
    )


def starts_in(family: Family, base: Base, prompts) -> set[int]:
    """How often the start token stands in the prompts; where the family has one it must come first."""
    start = base.tokenizer.bos_token_id
    assert (start is None) == (family.start is None)
    return {prompt.count(start) if prompt[0] == start else -prompt.count(start) for prompt in prompts}


def test_engine_and_loss_read_one_list_of_ids_with_one_start_token_at_most(named):
    family, base = named
    prompts, completions, rows = watched_round(base)
    assert prompts == [base.prompt_ids(record.question, "Q: {question}") for record in RECORDS]
    assert len(rows) == 4 and reads_the_prompts(rows, prompts, completions)
    assert starts_in(family, base, prompts) == ({1} if family.start else {0})
    rendered = base.tokenizer.decode(prompts[0])
    assert rendered == base.tokenizer.apply_chat_template(
        [{"role": "user", "content": "Q: is 1 this?"}], add_generation_prompt=True, tokenize=False
    )


class Retokenising(Base):
    """A double with the fault: it renders the chat as text, and tokenises the text."""

    def prompt_ids(self, question, template="{question}"):
        chat = [{"role": "user", "content": template.replace("{question}", question)}]
        text = self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        return self.tokenizer(text)["input_ids"]


class Bare(Base):
    """A double with the opposite fault: it leaves out what the tokenizer and the template would add."""

    def prompt_ids(self, question, template="{question}"):
        return self.tokenizer(template.replace("{question}", question), add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize(
    ("faulty", "counts"),
    [(Retokenising, {"ChatML": 0, "Llama": 2, "Gemma": 1}), (Bare, {"ChatML": 0, "Llama": 0, "Gemma": 0})],
)
def test_a_second_start_token_or_none_would_be_noticed(named, faulty, counts):
    family, base = named
    broken = faulty(base.model, base.tokenizer, base.stop_ids, base.sha256)
    prompts, _, _ = watched_round(broken)
    (name,) = (name for name, known in FAMILIES.items() if known is family)
    assert starts_in(family, broken, prompts) == {counts[name]}


def test_a_loss_that_builds_its_own_prompt_would_be_noticed(named):
    _, base = named

    class Shifting(Base):
        """A double that gives no two calls in a row the same ids."""

        def prompt_ids(self, question, template="{question}"):
            calls.append(question)
            return super().prompt_ids(question + "x" * (len(calls) % 3), template)

    calls: list[str] = []
    broken = Shifting(base.model, base.tokenizer, base.stop_ids, base.sha256)
    prompts, completions, rows = watched_round(broken)
    assert not reads_the_prompts(rows, prompts, completions)
