"""Checkpoints: training resumes bit for bit, and no partial checkpoint is ever visible."""

import hashlib
import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from coa_trainer.errors import TrainerError
from coa_trainer.model.adamw import AdamSettings
from coa_trainer.model.bases import BaseModels
from coa_trainer.model.checkpoint import recover, save_checkpoint
from coa_trainer.model.datum import Loss
from coa_trainer.model.read_checkpoint import apply_checkpoint, read_checkpoint
from coa_trainer.model.trained import TrainedModel
from helpers import bases_of, full_model, lora_model, random_datum
from tiny import save_tiny

DATA = [random_datum(length, length) for length in (7, 23, 12)]
SETTINGS = AdamSettings(learning_rate=0.01, weight_decay=0.1, grad_clip_norm=1.0)


def steps(trained: TrainedModel, count: int) -> list[float]:
    losses = []
    for _ in range(count):
        losses.append(trained.run(DATA, Loss("cross_entropy"), backward=True).loss)
        trained.optimizer.update(SETTINGS)
    return losses


def load_checkpoint(folder: Path, trained: TrainedModel, bases: BaseModels, optimizer: bool) -> bool:
    contents = read_checkpoint(folder, trained, bases, optimizer)
    apply_checkpoint(trained, contents)
    return contents.moments is not None


def make(bases: BaseModels, which: str, name: str) -> TrainedModel:
    return full_model(bases) if which == "full" else lora_model(bases, name)


@pytest.mark.parametrize("which", ["full", "lora"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_training_resumes_bit_for_bit(tiny_folder: Path, tmp_path: Path, which: str, dtype: torch.dtype) -> None:
    bases = bases_of(tiny_folder, dtype=dtype)
    first = make(bases, which, "a-first")
    steps(first, 3)
    save_checkpoint(tmp_path / "c", first, bases, optimizer=True)
    expected = steps(first, 3)
    second = make(bases_of(tiny_folder, dtype=dtype), which, "a-second")
    assert load_checkpoint(tmp_path / "c", second, bases, optimizer=True)
    assert second.optimizer.step == 3
    assert steps(second, 3) == expected
    for name, tensor in first.optimizer.master.items():
        assert torch.equal(second.optimizer.master[name], tensor), name


@pytest.mark.parametrize("stored", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_weights_are_stored_in_the_models_dtype_and_training_resumes_bit_for_bit(
    tmp_path: Path, stored: torch.dtype, dtype: torch.dtype
) -> None:
    save_tiny(tmp_path / "base", dtype=stored)
    bases = bases_of(tmp_path / "base", dtype=dtype)
    first = full_model(bases)
    steps(first, 3)
    save_checkpoint(tmp_path / "c", first, bases, optimizer=True)
    save_checkpoint(tmp_path / "result", first, bases, optimizer=False)
    expected = steps(first, 3)
    second = full_model(bases_of(tmp_path / "base", dtype=dtype))
    assert load_checkpoint(tmp_path / "c", second, bases, optimizer=True)
    assert steps(second, 3) == expected
    count = sum(tensor.numel() for tensor in first.optimizer.master.values())
    for folder in ("c", "result"):
        values = load_file(tmp_path / folder / "model.safetensors")
        assert {tensor.dtype for tensor in values.values()} == {stored}
        assert 0 < (tmp_path / folder / "model.safetensors").stat().st_size - 2 * count < 4096
        name = str(stored).removeprefix("torch.")
        assert json.loads((tmp_path / folder / "config.json").read_text())["torch_dtype"] == name
    assert 0 < (tmp_path / "c" / "optimizer.safetensors").stat().st_size - 12 * count < 16384
    assert not (tmp_path / "result" / "optimizer.safetensors").exists()
    # A new optimizer starts from the stored weights.
    assert not load_checkpoint(tmp_path / "c", second, bases, optimizer=False)
    values = load_file(tmp_path / "c" / "model.safetensors")
    assert all(torch.equal(second.optimizer.master[name], tensor.float()) for name, tensor in values.items())


def test_a_checkpoint_without_master_weights_still_resumes(tiny_folder: Path, tmp_path: Path) -> None:
    """As earlier versions wrote them for every model: float32 weights and the moments."""
    save_tiny(tmp_path / "base", dtype=torch.bfloat16)
    old = bases_of(tiny_folder)
    trained = full_model(old)
    steps(trained, 2)
    save_checkpoint(tmp_path / "c", trained, old, optimizer=True)
    other = full_model(bases_of(tmp_path / "base"))
    assert load_checkpoint(tmp_path / "c", other, old, optimizer=True)
    assert steps(other, 2) == steps(trained, 2)


def test_files_have_the_reported_hashes(tiny_folder: Path, tmp_path: Path) -> None:
    bases = bases_of(tiny_folder)
    files = save_checkpoint(tmp_path / "c", full_model(bases), bases, optimizer=True)
    for file in files:
        content = (tmp_path / "c" / file["name"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
    assert {file["name"] for file in files} == {path.name for path in (tmp_path / "c").iterdir()}


def test_without_optimizer_state_the_optimizer_is_reset(tiny_folder: Path, tmp_path: Path) -> None:
    bases = bases_of(tiny_folder)
    trained = full_model(bases)
    steps(trained, 2)
    save_checkpoint(tmp_path / "c", trained, bases, optimizer=True)
    assert not load_checkpoint(tmp_path / "c", trained, bases, optimizer=False)
    assert trained.optimizer.step == 0
    assert float(trained.optimizer.first["model.norm.weight"].abs().max()) == 0


def test_the_files_match_the_embedded_engines_format(tiny_folder: Path, tmp_path: Path) -> None:
    bases = bases_of(tiny_folder)
    trained = full_model(bases)
    steps(trained, 2)
    save_checkpoint(tmp_path / "c", trained, bases, optimizer=True)
    with safe_open(tmp_path / "c" / "optimizer.safetensors", framework="pt") as file:
        assert file.metadata() == {"format": "pt", "optimizer": "adamw", "step": "2"}
        names = set(file.keys())
        assert names == {f"{which} {name}" for which in ("first", "second") for name in trained.optimizer.master}
        assert "first model.layers.1.mlp.down_proj.weight" in names
    with safe_open(tmp_path / "c" / "model.safetensors", framework="pt") as file:
        assert set(file.keys()) == set(trained.optimizer.master)
        assert {file.get_tensor(name).dtype for name in trained.optimizer.master} == {torch.float32}
    index = json.loads((tmp_path / "c" / "model.safetensors.index.json").read_text())
    assert set(index["weight_map"].values()) == {"model.safetensors"}
    assert (tmp_path / "c" / "tokenizer.json").read_bytes() == (tiny_folder / "tokenizer.json").read_bytes()
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "c")
    ids = torch.tensor(DATA[1].tokens)[None]
    with torch.no_grad():
        wanted = trained.weights.model(ids).logits
        assert torch.allclose(again(ids).logits, wanted, atol=1e-5)


def test_a_mismatched_checkpoint_is_rejected_and_changes_nothing(tiny_folder: Path, tmp_path: Path) -> None:
    bases = bases_of(tiny_folder)
    full, lora = full_model(bases), lora_model(bases, "adapter-four")
    other = lora_model(bases, "adapter-two", rank=2)
    save_checkpoint(tmp_path / "full", full, bases, optimizer=True)
    save_checkpoint(tmp_path / "lora", lora, bases, optimizer=True)
    before = full.run(DATA, Loss("cross_entropy"), backward=False).loss
    for folder, into, words in (
        ("full", lora, "is not an adapter"),
        ("lora", full, "is an adapter"),
        ("lora", other, "has rank 4"),
    ):
        with pytest.raises(TrainerError, match=words):
            load_checkpoint(tmp_path / folder, into, bases, optimizer=True)
    assert full.run(DATA, Loss("cross_entropy"), backward=False).loss == before


def test_optimizer_state_of_other_tensors_is_ignored(tiny_folder: Path, tmp_path: Path) -> None:
    bases = bases_of(tiny_folder)
    trained = full_model(bases)
    steps(trained, 2)
    save_checkpoint(tmp_path / "c", trained, bases, optimizer=True)
    save_file({"first x": torch.ones(2)}, tmp_path / "c" / "optimizer.safetensors", metadata={"step": "5"})
    assert not load_checkpoint(tmp_path / "c", trained, bases, optimizer=True)
    assert trained.optimizer.step == 0


def test_a_failed_save_keeps_the_old_checkpoint(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases = bases_of(tiny_folder)
    trained = full_model(bases)
    save_checkpoint(tmp_path / "c", trained, bases, optimizer=True)
    kept = (tmp_path / "c" / "model.safetensors").read_bytes()
    steps(trained, 1)

    def full_disk(*_: object, **__: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("coa_trainer.model.checkpoint.write_tensors", full_disk)
        with pytest.raises(OSError, match="no space"):
            save_checkpoint(tmp_path / "c", trained, bases, optimizer=True)
    assert (tmp_path / "c" / "model.safetensors").read_bytes() == kept
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    save_checkpoint(tmp_path / "c", trained, bases, optimizer=True)
    assert (tmp_path / "c" / "model.safetensors").read_bytes() != kept


def test_recovery_after_a_killed_save(tmp_path: Path) -> None:
    for name in (".a.previous", ".b.previous", "b", ".c.0123.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    recover(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a" / "x").read_text() == ".a.previous"
    assert (tmp_path / "b" / "x").read_text() == "b"
