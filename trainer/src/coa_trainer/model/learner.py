"""Forward and backward passes over packed rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from . import attention
from .batch_size import default_batch_tokens
from .custom_body import check_compiled
from .datum import Datum, Floats, Loss, PassResult
from .head import Head, Scores, is_plain, logits_in_chunks, module_logprobs, target_logprobs
from .llama_body import LlamaBody
from .losses import elementwise_loss
from .packing import Row, pack, plan_rows, results_of
from .probe import Capabilities, decoder_of


@dataclass(frozen=True)
class PassOptions:
    batch_tokens: int = 0
    """0: as many as fit in memory."""
    checkpointing: bool = False
    """Recompute activations in the backward pass instead of keeping them."""


class Learner:
    def __init__(
        self,
        model: Any,
        vocabulary: int,
        capabilities: Capabilities,
        options: PassOptions,
        body: LlamaBody | None = None,
    ) -> None:
        """If a body is given, passes use it instead of the model."""
        self._model = model
        self._vocabulary = vocabulary
        self._capabilities = capabilities
        self._options = options
        self._body = body
        self._checks_compiled = body is not None
        self._device = next(model.parameters()).device
        self._head = None if body is None else Head(body.head, body.compiler)
        self._batch_tokens = options.batch_tokens or default_batch_tokens(model, options.checkpointing)

    def run(self, data: Sequence[Datum], loss: Loss, accumulate: Callable[[], None] | None) -> PassResult:
        """If `accumulate` is given, gradients are added to the parameters' `grad`, and it is called after each row.

        Log-probabilities are then computed only where the weight is not 0, and are 0 elsewhere.
        """
        if self._body is not None and self._checks_compiled:
            self._checks_compiled = False
            check_compiled(self._body, self._model, self._vocabulary)
        budget = self._batch_tokens if self._capabilities.packs else 0
        fill = self._body is not None and self._body.compiler.on
        backward = accumulate is not None
        rows: list[Row] = []
        found: list[torch.Tensor] = []
        for plan in plan_rows(data, budget):
            row = pack(data, plan, self._device, fill, every=not backward)
            logprobs, losses = self._row(row, loss, backward)
            if accumulate is not None:
                accumulate()
            rows.append(row)
            found.append(torch.stack([logprobs.float(), losses.float()]))
        return _result(len(data), rows, found, every=not backward)

    def top_tokens(self, tokens: Sequence[int], count: int) -> list[list[tuple[int, float]]]:
        """The most likely next tokens at each position, with their log-probabilities."""
        row = torch.tensor(tokens, device=self._device)[None]
        with torch.no_grad(), attention.packed(attention.Layout([len(tokens)])):
            if not self._capabilities.splits:
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
        # The backward pass stays inside `packed`: recomputed layers must see the same sequence boundaries.
        with attention.packed(row.layout), torch.set_grad_enabled(backward):
            switches = backward and self._options.checkpointing and self._body is None
            if switches:
                self._model.train()
            try:
                total, logprobs, losses = self._scores(row, loss)
                if backward:
                    total.backward()  # type: ignore[no-untyped-call]
            finally:
                if switches:
                    self._model.eval()
        return logprobs.detach(), losses.detach()

    def _scores(self, row: Row, loss: Loss) -> Scores:
        if self._body is not None and self._head is not None:
            states = row.select(self._body.states(row.tokens, row.positions))
            return self._head.losses(states, row.targets, loss, row.inputs)
        return model_scores(self._model, row, loss, self._vocabulary, self._capabilities.splits)


def model_scores(model: Any, row: Row, loss: Loss, vocabulary: int, splits: bool) -> Scores:
    """Through transformers."""
    given = {"input_ids": row.tokens[None], "position_ids": row.positions[None], "use_cache": False}
    if splits:
        states = row.select(decoder_of(model)(**given).last_hidden_state[0])
        # The head may have an adapter.
        head = model.get_output_embeddings()
        if is_plain(head):
            return Head(head.weight).losses(states, row.targets, loss, row.inputs)
        logprobs = module_logprobs(head, states, row.targets, vocabulary, loss.temperature)
    else:
        logprobs = target_logprobs(row.select(model(**given).logits[0]), row.targets, loss.temperature)
    losses = elementwise_loss(loss, logprobs, row.inputs)
    return losses.sum(), logprobs, losses


def _result(count: int, rows: Sequence[Row], found: Sequence[torch.Tensor], every: bool) -> PassResult:
    """Copies all rows from the device at once, at the end, so that there is only one synchronization."""
    logprobs: list[Floats] = [np.zeros(0, dtype=np.float32)] * count
    losses = list(logprobs)
    if not found:
        return PassResult(0.0, logprobs, losses)
    both = torch.cat(list(found), dim=1).cpu().numpy()
    start = 0
    for row, each in zip(rows, found, strict=True):
        end = start + each.shape[1]
        for member, one, other in results_of(row, both[:, start:end], every):
            logprobs[member], losses[member] = one, other
        start = end
    return PassResult(float(both[1].sum(dtype=np.float64)), logprobs, losses)
