"""The adapter: its fixed coordinates, its public initialisation, and its released form."""

import hashlib

import pytest
import torch
from peft import PeftModel
from safetensors.numpy import load_file
from transformers import AutoModelForCausalLM, MixtralConfig, Qwen2MoeConfig

from promptdp.errors import InputError
from promptdp.policy.base import Base, load_base
from promptdp.policy.lora import Adapter, attach, load_adapter
from tests.tiny import COMMON, LORA, moved

IDS = torch.tensor([[2, 10, 20, 3]])


def test_initialisation_depends_on_the_seed_alone(tiny):
    torch.manual_seed(1)
    first = attach(tiny, 7, **LORA).theta
    torch.manual_seed(2)
    assert torch.equal(first, attach(tiny, 7, **LORA).theta)
    assert not torch.equal(first, attach(tiny, 8, **LORA).theta)


def test_a_fresh_adapter_changes_nothing(tiny):
    adapter = attach(tiny, 1, **LORA)
    assert torch.equal(adapter.model(IDS).logits, tiny.model(IDS).logits)
    assert all(
        bool(p.any()) == (".lora_A." in name)
        for name, p in zip(adapter.names, adapter.parameters, strict=True)
    )


def test_coordinates_are_one_vector_in_a_fixed_order(tiny):
    adapter = moved(attach(tiny, 1, **LORA))
    assert adapter.names == tuple(sorted(adapter.names))
    assert len(adapter.names) == 2 * 7 * 2
    assert adapter.coordinates == len(adapter.theta)
    other = attach(tiny, 2, **LORA)
    other.assign(adapter.theta)
    assert torch.equal(other.model(IDS).logits, adapter.model(IDS).logits)


def test_a_coordinate_that_the_loss_does_not_touch_gets_a_zero_gradient(tiny):
    adapter = attach(tiny, 1, **LORA)
    gradient = adapter.gradient(adapter.parameters[3].sum())
    sizes = [p.numel() for p in adapter.parameters]
    expected = [torch.full((size,), float(index == 3)) for index, size in enumerate(sizes)]
    assert torch.equal(gradient, torch.cat(expected))


def test_adapters_are_float32_over_half_precision_weights_also_after_a_reload(tiny_folder, tmp_path):
    half = load_base(tiny_folder, "bfloat16")
    adapter = moved(attach(half, 1, **LORA))
    for turn in range(2):
        assert {p.dtype for p in adapter.parameters} == {torch.float32}
        adapter.save(tmp_path / str(turn))
        adapter = load_adapter(half, tmp_path / str(turn))


def test_small_gradients_survive_half_precision_weights(tiny, tiny_folder):
    single, half = (moved(attach(base, 1, **LORA)) for base in (tiny, load_base(tiny_folder, "float16")))
    gradients = [
        a.gradient(3e-6 * a.model(IDS).logits.float().log_softmax(-1).mean()) for a in (single, half)
    ]
    assert (gradients[0] - gradients[1]).norm() < 0.05 * gradients[0].norm()


def test_a_saved_adapter_loads_with_the_same_coordinates_and_the_same_bytes(tiny, tmp_path):
    adapter = moved(attach(tiny, 1, **LORA))
    adapter.save(tmp_path / "a")
    again = load_adapter(tiny, tmp_path / "a")
    assert torch.equal(again.theta, adapter.theta)
    again.save(tmp_path / "b")
    assert (tmp_path / "a/adapter_model.safetensors").read_bytes() == (
        tmp_path / "b/adapter_model.safetensors"
    ).read_bytes()


def test_anyone_can_recompute_the_hash_of_theta_from_the_released_file(tiny, tmp_path):
    adapter = moved(attach(tiny, 1, **LORA))
    adapter.save(tmp_path / "a")
    tensors = load_file(tmp_path / "a/adapter_model.safetensors")
    raw = b"".join(tensors[name].astype("<f4").tobytes() for name in sorted(tensors))
    assert hashlib.sha256(raw).hexdigest() == adapter.sha256()


def test_peft_reads_the_released_adapter(tiny, tiny_folder, tmp_path):
    adapter = moved(attach(tiny, 1, **LORA))
    adapter.save(tmp_path / "a")
    theirs = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(tiny_folder), tmp_path / "a")
    torch.testing.assert_close(theirs(IDS).logits, adapter.model(IDS).logits)
    assert "tiny" not in (tmp_path / "a/adapter_config.json").read_text()


def test_merged_deltas_are_what_the_adapter_adds(tiny):
    adapter = moved(attach(tiny, 1, **LORA))
    merged = tiny.shell()
    for name, delta in adapter.deltas().items():
        module = merged.get_submodule(name)
        module.weight = torch.nn.Parameter(module.weight + delta)
    torch.testing.assert_close(merged(IDS).logits, adapter.model(IDS).logits, rtol=1e-4, atol=1e-4)


def test_a_stray_trainable_tensor_is_refused(tiny):
    adapter = attach(tiny, 1, **LORA)
    stray = adapter.model.base_model.model.model.norm
    stray.weight = torch.nn.Parameter(stray.weight.clone())
    with pytest.raises(InputError, match=r"29 tensors .* has 28 .*norm"):
        Adapter(adapter.model)


def test_an_adapter_loaded_for_inference_is_refused(tiny, tmp_path):
    attach(tiny, 1, **LORA).save(tmp_path / "a")
    frozen = PeftModel.from_pretrained(tiny.shell(), tmp_path / "a", is_trainable=False)
    with pytest.raises(InputError, match="0 tensors are trainable where the adapter has 28"):
        Adapter(frozen)


@pytest.mark.parametrize("targets", [("q_proj", "w_proj"), ("w_proj",)])
def test_a_target_that_names_no_module_is_refused(tiny, targets):
    with pytest.raises(InputError, match="w_proj"):
        attach(tiny, 1, **LORA | {"targets": targets})


@pytest.mark.parametrize(
    ("module", "fault"),
    [
        (torch.nn.BatchNorm1d(4, affine=False), "mixes the records of a batch"),
        (torch.nn.SyncBatchNorm(4, affine=False), "mixes the records of a batch"),
        (torch.nn.InstanceNorm1d(4, track_running_stats=True), "keeps statistics of earlier records"),
    ],
)
def test_a_module_that_mixes_records_is_refused_by_name(tiny, module, fault):
    adapter = attach(tiny, 1, **LORA)
    adapter.model.base_model.model.model.mixer = module
    with pytest.raises(InputError, match=f"mixer {fault}"):
        Adapter(adapter.model)


def test_a_module_that_normalises_each_sequence_alone_is_not_refused(tiny):
    adapter = attach(tiny, 1, **LORA)
    adapter.model.base_model.model.model.apart = torch.nn.InstanceNorm1d(4)
    Adapter(adapter.model)


EXPERTS = {
    "mixtral": MixtralConfig(**COMMON, num_local_experts=4, num_experts_per_tok=2),
    "qwen2_moe": Qwen2MoeConfig(**COMMON, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=8),
}


@pytest.mark.parametrize("kind", EXPERTS)
def test_a_mixture_of_experts_is_refused_by_name_before_training(kind):
    model = AutoModelForCausalLM.from_config(EXPERTS[kind])
    base = Base(model.requires_grad_(False).eval(), None, frozenset({0}), "")
    with pytest.raises(InputError, match=r"layers\.0\.mlp\.(gate|experts) routes the tokens of a batch"):
        attach(base, 1, **LORA | {"targets": ("q_proj", "v_proj")})


def test_dropout_is_the_adapters_alone_and_the_base_stays_in_evaluation_mode(tiny):
    adapter = attach(tiny, 1, **LORA | {"dropout": 0.5})
    adapter.drop_inputs(True)
    dropping = [name for name, module in adapter.model.named_modules() if module.training]
    assert dropping and all(".lora_dropout" in name for name in dropping)
    adapter.drop_inputs(False)
    assert not any(module.training for module in adapter.model.modules())


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_checkpointing_computes_each_layer_twice_and_gives_the_same_bits(family, dropout, monkeypatch):
    calls = []
    layer = type(family.model.base_model.layers[0])
    forward = layer.forward
    monkeypatch.setattr(layer, "forward", lambda self, *a, **k: calls.append(1) or forward(self, *a, **k))
    targets = ("query_key_value",) if family.model.config.model_type == "gpt_neox" else LORA["targets"]
    gradients = []
    for checkpointing in (False, True):
        adapter = moved(attach(family, 1, **LORA | {"dropout": dropout, "targets": targets}))
        if checkpointing:
            adapter.checkpoint_layers()
        adapter.drop_inputs(True)
        torch.manual_seed(3)
        gradients.append(adapter.gradient(adapter.model(IDS).logits.log_softmax(-1)[0, -1, 7]))
    assert len(calls) == 2 + 4
    assert gradients[0].norm() > 0 and torch.equal(*gradients)


def test_checkpointing_a_model_without_layers_to_recompute_is_refused(tiny):
    adapter = attach(tiny, 1, **LORA)
    adapter.model.base_model.model.model.layers = torch.nn.ModuleList()
    with pytest.raises(InputError, match="gradient_checkpointing"):
        adapter.checkpoint_layers()


def test_a_folder_that_is_no_adapter_is_an_input_error(tiny, tmp_path):
    with pytest.raises(InputError, match="not an adapter folder"):
        load_adapter(tiny, tmp_path)
