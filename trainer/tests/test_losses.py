"""Losses and their gradients against an independent float64 implementation."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from coa_trainer.errors import TrainerError
from coa_trainer.model import head
from coa_trainer.model.datum import Loss
from coa_trainer.model.losses import check_loss, elementwise_loss
from helpers import random_datum

PPO = [
    {},
    {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28},
    {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28, "dual_clip": 3.0},
    {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28, "importance_cap": 2.0},
    {"clip_low_threshold": 0.5, "clip_high_threshold": 1.5, "dual_clip": 2.0, "importance_cap": 1.1},
]


def reference(kind: str, config: dict[str, float], p: float, inputs: dict[str, float]) -> float:
    """The definitions in PROTOCOL.md, one position at a time."""
    weight = inputs.get("weights", 1.0)
    if weight == 0:
        return 0.0
    if kind == "cross_entropy":
        return -weight * p
    ratio, advantage = math.exp(p - inputs["logprobs"]), inputs["advantages"]
    if kind == "importance_sampling":
        return -weight * ratio * advantage
    low, high = config.get("clip_low_threshold", 0.8), config.get("clip_high_threshold", 1.2)
    objective = min(ratio * advantage, min(max(ratio, low), high) * advantage)
    if "dual_clip" in config and advantage < 0:
        objective = max(objective, config["dual_clip"] * advantage)
    if "importance_cap" in config:
        sampled = inputs.get("sampled_logprobs", inputs["logprobs"])
        objective *= min(math.exp(inputs["logprobs"] - sampled), config["importance_cap"])
    return -weight * objective


def random_inputs(seed: int, count: int = 200) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    random = np.random.default_rng(seed)
    inputs = {
        "weights": random.choice([0.0, 1.0, 0.25, -0.5], count),
        "logprobs": -random.exponential(2, count),
        "advantages": random.choice([-2.0, -0.5, 0.0, 0.7, 1.5], count),
        "sampled_logprobs": -random.exponential(2, count),
    }
    logprobs = torch.tensor(inputs["logprobs"] + random.normal(0, 0.8, count), dtype=torch.float64)
    return logprobs, {name: torch.tensor(values, dtype=torch.float64) for name, values in inputs.items()}


CASES: list[tuple[str, dict[str, float]]] = [
    ("cross_entropy", {}),
    ("importance_sampling", {}),
    *[("ppo", c) for c in PPO],
]


@pytest.mark.parametrize(("kind", "config"), CASES)
def test_values(kind: str, config: dict[str, float]) -> None:
    logprobs, inputs = random_inputs(1)
    found = elementwise_loss(Loss(kind, config), logprobs, inputs)
    for at in range(len(logprobs)):
        one = {name: float(values[at]) for name, values in inputs.items()}
        assert float(found[at]) == pytest.approx(reference(kind, config, float(logprobs[at]), one), rel=1e-12)


@pytest.mark.parametrize(("kind", "config"), CASES)
def test_gradients_match_finite_differences(kind: str, config: dict[str, float]) -> None:
    logprobs, inputs = random_inputs(2)
    logprobs.requires_grad_(True)
    elementwise_loss(Loss(kind, config), logprobs, inputs).sum().backward()  # type: ignore[no-untyped-call]
    assert logprobs.grad is not None
    step = 1e-6
    compared = 0
    for at in range(len(logprobs)):
        one = {name: float(values[at]) for name, values in inputs.items()}
        p = float(logprobs[at].detach())
        sides = [reference(kind, config, p + sign * step, one) for sign in (1, -1)]
        slopes = [
            (sides[0] - reference(kind, config, p, one)) / step,
            (reference(kind, config, p, one) - sides[1]) / step,
        ]
        if abs(slopes[0] - slopes[1]) > 1e-3:
            continue  # a kink: the one-sided derivatives differ
        compared += 1
        assert float(logprobs.grad[at]) == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=1e-6)
    assert compared > 190


@pytest.mark.parametrize(("kind", "config"), CASES)
@pytest.mark.parametrize("junk", [math.nan, math.inf, -math.inf])
def test_weight_zero_blocks_non_finite_inputs(kind: str, config: dict[str, float], junk: float) -> None:
    logprobs, inputs = random_inputs(3)
    dead = inputs["weights"] == 0
    assert int(dead.sum()) > 20
    clean = logprobs.clone().requires_grad_(True)
    elementwise_loss(Loss(kind, config), clean, inputs).sum().backward()  # type: ignore[no-untyped-call]
    dirty_inputs = {
        name: values if name == "weights" else torch.where(dead, junk, values) for name, values in inputs.items()
    }
    dirty = torch.where(dead, junk, logprobs).requires_grad_(True)
    losses = elementwise_loss(Loss(kind, config), dirty, dirty_inputs)
    losses.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.equal(losses[dead], torch.zeros_like(losses[dead]))
    assert clean.grad is not None
    assert dirty.grad is not None
    assert torch.equal(dirty.grad, clean.grad)


def test_an_overflowing_ratio_is_clipped_without_nan() -> None:
    logprobs = torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
    inputs = {"logprobs": torch.tensor([-200.0] * 3), "advantages": torch.tensor([1.0, -1.0, 0.0])}
    losses = elementwise_loss(Loss("ppo", {"dual_clip": 3.0}), logprobs, inputs)
    losses.sum().backward()  # type: ignore[no-untyped-call]
    assert losses.tolist() == pytest.approx([-1.2, 3.0, 0.0])
    assert logprobs.grad is not None
    assert logprobs.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("loss", "inputs", "words"),
    [
        (Loss("dapo"), {}, "Unknown loss dapo"),
        (Loss("ppo", {"clip": 1.0}), {}, "no setting clip"),
        (Loss("ppo", {"dual_clip": math.nan}), {}, "dual_clip is nan"),
        (Loss("ppo"), {"logprobs": [0] * 4}, "lacks advantages"),
        (Loss("cross_entropy"), {"mask": [0] * 4}, "has unknown mask"),
    ],
)
def test_unknown_losses_settings_and_inputs_are_rejected(loss: Loss, inputs: dict[str, Any], words: str) -> None:
    with pytest.raises(TrainerError, match=words) as caught:
        check_loss(loss, [random_datum(4, 1, **inputs)])
    assert caught.value.status == 400


def test_the_ratio_is_bounded() -> None:
    logprobs = torch.tensor([0.0, 0.0, -200.0], requires_grad=True)
    inputs = {"logprobs": torch.tensor([-200.0, -200.0, 0.0]), "advantages": torch.tensor([-1.0, 1.0, 1.0])}
    losses = elementwise_loss(Loss("ppo", {"clip_high_threshold": 1.28}), logprobs, inputs)
    torch.testing.assert_close(losses, torch.tensor([math.exp(20), -1.28, -math.exp(-20)]))
    losses.sum().backward()  # type: ignore[no-untyped-call]
    assert logprobs.grad is not None
    assert logprobs.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_temperature_divides_the_logits(monkeypatch: pytest.MonkeyPatch, chunked: bool) -> None:
    if chunked:
        monkeypatch.setattr(head, "CHUNK_NUMBERS", 4 * 7)
    torch.manual_seed(1)
    weight = torch.randn(7, 5)
    hidden = torch.randn(11, 5)
    targets = torch.randint(0, 7, (11,))
    weights = torch.randn(11)
    module = torch.nn.Linear(5, 7, bias=False)

    def outcome(compute: Any) -> list[torch.Tensor]:
        states, matrix = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
        total, logprobs = compute(states, matrix)
        (3 * total).backward()
        assert states.grad is not None
        assert matrix.grad is not None
        return [total.detach(), logprobs.detach(), states.grad, matrix.grad]

    def simple(states: torch.Tensor, matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logprobs = ((states @ matrix.T) / 0.7).log_softmax(-1).gather(1, targets[:, None])[:, 0]
        return -(logprobs * weights).sum(), logprobs

    loss = Loss("cross_entropy", {"temperature": 0.7})
    plain = outcome(simple)
    own = outcome(lambda states, matrix: head.Head(matrix).losses(states, targets, loss, {"weights": weights})[:2])
    for found, wanted in zip(own, plain, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    with torch.no_grad():
        module.weight.copy_(weight)
    torch.testing.assert_close(head.module_logprobs(module, hidden, targets, 7, 0.7), plain[1])
    torch.testing.assert_close(head.target_logprobs(hidden @ weight.T, targets, 0.7), plain[1])


def test_temperature_zero_is_rejected() -> None:
    with pytest.raises(TrainerError, match="temperature is 0"):
        check_loss(Loss("cross_entropy", {"temperature": 0.0}), [])
