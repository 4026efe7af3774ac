"""Keys and values of sequences, one row each, filled to different lengths."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class CacheForm:
    layers: int
    heads: int
    width: int
    dtype: torch.dtype
    device: torch.device


class RowCache:
    """Tensors [rows, heads, length, width] for each layer.

    With a form they are parts of one tensor; without, each is made when its layer first writes.
    """

    def __init__(self, form: CacheForm | None = None) -> None:
        self.rows = 0
        self.length = 0
        self.generation = 0
        """Grows whenever tensors are made anew, for those who point into them."""
        self.keys: list[torch.Tensor] = []
        self.values: list[torch.Tensor] = []
        self._form = form
        self._whole: torch.Tensor | None = None

    def grow(self, rows: int, length: int) -> bool:
        """Makes room and keeps what is there. Says whether tensors were made anew."""
        if rows <= self.rows and length <= self.length:
            return False
        self.generation += 1
        self.rows, self.length = max(rows, self.rows), max(length, self.length)
        if self._form is not None:
            self._grow_whole(self._form)
            return True
        for tensors in (self.keys, self.values):
            for layer, old in enumerate(tensors):
                new = self._empty(old)
                new[: old.shape[0], :, : old.shape[2] - 1] = old[:, :, :-1]
                tensors[layer] = new
        return True

    def _grow_whole(self, form: CacheForm) -> None:
        old = self._whole
        new = torch.zeros(
            *(2, form.layers, self.rows, form.heads, self.length + 1, form.width), dtype=form.dtype, device=form.device
        )
        if old is not None:
            new[:, :, : old.shape[2], :, : old.shape[4] - 1] = old[..., :-1, :]
        self._whole = new
        self.keys, self.values = list(new[0].unbind()), list(new[1].unbind())

    def _empty(self, like: torch.Tensor) -> torch.Tensor:
        # One place more than can be read: there goes what belongs nowhere.
        return like.new_zeros(self.rows, like.shape[1], self.length + 1, like.shape[3])

    def clear(self) -> None:
        self.generation += 1
        self.rows = self.length = 0
        self._whole = None
        self.keys.clear()
        self.values.clear()

    def copy(self, source: int, target: int, length: int) -> None:
        if self._whole is not None:
            self._whole[:, :, target, :, :length] = self._whole[:, :, source, :, :length]
            return
        for tensors in (self.keys, self.values):
            for tensor in tensors:
                tensor[target, :, :length] = tensor[source, :, :length]

    def write(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, rows: torch.Tensor, places: torch.Tensor
    ) -> None:
        """Stores [sequences, heads, tokens, width] at `places` [sequences, tokens] of rows."""
        while len(self.keys) <= layer:
            self.keys.append(self._empty(keys))
            self.values.append(self._empty(values))
        self.keys[layer][rows[:, None], :, places] = keys.transpose(1, 2)
        self.values[layer][rows[:, None], :, places] = values.transpose(1, 2)

    def read(self, layer: int, rows: torch.Tensor, first: int | None, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows' keys and values so far; `first` where the rows follow each other, which saves a copy."""
        count = len(rows)
        if first is not None:
            part = slice(first, first + count)
            return self.keys[layer][part, :, :length], self.values[layer][part, :, :length]
        return self.keys[layer][rows, :, :length], self.values[layer][rows, :, :length]
