"""Functions that PyTorch may compile, and that are computed as they stand where it cannot."""

import logging
from collections.abc import Callable
from typing import Any

import torch
import torch.utils.checkpoint

log = logging.getLogger(__name__)

# What passes through a function without being a failure of its compilation: full memory, and the way in which PyTorch
# ends the second computation of a layer.
_OTHERS: tuple[type[BaseException], ...] = (
    torch.OutOfMemoryError,
    getattr(torch.utils.checkpoint, "_StopRecomputationError", torch.OutOfMemoryError),
)
# Each size of a row is compiled by itself.
MOST_SIZES = 64
OFF, AUTO, ON, MOST = "off", "auto", "on", "most"
MODES = (AUTO, OFF, ON, MOST)


def own_mode(chosen: str, device: torch.device) -> str:
    """For the layers that are ours: they are compiled on CUDA unless that is switched off."""
    return chosen if chosen != AUTO else ON if device.type == "cuda" else OFF


def compile_layers(model: Any, chosen: str) -> None:
    """For layers of transformers, which are compiled only where that was asked for."""
    if chosen in (ON, MOST):
        for layer in getattr(getattr(model, model.base_model_prefix), "layers", []):
            layer.compile(dynamic=True)


class Compiler:
    """Turned off for good by the first failure, with one warning."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        if mode != OFF:
            settings: Any = torch._dynamo.config
            for name in ("recompile_limit", "cache_size_limit"):
                if hasattr(settings, name):
                    setattr(settings, name, max(MOST_SIZES, getattr(settings, name)))
                    break

    @property
    def on(self) -> bool:
        return self.mode != OFF

    def give_up(self, error: object) -> None:
        if self.on:
            first = str(error).strip().splitlines()
            log.warning("torch.compile cannot be used, so everything is computed uncompiled: %s", first[:1])
        self.mode = OFF

    def piece(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        if not self.on:
            return plain
        mode = "max-autotune-no-cudagraphs" if self.mode == MOST else None
        fast = torch.compile(plain, dynamic=False, mode=mode)

        def call(*values: Any) -> Any:
            if not self.on:
                return plain(*values)
            try:
                return fast(*values)
            except _OTHERS:
                raise
            except Exception as error:
                self.give_up(error)
                return plain(*values)

        return call
