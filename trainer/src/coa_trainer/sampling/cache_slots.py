"""Cache slots for the tokens of several sequences, as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .kv_cache import KVCache


@dataclass(frozen=True)
class CacheSlots:
    rows: torch.Tensor
    first: int | None
    """The first row, if the rows are consecutive."""
    tokens: torch.Tensor
    positions: torch.Tensor
    """[sequences, tokens]; padding tokens have positions too, but are written to the scratch slot."""
    written: torch.Tensor
    last: torch.Tensor
    """Index of each sequence's last non-padding token."""
    mask: torch.Tensor
    length: int
    """Number of cache slots to read."""


def slots_for(
    cache: KVCache,
    rows: Sequence[int],
    tokens: Sequence[Sequence[int]],
    starts: Sequence[int],
    device: torch.device,
) -> CacheSlots:
    longest = max(len(part) for part in tokens)
    length = max(start + len(part) for start, part in zip(starts, tokens, strict=True))
    padded = np.zeros((len(tokens), longest), dtype=np.int64)
    for number, part in enumerate(tokens):
        padded[number, : len(part)] = part
    sizes = torch.tensor([len(part) for part in tokens])
    steps = torch.arange(longest)
    positions = torch.tensor(starts)[:, None] + steps
    real = steps < sizes[:, None]
    positions = torch.where(real, positions, 0)
    written = torch.where(real, positions, cache.length)
    positions = positions.to(device)
    follow = all(row == rows[0] + step for step, row in enumerate(rows))
    return CacheSlots(
        rows=torch.tensor(rows, device=device),
        first=rows[0] if follow else None,
        tokens=torch.from_numpy(padded).to(device),
        positions=positions,
        written=written.to(device),
        last=(sizes - 1).to(device),
        mask=(torch.arange(length, device=device) <= positions[:, :, None])[:, None],
        length=length,
    )
