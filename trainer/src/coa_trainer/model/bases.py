"""The models the server was started with or that a client has sent, and copies of them on the device."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..errors import TrainerError, bad_request
from .compiled import OFF, compile_layers
from .load import context_length, is_weight_file, load_model, read_config
from .lora import Adapters
from .side_by_side import knows, lay_side_by_side

UPLOAD = "upload://"


@dataclass(frozen=True)
class ModelOptions:
    device: torch.device
    dtype: torch.dtype
    random_seed: int | None = None
    """Weights from this seed instead of from files."""
    checkpointing: bool = False
    compile: str = OFF
    """One of `compiled.MODES`."""


def to_device(model: Any, options: ModelOptions) -> Any:
    """Weights in the type of computation; tables such as those of the rotation keep theirs."""
    for parameter in model.parameters():
        parameter.data = parameter.data.to(options.device, options.dtype)
    for module in model.modules():
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, buffer.to(options.device))
    if knows(model):
        lay_side_by_side(model)
    if options.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


class BaseModels:
    def __init__(
        self,
        folders: dict[str, Path],
        options: ModelOptions,
        upload_folder: Callable[[str], Path] | None = None,
    ) -> None:
        self._own = list(folders)
        self._folders = dict(folders)
        self._upload_folder = upload_folder
        self.options = options
        self._configs: dict[str, Any] = {name: read_config(folder) for name, folder in folders.items()}
        self._shared: dict[str, Adapters] = {}
        self._sizes: dict[str, int] = {}
        self._hashes: dict[tuple[Path, int, int], str] = {}

    @property
    def names(self) -> list[str]:
        """Of the models the server was started with."""
        return self._own

    def find(self, name: str) -> str:
        """The name itself, or the folder it was given with; a model that a client has sent is taken in here."""
        if name in self._folders:
            return name
        for known in self._own:
            if name == str(self._folders[known]):
                return known
        if name.startswith(UPLOAD) and self._upload_folder is not None:
            folder = self._upload_folder(name.removeprefix(UPLOAD))
            self._configs[name] = read_config(folder)
            self._folders[name] = folder
            # What is used stays for another day.
            os.utime(folder)
            return name
        raise bad_request(f"There is no base model {name} here; this server has {', '.join(self._own)}.")

    def forget(self, name: str) -> None:
        """Gives back the memory of a model that a client has sent, once nothing is made from it any more."""
        if name not in self._own:
            tables: list[dict[str, Any]] = [self._folders, self._configs, self._shared, self._sizes]
            for table in tables:
                table.pop(name, None)

    def weight_files(self, name: str) -> list[dict[str, str | int]]:
        """By their hashes a client sees whether it has the same model; none where the weights come from no file."""
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

    def context_length(self, name: str) -> int:
        return context_length(self._configs[name])

    def vocabulary(self, name: str) -> int:
        size: int = self._configs[name].get_text_config().vocab_size
        return size

    def parameters(self, name: str) -> int:
        """Counted without memory for the weights."""
        if name not in self._sizes:
            from transformers import AutoModelForCausalLM

            with torch.device("meta"):
                model = AutoModelForCausalLM.from_config(self._configs[name])
            self._sizes[name] = sum(parameter.numel() for parameter in model.parameters())
        return self._sizes[name]

    def fresh(self, name: str, checkpoint: Path | None = None) -> Any:
        """A model of its own in float32 on the CPU; with a checkpoint, that one's weights."""
        if checkpoint is not None:
            if not (checkpoint / "config.json").is_file():
                raise TrainerError(400, f"{checkpoint.name} is not a checkpoint of a whole model.")
            return load_model(checkpoint)
        return load_model(self._folders[name], self.options.random_seed if name in self._own else None)

    def shared(self, name: str) -> Adapters:
        """The frozen copy that all adapters of a base sit on."""
        if name not in self._shared:
            model = to_device(self.fresh(name), self.options)
            for parameter in model.parameters():
                parameter.requires_grad_(False)
            compile_layers(model, self.options.compile)
            self._shared[name] = Adapters(model)
        return self._shared[name]


def _decides_weights(name: str) -> bool:
    return name == "config.json" or is_weight_file(name)
