"""Decoders: append tokens to sequences and return the next-token logits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import torch
from transformers import Cache

from .cache_slots import CacheSlots, slots_for
from .kv_cache import KVCache

if TYPE_CHECKING:
    from .bursts import Bursts


class Decoder(Protocol):
    cache: KVCache
    bursts: "Bursts | None"
    """Multi-step decoding, if supported."""

    def extend(self, rows: Sequence[int], tokens: Sequence[Sequence[int]], starts: Sequence[int]) -> torch.Tensor:
        """Appends tokens to rows that hold `starts` tokens each; returns the logits after the last token of each."""
        ...


class TransformersDecoder:
    """Any transformers model with pluggable attention, using our KV cache instead of its own."""

    def __init__(self, model: Any) -> None:
        self.bursts: Bursts | None = None
        self.cache = KVCache()
        self._model = model
        self._device = next(model.parameters()).device

    def extend(self, rows: Sequence[int], tokens: Sequence[Sequence[int]], starts: Sequence[int]) -> torch.Tensor:
        slots = slots_for(self.cache, rows, tokens, starts, self._device)
        with torch.no_grad():
            result = self._model(
                input_ids=slots.tokens,
                position_ids=slots.positions,
                attention_mask=slots.mask,
                past_key_values=_View(self.cache, slots),
                use_cache=True,
            )
        logits: torch.Tensor = result.logits
        return logits[torch.arange(len(rows), device=self._device), slots.last].float()


class _View(Cache):  # type: ignore[misc]
    """A view of some cache rows, as the layers of one call see them."""

    def __init__(self, cache: KVCache, slots: CacheSlots) -> None:
        super().__init__(layers=[])
        self._cache = cache
        self._slots = slots

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        slots = self._slots
        self._cache.write(layer_idx, key_states, value_states, slots.rows, slots.written)
        return self._cache.read(layer_idx, slots.rows, slots.first, slots.length)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self._slots.length - self._slots.tokens.shape[1]

    def get_mask_sizes(self, *_: Any, **__: Any) -> tuple[int, int]:
        return self._slots.length, 0


class RecomputingDecoder:
    """For models whose state does not fit our KV cache: recomputes the sequence for each token. Slow but correct."""

    def __init__(self, model: Any) -> None:
        self.bursts: Bursts | None = None
        self.cache: KVCache = _TokenRows()
        self._model = model
        self._device = next(model.parameters()).device

    def extend(self, rows: Sequence[int], tokens: Sequence[Sequence[int]], starts: Sequence[int]) -> torch.Tensor:
        assert isinstance(self.cache, _TokenRows)
        results: list[torch.Tensor] = []
        for row, more, start in zip(rows, tokens, starts, strict=True):
            known = self.cache.tokens.get(row, [])[:start]
            self.cache.tokens[row] = [*known, *more]
            ids = torch.tensor([self.cache.tokens[row]], device=self._device)
            with torch.no_grad():
                results.append(self._model(input_ids=ids, use_cache=False).logits[0, -1].float())
        return torch.stack(results)


class _TokenRows(KVCache):
    """Stores tokens instead of keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: dict[int, list[int]] = {}

    def clear(self) -> None:
        super().clear()
        self.tokens.clear()

    def copy(self, source: int, target: int, length: int) -> None:
        self.tokens[target] = self.tokens[source][:length]
