"""Log-probabilities of the targets, computed over chunks of the [tokens × vocabulary] logits to limit memory."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from .compiled import OFF, Compiler

# Logits per chunk: 64 MiB in float32.
CHUNK_NUMBERS = 1 << 24
# On CUDA a few large matrix products are faster; 8 GiB in bfloat16.
CUDA_CHUNK_NUMBERS = 1 << 32


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


class Head:
    """An output embedding without a bias. Logits are kept for the backward pass if they fit in one chunk."""

    def __init__(self, weight: torch.Tensor, compiler: Compiler | None = None) -> None:
        self.weight = weight
        compiler = compiler or Compiler(OFF)
        self.scores: Callable[..., Any] = compiler.compile(scores)
        self.to_gradients: Callable[..., Any] = compiler.compile(to_gradients)

    def logprobs(self, hidden: torch.Tensor, targets: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
        given = (hidden, self.weight, targets, self, temperature)
        found: torch.Tensor = _Logprobs.apply(*given)  # type: ignore[no-untyped-call]
        return found


class _Logprobs(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any,
        hidden: torch.Tensor,
        weight: torch.Tensor,
        targets: torch.Tensor,
        head: Head,
        temperature: float,
    ) -> torch.Tensor:
        size = chunk_tokens(hidden.device, weight.shape[0])
        found, totals = [], []
        logits = hidden[:0]
        for start in range(0, len(hidden), size):
            logits = hidden[start : start + size] @ weight.T
            part, total = head.scores(logits, targets[start : start + size], temperature)
            found.append(part)
            totals.append(total)
        context.save_for_backward(hidden, weight, targets, torch.cat(totals))
        # A single chunk is kept; several are recomputed in the backward pass.
        context.logits = logits if len(found) == 1 and any(context.needs_input_grad) else None
        context.head, context.size, context.temperature = head, size, temperature
        return found[0] if len(found) == 1 else torch.cat(found)

    @staticmethod
    def backward(
        context: Any, *given: torch.Tensor
    ) -> tuple[torch.Tensor | None, torch.Tensor | None, None, None, None]:
        (slope,) = given
        hidden, weight, targets, totals = context.saved_tensors
        wants_hidden, wants_weight = context.needs_input_grad[:2]
        size = context.size
        into_hidden: list[torch.Tensor] = []
        into_weight: torch.Tensor | None = None
        for start in range(0, len(hidden), size):
            part = slice(start, start + size)
            logits = hidden[part] @ weight.T if context.logits is None else context.logits
            context.logits = None
            context.head.to_gradients(logits, totals[part], targets[part], slope[part], context.temperature)
            if wants_hidden:
                into_hidden.append(logits @ weight)
            if wants_weight:
                more = logits.T @ hidden[part]
                if len(hidden) > size:
                    # Accumulate in float32, or later chunks would be lost to rounding.
                    into_weight = more.float() if into_weight is None else into_weight.add_(more)
                else:
                    into_weight = more
        return (
            torch.cat(into_hidden) if wants_hidden else None,
            into_weight.to(weight.dtype) if into_weight is not None else None,
            None,
            None,
            None,
        )


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
