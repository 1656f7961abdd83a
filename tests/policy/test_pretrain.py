"""The tiny public base after a few steps: it learns, it is reproducible, and transformers loads it."""

import json
import random
import re
from typing import get_args

import pytest
import torch
from pydantic import ValidationError
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2ForCausalLM

from promptdp.files import sha256_file
from promptdp.policy.pretrain import END, IGNORED, PAD, _batch, train_public_base
from promptdp.records.worlds import TOPICS
from promptdp.study import Topic, WorldsBase

SETTINGS = WorldsBase(
    hidden_size=32,
    intermediate_size=48,
    layers=2,
    heads=2,
    kv_heads=1,
    vocabulary=640,
    initial_std=0.05,
    steps=60,
    warm_up_steps=20,
    letters_steps=5,
    batch=8,
    learning_rate=0.006,
    matrix_learning_rate=0.03,
    mixture={"arithmetic": 3, "facts": 1},
    seed=5,
)
QUESTION = "What is 12+3*4?"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out, lines = tmp_path_factory.mktemp("base") / "base", []
    train_public_base(SETTINGS, out, lines.append)
    return out, lines


@pytest.fixture(scope="module")
def tokenizer(trained):
    return AutoTokenizer.from_pretrained(trained[0])


def test_the_same_settings_give_the_same_bytes_whatever_the_global_generator(trained, tmp_path):
    torch.manual_seed(999)
    before = torch.get_rng_state()
    train_public_base(SETTINGS, tmp_path, lambda line: None)
    assert torch.equal(torch.get_rng_state(), before)
    for file in ("model.safetensors", "tokenizer.json", "tokenizer_config.json", "config.json"):
        assert sha256_file(tmp_path / file) == sha256_file(trained[0] / file)


def test_another_seed_gives_other_weights(trained, tmp_path):
    train_public_base(SETTINGS.model_copy(update={"seed": 6}), tmp_path, lambda line: None)
    assert sha256_file(tmp_path / "model.safetensors") != sha256_file(trained[0] / "model.safetensors")


def test_training_lowers_the_loss_of_public_completions(trained, tokenizer, tmp_path):
    untrained = SETTINGS.model_copy(update={"steps": 1})
    train_public_base(untrained, tmp_path, lambda line: None)
    tokens, labels = _batch(tokenizer, [TOPICS["arithmetic"](random.Random(1)) for _ in range(32)])

    def loss(folder):
        model = AutoModelForCausalLM.from_pretrained(folder)
        with torch.no_grad():
            return model(input_ids=tokens, labels=labels).loss.item()

    assert loss(trained[0]) < 0.8 * loss(tmp_path)


def test_the_study_names_the_topics_that_the_corpus_has():
    assert set(get_args(Topic)) == TOPICS.keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 3}, "hidden_size must be an even multiple of heads"),
        ({"kv_heads": 4}, "heads must be a multiple of kv_heads"),
        ({"vocabulary": 349}, "greater than or equal to 350"),
        ({"mixture": {"chemistry": 1}}, "mixture.chemistry"),
    ],
)
def test_settings_that_no_model_can_have_are_refused(change, message):
    with pytest.raises(ValidationError, match=message):
        WorldsBase.model_validate(SETTINGS.model_dump() | change)


def test_progress_is_told_ten_times(trained):
    assert len(trained[1]) == 10 and trained[1][-1].startswith("step 60 of 60: loss ")


def test_the_folder_is_a_qwen2_model_with_the_settings_shape(trained):
    model = AutoModelForCausalLM.from_pretrained(trained[0])
    assert isinstance(model, Qwen2ForCausalLM)
    assert (model.config.hidden_size, model.config.num_hidden_layers) == (32, 2)
    assert model.config.tie_word_embeddings and model.config.vocab_size == 640
    assert json.loads((trained[0] / "config.json").read_text())["eos_token_id"] is not None


def test_the_chat_template_gives_the_ids_the_base_was_trained_on(tokenizer):
    chat = [{"role": "user", "content": QUESTION}]
    ids = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
    (tokens,), (labels,) = _batch(tokenizer, [(QUESTION, "#### 24")])
    assert ids == tokens[: len(ids)].tolist()
    assert (labels[: len(ids)] == IGNORED).all()
    completion = labels[len(ids) :]
    assert torch.equal(completion, tokens[len(ids) :])
    assert completion[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(completion[:-1]) == "#### 24"


def test_padding_is_on_the_right_and_has_no_label(tokenizer):
    tokens, labels = _batch(tokenizer, [("a", "b"), (QUESTION, "3*4=12, 12+12=24. #### 24")])
    padding = tokens == tokenizer.pad_token_id
    assert padding[0].any() and not padding[1].any()
    assert (labels[padding] == IGNORED).all()
    assert padding[0].diff().sum() == 1


@pytest.mark.parametrize("text", ["3*14-5=97", "#### 42", "\\boxed{60}.", "There are 11 shells.", "99"])
def test_a_number_up_to_99_is_one_token(tokenizer, text):
    pieces = [tokenizer.decode([token]) for token in tokenizer(text)["input_ids"]]
    assert [piece for piece in pieces if piece.isdigit()] == re.findall(r"\d+", text)


@pytest.mark.parametrize("text", ["100-1000", "été", "漢字 \n\t🙂", "Answer: C", "a  b"])
def test_any_text_survives_the_tokenizer(tokenizer, text):
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_the_special_tokens_are_end_and_padding(tokenizer):
    assert (tokenizer.eos_token, tokenizer.pad_token) == (END, PAD)
    assert tokenizer.eos_token_id != tokenizer.pad_token_id
