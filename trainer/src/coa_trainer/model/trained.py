"""A model that is being trained or only sampled: its weights, its optimiser and its passes."""

from dataclasses import dataclass, field
from typing import Any

import torch

from .adamw import AdamW, Trained
from .bases import BaseModels, to_device
from .compiled import compile_layers
from .datum import Datum, Loss, PassResult
from .learner import Learner, PassOptions
from .lora import Adapters, LoraSettings
from .losses import check_loss
from .own_body import own_body
from .probe import Abilities, probe
from .ranks import Ranks


@dataclass
class Weights:
    """Weights on the device: a model of its own, or an adapter on a shared base (no adapter: the base itself)."""

    base: str
    model: Any
    adapters: Adapters | None = None
    adapter: str | None = None
    lora: LoraSettings | None = None
    exact: dict[str, torch.Tensor] | None = None
    ranks: Ranks | None = None
    """The processes that the model is spread over."""

    def activate(self) -> None:
        if self.adapters is not None:
            self.adapters.activate(self.adapter)

    def release(self) -> None:
        if self.adapters is not None and self.adapter is not None:
            self.adapters.remove(self.adapter)

    def named_parameters(self) -> list[tuple[str, torch.nn.Parameter]]:
        if self.adapters is not None:
            return [] if self.adapter is None else self.adapters.parameters(self.adapter)
        return list(self.model.named_parameters())


def own_weights(bases: BaseModels, base: str, model: Any) -> Weights:
    """Puts a float32 model of the CPU on the device; exact copies stay where the type gets narrower."""
    options = bases.options
    exact: dict[str, torch.Tensor] | None = None
    if options.dtype != torch.float32:
        exact = {name: parameter.data.to(options.device) for name, parameter in model.named_parameters()}
    return Weights(base=base, model=to_device(model, options), exact=exact)


def spread_weights(base: str, model: Any, ranks: Ranks) -> Weights:
    """A float32 model of the CPU that is to be spread over processes."""
    return Weights(base=base, model=model, ranks=ranks)


def adapter_weights(bases: BaseModels, base: str, name: str, lora: LoraSettings) -> Weights:
    adapters = bases.shared(base)
    adapters.add(name, lora)
    return Weights(base=base, model=adapters.model, adapters=adapters, adapter=name, lora=lora)


def base_weights(bases: BaseModels, base: str) -> Weights:
    adapters = bases.shared(base)
    return Weights(base=base, model=adapters.model, adapters=adapters)


@dataclass
class TrainedModel:
    id: str
    weights: Weights
    learner: Learner
    optimizer: AdamW
    context_length: int
    vocabulary: int
    version: int = 0
    """Grows whenever the weights change."""
    passing: list[str] = field(default_factory=list)
    """Sampling sessions that stand for the weights as they are now."""
    info: dict[str, Any] = field(default_factory=dict)
    copy: "TrainedModel | None" = None
    """Of a model that is spread over processes, what is sampled from."""

    def run(self, data: list[Datum], loss: Loss, backward: bool) -> PassResult:
        check_loss(loss, data)
        self.weights.activate()
        try:
            return self.learner.run(data, loss, self.optimizer.collect if backward else None)
        except BaseException:
            # Half of a request must not stay in the sum.
            self.optimizer.forget()
            raise


def trained_model(
    bases: BaseModels, model_id: str, weights: Weights, options: PassOptions, trains: bool = True
) -> TrainedModel:
    weights.activate()
    vocabulary = bases.vocabulary(weights.base)
    abilities = probe(weights.model, vocabulary)
    if weights.ranks is not None:
        return _spread(bases, model_id, weights, weights.ranks, options, abilities)
    whole = weights.adapters is None
    body = own_body(weights.model, vocabulary, bases.options, abilities) if whole else None
    if whole and body is None:
        compile_layers(weights.model, bases.options.compile)
    learner = Learner(weights.model, vocabulary, abilities, options, body)
    parameters = weights.named_parameters() if trains else []
    leaves: list[Trained] = [*body.leaves] if body is not None and trains else [*parameters]
    optimizer = AdamW(leaves, weights.exact)
    weights.exact = None
    return _described(bases, model_id, weights, learner, optimizer)


def _spread(
    bases: BaseModels, model_id: str, weights: Weights, ranks: Ranks, options: PassOptions, abilities: Abilities
) -> TrainedModel:
    # Only here: it takes a while to import, and one process does without.
    from .sharded import ShardedAdamW, ShardedLearner, shard

    vocabulary = bases.vocabulary(weights.base)
    if bases.options.checkpointing:
        weights.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    scorer = shard(weights.model, vocabulary, abilities, ranks, bases.options.dtype)
    learner = ShardedLearner(scorer, vocabulary, abilities, options, ranks)
    return _described(bases, model_id, weights, learner, ShardedAdamW(weights.named_parameters(), ranks))


def _described(bases: BaseModels, model_id: str, weights: Weights, learner: Learner, optimizer: AdamW) -> TrainedModel:
    vocabulary = bases.vocabulary(weights.base)
    trained = sum(shape.numel() for shape in optimizer.shapes.values())
    shared = weights.adapter is not None
    return TrainedModel(
        id=model_id,
        weights=weights,
        learner=learner,
        optimizer=optimizer,
        context_length=bases.context_length(weights.base),
        vocabulary=vocabulary,
        info={
            "context_length": bases.context_length(weights.base),
            "vocabulary_size": vocabulary,
            "parameters": bases.parameters(weights.base) + (trained if shared else 0),
            "trained_parameters": trained,
            "device": str(bases.options.device),
            "dtype": str(bases.options.dtype).removeprefix("torch."),
        },
    )
