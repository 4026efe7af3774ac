"""The models the server was started with, and copies of them on the device."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..errors import TrainerError, bad_request
from .compiled import OFF, compile_layers
from .load import context_length, load_model, read_config
from .lora import Adapters
from .side_by_side import knows, lay_side_by_side


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
    def __init__(self, folders: dict[str, Path], options: ModelOptions) -> None:
        self._folders = folders
        self.options = options
        self._configs: dict[str, Any] = {name: read_config(folder) for name, folder in folders.items()}
        self._shared: dict[str, Adapters] = {}
        self._sizes: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        return list(self._folders)

    def find(self, name: str) -> str:
        """The name itself, or the folder it was given with."""
        if name in self._folders:
            return name
        for known, folder in self._folders.items():
            if name == str(folder):
                return known
        raise bad_request(f"There is no base model {name} here; this server has {', '.join(self._folders)}.")

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
        return load_model(self._folders[name], self.options.random_seed)

    def shared(self, name: str) -> Adapters:
        """The frozen copy that all adapters of a base sit on."""
        if name not in self._shared:
            model = to_device(self.fresh(name), self.options)
            for parameter in model.parameters():
                parameter.requires_grad_(False)
            compile_layers(model, self.options.compile)
            self._shared[name] = Adapters(model)
        return self._shared[name]
