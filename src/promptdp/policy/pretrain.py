"""The tiny public base: a Qwen2 model and its tokenizer, both trained on the worlds' public corpus.

It stands in for the public checkpoint of the paper (Sec. VII-A). Everything here is public and seeded: the
same settings give the same weights on the same machine and versions.
"""

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import cross_entropy
from transformers import AddedToken, Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

from promptdp.records.worlds import TOPICS

if TYPE_CHECKING:
    from promptdp.study import WorldsBase

PAD, END, USER, ASSISTANT = "<|pad|>", "<|end|>", "<|user|>", "<|assistant|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    f"{{% if message.role == 'user' %}}{USER}{{{{ message.content }}}}"
    f"{{% else %}}{ASSISTANT}{{{{ message.content }}}}{END}{{% endif %}}"
    "{% endfor %}"
    f"{{% if add_generation_prompt %}}{ASSISTANT}{{% endif %}}"
)
CONTEXT = 256
"""The longest sequence, in tokens; the worlds' longest takes less than half of it."""
TOKENIZER_EXAMPLES = 6000
TWO_DIGITS = [str(number) for number in range(10, 100)]
FINAL_SHARE = 0.05
"""The last learning rate as a share of the highest."""
IGNORED = -100
"""The label of a position without loss, PyTorch's convention."""


def train_public_base(settings: "WorldsBase", out: Path, progress: Callable[[str], None]) -> None:
    """Train the base and its tokenizer, and write them to the folder `out` in the Hugging Face layout.

    `progress` is given a line ten times a run. One thread is used, so that sums keep their order.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            tokenizer = train_tokenizer(settings.vocabulary, settings.seed)
            model = build_model(settings, tokenizer)
            fit(model, tokenizer, settings, progress)
    finally:
        torch.set_num_threads(threads)
    tokenizer.save_pretrained(out)
    model.save_pretrained(out)


def train_tokenizer(vocabulary: int, seed: int) -> Qwen2Tokenizer:
    """Train a byte-level BPE tokenizer of at most `vocabulary` tokens; each number in 0..99 is one token.

    Qwen2's tokenizer splits digits, and transformers gives every Qwen2 model that tokenizer whatever its
    folder says; whole numbers are learned much faster, so the two-digit ones are added tokens.
    """
    blank = Qwen2Tokenizer(
        unk_token=PAD,
        pad_token=PAD,
        eos_token=END,
        extra_special_tokens=[USER, ASSISTANT],
        model_max_length=CONTEXT,
    )
    texts = _public_texts(random.Random(f"tokenizer {seed}"))
    tokenizer = blank.train_new_from_iterator(texts, vocabulary - len(TWO_DIGITS), show_progress=False)
    tokenizer.add_tokens([AddedToken(number, single_word=True) for number in TWO_DIGITS])
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def _public_texts(rng: random.Random) -> Iterator[str]:
    for _ in range(TOKENIZER_EXAMPLES // len(TOPICS)):
        for example in TOPICS.values():
            yield from example(rng)


def build_model(settings: "WorldsBase", tokenizer: Qwen2Tokenizer) -> Qwen2ForCausalLM:
    """A Qwen2 model with random weights from PyTorch's global generator, embeddings tied."""
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=settings.hidden_size,
            intermediate_size=settings.intermediate_size,
            num_hidden_layers=settings.layers,
            num_attention_heads=settings.heads,
            num_key_value_heads=settings.kv_heads,
            max_position_embeddings=CONTEXT,
            initializer_range=settings.initial_std,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def fit(
    model: Qwen2ForCausalLM,
    tokenizer: Qwen2Tokenizer,
    settings: "WorldsBase",
    progress: Callable[[str], None],
) -> None:
    """Minimise the negative log-likelihood of the completions: Muon on the matrices, AdamW on the rest.

    The first steps are on the letters exercise alone, while the learning rate is still low: a model this
    small learns to find an option's letter then or not at all, and forgets it without later practice.
    """
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    optimizers = [
        torch.optim.Muon(matrices, lr=settings.matrix_learning_rate, weight_decay=0.02),
        torch.optim.AdamW(others, lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=0.05),
    ]
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _share(step, settings))
        for optimizer in optimizers
    ]
    rng = random.Random(f"corpus {settings.seed}")
    model.train()
    for step in range(settings.steps):
        topic = "letters"
        if step >= settings.letters_steps:
            (topic,) = rng.choices(list(settings.mixture), list(settings.mixture.values()))
        tokens, labels = _batch(tokenizer, [TOPICS[topic](rng) for _ in range(settings.batch)])
        scored = labels[:, 1:] != IGNORED
        states = model.model(input_ids=tokens).last_hidden_state[:, :-1][scored]
        loss = cross_entropy(model.lm_head(states), labels[:, 1:][scored])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
        if (step + 1) % max(1, settings.steps // 10) == 0:
            progress(f"step {step + 1} of {settings.steps}: loss {loss.item():.3f} on {topic}")


def _share(step: int, settings: "WorldsBase") -> float:
    """The learning rate at a step as a share of the highest: a linear warm-up times half a cosine."""
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, step / settings.steps)))
    return min(1.0, (step + 1) / settings.warm_up_steps) * (FINAL_SHARE + (1 - FINAL_SHARE) * cosine)


def _batch(tokenizer: Qwen2Tokenizer, examples: list[tuple[str, str]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and labels, both (examples, longest), padded on the right; only completions have labels.

    Padding needs no attention mask: it follows every real token, and attention is causal.
    """
    prompts = tokenizer([f"{USER}{prompt}{ASSISTANT}" for prompt, _ in examples])["input_ids"]
    completions = tokenizer([f"{completion}{END}" for _, completion in examples])["input_ids"]
    longest = max(len(p) + len(c) for p, c in zip(prompts, completions, strict=True))
    tokens = torch.full((len(examples), longest), tokenizer.pad_token_id)
    labels = torch.full((len(examples), longest), IGNORED)
    for row, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        end = len(prompt) + len(completion)
        tokens[row, :end] = torch.tensor(prompt + completion)
        labels[row, len(prompt) : end] = torch.tensor(completion)
    return tokens, labels
