"""What is done with models. With several processes each deed is done by all of them at the same time.

The first process is asked over HTTP and tells the others, which `follow`. A deed that fails fails in all of them.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..errors import TrainerError, bad_request
from ..model.adamw import AdamSettings
from ..model.bases import BaseModels
from ..model.checkpoint import save_checkpoint
from ..model.datum import Datum, Loss, PassResult
from ..model.learner import PassOptions
from ..model.lora import LoraSettings
from ..model.ranks import Ranks
from ..model.read_checkpoint import read_checkpoint, take
from ..model.trained import TrainedModel, adapter_weights, own_weights, spread_weights, trained_model

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
END = "end"


def together(deed: Callable[Concatenate["Deeds", P], R]) -> Callable[Concatenate["Deeds", P], R]:
    def done(self: "Deeds", /, *values: P.args, **named: P.kwargs) -> R:
        if self.ranks is not None and self.ranks.leads:
            self.ranks.tell((deed.__name__, values, named))
        return deed(self, *values, **named)

    return done


class Deeds:
    def __init__(self, bases: BaseModels, passes: PassOptions, ranks: Ranks | None = None) -> None:
        self.bases = bases
        self.passes = passes
        self.ranks = ranks
        self.models: dict[str, TrainedModel] = {}

    @property
    def _first(self) -> bool:
        return self.ranks is None or self.ranks.leads

    @together
    def create(self, model_id: str, base: str, lora: LoraSettings | None) -> None:
        if lora is not None and self.ranks is not None:
            raise bad_request("Adapters are trained on one GPU only: start the server without torchrun, or use rank 0.")
        # Each process takes a model that a client has sent in by itself.
        self.bases.find(base)
        if lora is not None:
            weights = adapter_weights(self.bases, base, model_id, lora)
        elif self.ranks is not None:
            weights = spread_weights(base, self.bases.fresh(base), self.ranks)
        else:
            weights = own_weights(self.bases, base, self.bases.fresh(base))
        try:
            self.models[model_id] = trained_model(self.bases, model_id, weights, self.passes)
        except BaseException:
            weights.release()
            raise

    @together
    def run(self, model_id: str, data: list[Datum], loss: Loss, backward: bool) -> PassResult:
        return self.models[model_id].run(data, loss, backward)

    @together
    def update(self, model_id: str, settings: AdamSettings) -> float:
        trained = self.models[model_id]
        norm = trained.optimizer.update(settings)
        trained.version += 1
        return norm

    @together
    def save(self, model_id: str, folder: Path, optimizer: bool) -> None:
        save_checkpoint(folder, self.models[model_id], self.bases, optimizer, writes=self._first)

    @together
    def load(self, model_id: str, folder: Path, optimizer: bool) -> bool:
        """Whether the optimiser's state was taken over too."""
        trained = self.models[model_id]
        contents = read_checkpoint(folder, trained, self.bases, optimizer)
        take(trained, contents)
        return contents.moments is not None

    @together
    def bring_together(self, model_id: str) -> None:
        """Fills the copy that the first process samples from."""
        from ..model.sharded import ShardedAdamW

        trained = self.models[model_id]
        assert isinstance(trained.optimizer, ShardedAdamW)
        if self._first and trained.copy is None:
            base = trained.weights.base
            weights = own_weights(self.bases, base, self.bases.fresh(base))
            weights.exact = None
            trained.copy = trained_model(self.bases, model_id, weights, self.passes, trains=False)
        trained.optimizer.put_into(trained.copy.weights.model if trained.copy is not None else None)
        if trained.copy is not None:
            trained.copy.version = trained.version

    def sampled(self, model_id: str) -> TrainedModel:
        """What is sampled from, with the weights as they are now."""
        trained = self.models[model_id]
        if trained.weights.ranks is None:
            return trained
        if trained.copy is None or trained.copy.version != trained.version:
            self.bring_together(model_id)
        assert trained.copy is not None
        return trained.copy

    @together
    def unload(self, model_id: str) -> None:
        weights = self.models.pop(model_id).weights
        weights.release()
        if not any(other.weights.base == weights.base for other in self.models.values()):
            self.bases.forget(weights.base)

    def end(self) -> None:
        if self.ranks is not None and self.ranks.leads:
            self.ranks.tell((END, (), {}))

    def follow(self) -> None:
        """Does what the first process does, until that ends."""
        assert self.ranks is not None
        while True:
            name, values, named = self.ranks.hear()
            if name == END:
                return
            deed: Any = getattr(self, name)
            try:
                deed(*values, **named)
            except TrainerError as error:
                log.info("%s: %s", name, error.detail)
            except Exception:
                log.exception("%s failed", name)
