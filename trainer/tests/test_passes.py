"""Packed passes match passes over each sequence alone."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from coa_trainer.model.datum import Datum, Loss
from coa_trainer.model.learner import PassOptions
from coa_trainer.model.packing import plan_rows
from helpers import bases_of, full_model, lora_model, random_datum
from tiny import save_tiny

CROSS = Loss("cross_entropy")


def some_data() -> list[Datum]:
    return [random_datum(length, length) for length in (7, 1, 23, 12, 64, 3)]


def independent(folder: Path, datum: Datum) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Reference values from transformers with its own attention, in double precision."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64)
    with torch.no_grad():
        spread = model(torch.tensor(datum.tokens)[None]).logits[0].log_softmax(-1)
    found = spread.gather(1, torch.tensor(datum.targets)[:, None])[:, 0]
    return np.asarray(found.numpy(), dtype=np.float64)


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("tied", [True, False])
def test_logprobs_match_transformers(tmp_path: Path, kind: str, tied: bool) -> None:
    save_tiny(tmp_path / kind, kind, tie_word_embeddings=tied)
    trained = full_model(bases_of(tmp_path / kind))
    data = some_data()
    result = trained.run(data, CROSS, backward=False)
    for datum, found in zip(data, result.logprobs, strict=True):
        assert np.abs(found - independent(tmp_path / kind, datum)).max() < 2e-5
    assert result.loss == pytest.approx(-sum(float(found.sum()) for found in result.logprobs), rel=1e-6)


@pytest.mark.parametrize("checkpointing", [False, True])
def test_packed_gradients_match_unpacked_gradients(tiny_folder: Path, checkpointing: bool) -> None:
    data = some_data()
    packed = full_model(bases_of(tiny_folder, checkpointing=checkpointing), PassOptions(8192, checkpointing))
    single = full_model(bases_of(tiny_folder), PassOptions(1))
    together = packed.run(data, CROSS, backward=True)
    for datum in data:
        single.run([datum], CROSS, backward=True)
    alone = single.run(data, CROSS, backward=False)
    for one, other in zip(together.logprobs, alone.logprobs, strict=True):
        assert np.abs(one - other).max() < 1e-5
    for name, gradient in single.optimizer.gradients.items():
        assert torch.allclose(packed.optimizer.gradients[name], gradient, atol=2e-4, rtol=1e-4), name


def test_packed_sequences_do_not_affect_each_other(tiny_folder: Path) -> None:
    trained = full_model(bases_of(tiny_folder))
    data = [random_datum(9, 1), random_datum(11, 2), random_datum(5, 3)]
    other = [random_datum(9, 4), data[1], random_datum(5, 5)]
    one = trained.run(data, CROSS, backward=False).logprobs[1]
    two = trained.run(other, CROSS, backward=False).logprobs[1]
    assert np.array_equal(one, two)


def test_gradients_accumulate_over_passes(tiny_folder: Path) -> None:
    data = some_data()
    one, two = full_model(bases_of(tiny_folder)), full_model(bases_of(tiny_folder))
    one.run(data, CROSS, backward=True)
    two.run(data[:2], CROSS, backward=True)
    two.run(data[2:], CROSS, backward=True)
    assert one.optimizer.norm() == pytest.approx(two.optimizer.norm(), rel=1e-5)


def test_chunked_logits_match_unchunked_logits(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = some_data()
    whole, chunked = full_model(bases_of(tiny_folder)), full_model(bases_of(tiny_folder))
    expected = whole.run(data, CROSS, backward=True)
    monkeypatch.setattr("coa_trainer.model.head.CHUNK_NUMBERS", 259 * 3)
    found = chunked.run(data, CROSS, backward=True)
    assert found.loss == pytest.approx(expected.loss, rel=1e-6)
    assert chunked.optimizer.norm() == pytest.approx(whole.optimizer.norm(), rel=1e-5)


def test_adapters_share_a_base_and_are_independent(tiny_folder: Path) -> None:
    from coa_trainer.model.adamw import AdamSettings

    bases = bases_of(tiny_folder)
    one, two = lora_model(bases, "one"), lora_model(bases, "two", rank=2, seed=7)
    data = some_data()
    before = two.run(data, CROSS, backward=False).loss
    assert one.weights.model is two.weights.model
    one.run(data, CROSS, backward=True)
    one.optimizer.update(AdamSettings(learning_rate=0.05))
    assert two.run(data, CROSS, backward=False).loss == before
    assert one.run(data, CROSS, backward=False).loss < before - 1


def test_adapters_accumulate_gradients_independently(tiny_folder: Path) -> None:
    """An adapter's gradients persist while another adapter is active."""
    bases, data = bases_of(tiny_folder), some_data()
    one, two = lora_model(bases, "one", seed=3), lora_model(bases, "two", seed=3)
    alone = lora_model(bases_of(tiny_folder), "alone", seed=3)
    for datum in data[:3]:
        one.run([datum], CROSS, backward=True)
        two.run(data[4:], CROSS, backward=True)
        alone.run([datum], CROSS, backward=True)
    assert one.optimizer.norm() == alone.optimizer.norm() > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_many_small_gradients_accumulate(tiny_folder: Path, dtype: torch.dtype) -> None:
    """Accumulated in bfloat16, later gradients would be lost to rounding."""
    trained = full_model(bases_of(tiny_folder, dtype=dtype), PassOptions(12))
    trained.run([random_datum(12, 1)], CROSS, backward=True)
    once = {name: gradient.clone() for name, gradient in trained.optimizer.gradients.items()}
    trained.optimizer.zero_grad()
    trained.run([random_datum(12, 1)] * 300, CROSS, backward=True)
    for name, gradient in trained.optimizer.gradients.items():
        assert gradient.dtype == torch.float32
        assert torch.allclose(gradient, 300 * once[name], rtol=1e-4, atol=1e-2), name


def test_rows_respect_the_token_budget() -> None:
    data = [random_datum(length, length) for length in (5, 4, 1, 20, 3, 7, 1)]
    assert [plan.members for plan in plan_rows(data, 10)] == [[0, 1, 2], [3], [4, 5], [6]]
    assert [plan.members for plan in plan_rows(data, 0)] == [[number] for number in range(7)]


def test_random_weights_depend_only_on_the_seed(tiny_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text((tiny_folder / "config.json").read_text())
    data = some_data()
    losses = [full_model(bases_of(tmp_path, random_seed=seed)).run(data, CROSS, False).loss for seed in (1, 1, 2)]
    assert losses[0] == losses[1] != losses[2]
