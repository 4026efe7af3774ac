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
from .head import Scores
from .learner import Learner, PassOptions, model_scores
from .packing import Row, RowPlan, pack, plan_rows, results_of
from .probe import Capabilities, decoder_of
from .ranks import Ranks

NOTHING = Datum(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), {"weights": np.zeros(1, dtype=np.float32)})
"""Dummy work for a rank without a row: it must still take part in the collectives."""


class Scorer(torch.nn.Module):
    """From tokens to losses in one call, so that head and embedding are unsharded while in use."""

    def __init__(self, model: Any, vocabulary: int, capabilities: Capabilities) -> None:
        super().__init__()
        self.model: Any = model
        self._vocabulary = vocabulary
        self._splits = capabilities.splits

    def forward(self, row: Row, loss: Loss) -> Scores:
        return model_scores(self.model, row, loss, self._vocabulary, self._splits)


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


def even_rows(data: Sequence[Datum], world: int, batch_tokens: int) -> list[RowPlan]:
    """One row for each process if they fit, of similar sizes: a further row would keep only one process busy."""
    (whole,) = plan_rows(data, sum(len(datum) for datum in data))
    budget = (sum(len(data[member]) for member in whole.members) - sum(whole.shared)) / world
    while budget < batch_tokens:
        plans = plan_rows(data, int(budget))
        if len(plans) <= world:
            return plans
        budget = 1.1 * budget + 1
    return plan_rows(data, batch_tokens)


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
        backward = accumulate is not None
        plans = (
            even_rows(data, self._ranks.world, self._batch_tokens) if self._capabilities.packs else plan_rows(data, 0)
        )
        found: list[tuple[int, Any, Any]] = []
        for start in range(0, len(plans), self._ranks.world):
            index = start + self._ranks.rank
            mine = index < len(plans)
            chosen = (data, plans[index]) if mine else ([NOTHING], RowPlan([0], [0]))
            row = pack(*chosen, self._device, every=not backward)
            logprobs, losses = self._row(row, loss if mine else Loss("cross_entropy"), backward)
            if accumulate is not None:
                accumulate()
            if mine:
                both = torch.stack([logprobs.float(), losses.float()]).cpu().numpy()
                found += results_of(row, both, every=not backward)
        self._reshard()
        return _merge_results(len(data), self._ranks.gather(found))

    def _scores(self, row: Row, loss: Loss) -> Scores:
        result: Scores = self._scorer(row, loss)
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

    def copies(
        self, tensors: Mapping[str, torch.Tensor], dtype: torch.dtype, device: torch.device | None = None
    ) -> dict[str, torch.Tensor]:
        """In host memory: the full model may not fit on one device."""
        return {
            name: self._unsharded(name, tensor).to("cpu", dtype, copy=True).contiguous()
            for name, tensor in tensors.items()
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
