"""A loaded model, for training or only for sampling: its weights, optimizer and forward/backward passes."""

from dataclasses import dataclass, field
from typing import Any

import torch

from .adamw import AdamW, Trained
from .bases import BaseModels, to_device
from .compiled import compile_layers
from .custom_body import custom_body
from .datum import Datum, Loss, PassResult
from .learner import Learner, PassOptions
from .lora import Adapters, LoraSettings
from .losses import check_loss
from .probe import Capabilities, probe
from .ranks import Ranks


@dataclass
class Weights:
    """Weights on the device: a full model, or an adapter on a shared base (no adapter: the base itself)."""

    base: str
    model: Any
    adapters: Adapters | None = None
    adapter: str | None = None
    lora: LoraSettings | None = None
    master: dict[str, torch.Tensor] | None = None
    ranks: Ranks | None = None
    """The processes the model is sharded over."""

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


def full_weights(bases: BaseModels, base: str, model: Any) -> Weights:
    """Moves a float32 CPU model to the device, keeping float32 master copies if the compute dtype is narrower."""
    options = bases.options
    master: dict[str, torch.Tensor] | None = None
    if options.dtype != torch.float32:
        master = {name: parameter.data.to(options.device) for name, parameter in model.named_parameters()}
    return Weights(base=base, model=to_device(model, options), master=master)


def sharded_weights(base: str, model: Any, ranks: Ranks) -> Weights:
    """A float32 CPU model that will be sharded over processes."""
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
    """Incremented whenever the weights change."""
    ephemeral_sessions: list[str] = field(default_factory=list)
    """Sampling sessions that refer to the current, unsaved weights."""
    info: dict[str, Any] = field(default_factory=dict)
    copy: "TrainedModel | None" = None
    """The unsharded copy that a sharded model samples from."""

    def run(self, data: list[Datum], loss: Loss, backward: bool) -> PassResult:
        check_loss(loss, data)
        self.weights.activate()
        try:
            return self.learner.run(data, loss, self.optimizer.accumulate if backward else None)
        except BaseException:
            # A partial request must not stay in the accumulated gradients.
            self.optimizer.zero_grad()
            raise


def trained_model(
    bases: BaseModels, model_id: str, weights: Weights, options: PassOptions, trains: bool = True
) -> TrainedModel:
    weights.activate()
    vocabulary = bases.vocabulary(weights.base)
    capabilities = probe(weights.model, vocabulary)
    if weights.ranks is not None:
        return _sharded_model(bases, model_id, weights, weights.ranks, options, capabilities)
    full = weights.adapters is None
    body = custom_body(weights.model, vocabulary, bases.options, capabilities) if full else None
    if full and body is None:
        compile_layers(weights.model, bases.options.compile)
    learner = Learner(weights.model, vocabulary, capabilities, options, body)
    parameters = weights.named_parameters() if trains else []
    leaves: list[Trained] = [*body.leaves] if body is not None and trains else [*parameters]
    optimizer = AdamW(leaves, weights.master)
    weights.master = None
    return _described(bases, model_id, weights, learner, optimizer)


def _sharded_model(
    bases: BaseModels, model_id: str, weights: Weights, ranks: Ranks, options: PassOptions, capabilities: Capabilities
) -> TrainedModel:
    # Imported lazily: it is slow, and a single process does not need it.
    from .sharded import ShardedAdamW, ShardedLearner, shard

    vocabulary = bases.vocabulary(weights.base)
    if bases.options.checkpointing:
        weights.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    scorer = shard(weights.model, vocabulary, capabilities, ranks, bases.options.dtype)
    learner = ShardedLearner(scorer, vocabulary, capabilities, options, ranks)
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
