"""Causal attention over a packed row, each sequence by itself.

The layout of the row is passed out of band, so compiled code is specialized on the row size alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import scaled_dot_product_attention

from . import varlen


class Layout:
    """Where the sequences of a row are.

    A sequence may share its first positions with the sequence before it. Those are in the row only once; its own
    tokens, which end at `ends`, attend to them as if they were there.
    """

    def __init__(self, ends: Sequence[int], shared: Sequence[int] = ()) -> None:
        """`shared`: how many positions each sequence takes from the one before; missing entries are 0."""
        self.ends = tuple(ends)
        self.shared = (*shared, *[0] * (len(self.ends) - len(shared)))
        self.shares = any(self.shared)
        self._tensors: dict[tuple[str, torch.device], torch.Tensor] = {}

    @cached_property
    def own_lengths(self) -> list[int]:
        return [end - start for start, end in zip((0, *self.ends), self.ends, strict=False)]

    @cached_property
    def lengths(self) -> list[int]:
        return [own + shared for own, shared in zip(self.own_lengths, self.shared, strict=True)]

    @cached_property
    def longest_own(self) -> int:
        return max(self.own_lengths)

    @cached_property
    def longest(self) -> int:
        return max(self.lengths)

    @cached_property
    def places(self) -> list[NDArray[np.int64]]:
        """For each sequence, where in the row each of its positions is."""
        found: list[NDArray[np.int64]] = []
        start = 0
        for end, shared in zip(self.ends, self.shared, strict=True):
            own = np.arange(start, end, dtype=np.int64)
            found.append(np.concatenate([found[-1][:shared], own]) if shared else own)
            start = end
        return found

    def own_starts(self, device: torch.device) -> torch.Tensor:
        return self._on(device, "own", lambda: np.array([0, *self.ends], dtype=np.int32))

    def starts(self, device: torch.device) -> torch.Tensor:
        """Starts of the sequences in full, after `spread`."""
        return self._on(device, "all", lambda: np.cumsum([0, *self.lengths], dtype=np.int32))

    def spread(self, tensor: torch.Tensor) -> torch.Tensor:
        """Keys or values of the row with shared positions repeated for each sequence."""
        if not self.shares:
            return tensor
        result: torch.Tensor = _Spread.apply(  # type: ignore[no-untyped-call]
            tensor, self._on(tensor.device, "places", lambda: np.concatenate(self.places))
        )
        return result

    def _on(self, device: torch.device, name: str, values: Any) -> torch.Tensor:
        """Copied to the device once for all layers."""
        if (name, device) not in self._tensors:
            self._tensors[name, device] = torch.from_numpy(values()).to(device, non_blocking=True)
        return self._tensors[name, device]


class _Spread(torch.autograd.Function):
    """Selects rows; gradients of repeated rows are summed in float32, because many small ones meet there."""

    @staticmethod
    def forward(context: Any, tensor: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        context.save_for_backward(index)
        context.like = tensor.shape, tensor.dtype
        return tensor.index_select(0, index)

    @staticmethod
    def backward(context: Any, *given: torch.Tensor) -> tuple[torch.Tensor, None]:
        (index,) = context.saved_tensors
        shape, dtype = context.like
        wide = torch.zeros(shape, dtype=torch.float32, device=index.device)
        return wide.index_add_(0, index, given[0].float()).to(dtype), None


# A module global: one thread owns the models, and autograd's threads must see it when they recompute a layer.
_layout: Layout | None = None


@contextmanager
def packed(layout: Layout) -> Iterator[None]:
    """Within this context, rows have this layout."""
    global _layout
    before, _layout = _layout, layout
    try:
        yield
    finally:
        _layout = before


def layout_of(length: int) -> Layout:
    return _layout or Layout((length,))


def causal_mask(own: int, length: int, device: torch.device) -> torch.Tensor:
    """For the last `own` positions of a sequence."""
    return torch.ones(own, length, dtype=torch.bool, device=device).tril(length - own)


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float | None = None) -> torch.Tensor:
    """For [tokens, heads, width] of one row, with or without grouped-query heads."""
    layout = layout_of(len(query))
    fast = varlen.usable(query, key)
    key, value = layout.spread(key), layout.spread(value)
    if fast:
        starts = layout.own_starts(query.device), layout.starts(query.device)
        return varlen.attend(query, key, value, starts, (layout.longest_own, layout.longest), scaling)
    if not layout.shares and len(set(layout.lengths)) == 1:
        return _batched(query, key, value, len(layout.ends), scaling)
    parts: list[torch.Tensor] = []
    start = first = 0
    for end, length in zip(layout.ends, layout.lengths, strict=True):
        k, v = key[first : first + length], value[first : first + length]
        parts.append(_batched(query[start:end], k, v, 1, scaling))
        start, first = end, first + length
    return torch.cat(parts)


def _batched(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, count: int, scaling: float | None
) -> torch.Tensor:
    """For sequences of equal length, of which the queries may be only the last positions."""
    q, k, v = (tensor.view(count, -1, *tensor.shape[1:]).transpose(1, 2) for tensor in (query, key, value))
    groups = query.shape[1] // key.shape[1]
    whole = len(query) == len(key)
    mask = None if whole else causal_mask(q.shape[2], k.shape[2], query.device)
    mixed = scaled_dot_product_attention(q, k, v, mask, is_causal=whole, scale=scaling, enable_gqa=groups > 1)
    return mixed.transpose(1, 2).flatten(0, 1)
