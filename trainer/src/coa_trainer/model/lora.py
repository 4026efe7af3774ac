"""LoRA adapters on a shared base model."""

from dataclasses import dataclass
from typing import Any

import torch

from ..errors import bad_request


@dataclass(frozen=True)
class LoraSettings:
    rank: int
    alpha: float = 32.0
    seed: int = 0
    attention: bool = True
    feed_forward: bool = True
    unembedding: bool = False


def target_modules(model: Any, settings: LoraSettings) -> list[str]:
    """Name suffixes of the linear layers that get adapters."""
    head = model.get_output_embeddings()
    names: set[str] = set()
    for name, module in model.named_modules():
        if not isinstance(module, torch.nn.Linear) and type(module).__name__ != "Conv1D":
            continue
        if module is head:
            wanted = settings.unembedding
        elif "attn" in name or "attention" in name:
            wanted = settings.attention
        else:
            wanted = settings.feed_forward
        if wanted:
            names.add(name.rsplit(".", 1)[-1])
    if not names:
        raise bad_request("The model has no linear layers of the requested kind.")
    return sorted(names)


class Adapters:
    """All adapters on one base; at most one is active at a time."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._peft: Any = None
        self._targets: dict[tuple[bool, bool, bool], list[str]] = {}
        self._active: str | None = None
        # Done before the first adapter, while the layers still have the types by which targets are recognized.
        for attention in (True, False):
            for feed_forward in (True, False):
                for unembedding in (True, False):
                    if attention or feed_forward or unembedding:
                        settings = LoraSettings(1, 1, 0, attention, feed_forward, unembedding)
                        self._targets[attention, feed_forward, unembedding] = target_modules(model, settings)

    def add(self, name: str, settings: LoraSettings) -> None:
        kinds = (settings.attention, settings.feed_forward, settings.unembedding)
        if kinds not in self._targets:
            raise bad_request("Nothing would be trained: enable train_attn, train_mlp or train_unembed.")
        # Imported lazily: it takes seconds, and full fine-tuning does not need it.
        from peft import LoraConfig, get_peft_model

        config = LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,
            target_modules=self._targets[kinds],
            task_type="CAUSAL_LM",
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            if self._peft is None:
                self._peft = get_peft_model(self.model, config, adapter_name=name)
            else:
                self._peft.add_adapter(name, config)
        self._active = None
        self.activate(name)
        device = next(self.model.parameters()).device
        for _, parameter in self.parameters(name):
            parameter.data = parameter.data.to(device, torch.float32)

    def remove(self, name: str) -> None:
        if self._peft is not None and name in self._peft.peft_config:
            others = [other for other in self._peft.peft_config if other != name]
            if others:
                self._peft.delete_adapter(name)
                self._active = None
                self.activate(None)
            else:
                self.model = self._peft.unload()
                self._peft = None
                self._active = None

    def activate(self, name: str | None) -> None:
        if self._peft is None or (name == self._active and name is not None):
            return
        if name is None:
            self._peft.base_model.disable_adapter_layers()
        else:
            self._peft.base_model.enable_adapter_layers()
            self._peft.set_adapter(name)
        self._active = name

    def parameters(self, name: str) -> list[tuple[str, torch.nn.Parameter]]:
        """Keyed by PEFT's names in checkpoint files."""
        part = f".{name}."
        return [
            (key.replace(part, "."), parameter)
            for key, parameter in self._peft.named_parameters()
            if part in key and ".lora_" in key
        ]

    def config(self, name: str) -> Any:
        return self._peft.peft_config[name]
