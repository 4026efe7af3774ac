"""Reads checkpoints. Everything is read and checked before the model is changed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file

from ..errors import bad_request
from .bases import BaseModels
from .checkpoint import ADAPTER_FILE, OPTIMIZER_FILE
from .trained import TrainedModel

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Moments:
    step: int
    first: Tensors
    second: Tensors
    master: Tensors
    """The float32 weights, if those of the model are stored in a narrower dtype; otherwise empty."""


@dataclass(frozen=True)
class Contents:
    values: Tensors
    moments: Moments | None
    """None if not requested, missing or of another shape: the optimizer state is then reset."""


def read_checkpoint(folder: Path, trained: TrainedModel, bases: BaseModels, optimizer: bool) -> Contents:
    with _readable(folder):
        _check_kind(folder, trained)
        moments = _moments(folder / OPTIMIZER_FILE, trained) if optimizer else None
        values = moments.master if moments is not None and moments.master else _values(folder, trained, bases)
    for name, shape in trained.optimizer.shapes.items():
        if name not in values or values[name].shape != shape:
            raise bad_request(
                f"The checkpoint {folder.name} does not match the model: {name} is missing or has another shape."
            )
    return Contents(values, moments)


def apply_checkpoint(trained: TrainedModel, contents: Contents) -> None:
    adam = trained.optimizer
    adam.zero_grad()
    adam.reset()
    adam.load_weights(contents.values)
    if contents.moments is not None:
        adam.load_moments(contents.moments.step, contents.moments.first, contents.moments.second)
    trained.version += 1


def read_adapter_config(folder: Path) -> tuple[int, float, list[str]]:
    """Rank, alpha and target modules of a PEFT adapter."""
    with _readable(folder):
        config = json.loads((folder / "adapter_config.json").read_text())
        return int(config["r"]), float(config["lora_alpha"]), list(config["target_modules"])


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise bad_request(f"The checkpoint {folder.name} is corrupted: {error}") from error


def _check_kind(folder: Path, trained: TrainedModel) -> None:
    is_adapter = (folder / ADAPTER_FILE).is_file()
    if trained.weights.adapter is None:
        if is_adapter:
            raise bad_request(f"The checkpoint {folder.name} is an adapter; load it into a model of the same rank.")
        return
    if not is_adapter:
        raise bad_request(f"The checkpoint {folder.name} is not an adapter; load it into a model of rank 0.")
    lora = trained.weights.lora
    rank, alpha, _ = read_adapter_config(folder)
    if lora is not None and (rank, alpha) != (lora.rank, lora.alpha):
        raise bad_request(
            f"The adapter {folder.name} has rank {rank} and alpha {alpha:g}; load it into a model with those, "
            f"not with rank {lora.rank} and alpha {lora.alpha:g}."
        )


def _values(folder: Path, trained: TrainedModel, bases: BaseModels) -> Tensors:
    if trained.weights.adapter is not None:
        values: Tensors = load_file(folder / ADAPTER_FILE)
        return values
    model = bases.fresh(trained.weights.base, folder)
    return {name: parameter.data for name, parameter in model.named_parameters()}


def _moments(path: Path, trained: TrainedModel) -> Moments | None:
    if not path.is_file():
        return None
    shapes = trained.optimizer.shapes
    with safe_open(path, framework="pt") as file:
        step = (file.metadata() or {}).get("step", "")
        names = set(file.keys())
        wanted = {f"{which} {name}" for which in ("first", "second") for name in shapes}
        if not step.isdigit() or not wanted <= names:
            return None
        first = {name: file.get_tensor(f"first {name}") for name in shapes}
        second = {name: file.get_tensor(f"second {name}") for name in shapes}
        has_master = all(f"master {name}" in names for name in shapes)
        master = {name: file.get_tensor(f"master {name}") for name in shapes if has_master}
    if any(first[name].shape != shapes[name] or second[name].shape != shapes[name] for name in shapes):
        return None
    return Moments(int(step), first, second, master)
