"""Forward and backward passes over packed rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from . import attention
from .batch_size import default_batch_tokens
from .datum import Datum, Floats, Loss, PassResult
from .head import Head, is_plain, logits_in_chunks, module_logprobs, target_logprobs
from .llama_body import LlamaBody
from .losses import elementwise_loss
from .packing import Row, groups_within, pack
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
        self._device = next(model.parameters()).device
        self._head = self._own_head()
        self._batch_tokens = options.batch_tokens or default_batch_tokens(model, options.checkpointing)

    def _own_head(self) -> Head | None:
        if self._body is not None:
            return Head(self._body.head, self._body.compiler)
        head = self._model.get_output_embeddings()
        return Head(head.weight) if is_plain(head) and self._capabilities.splits else None

    def run(self, data: Sequence[Datum], loss: Loss, accumulate: Callable[[], None] | None) -> PassResult:
        """If `accumulate` is given, gradients are added to the parameters' `grad`, and it is called after each row."""
        budget = self._batch_tokens if self._capabilities.packs else 0
        fill = self._body is not None and self._body.compiler.on
        rows: list[Row] = []
        found: list[torch.Tensor] = []
        for members in groups_within([len(datum) for datum in data], budget):
            row = pack(data, members, self._device, fill)
            model_logprobs, losses = self._row(row, loss, accumulate is not None)
            if accumulate is not None:
                accumulate()
            rows.append(row)
            found.append(torch.stack([model_logprobs.float(), losses.float()]))
        return _result(len(data), rows, found)

    def top_tokens(self, tokens: Sequence[int], count: int) -> list[list[tuple[int, float]]]:
        """The most likely next tokens at each position, with their log-probabilities."""
        row = torch.tensor(tokens, device=self._device)[None]
        with torch.no_grad(), attention.packed([len(tokens)]):
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
        with attention.packed(row.ends), torch.set_grad_enabled(backward):
            switches = backward and self._options.checkpointing and self._body is None
            if switches:
                self._model.train()
            try:
                logprobs = self._logprobs(row, loss.temperature)
                losses = elementwise_loss(loss, logprobs, row.inputs)
                if backward:
                    losses.sum().backward()  # type: ignore[no-untyped-call]
            finally:
                if switches:
                    self._model.eval()
        return logprobs.detach(), losses.detach()

    def _logprobs(self, row: Row, temperature: float) -> torch.Tensor:
        if self._body is not None and self._head is not None:
            return self._head.logprobs(self._body.states(row.tokens, row.positions), row.targets, temperature)
        given = {"input_ids": row.tokens[None], "position_ids": row.positions[None], "use_cache": False}
        if not self._capabilities.splits:
            return target_logprobs(self._model(**given).logits[0], row.targets, temperature)
        hidden = decoder_of(self._model)(**given).last_hidden_state[0]
        # The head may have been given an adapter since.
        head = self._model.get_output_embeddings()
        if self._head is not None and getattr(head, "weight", None) is self._head.weight:
            return self._head.logprobs(hidden, row.targets, temperature)
        return module_logprobs(head, hidden, row.targets, self._vocabulary, temperature)


def _result(count: int, rows: Sequence[Row], found: Sequence[torch.Tensor]) -> PassResult:
    """Copies all rows from the device at once, at the end, so that there is only one synchronization."""
    logprobs: list[Floats] = [np.zeros(0, dtype=np.float32)] * count
    elementwise = list(logprobs)
    if not found:
        return PassResult(0.0, logprobs, elementwise)
    both = torch.cat(list(found), dim=1).cpu().numpy()
    start = 0
    total = 0.0
    for row in rows:
        for member, part in row.parts():
            span = slice(start + part.start, start + part.stop)
            logprobs[member], elementwise[member] = both[0, span], both[1, span]
        total += float(both[1, start : start + row.ends[-1]].sum(dtype=np.float64))
        start += row.ends[-1]
    return PassResult(total, logprobs, elementwise)
