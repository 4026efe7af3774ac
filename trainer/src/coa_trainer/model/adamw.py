"""AdamW with moments, gradients and weights in float32, whatever the model computes in.

All parameters are stepped in a few kernels, and the device is asked once a step: for the length of the gradient.
"""

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


@dataclass(frozen=True)
class Leaf:
    """A tensor that is trained. It may hold several parameters of the model one after another."""

    parameter: torch.nn.Parameter
    names: tuple[str, ...]
    sizes: tuple[int, ...] = ()
    """How much of the first dimension each takes; left out where there is one."""

    def parts(self, tensor: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
        if len(self.names) == 1:
            return [(self.names[0], tensor)]
        return list(zip(self.names, tensor.split_with_sizes(self.sizes), strict=True))


Trained = Leaf | tuple[str, torch.nn.Parameter]


class AdamW:
    """Gathers gradients of its parameters and steps. Weights in a narrow type get an exact copy to be stepped."""

    def __init__(self, parameters: Iterable[Trained], exact: Mapping[str, torch.Tensor] | None = None) -> None:
        self.leaves = [each if isinstance(each, Leaf) else Leaf(each[1], (each[0],)) for each in parameters]
        self.step = 0
        self._weights = [self._local(leaf.parameter.data) for leaf in self.leaves]
        self._exact: list[torch.Tensor] = []
        for leaf, data in zip(self.leaves, self._weights, strict=True):
            if data.dtype == torch.float32:
                self._exact.append(data)
            elif exact is not None:
                given = [exact[name] for name in leaf.names]
                self._exact.append(given[0] if len(given) == 1 else torch.cat(given))
            else:
                self._exact.append(data.float())
        self._first = [torch.zeros_like(each) for each in self._exact]
        self._second = [torch.zeros_like(each) for each in self._exact]
        self._wide: list[torch.Tensor | None] = [None] * len(self.leaves)
        self.exact = self._named(self._exact)
        self.first = self._named(self._first)
        self.second = self._named(self._second)

    def _local(self, tensor: torch.Tensor) -> torch.Tensor:
        """What of a parameter lies in this process."""
        return tensor

    def _named(self, tensors: Iterable[torch.Tensor]) -> dict[str, torch.Tensor]:
        return {
            name: part
            for leaf, tensor in zip(self.leaves, tensors, strict=True)
            for name, part in leaf.parts(tensor.detach())
        }

    @property
    def shapes(self) -> dict[str, torch.Size]:
        return {name: tensor.shape for name, tensor in self.exact.items()}

    def _gathered(self) -> list[torch.Tensor | None]:
        found: list[torch.Tensor | None] = []
        for leaf, wide in zip(self.leaves, self._wide, strict=True):
            gradient = leaf.parameter.grad
            found.append(wide if wide is not None or gradient is None else self._local(gradient))
        return found

    @property
    def gradients(self) -> dict[str, torch.Tensor]:
        """What has been gathered since the last step, in float32."""
        found: dict[str, torch.Tensor] = {}
        for leaf, gradient in zip(self.leaves, self._gathered(), strict=True):
            if gradient is not None:
                found.update(leaf.parts(gradient.detach()))
        return found

    @property
    def gathered(self) -> bool:
        return any(each is not None for each in self._gathered())

    def collect(self) -> None:
        """After each backward pass: gradients in a narrow type are added up in float32, others stay where they are."""
        known: list[torch.Tensor] = []
        more: list[torch.Tensor] = []
        fresh: list[torch.Tensor] = []
        begun: list[torch.Tensor] = []
        for number, leaf in enumerate(self.leaves):
            gradient = leaf.parameter.grad
            if gradient is None or gradient.dtype == torch.float32:
                continue
            leaf.parameter.grad = None
            wide = self._wide[number]
            if wide is None:
                wide = self._wide[number] = torch.empty_like(self._exact[number])
                fresh.append(wide)
                begun.append(gradient)
            else:
                known.append(wide)
                more.append(gradient)
        if fresh:
            torch._foreach_copy_(fresh, begun)
        if known:
            torch._foreach_add_(known, more)

    def forget(self) -> None:
        self._wide = [None] * len(self.leaves)
        for leaf in self.leaves:
            leaf.parameter.grad = None

    def norm(self) -> float:
        return float(self._norm())

    def _norm(self) -> torch.Tensor:
        """Lengths of the parameters in float32, each added up as a tree; together in double precision."""
        gradients = [each for each in self._gathered() if each is not None]
        if not gradients:
            return torch.zeros((), dtype=torch.float64)
        length: torch.Tensor = torch.stack(torch._foreach_norm(gradients)).double().norm()
        return length

    def update(self, settings: AdamSettings) -> float:
        """Steps, forgets what was gathered and returns the length of the gradient before clipping."""
        if not self.leaves:
            return 0.0
        device = self._exact[0].device
        length = self._norm().to(device)
        # A length that is no number makes the kernels leave everything as it is; the device need not be asked before.
        broken = (~length.isfinite()).float()
        divisor = torch.ones((), device=device)
        if settings.grad_clip_norm > 0:
            divisor = ((length + 1e-6) / settings.grad_clip_norm).clamp(min=1.0).nan_to_num(1.0).float()
        with torch.no_grad():
            for decays in (True, False):
                self._step(decays, settings, divisor, broken)
            self.write_back()
        self.forget()
        norm = float(length)
        if not norm < float("inf"):
            raise TrainerError(
                400,
                "The gradient is not a number, so nothing was changed and what was gathered is forgotten: "
                "lower the learning rate or go back to a checkpoint.",
            )
        self.step += 1
        return norm

    def _step(self, decays: bool, settings: AdamSettings, divisor: torch.Tensor, broken: torch.Tensor) -> None:
        gathered = self._gathered()
        chosen = [
            number for number, exact in enumerate(self._exact) if (exact.ndim >= 2) == decays and exact.numel() > 0
        ]
        if not chosen:
            return
        gradients: list[torch.Tensor] = []
        for number in chosen:
            gradient = gathered[number]
            gradients.append(torch.zeros_like(self._exact[number]) if gradient is None else gradient)
        steps = torch.full((), self.step + 1, dtype=torch.float32, device=divisor.device)
        torch._fused_adamw_(
            [self._exact[number] for number in chosen],
            gradients,
            [self._first[number] for number in chosen],
            [self._second[number] for number in chosen],
            [],
            [steps] * len(chosen),
            lr=settings.learning_rate,
            beta1=settings.beta1,
            beta2=settings.beta2,
            weight_decay=settings.weight_decay if decays else 0.0,
            eps=settings.eps,
            amsgrad=False,
            maximize=False,
            grad_scale=divisor,
            found_inf=broken,
        )

    def write_back(self) -> None:
        """Weights in a narrow type follow their exact copies."""
        pairs = [
            (weight, exact)
            for weight, exact in zip(self._weights, self._exact, strict=True)
            if weight.dtype != exact.dtype
        ]
        if pairs:
            torch._foreach_copy_([weight for weight, _ in pairs], [exact for _, exact in pairs])

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """Exact weights and both moments, whole, as copies in the machine's memory."""
        weights, first, second = (self._copies(each) for each in (self.exact, self.first, self.second))
        return weights, first, second

    def _copies(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Each with memory of its own: tensors that lie side by side would be taken for one."""
        return {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}

    def _part(self, _: str, whole: torch.Tensor) -> torch.Tensor:
        """What of the whole belongs here."""
        return whole

    def take(self, values: Mapping[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, exact in self.exact.items():
                exact.copy_(self._part(name, values[name]))
            self.write_back()

    def take_moments(self, step: int, first: Mapping[str, torch.Tensor], second: Mapping[str, torch.Tensor]) -> None:
        self.step = step
        for name in self.exact:
            self.first[name].copy_(self._part(name, first[name]))
            self.second[name].copy_(self._part(name, second[name]))

    def restart(self) -> None:
        self.step = 0
        for tensor in (*self._first, *self._second):
            tensor.zero_()
