"""Forward and backward passes over packed rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from . import attention
from .datum import Datum, Floats, Loss, PassResult
from .head import gathered, logits_in_chunks, target_logprobs
from .losses import elementwise_loss
from .packing import Row, groups_within, pack
from .probe import Abilities, decoder_of


@dataclass(frozen=True)
class PassOptions:
    batch_tokens: int = 8192
    checkpointing: bool = False
    """Activations of layers are computed again for the gradient instead of kept."""


class Learner:
    def __init__(self, model: Any, vocabulary: int, abilities: Abilities, options: PassOptions) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._abilities = abilities
        self._options = options
        self._device = next(model.parameters()).device

    def run(self, data: Sequence[Datum], loss: Loss, collect: Callable[[], None] | None) -> PassResult:
        """With `collect`, gradients are added to the parameters' `grad`, and it is called after each row."""
        logprobs: list[Floats] = [np.zeros(0, dtype=np.float32) for _ in data]
        elementwise = list(logprobs)
        budget = self._options.batch_tokens if self._abilities.packs else 0
        total = 0.0
        for members in groups_within([len(datum) for datum in data], budget):
            row = pack(data, members, self._device)
            model_logprobs, losses = self._row(row, loss, collect is not None)
            if collect is not None:
                collect()
            total += float(losses.double().sum())
            # One copy from the device for the whole row, however many examples are in it.
            both = torch.stack([model_logprobs.float(), losses.float()]).cpu().numpy()
            for member, part in row.parts():
                logprobs[member], elementwise[member] = both[0, part], both[1, part]
        return PassResult(loss=total, logprobs=logprobs, elementwise=elementwise)

    def likeliest(self, tokens: Sequence[int], count: int) -> list[list[tuple[int, float]]]:
        """After each token, the likeliest next ones with their log-probabilities."""
        row = torch.tensor(tokens, device=self._device)[None]
        with torch.no_grad(), attention.packed([len(tokens)]):
            if not self._abilities.splits:
                chunks = iter([self._model(input_ids=row, use_cache=False).logits[0]])
            else:
                hidden = decoder_of(self._model)(input_ids=row, use_cache=False).last_hidden_state[0]
                chunks = logits_in_chunks(self._model.get_output_embeddings(), hidden, self._vocabulary)
            found: list[list[tuple[int, float]]] = []
            for logits in chunks:
                values, ids = logits.float().log_softmax(-1).topk(count, dim=-1)
                found += [list(zip(*pair, strict=True)) for pair in zip(ids.tolist(), values.tolist(), strict=True)]
        return found

    def _row(self, row: Row, loss: Loss, backward: bool) -> tuple[torch.Tensor, torch.Tensor]:
        # Backward stays inside `packed`: layers that are computed again must see the same ends.
        with attention.packed(row.ends), torch.set_grad_enabled(backward):
            self._model.train(backward and self._options.checkpointing)
            try:
                logprobs = self._logprobs(row)
                losses = elementwise_loss(loss, logprobs, row.inputs)
                if backward:
                    losses.sum().backward()  # type: ignore[no-untyped-call]
            finally:
                self._model.eval()
        return logprobs.detach(), losses.detach()

    def _logprobs(self, row: Row) -> torch.Tensor:
        given = {"input_ids": row.tokens, "position_ids": row.positions, "use_cache": False}
        if not self._abilities.splits:
            return gathered(self._model(**given).logits[0], row.targets)
        hidden = decoder_of(self._model)(**given).last_hidden_state[0]
        return target_logprobs(self._model.get_output_embeddings(), hidden, row.targets, self._vocabulary)
