"""The base: stop tokens, prompts, and what a base folder must hold."""

import json

import pytest
import torch

from promptdp.errors import InputError
from promptdp.policy.base import folder_sha256, load_base
from tests.tiny import tokens, write_tiny_base


def test_every_stop_token_of_the_model_ends_a_completion(tiny):
    assert tiny.stop_ids == {0, 1}
    assert [tiny.capped(ids) for ids in ([5, 0], [5, 1], [5, 6])] == [False, False, True]


def test_a_prompt_is_the_chat_template_around_the_framed_question(tiny):
    assert tiny.prompt_ids("a b") == [2, *tokens("aĠb")[0][:-1], 3]
    assert tiny.prompt_ids("a", "Q:{question}") == tiny.prompt_ids("Q:a")


def test_text_leaves_out_special_tokens_and_targets_end_with_the_stop_token(tiny):
    ids = tiny.target_ids("so 4")
    assert ids == tokens("soĠ4")[0]
    assert tiny.text(ids) == "so 4"


def test_the_sampling_settings_that_come_with_a_model_are_dropped(tmp_path):
    folder = write_tiny_base(tmp_path / "base")
    path = folder / "generation_config.json"
    shipped = {"do_sample": True, "temperature": 0.3, "top_k": 5, "repetition_penalty": 1.3}
    path.write_text(json.dumps(json.loads(path.read_text()) | shipped))
    settings = load_base(folder).model.generation_config
    assert not settings.repetition_penalty and not settings.top_k and not settings.do_sample


def test_a_shell_shares_the_weights_of_the_base(tiny):
    shell = tiny.shell()
    assert shell is not tiny.model
    pairs = zip(shell.parameters(), tiny.model.parameters(), strict=True)
    assert all(a.data_ptr() == b.data_ptr() for a, b in pairs)


def test_the_folder_hash_follows_every_byte(tmp_path, tiny):
    folder = write_tiny_base(tmp_path / "base")
    assert folder_sha256(folder) == tiny.sha256
    config = folder / "config.json"
    config.write_text(config.read_text() + "\n")
    assert folder_sha256(folder) != tiny.sha256


def test_dtype_is_that_of_the_study(tiny_folder):
    assert load_base(tiny_folder, "bfloat16").model.dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("remove", "message"),
    [
        ("config.json", "no config.json"),
        ("chat_template.jinja", "no chat template"),
        ("model.safetensors", "load"),
    ],
)
def test_an_incomplete_folder_is_an_input_error(tmp_path, remove, message):
    folder = write_tiny_base(tmp_path / "base")
    (folder / remove).unlink()
    with pytest.raises(InputError, match=message):
        load_base(folder)
