"""Forward and backward passes over packed rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from . import attention
from .datum import Datum, Floats, Loss, PassResult
from .head import gathered, target_logprobs
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

    def run(self, data: Sequence[Datum], loss: Loss, backward: bool) -> PassResult:
        """With `backward`, gradients are added to the parameters' `grad`."""
        logprobs: list[Floats] = [np.zeros(0, dtype=np.float32) for _ in data]
        elementwise = list(logprobs)
        budget = self._options.batch_tokens if self._abilities.packs else 0
        total = 0.0
        for members in groups_within([len(datum) for datum in data], budget):
            row = pack(data, members, self._device)
            model_logprobs, losses = self._row(row, loss, backward)
            total += float(losses.double().sum())
            for member, part in row.parts():
                logprobs[member] = model_logprobs[part].cpu().numpy()
                elementwise[member] = losses[part].cpu().numpy()
        return PassResult(loss=total, logprobs=logprobs, elementwise=elementwise)

    def logprobs(self, tokens: Sequence[int], best: int) -> tuple[Floats, torch.Tensor, torch.Tensor]:
        """Of every token but the first, and the `best` likeliest tokens at each of those places."""
        row = torch.tensor(tokens, device=self._device)
        with torch.no_grad(), attention.packed([len(tokens) - 1]):
            logits = self._model(input_ids=row[None, :-1], use_cache=False).logits[0].float()
            spread = logits.log_softmax(-1)
        values, ids = spread.topk(best, dim=-1) if best else (spread[:, :0], spread[:, :0].long())
        return gathered(logits, row[1:]).cpu().numpy(), ids.cpu(), values.cpu()

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
