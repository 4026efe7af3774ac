"""AdamW against the textbook algorithm in plain Python numbers."""

import math

import pytest
import torch

from coa_trainer.errors import TrainerError
from coa_trainer.model.adamw import AdamSettings, AdamW


def textbook(weights: list[float], gradients: list[list[float]], settings: AdamSettings, decays: bool) -> list[float]:
    first, second = [0.0] * len(weights), [0.0] * len(weights)
    weights = list(weights)
    for step, gradient in enumerate(gradients, 1):
        for at, slope in enumerate(gradient):
            first[at] = settings.beta1 * first[at] + (1 - settings.beta1) * slope
            second[at] = settings.beta2 * second[at] + (1 - settings.beta2) * slope * slope
            mean = first[at] / (1 - settings.beta1**step)
            square = second[at] / (1 - settings.beta2**step)
            if decays:
                weights[at] -= settings.learning_rate * settings.weight_decay * weights[at]
            weights[at] -= settings.learning_rate * mean / (math.sqrt(square) + settings.eps)
    return weights


SETTINGS = AdamSettings(learning_rate=0.01, beta1=0.8, beta2=0.9, eps=1e-5, weight_decay=0.1)
GRADIENTS = [[0.5, -2.0], [1.5, 0.0], [-0.25, 3.0]]


@pytest.mark.parametrize("shape", [(2,), (1, 2)])
def test_steps_match_the_textbook(shape: tuple[int, ...]) -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, -3.0]).view(shape))
    adam = AdamW([("x", parameter)])
    for gradient in GRADIENTS:
        parameter.grad = torch.tensor(gradient).view(shape)
        adam.accumulate()
        norm = adam.update(SETTINGS)
        assert norm == pytest.approx(math.hypot(*gradient))
    expected = textbook([1.0, -3.0], GRADIENTS, SETTINGS, decays=len(shape) == 2)
    assert parameter.detach().flatten().tolist() == pytest.approx(expected, rel=1e-5)
    assert adam.step == 3


def test_clipping_uses_the_norm_over_all_parameters() -> None:
    settings = AdamSettings(learning_rate=0.1, grad_clip_norm=1.0, eps=1e-3)
    one, two = torch.nn.Parameter(torch.tensor([1.0])), torch.nn.Parameter(torch.tensor([2.0]))
    adam = AdamW([("one", one), ("two", two)])
    one.grad, two.grad = torch.tensor([3.0]), torch.tensor([4.0])
    adam.accumulate()
    assert adam.update(settings) == pytest.approx(5.0)
    plain = AdamSettings(learning_rate=0.1, eps=1e-3)
    assert one.item() == pytest.approx(textbook([1.0], [[0.6]], plain, False)[0], rel=1e-5)
    assert two.item() == pytest.approx(textbook([2.0], [[0.8]], plain, False)[0], rel=1e-5)


@pytest.mark.parametrize("junk", [math.nan, math.inf])
def test_a_non_finite_gradient_changes_nothing(junk: float) -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    adam = AdamW([("x", parameter)])
    parameter.grad = torch.tensor([1.0, 1.0])
    adam.accumulate()
    adam.update(SETTINGS)
    before = (parameter.detach().clone(), adam.first["x"].clone(), adam.second["x"].clone())
    parameter.grad = torch.tensor([1.0, junk])
    adam.accumulate()
    with pytest.raises(TrainerError, match="not a number") as caught:
        adam.update(SETTINGS)
    assert caught.value.status == 400
    assert torch.equal(parameter, before[0])
    assert torch.equal(adam.first["x"], before[1])
    assert torch.equal(adam.second["x"], before[2])
    assert adam.step == 1
    assert not adam.has_gradients


def test_low_precision_weights_have_float32_master_copies() -> None:
    """Steps too small for bfloat16 accumulate instead of being lost."""
    parameter = torch.nn.Parameter(torch.ones(1, dtype=torch.bfloat16))
    adam = AdamW([("x", parameter)])
    for _ in range(100):
        parameter.grad = torch.ones(1, dtype=torch.bfloat16)
        adam.accumulate()
        adam.update(AdamSettings(learning_rate=1e-4))
    assert adam.master["x"].item() == pytest.approx(1 - 0.01, abs=1e-5)
    assert parameter.item() == pytest.approx(1 - 0.01, abs=0.003)


def test_a_model_that_is_only_sampled_has_no_moments() -> None:
    def is_allocated() -> bool:
        return adam._moments is not None

    parameter = torch.nn.Parameter(torch.ones(4, 4))
    adam = AdamW([("x", parameter)])
    assert not is_allocated()
    parameter.grad = torch.ones(4, 4)
    adam.update(AdamSettings())
    assert is_allocated()
    assert float(adam.first["x"].abs().max()) > 0
    adam.reset()
    assert not is_allocated()
    assert float(adam.first["x"].abs().max()) == 0
