"""Weights that multiply the same hidden states, stored contiguously so that one matrix product covers them all.

The model's parameters become views into the fused tensors, so the model itself keeps working unchanged.
"""

from collections.abc import Sequence
from typing import Any

import torch

FAMILIES = frozenset({"llama", "qwen2", "qwen3"})
ATTENTION = ("q_proj", "k_proj", "v_proj")
FEED_FORWARD = ("gate_proj", "up_proj")


def is_supported(model: Any) -> bool:
    """Whether we have a custom implementation of the model's layers."""
    config = model.config
    scaling = getattr(config, "rope_parameters", None) or {}
    return (
        config.model_type in FAMILIES
        and not getattr(config, "use_sliding_window", False)
        and getattr(config, "hidden_act", "silu") == "silu"
        and scaling.get("rope_type", "default") in {"default", "linear", "llama3", "yarn"}
    )


def fuse_weights(model: Any) -> None:
    for layer in model.model.layers:
        for owner, names in ((layer.self_attn, ATTENTION), (layer.mlp, FEED_FORWARD)):
            modules = [getattr(owner, name) for name in names]
            for kind in ("weight", "bias"):
                parts = [getattr(module, kind) for module in modules]
                if any(part is None for part in parts):
                    continue
                together = torch.cat([part.data for part in parts])
                for part, view in zip(parts, together.split_with_sizes([len(part) for part in parts]), strict=True):
                    part.data = view


def fused_view(parts: Sequence[torch.Tensor | None]) -> torch.Tensor | None:
    """The tensors as one, without a copy; None if they are not contiguous."""
    first = parts[0]
    if first is None or not first.is_contiguous():
        return None
    offset = first.storage_offset()
    for part in parts:
        if (
            part is None
            or not part.is_contiguous()
            or part.dtype != first.dtype
            or part.shape[1:] != first.shape[1:]
            or part.untyped_storage().data_ptr() != first.untyped_storage().data_ptr()
            or part.storage_offset() != offset
        ):
            return None
        offset += part.numel()
    rows = sum(len(part) for part in parts if part is not None)
    return first.detach().as_strided((rows, *first.shape[1:]), first.stride(), first.storage_offset())
