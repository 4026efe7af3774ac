"""Prefixes that consecutive examples have in common are computed once, with the same results and gradients."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from coa_trainer.model.datum import Datum, Floats, Loss
from coa_trainer.model.learner import PassOptions
from coa_trainer.model.packed_attention import Layout, attend, packed
from coa_trainer.model.packing import MIN_SHARED, plan_rows, shared_prefix
from coa_trainer.model.trained import TrainedModel
from helpers import bases_of, full_model, lora_model
from tiny import save_tiny

PPO = Loss("ppo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28, "temperature": 0.9})


def grouped(seed: int, groups: int = 3, size: int = 4) -> list[Datum]:
    """As in reinforcement learning: one system prompt, a question per group, and tool outputs without weight."""
    random = np.random.default_rng(seed)
    system = random.integers(0, 256, 20)
    found: list[Datum] = []
    for _ in range(groups):
        question = random.integers(0, 256, random.integers(1, 40))
        for _ in range(size):
            answer = random.integers(0, 256, random.integers(1, 30))
            found.append(example(random, np.concatenate([system, question]), answer))
    return found


def example(random: np.random.Generator, prompt: np.ndarray, answer: np.ndarray) -> Datum:
    tokens = np.concatenate([prompt, answer]).astype(np.int64)
    count = len(tokens) - 1
    weights = np.where(random.random(count) < 0.8, random.random(count) + 0.1, 0)
    weights[: len(prompt) - 1] = 0
    inputs = {
        "weights": weights,
        "logprobs": -5 - random.random(count),
        "advantages": random.choice([-1.0, 0.5, 2.0], count),
    }
    return Datum(tokens[:-1], tokens[1:], {name: each.astype(np.float32) for name, each in inputs.items()})


def one_by_one(trained: TrainedModel, data: list[Datum], backward: bool) -> tuple[list[Floats], float]:
    results = [trained.run([datum], PPO, backward) for datum in data]
    return [result.logprobs[0] for result in results], sum(result.loss for result in results)


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("adapter", [False, True])
def test_gradients_match_those_of_each_example_alone(tmp_path: Path, kind: str, adapter: bool) -> None:
    save_tiny(tmp_path, kind)
    together, alone = (lora_model(bases_of(tmp_path)) if adapter else full_model(bases_of(tmp_path)) for _ in range(2))
    data = grouped(1)
    result = together.run(data, PPO, backward=True)
    logprobs, loss = one_by_one(alone, data, backward=True)
    assert result.loss == pytest.approx(loss, rel=1e-5)
    for datum, found, wanted in zip(data, result.logprobs, logprobs, strict=True):
        assert np.abs(found - wanted).max() < 2e-5
        assert (found[datum.inputs["weights"] == 0] == 0).all()
    for name, gradient in alone.optimizer.gradients.items():
        assert torch.allclose(together.optimizer.gradients[name], gradient, atol=1e-4, rtol=1e-4), name
    assert alone.optimizer.norm() > 0


def test_forward_passes_report_every_position(tiny_folder: Path) -> None:
    trained = full_model(bases_of(tiny_folder))
    data = grouped(2)
    result = trained.run(data, PPO, backward=False)
    logprobs, loss = one_by_one(trained, data, backward=False)
    assert result.loss == pytest.approx(loss, rel=1e-5)
    for found, wanted in zip(result.logprobs, logprobs, strict=True):
        assert np.abs(found - wanted).max() < 2e-5
        assert (found < 0).all()


@pytest.mark.parametrize("budget", [64, 200, 100_000])
def test_rows_have_each_shared_position_once(budget: int) -> None:
    data = grouped(3, groups=5, size=6)
    plans = plan_rows(data, budget)
    assert [member for plan in plans for member in plan.members] == list(range(len(data)))
    for plan in plans:
        assert plan.shared[0] == 0
        own = sum(len(data[member]) - shared for member, shared in zip(plan.members, plan.shared, strict=True))
        assert own <= budget or len(plan.members) == 1
        for number, (member, shared) in enumerate(zip(plan.members, plan.shared, strict=True)):
            assert shared == (0 if number == 0 else shared_prefix(data[member - 1], data[member]))
    # The prompt of each group of the widest row is computed once, and so is the system prompt.
    if budget == 100_000:
        (plan,) = plans
        assert all(shared >= 19 for shared in plan.shared[1:])


def test_only_context_is_shared() -> None:
    one, *_ = grouped(4)
    count = int(np.flatnonzero(one.inputs["weights"])[0])
    assert shared_prefix(one, one) == count >= MIN_SHARED
    trained_earlier = replace(one, inputs={"weights": np.ones(len(one), dtype=np.float32)})
    assert shared_prefix(one, trained_earlier) == 0
    # What the other example is trained on can be context here.
    assert shared_prefix(trained_earlier, one) == count
    # An example without weights is trained on everywhere.
    assert shared_prefix(one, replace(one, inputs={})) == 0
    # A forward pass reports the log-probability of the target, so that has to be the same too.
    assert shared_prefix(replace(one, targets=one.targets + 1), one) == 0
    # At least one position of its own is left, even if nothing is trained on.
    nothing = replace(one, inputs={"weights": np.zeros(len(one), dtype=np.float32)})
    assert shared_prefix(nothing, nothing) == len(one) - 1


def test_a_shared_prefix_may_continue_another() -> None:
    """The third sequence shares more with the second than the second with the first."""
    torch.manual_seed(1)
    heads, width = 4, 8
    layout = Layout([9, 15, 18], [0, 4, 8])
    assert [places.tolist() for places in layout.places] == [
        list(range(9)),
        [0, 1, 2, 3, 9, 10, 11, 12, 13, 14],
        [0, 1, 2, 3, 9, 10, 11, 12, 15, 16, 17],
    ]
    query, key, value = (torch.randn(18, count, width, requires_grad=True) for count in (heads, 2, 2))
    with packed(layout):
        found = attend(query, key, value)
    for places, own in zip(layout.places, layout.own_lengths, strict=True):
        index = torch.from_numpy(places)
        q, k, v = (each[index] for each in (query, key, value))
        scores = torch.einsum("qhw,khw->hqk", q, k.repeat_interleave(2, dim=1)) / width**0.5
        scores = scores.masked_fill(torch.ones(len(index), len(index)).triu(1).bool(), float("-inf"))
        wanted = torch.einsum("hqk,khw->qhw", scores.softmax(-1), v.repeat_interleave(2, dim=1))
        assert torch.allclose(found[index[-own:]], wanted[-own:], atol=1e-5)


def test_many_rows_and_compiled_sizes(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code path of CUDA, which pads rows, and a budget that splits groups over rows."""
    monkeypatch.setattr(torch, "compile", lambda plain, **_: plain)
    padded = full_model(bases_of(tiny_folder, compile="on"), PassOptions(150))
    plain = full_model(bases_of(tiny_folder), PassOptions(100_000))
    data = grouped(5)
    one, other = (each.run(data, PPO, backward=True) for each in (padded, plain))
    assert one.loss == pytest.approx(other.loss, rel=1e-5)
    assert padded.optimizer.norm() == pytest.approx(plain.optimizer.norm(), rel=1e-4)
