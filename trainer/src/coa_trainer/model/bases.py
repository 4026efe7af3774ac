"""Base models, configured at startup or uploaded by clients, and their copies on the device."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..errors import TrainerError, bad_request
from .compile_modes import OFF
from .compiled import compile_layers
from .fused_weights import fuse_weights, is_supported
from .load import context_length, is_weight_file, load_model, read_config
from .lora import Adapters

UPLOAD = "upload://"
FOLDER = "folder://"


@dataclass(frozen=True)
class ModelOptions:
    device: torch.device
    dtype: torch.dtype
    random_seed: int | None = None
    """Initialize random weights from this seed instead of loading them."""
    checkpointing: bool = False
    compile: str = OFF
    """One of `compile_modes.MODES`."""


def to_device(model: Any, options: ModelOptions) -> Any:
    """Casts weights to the compute dtype; buffers, such as the RoPE tables, keep theirs."""
    for parameter in model.parameters():
        parameter.data = parameter.data.to(options.device, options.dtype)
    for module in model.modules():
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, buffer.to(options.device))
    if is_supported(model):
        fuse_weights(model)
    if options.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


class BaseModels:
    def __init__(
        self,
        folders: dict[str, Path],
        options: ModelOptions,
        client_folder: Callable[[str], Path] | None = None,
    ) -> None:
        self._own = list(folders)
        self._folders = dict(folders)
        self._client_folder = client_folder
        self.options = options
        self._configs: dict[str, Any] = {name: read_config(folder) for name, folder in folders.items()}
        self._shared: dict[str, Adapters] = {}
        self._sizes: dict[str, int] = {}
        self._hashes: dict[tuple[Path, int, int], str] = {}

    @property
    def names(self) -> list[str]:
        """Models the server was started with."""
        return self._own

    def find(self, name: str) -> str:
        """Resolves a name or the folder it was given with; a model of a client is registered here."""
        if name in self._folders:
            return name
        for known in self._own:
            if name == str(self._folders[known]):
                return known
        if name.startswith((UPLOAD, FOLDER)) and self._client_folder is not None:
            folder = self._client_folder(name)
            self._configs[name] = read_config(folder)
            self._folders[name] = folder
            if name.startswith(UPLOAD):
                # Using an upload postpones its expiry.
                os.utime(folder)
            return name
        raise bad_request(f"Unknown base model {name}; this server has {', '.join(self._own)}.")

    def unload(self, name: str) -> None:
        """Releases a client's model once nothing is built on it."""
        if name not in self._own:
            tables: list[dict[str, Any]] = [self._folders, self._configs, self._shared, self._sizes]
            for table in tables:
                table.pop(name, None)

    def weight_files(self, name: str) -> list[dict[str, str | int]]:
        """Checksums let a client see whether it has the same model. Empty for randomly initialized weights."""
        if self.options.random_seed is not None and name in self._own:
            return []
        found = [path for path in self._folders[name].iterdir() if _decides_weights(path.name)]
        return [{"name": path.name, "bytes": path.stat().st_size, "sha256": self._hash(path)} for path in sorted(found)]

    def _hash(self, path: Path) -> str:
        facts = path.stat()
        key = (path, facts.st_size, facts.st_mtime_ns)
        if key not in self._hashes:
            with path.open("rb") as file:
                self._hashes[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[key]

    def folder(self, name: str) -> Path:
        return self._folders[name]

    def stored_dtype(self, name: str) -> torch.dtype:
        """The dtype that the model's config.json names; its checkpoints are stored in it."""
        config = self._configs[name]
        named = getattr(config, "dtype", None) or getattr(config.get_text_config(), "dtype", None)
        found = getattr(torch, named, None) if isinstance(named, str) else named
        return found if found in (torch.bfloat16, torch.float16) else torch.float32

    def context_length(self, name: str) -> int:
        return context_length(self._configs[name])

    def vocabulary(self, name: str) -> int:
        size: int = self._configs[name].get_text_config().vocab_size
        return size

    def parameters(self, name: str) -> int:
        """Counted on the meta device, without allocating weights."""
        if name not in self._sizes:
            from transformers import AutoModelForCausalLM

            with torch.device("meta"):
                model = AutoModelForCausalLM.from_config(self._configs[name])
            self._sizes[name] = sum(parameter.numel() for parameter in model.parameters())
        return self._sizes[name]

    def fresh(self, name: str, checkpoint: Path | None = None) -> Any:
        """A new float32 model on the CPU, from the checkpoint if one is given."""
        if checkpoint is not None:
            if not (checkpoint / "config.json").is_file():
                raise TrainerError(400, f"{checkpoint.name} is not a full-model checkpoint.")
            return load_model(checkpoint)
        return load_model(self._folders[name], self.options.random_seed if name in self._own else None)

    def shared(self, name: str) -> Adapters:
        """The frozen base that all its LoRA adapters share."""
        if name not in self._shared:
            model = to_device(self.fresh(name), self.options)
            for parameter in model.parameters():
                parameter.requires_grad_(False)
            compile_layers(model, self.options.compile)
            self._shared[name] = Adapters(model)
        return self._shared[name]


def _decides_weights(name: str) -> bool:
    return name == "config.json" or is_weight_file(name)
