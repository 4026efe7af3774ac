"""KV cache with one row per sequence."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class KVCacheShape:
    layers: int
    heads: int
    width: int
    dtype: torch.dtype
    device: torch.device


class KVCache:
    """Tensors [rows, heads, length, width] for each layer.

    With a shape they are parts of one tensor; without, each is allocated when its layer first writes.
    """

    def __init__(self, form: KVCacheShape | None = None) -> None:
        self.rows = 0
        self.length = 0
        self.generation = 0
        """Incremented whenever the tensors are reallocated, for those who hold pointers to them."""
        self.keys: list[torch.Tensor] = []
        self.values: list[torch.Tensor] = []
        self._form = form
        self._combined: torch.Tensor | None = None

    def grow(self, rows: int, length: int) -> bool:
        """Grows the cache, keeping its contents. Returns whether the tensors were reallocated."""
        if rows <= self.rows and length <= self.length:
            return False
        self.generation += 1
        self.rows, self.length = max(rows, self.rows), max(length, self.length)
        if self._form is not None:
            self._grow_combined(self._form)
            return True
        for tensors in (self.keys, self.values):
            for layer, old in enumerate(tensors):
                new = self._empty(old)
                new[: old.shape[0], :, : old.shape[2] - 1] = old[:, :, :-1]
                tensors[layer] = new
        return True

    def _grow_combined(self, form: KVCacheShape) -> None:
        old = self._combined
        new = torch.zeros(
            *(2, form.layers, self.rows, form.heads, self.length + 1, form.width), dtype=form.dtype, device=form.device
        )
        if old is not None:
            new[:, :, : old.shape[2], :, : old.shape[4] - 1] = old[..., :-1, :]
        self._combined = new
        self.keys, self.values = list(new[0].unbind()), list(new[1].unbind())

    def _empty(self, like: torch.Tensor) -> torch.Tensor:
        # One extra scratch slot that is written but never read.
        return like.new_zeros(self.rows, like.shape[1], self.length + 1, like.shape[3])

    def clear(self) -> None:
        self.generation += 1
        self.rows = self.length = 0
        self._combined = None
        self.keys.clear()
        self.values.clear()

    def copy(self, source: int, target: int, length: int) -> None:
        if self._combined is not None:
            self._combined[:, :, target, :, :length] = self._combined[:, :, source, :, :length]
            return
        for tensors in (self.keys, self.values):
            for tensor in tensors:
                tensor[target, :, :length] = tensor[source, :, :length]

    def write(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor
    ) -> None:
        """Stores [sequences, heads, tokens, width] at `slots` [sequences, tokens] of the rows."""
        while len(self.keys) <= layer:
            self.keys.append(self._empty(keys))
            self.values.append(self._empty(values))
        self.keys[layer][rows[:, None], :, slots] = keys.transpose(1, 2)
        self.values[layer][rows[:, None], :, slots] = values.transpose(1, 2)

    def read(self, layer: int, rows: torch.Tensor, first: int | None, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows' keys and values so far; `first`, if the rows are consecutive, saves a copy."""
        count = len(rows)
        if first is not None:
            part = slice(first, first + count)
            return self.keys[layer][part, :, :length], self.values[layer][part, :, :length]
        return self.keys[layer][rows, :, :length], self.values[layer][rows, :, :length]
