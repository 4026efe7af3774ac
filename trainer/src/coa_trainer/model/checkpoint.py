"""Checkpoints as Hugging Face folders, written atomically."""

import json
import os
import shutil
import uuid
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from .bases import BaseModels
from .trained import TrainedModel

OPTIMIZER_FILE = "optimizer.safetensors"
ADAPTER_FILE = "adapter_model.safetensors"
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
)


Tensors = dict[str, torch.Tensor]


def save_checkpoint(
    folder: Path, trained: TrainedModel, bases: BaseModels, optimizer: bool, writes: bool = True
) -> None:
    """An existing checkpoint at `folder` stays until the new one is complete on disk.

    With a sharded model every process takes part, and one writes.
    """
    state = trained.optimizer.state()
    if not writes:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.parent / f".{folder.name}.{uuid.uuid4().hex}.tmp"
    try:
        temporary.mkdir()
        _write(temporary, trained, bases, state, optimizer)
        for path in temporary.iterdir():
            _sync(path)
        _sync(temporary)
        _replace(folder, temporary)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _replace(folder: Path, temporary: Path) -> None:
    """If the process is killed between the two renames, `recover` finds the old checkpoint under its second name."""
    previous = folder.parent / f".{folder.name}.previous"
    if folder.exists():
        shutil.rmtree(previous, ignore_errors=True)
        folder.rename(previous)
    temporary.rename(folder)
    _sync(folder.parent)
    shutil.rmtree(previous, ignore_errors=True)


def recover(parent: Path) -> None:
    """Restores checkpoints that a killed server had moved aside and deletes unfinished ones."""
    if not parent.is_dir():
        return
    for path in parent.glob(".*.previous"):
        target = parent / path.name[1 : -len(".previous")]
        if target.exists():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.rename(target)
    for path in parent.glob(".*.tmp"):
        shutil.rmtree(path, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(
    folder: Path,
    trained: TrainedModel,
    bases: BaseModels,
    state: tuple[Tensors, Tensors, Tensors],
    optimizer: bool,
) -> None:
    weights = trained.weights
    values, first, second = state
    if weights.adapters is not None and weights.adapter is not None:
        config = weights.adapters.config(weights.adapter)
        config.base_model_name_or_path = weights.base
        config.save_pretrained(folder)
        save_file(values, folder / ADAPTER_FILE, metadata={"format": "pt"})
    else:
        weights.model.save_pretrained(folder, state_dict=values)
        _say_float32(folder / "config.json")
        if optimizer:
            _write_index(folder)
    for name in TOKENIZER_FILES:
        source = bases.folder(weights.base) / name
        if source.is_file():
            shutil.copyfile(source, folder / name)
    if optimizer:
        moments = {f"first {name}": tensor for name, tensor in first.items()}
        moments |= {f"second {name}": tensor for name, tensor in second.items()}
        metadata = {"format": "pt", "optimizer": "adamw", "step": str(trained.optimizer.step)}
        save_file(moments, folder / OPTIMIZER_FILE, metadata=metadata)


def _say_float32(path: Path) -> None:
    config = json.loads(path.read_text())
    config.pop("dtype", None)
    config["torch_dtype"] = "float32"
    path.write_text(json.dumps(config, indent=2) + "\n")


def _write_index(folder: Path) -> None:
    """Without an index some inference servers load every *.safetensors file in a folder, including the optimizer's."""
    path = folder / "model.safetensors"
    if not path.is_file():
        return
    with safe_open(path, framework="pt") as file:
        names = sorted(file.keys())
        size = sum(file.get_tensor(name).nbytes for name in names)
    index = {"metadata": {"total_size": size}, "weight_map": dict.fromkeys(names, path.name)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
