"""Optional torch.compile, with a fallback to eager execution."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils.checkpoint

from .compile_modes import AUTO, MOST, OFF, ON

log = logging.getLogger(__name__)

# Not compilation failures: out of memory, and PyTorch's way of ending the recomputation of a checkpointed layer.
_PASS_THROUGH: tuple[type[BaseException], ...] = (
    torch.OutOfMemoryError,
    getattr(torch.utils.checkpoint, "_StopRecomputationError", torch.OutOfMemoryError),
)
# Each row size is compiled separately.
MAX_SIZES = 64


def custom_mode(chosen: str, device: torch.device) -> str:
    """For our own layers: compiled on CUDA unless disabled."""
    return chosen if chosen != AUTO else ON if device.type == "cuda" else OFF


def compile_layers(model: Any, chosen: str) -> None:
    """For transformers' layers: compiled only on request."""
    if chosen in (ON, MOST):
        for layer in getattr(getattr(model, model.base_model_prefix), "layers", []):
            layer.compile(dynamic=True)


class Compiler:
    """Disabled permanently, with one warning, by the first failure."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        if mode != OFF:
            settings: Any = torch._dynamo.config
            for name in ("recompile_limit", "cache_size_limit"):
                if hasattr(settings, name):
                    setattr(settings, name, max(MAX_SIZES, getattr(settings, name)))
                    break

    @property
    def on(self) -> bool:
        return self.mode != OFF

    def disable(self, error: object) -> None:
        if self.on:
            first = str(error).strip().splitlines()
            log.warning("torch.compile failed; falling back to eager execution: %s", first[:1])
        self.mode = OFF

    @contextmanager
    def paused(self) -> Iterator[None]:
        before, self.mode = self.mode, OFF
        try:
            yield
        finally:
            self.mode = before

    def compile(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        if not self.on:
            return plain
        mode = "max-autotune-no-cudagraphs" if self.mode == MOST else None
        fast = torch.compile(plain, dynamic=False, mode=mode)

        def call(*values: Any) -> Any:
            if not self.on:
                return plain(*values)
            try:
                return fast(*values)
            except _PASS_THROUGH:
                raise
            except Exception as error:
                self.disable(error)
                return plain(*values)

        return call
