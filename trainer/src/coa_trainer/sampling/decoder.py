"""What the sampler needs of a model: the logits after some more tokens of some sequences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import torch
from transformers import Cache

from .places import Places, places_of
from .row_cache import RowCache

if TYPE_CHECKING:
    from .bursts import Bursts


class Decoder(Protocol):
    cache: RowCache
    bursts: "Bursts | None"
    """For several steps at once, where the decoder can."""

    def extend(self, rows: Sequence[int], tokens: Sequence[Sequence[int]], starts: Sequence[int]) -> torch.Tensor:
        """Adds tokens to the sequences in these rows, which hold `starts` tokens; logits after the last of each."""
        ...


class TransformersDecoder:
    """Any model of transformers whose attention can be chosen, with our rows in place of its cache."""

    def __init__(self, model: Any) -> None:
        self.bursts: Bursts | None = None
        self.cache = RowCache()
        self._model = model
        self._device = next(model.parameters()).device

    def extend(self, rows: Sequence[int], tokens: Sequence[Sequence[int]], starts: Sequence[int]) -> torch.Tensor:
        places = places_of(self.cache, rows, tokens, starts, self._device)
        with torch.no_grad():
            result = self._model(
                input_ids=places.tokens,
                position_ids=places.positions,
                attention_mask=places.mask,
                past_key_values=_View(self.cache, places),
                use_cache=True,
            )
        logits: torch.Tensor = result.logits
        return logits[torch.arange(len(rows), device=self._device), places.last].float()


class _View(Cache):  # type: ignore[misc]
    """Some rows of the cache, as the layers of one call see them."""

    def __init__(self, cache: RowCache, places: Places) -> None:
        super().__init__(layers=[])
        self._cache = cache
        self._places = places

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        places = self._places
        self._cache.write(layer_idx, key_states, value_states, places.rows, places.written)
        return self._cache.read(layer_idx, places.rows, places.first, places.length)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self._places.length - self._places.tokens.shape[1]

    def get_mask_sizes(self, *_: Any, **__: Any) -> tuple[int, int]:
        return self._places.length, 0


class RecomputingDecoder:
    """For models whose state is none of our rows: everything is computed again for each token. Slow, but right."""

    def __init__(self, model: Any) -> None:
        self.bursts: Bursts | None = None
        self.cache: RowCache = _TokenRows()
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


class _TokenRows(RowCache):
    """Rows that remember tokens only."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: dict[int, list[int]] = {}

    def clear(self) -> None:
        super().clear()
        self.tokens.clear()

    def copy(self, source: int, target: int, length: int) -> None:
        self.tokens[target] = self.tokens[source][:length]
