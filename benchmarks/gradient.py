"""What a record's gradient costs in each layout, on the micro study's base with random weights, on one core.

A group of G = 8 completions behind prompts of several lengths: ratios of median CPU seconds to the padded
layout, the plain one. A plain loop, one completion a pass, stands beside them, and recomputed layers.
"""

import torch
from stopwatch import medians

from promptdp.policy.base import Base
from promptdp.policy.logprob import padded_logprobs, shared_prefix_logprobs
from promptdp.policy.lora import Adapter, attach
from promptdp.policy.pretrain import build_model, train_tokenizer
from promptdp.study import load_study

PROMPT_TOKENS = (20, 60, 180)
COMPLETION_TOKENS = (6, 9, 12, 14, 18, 22, 26, 30)


def main() -> None:
    """Print the ratios."""
    torch.set_num_threads(1)
    study = load_study("micro")
    settings = study.base.train
    assert settings is not None
    tokenizer = train_tokenizer(settings.vocabulary, settings.seed)
    model = build_model(settings, tokenizer).requires_grad_(False).eval()
    base = Base(model, tokenizer, frozenset({tokenizer.eos_token_id}), "")
    adapter, recomputing = (attach(base, 1, **study.lora.model_dump()) for _ in range(2))
    recomputing.checkpoint_layers()
    completions = [torch.randint(2, settings.vocabulary, (n,)).tolist() for n in COMPLETION_TOKENS]
    for length in PROMPT_TOKENS:
        prompt = torch.randint(2, settings.vocabulary, (length,)).tolist()

        def gradient(way, adapter: Adapter = adapter, prompt: list[int] = prompt) -> torch.Tensor:
            return adapter.gradient(sum(u.mean() for u in way(adapter.model, prompt, completions)))

        def one_by_one(model, prompt, completions):
            return [padded_logprobs(model, prompt, [completion])[0] for completion in completions]

        seconds = medians(
            {
                "padded": lambda: gradient(padded_logprobs),
                "shared prefix": lambda: gradient(shared_prefix_logprobs),
                "one by one": lambda: gradient(one_by_one),
                "padded, recomputed": lambda: gradient(padded_logprobs, recomputing),
            }
        )
        ratios = ", ".join(f"{name} {value / seconds['padded']:.2f}" for name, value in seconds.items())
        print(f"prompt of {length:3} tokens: padded {seconds['padded']:.3f} s; ratios: {ratios}")


if __name__ == "__main__":
    main()
