"""A copy of a model's state, from which a checkpoint is written while training continues."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from .adamw import AdamW
from .bases import BaseModels
from .trained import TrainedModel

Tensors = dict[str, torch.Tensor]


@dataclass
class Snapshot:
    values: Tensors
    """In the dtype they are stored in."""
    optimizer: Tensors
    """Moments and, if the weights are stored in a narrower dtype, the float32 weights; empty if not requested."""
    step: int
    model: Any
    """For its configuration."""
    adapter_config: Any
    """None for a full model."""
    tokenizer: Path
    """The folder whose tokenizer files are copied."""
    dtype: torch.dtype
    ready: Any = field(default=None)
    """A CUDA event: the copies are complete."""


def take_snapshot(trained: TrainedModel, bases: BaseModels, optimizer: bool, exact: bool = False) -> Snapshot:
    """Copies on the device, which takes a fraction of a second; if its memory is full, to host memory.

    With a sharded model every process takes part. `exact` stores the weights in the dtype of computations instead of
    that of the model's folder.
    """
    weights = trained.weights
    is_adapter = weights.adapters is not None and weights.adapter is not None
    dtype = torch.float32
    if not is_adapter:
        dtype = bases.options.dtype if exact else bases.stored_dtype(weights.base)
    try:
        values, state = _copies(trained.optimizer, optimizer, dtype, None)
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        values, state = _copies(trained.optimizer, optimizer, dtype, torch.device("cpu"))
    ready = None
    if bases.options.device.type == "cuda":
        ready = torch.cuda.Event()  # type: ignore[no-untyped-call]
        ready.record()
    adapter_config = None
    if weights.adapters is not None and weights.adapter is not None:
        adapter_config = weights.adapters.config(weights.adapter)
        adapter_config.base_model_name_or_path = weights.base
    return Snapshot(
        values=values,
        optimizer=state,
        step=trained.optimizer.step,
        model=weights.model,
        adapter_config=adapter_config,
        tokenizer=bases.folder(weights.base),
        dtype=dtype,
        ready=ready,
    )


def _copies(adam: AdamW, optimizer: bool, dtype: torch.dtype, device: torch.device | None) -> tuple[Tensors, Tensors]:
    values = adam.copies(adam.master, dtype, device)
    if not optimizer:
        return values, {}
    kinds = {"first": adam.first, "second": adam.second}
    if dtype != torch.float32:
        kinds["master"] = adam.master
    state = {
        f"{kind} {name}": tensor
        for kind, tensors in kinds.items()
        for name, tensor in adam.copies(tensors, torch.float32, device).items()
    }
    return values, state


def write_configs(snapshot: Snapshot, folder: Path) -> None:
    if snapshot.adapter_config is not None:
        snapshot.adapter_config.save_pretrained(folder)
        return
    model = snapshot.model
    model.config.save_pretrained(folder)
    if model.can_generate():
        model.generation_config.save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config.pop("dtype", None)
    config["torch_dtype"] = str(snapshot.dtype).removeprefix("torch.")
    config["architectures"] = [type(model).__name__.removeprefix("FSDP")]
    path.write_text(json.dumps(config, indent=2) + "\n")
