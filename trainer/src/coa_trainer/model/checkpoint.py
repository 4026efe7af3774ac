"""Checkpoints as Hugging Face folders, written atomically."""

import hashlib
import json
import os
import shutil
import uuid
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from transformers.modeling_utils import remove_tied_weights_from_state_dict, revert_weight_conversion

from .bases import BaseModels
from .snapshot import Snapshot, take_snapshot, write_configs
from .tensor_file import write_tensors
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

Files = list[dict[str, Any]]
"""Name, bytes and sha256 of each."""


def save_checkpoint(folder: Path, trained: TrainedModel, bases: BaseModels, optimizer: bool) -> Files:
    return write_checkpoint(folder, take_snapshot(trained, bases, optimizer))


def write_checkpoint(folder: Path, snapshot: Snapshot) -> Files:
    """An existing checkpoint at `folder` stays until the new one is complete on disk."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.parent / f".{folder.name}.{uuid.uuid4().hex}.tmp"
    try:
        temporary.mkdir()
        files = fill_folder(temporary, snapshot)
        _replace(folder, temporary)
        return files
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def fill_folder(folder: Path, snapshot: Snapshot) -> Files:
    """Writes a checkpoint into an existing folder; every file is on disk when it returns."""
    try:
        with _own_stream(snapshot):
            hashes = _write(folder, snapshot)
    finally:
        # Releases device memory now, even if an error keeps a reference to the snapshot.
        snapshot.values.clear()
        snapshot.optimizer.clear()
    files: Files = []
    for path in sorted(folder.glob("[!.]*")):
        if path.name not in hashes:
            hashes[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
            _sync(path)
        files.append({"name": path.name, "bytes": path.stat().st_size, "sha256": hashes[path.name]})
    _sync(folder)
    return files


def _own_stream(snapshot: Snapshot) -> AbstractContextManager[Any]:
    """Copies to the host must not wait for training, which uses the default stream."""
    if snapshot.ready is None:
        return nullcontext()
    snapshot.ready.synchronize()
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    return torch.cuda.stream(stream)


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


def _write(folder: Path, snapshot: Snapshot) -> dict[str, str]:
    """Returns the hashes of large files, computed while writing."""
    write_configs(snapshot, folder)
    for name in TOKENIZER_FILES:
        source = snapshot.tokenizer / name
        if source.is_file():
            shutil.copyfile(source, folder / name)
    hashes: dict[str, str] = {}
    values = snapshot.values
    weights_file = ADAPTER_FILE
    if snapshot.adapter_config is None:
        weights_file = "model.safetensors"
        # As `save_pretrained` does: the names and shapes of the published format.
        values = remove_tied_weights_from_state_dict(values, snapshot.model)
        values = revert_weight_conversion(snapshot.model, values)
        if snapshot.optimizer:
            _write_index(folder, weights_file, values)
    snapshot.values = values
    hashes[weights_file] = write_tensors(folder / weights_file, values, {})
    if snapshot.optimizer:
        metadata = {"optimizer": "adamw", "step": str(snapshot.step)}
        hashes[OPTIMIZER_FILE] = write_tensors(folder / OPTIMIZER_FILE, snapshot.optimizer, metadata)
    return hashes


def _write_index(folder: Path, file: str, values: dict[str, torch.Tensor]) -> None:
    """Without an index some inference servers load every *.safetensors file in a folder, including the optimizer's."""
    size = sum(tensor.numel() * tensor.element_size() for tensor in values.values())
    index = {"metadata": {"total_size": size}, "weight_map": dict.fromkeys(sorted(values), file)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
