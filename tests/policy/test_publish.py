"""A base or an adapter replaces an earlier one, and nothing that anybody else put there."""

import shutil

import pytest

from promptdp.errors import InputError
from promptdp.files import read_json
from promptdp.policy import publish
from promptdp.policy.base import folder_sha256
from promptdp.policy.lora import attach
from promptdp.policy.publish import publish_base
from promptdp.study import Study
from tests.policy.test_pretrain import SETTINGS
from tests.tiny import LORA, write_tiny_base


def study(base):
    return Study.model_validate(
        {
            "name": "small",
            "title": "A base alone",
            "records": "public",
            "base": base,
            "benchmarks": {
                "sums": {
                    "source": "arithmetic",
                    "reward": "math_strict",
                    "slots": 4,
                    "expected": 2,
                    "rounds": 1,
                    "cap": 6,
                    "epsilon": 8,
                }
            },
            "evaluation_sets": {
                "sums": {"benchmark": "sums", "problems": 2, "cap": 6, "scorers": {"strict": "math_strict"}}
            },
            "arms": {"base": {"label": "Base", "objective": "none", "seeds": [0]}},
        }
    )


@pytest.fixture
def make(tmp_path):
    """Publishes a copy of a tiny checkpoint into a folder."""
    checkpoint = write_tiny_base(tmp_path / "checkpoint")

    def publish_copy(out):
        publish_base(study({"checkpoint": str(checkpoint)}), out, tmp_path / "base.json", lambda line: None)
        assert folder_sha256(out) == folder_sha256(checkpoint)

    return publish_copy


def test_an_earlier_base_is_replaced_also_where_part_of_it_is_gone(make, tmp_path):
    out = tmp_path / "base"
    out.mkdir()
    make(out)
    (out / "model.safetensors").unlink()
    (out / "config.json").write_text("{}")
    make(out)
    assert "model.safetensors" in read_json(tmp_path / "base.json")["files"]


@pytest.mark.parametrize("stranger", ["thesis.txt", ".hidden", "folder/data.csv", "folder/config.json"])
def test_a_base_never_replaces_a_folder_that_holds_something_else(make, tmp_path, stranger):
    out = tmp_path / "home"
    out.mkdir()
    (out / "config.json").write_text("{}")
    (out / stranger).parent.mkdir(exist_ok=True)
    (out / stranger).write_text("years")
    with pytest.raises(InputError, match="is not of this output"):
        make(out)
    assert (out / stranger).read_text() == "years"


def test_the_folder_is_looked_at_before_a_base_is_trained(tmp_path, monkeypatch):
    (tmp_path / "thesis.txt").write_text("years")
    monkeypatch.setattr(publish, "train_public_base", None)
    with pytest.raises(InputError, match=r"thesis\.txt"):
        publish_base(
            study({"train": SETTINGS.model_dump()}), tmp_path, tmp_path / "base.json", lambda line: None
        )


def test_a_trained_base_holds_the_files_it_may_replace(tmp_path):
    quick = study({"train": SETTINGS.model_copy(update={"steps": 1}).model_dump()})
    for _ in range(2):
        publish_base(quick, tmp_path / "base", tmp_path / "base.json", lambda line: None)
    assert set(read_json(tmp_path / "base.json")["files"]) == publish.FILES


def test_a_file_or_a_link_in_the_way_is_refused(make, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("file", "link"):
        with pytest.raises(InputError, match="in the way"):
            make(tmp_path / name)


def test_an_adapter_replaces_an_adapter_alone(tiny, tmp_path):
    adapter = attach(tiny, seed=1, **LORA)
    adapter.save(tmp_path / "adapter")
    (tmp_path / "adapter" / "README.md").write_text("PEFT's")
    adapter.save(tmp_path / "adapter")
    assert not (tmp_path / "adapter" / "README.md").exists()
    shutil.copy(tmp_path / "adapter" / "adapter_config.json", tmp_path / "adapter" / "mine.json")
    with pytest.raises(InputError, match=r"holds mine\.json"):
        adapter.save(tmp_path / "adapter")
    assert (tmp_path / "adapter" / "mine.json").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["adapter"]
