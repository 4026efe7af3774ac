"""Operations on models. With several processes, all of them run each operation at the same time.

Rank 0 receives requests over HTTP and broadcasts each operation to the other ranks, which `follow`. An operation that
fails on one rank fails on all.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..errors import TrainerError, bad_request
from ..model.adamw import AdamSettings
from ..model.bases import BaseModels
from ..model.datum import Datum, Loss, PassResult
from ..model.learner import PassOptions
from ..model.lora import LoraSettings
from ..model.ranks import Ranks
from ..model.read_checkpoint import apply_checkpoint, read_checkpoint
from ..model.snapshot import Snapshot, take_snapshot
from ..model.trained import TrainedModel, adapter_weights, full_weights, sharded_weights, trained_model

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
SHUTDOWN = "shutdown"


def on_all_ranks(operation: Callable[Concatenate["ModelOps", P], R]) -> Callable[Concatenate["ModelOps", P], R]:
    def run(self: "ModelOps", /, *values: P.args, **named: P.kwargs) -> R:
        if self.ranks is not None and self.ranks.is_leader:
            self.ranks.broadcast((operation.__name__, values, named))
        return operation(self, *values, **named)

    return run


class ModelOps:
    def __init__(self, bases: BaseModels, passes: PassOptions, ranks: Ranks | None = None) -> None:
        self.bases = bases
        self.passes = passes
        self.ranks = ranks
        self.models: dict[str, TrainedModel] = {}

    @property
    def _first(self) -> bool:
        return self.ranks is None or self.ranks.is_leader

    @on_all_ranks
    def create(self, model_id: str, base: str, lora: LoraSettings | None) -> None:
        if lora is not None and self.ranks is not None:
            raise bad_request("LoRA runs on one GPU only: start the server without torchrun, or use rank 0.")
        # Each process registers an uploaded model itself.
        self.bases.find(base)
        if lora is not None:
            weights = adapter_weights(self.bases, base, model_id, lora)
        elif self.ranks is not None:
            weights = sharded_weights(base, self.bases.fresh(base), self.ranks)
        else:
            weights = full_weights(self.bases, base, self.bases.fresh(base))
        try:
            self.models[model_id] = trained_model(self.bases, model_id, weights, self.passes)
        except BaseException:
            weights.release()
            raise

    @on_all_ranks
    def run(self, model_id: str, data: list[Datum], loss: Loss, backward: bool) -> PassResult:
        return self.models[model_id].run(data, loss, backward)

    @on_all_ranks
    def update(self, model_id: str, settings: AdamSettings) -> float:
        trained = self.models[model_id]
        norm = trained.optimizer.update(settings)
        trained.version += 1
        return norm

    @on_all_ranks
    def snapshot(self, model_id: str, optimizer: bool, exact: bool = False) -> Snapshot:
        return take_snapshot(self.models[model_id], self.bases, optimizer, exact)

    @on_all_ranks
    def load(self, model_id: str, folder: Path, optimizer: bool) -> bool:
        """Returns whether the optimizer state was loaded too."""
        trained = self.models[model_id]
        contents = read_checkpoint(folder, trained, self.bases, optimizer)
        apply_checkpoint(trained, contents)
        return contents.moments is not None

    @on_all_ranks
    def sync_copy(self, model_id: str) -> None:
        """Updates the unsharded copy that rank 0 samples from."""
        from ..model.sharded import ShardedAdamW

        trained = self.models[model_id]
        assert isinstance(trained.optimizer, ShardedAdamW)
        if self._first and trained.copy is None:
            base = trained.weights.base
            weights = full_weights(self.bases, base, self.bases.fresh(base))
            weights.master = None
            trained.copy = trained_model(self.bases, model_id, weights, self.passes, trains=False)
        trained.optimizer.put_into(trained.copy.weights.model if trained.copy is not None else None)
        if trained.copy is not None:
            trained.copy.version = trained.version

    def sampled(self, model_id: str) -> TrainedModel:
        """The model to sample from, with current weights."""
        trained = self.models[model_id]
        if trained.weights.ranks is None:
            return trained
        if trained.copy is None or trained.copy.version != trained.version:
            self.sync_copy(model_id)
        assert trained.copy is not None
        return trained.copy

    @on_all_ranks
    def unload(self, model_id: str) -> None:
        weights = self.models.pop(model_id).weights
        weights.release()
        if not any(other.weights.base == weights.base for other in self.models.values()):
            self.bases.unload(weights.base)

    def end(self) -> None:
        if self.ranks is not None and self.ranks.is_leader:
            self.ranks.broadcast((SHUTDOWN, (), {}))

    def follow(self) -> None:
        """Runs rank 0's operations until it shuts down."""
        assert self.ranks is not None
        while True:
            name, values, named = self.ranks.receive()
            if name == SHUTDOWN:
                return
            operation: Any = getattr(self, name)
            try:
                operation(*values, **named)
            except TrainerError as error:
                log.info("%s: %s", name, error.detail)
            except Exception:
                log.exception("%s failed", name)
