"""AdamW with float32 master weights, moments and gradients, whatever the model's compute dtype.

All parameters are updated in a few fused kernels, with one device synchronization per step (the gradient norm).
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
    """A trainable tensor. It may hold several of the model's parameters, concatenated."""

    parameter: torch.nn.Parameter
    names: tuple[str, ...]
    sizes: tuple[int, ...] = ()
    """Size of each parameter along the first dimension; empty if there is only one."""

    def parts(self, tensor: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
        if len(self.names) == 1:
            return [(self.names[0], tensor)]
        return list(zip(self.names, tensor.split_with_sizes(self.sizes), strict=True))


Trained = Leaf | tuple[str, torch.nn.Parameter]


class AdamW:
    """Accumulates gradients and updates the weights. Low-precision weights get a float32 master copy."""

    def __init__(self, parameters: Iterable[Trained], master: Mapping[str, torch.Tensor] | None = None) -> None:
        self.leaves = [each if isinstance(each, Leaf) else Leaf(each[1], (each[0],)) for each in parameters]
        self.step = 0
        self._weights = [self._local(leaf.parameter.data) for leaf in self.leaves]
        self._master: list[torch.Tensor] = []
        for leaf, data in zip(self.leaves, self._weights, strict=True):
            if data.dtype == torch.float32:
                self._master.append(data)
            elif master is not None:
                given = [master[name] for name in leaf.names]
                self._master.append(given[0] if len(given) == 1 else torch.cat(given))
            else:
                self._master.append(data.float())
        self._moments: tuple[list[torch.Tensor], list[torch.Tensor]] | None = None
        self._accumulated: list[torch.Tensor | None] = [None] * len(self.leaves)
        self.master = self._named(self._master)

    @property
    def _both_moments(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Allocated on first use: a model that is only sampled needs none, and they take twice its master weights."""
        if self._moments is None:
            first, second = ([torch.zeros_like(each) for each in self._master] for _ in range(2))
            self._moments = (first, second)
        return self._moments

    @property
    def first(self) -> dict[str, torch.Tensor]:
        return self._named(self._both_moments[0])

    @property
    def second(self) -> dict[str, torch.Tensor]:
        return self._named(self._both_moments[1])

    def _local(self, tensor: torch.Tensor) -> torch.Tensor:
        """The part of a parameter that this process holds."""
        return tensor

    def _named(self, tensors: Iterable[torch.Tensor]) -> dict[str, torch.Tensor]:
        return {
            name: part
            for leaf, tensor in zip(self.leaves, tensors, strict=True)
            for name, part in leaf.parts(tensor.detach())
        }

    @property
    def shapes(self) -> dict[str, torch.Size]:
        return {name: tensor.shape for name, tensor in self.master.items()}

    def _gradients(self) -> list[torch.Tensor | None]:
        found: list[torch.Tensor | None] = []
        for leaf, wide in zip(self.leaves, self._accumulated, strict=True):
            gradient = leaf.parameter.grad
            found.append(wide if wide is not None or gradient is None else self._local(gradient))
        return found

    @property
    def gradients(self) -> dict[str, torch.Tensor]:
        """Gradients accumulated since the last step, in float32."""
        found: dict[str, torch.Tensor] = {}
        for leaf, gradient in zip(self.leaves, self._gradients(), strict=True):
            if gradient is not None:
                found.update(leaf.parts(gradient.detach()))
        return found

    @property
    def has_gradients(self) -> bool:
        return any(each is not None for each in self._gradients())

    def accumulate(self) -> None:
        """Called after each backward pass: low-precision gradients are accumulated in float32, others stay in place."""
        known: list[torch.Tensor] = []
        more: list[torch.Tensor] = []
        fresh: list[torch.Tensor] = []
        started: list[torch.Tensor] = []
        for number, leaf in enumerate(self.leaves):
            gradient = leaf.parameter.grad
            if gradient is None or gradient.dtype == torch.float32:
                continue
            leaf.parameter.grad = None
            wide = self._accumulated[number]
            if wide is None:
                wide = self._accumulated[number] = torch.empty_like(self._master[number])
                fresh.append(wide)
                started.append(gradient)
            else:
                known.append(wide)
                more.append(gradient)
        if fresh:
            torch._foreach_copy_(fresh, started)
        if known:
            torch._foreach_add_(known, more)

    def zero_grad(self) -> None:
        self._accumulated = [None] * len(self.leaves)
        for leaf in self.leaves:
            leaf.parameter.grad = None

    def norm(self) -> float:
        return float(self._norm())

    def _norm(self) -> torch.Tensor:
        """Per-parameter norms in float32, combined in double precision."""
        gradients = [each for each in self._gradients() if each is not None]
        if not gradients:
            return torch.zeros((), dtype=torch.float64)
        length: torch.Tensor = torch.stack(torch._foreach_norm(gradients)).double().norm()
        return length

    def update(self, settings: AdamSettings) -> float:
        """Takes a step, clears the gradients and returns the gradient norm before clipping."""
        if not self.leaves:
            return 0.0
        device = self._master[0].device
        length = self._norm().to(device)
        # If the norm is not finite, found_inf makes the kernels skip the update, so no extra synchronization is needed.
        broken = (~length.isfinite()).float()
        divisor = torch.ones((), device=device)
        if settings.grad_clip_norm > 0:
            divisor = ((length + 1e-6) / settings.grad_clip_norm).clamp(min=1.0).nan_to_num(1.0).float()
        with torch.no_grad():
            for decays in (True, False):
                self._step(decays, settings, divisor, broken)
            self.write_back()
        self.zero_grad()
        norm = float(length)
        if not norm < float("inf"):
            raise TrainerError(
                400,
                "The gradient is not a number, so the weights were left unchanged and the gradients discarded: "
                "lower the learning rate or return to a checkpoint.",
            )
        self.step += 1
        return norm

    def _step(self, decays: bool, settings: AdamSettings, divisor: torch.Tensor, broken: torch.Tensor) -> None:
        accumulated = self._gradients()
        chosen = [
            number for number, master in enumerate(self._master) if (master.ndim >= 2) == decays and master.numel() > 0
        ]
        if not chosen:
            return
        gradients: list[torch.Tensor] = []
        for number in chosen:
            gradient = accumulated[number]
            gradients.append(torch.zeros_like(self._master[number]) if gradient is None else gradient)
        first, second = self._both_moments
        steps = torch.full((), self.step + 1, dtype=torch.float32, device=divisor.device)
        torch._fused_adamw_(
            [self._master[number] for number in chosen],
            gradients,
            [first[number] for number in chosen],
            [second[number] for number in chosen],
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
        """Copies the master weights to the low-precision weights."""
        pairs = [
            (weight, master)
            for weight, master in zip(self._weights, self._master, strict=True)
            if weight.dtype != master.dtype
        ]
        if pairs:
            torch._foreach_copy_([weight for weight, _ in pairs], [master for _, master in pairs])

    def copies(
        self, tensors: Mapping[str, torch.Tensor], dtype: torch.dtype, device: torch.device | None = None
    ) -> dict[str, torch.Tensor]:
        """Unsharded copies, on the same device by default. Each has its own memory."""
        return {name: tensor.detach().to(device, dtype, copy=True).contiguous() for name, tensor in tensors.items()}

    def _part(self, _: str, full: torch.Tensor) -> torch.Tensor:
        """This process's shard of a full tensor."""
        return full

    def load_weights(self, values: Mapping[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, master in self.master.items():
                master.copy_(self._part(name, values[name]))
            self.write_back()

    def load_moments(self, step: int, first: Mapping[str, torch.Tensor], second: Mapping[str, torch.Tensor]) -> None:
        self.step = step
        for target, values in ((self.first, first), (self.second, second)):
            for name, tensor in target.items():
                tensor.copy_(self._part(name, values[name]))

    def reset(self) -> None:
        self.step = 0
        self._moments = None
