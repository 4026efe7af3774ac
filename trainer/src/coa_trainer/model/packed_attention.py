"""Causal attention over a packed row, each sequence by itself.

The sequence boundaries are passed out of band, so compiled code is specialized on the row size alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

import torch
from torch.nn.functional import scaled_dot_product_attention

from . import varlen


class Ends:
    """Boundaries of the sequences in a row."""

    def __init__(self, ends: Sequence[int]) -> None:
        self.ends = tuple(ends)
        self._starts: dict[torch.device, torch.Tensor] = {}

    @cached_property
    def lengths(self) -> list[int]:
        return [end - start for start, end in zip((0, *self.ends), self.ends, strict=False)]

    @cached_property
    def longest(self) -> int:
        return max(self.lengths)

    def starts(self, device: torch.device) -> torch.Tensor:
        """Copied to the device once for all layers."""
        if device not in self._starts:
            self._starts[device] = torch.tensor([0, *self.ends], dtype=torch.int32).to(device, non_blocking=True)
        return self._starts[device]


# A module global: one thread owns the models, and autograd's threads must see it when they recompute a layer.
_ends: Ends | None = None


@contextmanager
def packed(ends: Sequence[int]) -> Iterator[None]:
    """Within this context, rows consist of sequences that end at these positions."""
    global _ends
    before, _ends = _ends, Ends(ends)
    try:
        yield
    finally:
        _ends = before


def ends_of(length: int) -> Ends:
    return _ends or Ends((length,))


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float | None = None) -> torch.Tensor:
    """For [tokens, heads, width] of one row, with or without grouped-query heads."""
    ends = ends_of(len(query))
    if varlen.usable(query, key):
        return varlen.attend(query, key, value, ends.starts(query.device), ends.longest, scaling)
    if len(set(ends.lengths)) == 1:
        return _batched(query, key, value, len(ends.ends), scaling)
    parts: list[torch.Tensor] = []
    start = 0
    for end in ends.ends:
        parts.append(_batched(query[start:end], key[start:end], value[start:end], 1, scaling))
        start = end
    return torch.cat(parts)


def _batched(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, count: int, scaling: float | None
) -> torch.Tensor:
    """For sequences of equal length."""
    q, k, v = (tensor.view(count, -1, *tensor.shape[1:]).transpose(1, 2) for tensor in (query, key, value))
    groups = query.shape[1] // key.shape[1]
    mixed = scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling, enable_gqa=groups > 1)
    return mixed.transpose(1, 2).flatten(0, 1)
