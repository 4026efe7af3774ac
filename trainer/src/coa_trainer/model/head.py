"""Losses and log-probabilities of the targets, computed over chunks of the [tokens × vocabulary] logits.

A chunk's gradient is computed right after its loss, in place of its logits, so only one chunk is in memory at a time,
in the model's dtype, and no matrix product is done twice.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from .compile_modes import OFF
from .compiled import Compiler
from .datum import Loss
from .losses import Inputs, elementwise_loss

# Logits per chunk: 64 MiB in float32.
CHUNK_NUMBERS = 1 << 24
# On CUDA a few large matrix products are faster; 4 GiB in bfloat16.
CUDA_CHUNK_NUMBERS = 1 << 31


def chunk_tokens(device: torch.device, vocabulary: int) -> int:
    """A power of two, so that padded rows split into whole chunks."""
    numbers = CUDA_CHUNK_NUMBERS if device.type == "cuda" else CHUNK_NUMBERS
    return 1 << (max(1, numbers // vocabulary).bit_length() - 1)


def scores(logits: torch.Tensor, targets: torch.Tensor, temperature: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities of the targets, and the log-sum-exp of each row."""
    wide = logits.float() / temperature
    total = wide.logsumexp(-1)
    return wide.gather(-1, targets[:, None])[:, 0] - total, total


def to_gradients(
    logits: torch.Tensor, total: torch.Tensor, targets: torch.Tensor, given: torch.Tensor, temperature: float
) -> None:
    """Overwrites the logits with the gradient of the log-probabilities."""
    hit = torch.arange(logits.shape[1], device=logits.device) == targets[:, None]
    share = (logits.float() / temperature - total[:, None]).exp()
    logits.copy_((hit.float() - share) * (given[:, None] / temperature))


Scores = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""The summed loss, which can be differentiated, and the log-probability and loss of each position, which cannot."""


class Head:
    """An output embedding without a bias."""

    def __init__(self, weight: torch.Tensor, compiler: Compiler | None = None) -> None:
        self.weight = weight
        compiler = compiler or Compiler(OFF)
        self.scores: Callable[..., Any] = compiler.compile(scores)
        self.to_gradients: Callable[..., Any] = compiler.compile(to_gradients)

    def losses(self, hidden: torch.Tensor, targets: torch.Tensor, loss: Loss, inputs: Inputs) -> Scores:
        given = (hidden, self.weight, targets, self, loss, inputs, torch.is_grad_enabled())
        found: Scores = _Losses.apply(*given)  # type: ignore[no-untyped-call]
        return found


class _Losses(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any,
        hidden: torch.Tensor,
        weight: torch.Tensor,
        targets: torch.Tensor,
        head: Head,
        loss: Loss,
        inputs: Inputs,
        backward: bool,
    ) -> Scores:
        wants_hidden, wants_weight = (backward and each for each in context.needs_input_grad[:2])
        size = chunk_tokens(hidden.device, weight.shape[0])
        logprobs: list[torch.Tensor] = []
        losses: list[torch.Tensor] = []
        into_hidden = torch.empty_like(hidden) if wants_hidden else None
        into_weight: torch.Tensor | None = None
        for start in range(0, len(hidden), size):
            part = slice(start, start + size)
            logits = hidden[part] @ weight.T
            found, total = head.scores(logits, targets[part], loss.temperature)
            values, slope = _differentiated(loss, found, {name: each[part] for name, each in inputs.items()})
            logprobs.append(found)
            losses.append(values)
            if not wants_hidden and not wants_weight:
                continue
            head.to_gradients(logits, total, targets[part], slope, loss.temperature)
            if into_hidden is not None:
                torch.mm(logits, weight, out=into_hidden[part])
            if wants_weight:
                more = logits.T @ hidden[part]
                if len(hidden) > size:
                    # Accumulate in float32, or later chunks would be lost to rounding.
                    into_weight = more.float() if into_weight is None else into_weight.add_(more)
                else:
                    into_weight = more
        context.into_hidden = into_hidden
        context.into_weight = None if into_weight is None else into_weight.to(weight.dtype)
        together = [each[0] if len(each) == 1 else torch.cat(each) for each in (logprobs, losses)]
        context.mark_non_differentiable(*together)
        return together[1].sum(), together[0], together[1]

    @staticmethod
    def backward(context: Any, *given: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        into_hidden, into_weight = context.into_hidden, context.into_weight
        context.into_hidden = context.into_weight = None
        return (
            None if into_hidden is None else into_hidden.mul_(given[0].to(into_hidden.dtype)),
            None if into_weight is None else into_weight.mul_(given[0].to(into_weight.dtype)),
            *[None] * 5,
        )


def _differentiated(loss: Loss, logprobs: torch.Tensor, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of each position and its derivative by the log-probability."""
    with torch.enable_grad():
        leaf = logprobs.detach().requires_grad_()
        values = elementwise_loss(loss, leaf, inputs)
        (slope,) = torch.autograd.grad(values.sum(), leaf)
    return values.detach(), slope


def is_plain(head: Any) -> bool:
    return type(head) is torch.nn.Linear and getattr(head, "bias", None) is None


def module_logprobs(
    head: Any, hidden: torch.Tensor, targets: torch.Tensor, vocabulary: int, temperature: float = 1.0
) -> torch.Tensor:
    """For an arbitrary output embedding; each chunk's logits are recomputed in the backward pass."""
    size = chunk_tokens(hidden.device, vocabulary)
    parts: list[torch.Tensor] = []
    for start in range(0, len(targets), size):
        part, wanted = hidden[start : start + size], targets[start : start + size]
        if torch.is_grad_enabled():
            parts.append(checkpoint(_of_chunk, head, part, wanted, temperature, use_reentrant=False))
        else:
            parts.append(_of_chunk(head, part, wanted, temperature))
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def logits_in_chunks(head: Any, hidden: torch.Tensor, vocabulary: int) -> Iterator[torch.Tensor]:
    size = chunk_tokens(torch.device("cpu"), vocabulary)
    for start in range(0, len(hidden), size):
        yield head(hidden[start : start + size])


def _of_chunk(head: Any, hidden: torch.Tensor, targets: torch.Tensor, temperature: float) -> torch.Tensor:
    return scores(head(hidden), targets, temperature)[0]


def target_logprobs(logits: torch.Tensor, targets: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    return scores(logits, targets, temperature)[0]
