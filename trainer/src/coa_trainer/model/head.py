"""Log-probabilities of targets without ever holding [tokens × vocabulary] as a whole."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

# Logits of so many numbers are computed at a time: 64 MiB as float32.
CHUNK_NUMBERS = 1 << 24


def target_logprobs(head: Any, hidden: torch.Tensor, targets: torch.Tensor, vocabulary: int) -> torch.Tensor:
    """For hidden states [tokens, width]; the logits of each chunk are computed again for the gradient."""
    size = max(1, CHUNK_NUMBERS // vocabulary)
    parts: list[torch.Tensor] = []
    for start in range(0, len(targets), size):
        part, wanted = hidden[start : start + size], targets[start : start + size]
        if torch.is_grad_enabled():
            parts.append(checkpoint(_of_chunk, head, part, wanted, use_reentrant=False))
        else:
            parts.append(_of_chunk(head, part, wanted))
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def logits_in_chunks(head: Any, hidden: torch.Tensor, vocabulary: int) -> Iterator[torch.Tensor]:
    size = max(1, CHUNK_NUMBERS // vocabulary)
    for start in range(0, len(hidden), size):
        yield head(hidden[start : start + size])


def _of_chunk(head: Any, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return gathered(head(hidden), targets)


def gathered(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    logits = logits.float()
    return logits.gather(-1, targets[:, None])[:, 0] - logits.logsumexp(-1)
