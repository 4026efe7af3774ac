"""A model whose weights, gradients and optimizer state are sharded over several processes (PyTorch's FSDP).

Each process computes its own rows; gradients are summed over all of them, as a single process would.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from .adamw import AdamW
from .datum import Datum, Loss, PassResult
from .head import Head, is_plain, module_logprobs, target_logprobs
from .learner import Learner, PassOptions
from .packing import Row, groups_within, pack
from .probe import Capabilities, decoder_of
from .ranks import Ranks

NOTHING = Datum(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), {"weights": np.zeros(1, dtype=np.float32)})
"""Dummy work for a rank without a row: it must still take part in the collectives."""


class Scorer(torch.nn.Module):
    """From tokens to log-probabilities in one call, so that head and embedding are unsharded while in use."""

    def __init__(self, model: Any, vocabulary: int, capabilities: Capabilities) -> None:
        super().__init__()
        self.model: Any = model
        self._vocabulary = vocabulary
        self._splits = capabilities.splits

    def forward(
        self, tokens: torch.Tensor, positions: torch.Tensor, targets: torch.Tensor, temperature: float
    ) -> torch.Tensor:
        given = {"input_ids": tokens[None], "position_ids": positions[None], "use_cache": False}
        if not self._splits:
            return target_logprobs(self.model(**given).logits[0], targets, temperature)
        hidden = decoder_of(self.model)(**given).last_hidden_state[0]
        head: Any = self.model.get_output_embeddings()
        if is_plain(head):
            return Head(head.weight).logprobs(hidden, targets, temperature)
        return module_logprobs(head, hidden, targets, self._vocabulary, temperature)


def shard(model: Any, vocabulary: int, capabilities: Capabilities, ranks: Ranks, dtype: torch.dtype) -> Scorer:
    """Weights stay sharded in float32; each layer is gathered in the compute dtype when it runs."""
    scorer = Scorer(model, vocabulary, capabilities)
    narrow = dtype if dtype != torch.float32 else None
    policy = MixedPrecisionPolicy(param_dtype=narrow, reduce_dtype=torch.float32)
    for layer in getattr(decoder_of(model), "layers", []):
        fully_shard(layer, mesh=ranks.mesh, mp_policy=policy)
    fully_shard(scorer, mesh=ranks.mesh, mp_policy=policy)
    for module in scorer.modules():
        if isinstance(module, FSDPModule):
            # Sum instead of average, because the loss is a sum.
            module.set_gradient_divide_factor(1.0)
            module.set_force_sum_reduction_for_comms(True)
    return scorer


class ShardedLearner(Learner):
    def __init__(
        self, scorer: Scorer, vocabulary: int, capabilities: Capabilities, options: PassOptions, ranks: Ranks
    ) -> None:
        self._scorer = scorer
        self._ranks = ranks
        super().__init__(scorer.model, vocabulary, capabilities, options)
        self._device = ranks.device

    def run(self, data: Sequence[Datum], loss: Loss, accumulate: Callable[[], None] | None) -> PassResult:
        """Only rank 0 gets the full result."""
        lengths = [len(datum) for datum in data]
        even = -(-sum(lengths) // self._ranks.world)
        budget = min(self._batch_tokens, max(even, *lengths)) if self._capabilities.packs else 0
        groups = groups_within(lengths, budget)
        found: list[tuple[int, Any, Any]] = []
        for start in range(0, len(groups), self._ranks.world):
            index = start + self._ranks.rank
            members = groups[index] if index < len(groups) else []
            row = pack(data, members, self._device) if members else pack([NOTHING], [0], self._device)
            logprobs, losses = self._row(row, loss if members else Loss("cross_entropy"), accumulate is not None)
            if accumulate is not None:
                accumulate()
            one, other = torch.stack([logprobs.float(), losses.float()]).cpu().numpy()
            found += [(member, one[part], other[part]) for member, part in row.parts() if members]
        self._reshard()
        return _merge_results(len(data), self._ranks.gather(found))

    def _logprobs(self, row: Row, temperature: float) -> torch.Tensor:
        result: torch.Tensor = self._scorer(row.tokens, row.positions, row.targets, temperature)
        return result

    def _reshard(self) -> None:
        """Otherwise unsharded weights would outlive an optimizer step."""
        for module in self._scorer.modules():
            if isinstance(module, FSDPModule):
                module.reshard()


def _merge_results(count: int, parts: Sequence[Sequence[tuple[int, Any, Any]]]) -> PassResult:
    logprobs: list[Any] = [np.zeros(0, dtype=np.float32)] * count
    elementwise = list(logprobs)
    for part in parts:
        for member, one, other in part:
            logprobs[member], elementwise[member] = one, other
    return PassResult(float(sum(each.sum(dtype=np.float64) for each in elementwise)), logprobs, elementwise)


class ShardedAdamW(AdamW):
    """Each rank updates its shard of every parameter."""

    def __init__(self, parameters: Sequence[tuple[str, torch.nn.Parameter]], ranks: Ranks) -> None:
        self._ranks = ranks
        self._sharded: dict[str, DTensor] = {}
        for name, parameter in parameters:
            assert isinstance(parameter, DTensor)
            self._sharded[name] = parameter
        super().__init__(parameters)

    def _local(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to_local() if isinstance(tensor, DTensor) else tensor

    @property
    def shapes(self) -> dict[str, torch.Size]:
        return {name: tensor.shape for name, tensor in self._sharded.items()}

    def _norm(self) -> torch.Tensor:
        alone = super()._norm().to(self._ranks.device)
        length: torch.Tensor = self._ranks.all_reduce(alone.square()).sqrt()
        return length

    def _copies(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {
            name: self._unsharded(name, tensor).to("cpu", copy=True).contiguous() for name, tensor in tensors.items()
        }

    def _unsharded(self, name: str, local: torch.Tensor) -> torch.Tensor:
        like = self._sharded[name]
        sharded = DTensor.from_local(
            local.detach(), like.device_mesh, like.placements, shape=like.shape, stride=like.stride()
        )
        full: torch.Tensor = sharded.full_tensor()
        return full

    def _part(self, name: str, full: torch.Tensor) -> torch.Tensor:
        like = self._sharded[name]
        # Every rank has read the full tensor, so nothing needs to be sent.
        return distribute_tensor(
            full.to(self._ranks.device, torch.float32), like.device_mesh, like.placements, src_data_rank=None
        ).to_local()

    def put_into(self, model: Any) -> None:
        """Gathers the full weights, one at a time, and copies them into the model if one is given."""
        targets = {} if model is None else dict(model.named_parameters())
        with torch.no_grad():
            for name, local in self.master.items():
                full = self._unsharded(name, local)
                if name in targets:
                    targets[name].copy_(full)
