"""AdamW with moments, gradients and weights in float32, whatever the model computes in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch

from ..errors import TrainerError


@dataclass(frozen=True)
class AdamSettings:
    learning_rate: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-12
    weight_decay: float = 0.0
    grad_clip_norm: float = 0.0


class AdamW:
    """Gathers gradients of its parameters and steps. Weights in a narrow type get an exact copy to be stepped."""

    def __init__(
        self,
        parameters: Iterable[tuple[str, torch.nn.Parameter]],
        exact: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        self.parameters = dict(parameters)
        self.step = 0
        self.exact: dict[str, torch.Tensor] = {}
        self.first: dict[str, torch.Tensor] = {}
        self.second: dict[str, torch.Tensor] = {}
        self._wide: dict[str, torch.Tensor] = {}
        for name, parameter in self.parameters.items():
            data = parameter.data
            given = exact[name] if exact is not None else data.float()
            self.exact[name] = data if data.dtype == torch.float32 else given
            self.first[name] = torch.zeros_like(self.exact[name])
            self.second[name] = torch.zeros_like(self.exact[name])

    @property
    def gradients(self) -> dict[str, torch.Tensor]:
        """What has been gathered since the last step, in float32."""
        found: dict[str, torch.Tensor] = {}
        for name, parameter in self.parameters.items():
            gradient = self._wide.get(name, parameter.grad)
            if gradient is not None:
                found[name] = gradient
        return found

    @property
    def gathered(self) -> bool:
        return bool(self.gradients)

    def collect(self) -> None:
        """After each backward pass: gradients in a narrow type are added up in float32, others stay where they are."""
        for name, parameter in self.parameters.items():
            if parameter.grad is None or parameter.grad.dtype == torch.float32:
                continue
            gradient, parameter.grad = parameter.grad, None
            if name in self._wide:
                self._wide[name].add_(gradient)
            else:
                self._wide[name] = gradient.float()

    def forget(self) -> None:
        self._wide.clear()
        for parameter in self.parameters.values():
            parameter.grad = None

    def norm(self) -> float:
        """In double precision: the sum runs over all weights."""
        norms = [gradient.norm(dtype=torch.float64) for gradient in self.gradients.values()]
        return float(torch.stack(norms).norm()) if norms else 0.0

    def update(self, settings: AdamSettings) -> float:
        """Steps, forgets what was gathered and returns the length of the gradient before clipping."""
        norm = self.norm()
        if not norm < float("inf"):
            self.forget()
            raise TrainerError(
                400,
                "The gradient is not a number, so nothing was changed and what was gathered is forgotten: "
                "lower the learning rate or go back to a checkpoint.",
            )
        scale = 1.0
        if settings.grad_clip_norm > 0:
            scale = min(1.0, settings.grad_clip_norm / (norm + 1e-6))
        self.step += 1
        root = (1 - settings.beta2**self.step) ** 0.5
        rate = settings.learning_rate * root / (1 - settings.beta1**self.step)
        gradients = self.gradients
        with torch.no_grad():
            for name in self.parameters:
                self._update_one(name, gradients.get(name), settings, scale, rate, settings.eps * root)
        self.forget()
        return norm

    def _update_one(
        self, name: str, gradient: torch.Tensor | None, settings: AdamSettings, scale: float, rate: float, eps: float
    ) -> None:
        weight, first, second = self.exact[name], self.first[name], self.second[name]
        first.mul_(settings.beta1)
        second.mul_(settings.beta2)
        if gradient is not None:
            first.add_(gradient, alpha=(1 - settings.beta1) * scale)
            second.addcmul_(gradient, gradient, value=(1 - settings.beta2) * scale * scale)
        if settings.weight_decay and weight.ndim >= 2:
            weight.mul_(1 - settings.learning_rate * settings.weight_decay)
        weight.addcdiv_(first, second.sqrt().add_(eps), value=-rate)
        self.write_back(name)

    def write_back(self, name: str) -> None:
        parameter, exact = self.parameters[name], self.exact[name]
        if parameter.data.data_ptr() != exact.data_ptr():
            parameter.data.copy_(exact)

    def take(self, name: str, values: torch.Tensor) -> None:
        with torch.no_grad():
            self.exact[name].copy_(values)
            self.write_back(name)

    def restart(self) -> None:
        self.step = 0
        for moments in (self.first, self.second):
            for tensor in moments.values():
                tensor.zero_()
