"""Weights that are multiplied with the same states, laid one after another: then one product does for all of them.

The model's parameters become views, so it stays what it was; whoever knows may take them as one.
"""

from collections.abc import Sequence
from typing import Any

import torch

FAMILIES = frozenset({"llama", "qwen2", "qwen3"})
ATTENTION = ("q_proj", "k_proj", "v_proj")
FEED_FORWARD = ("gate_proj", "up_proj")


def knows(model: Any) -> bool:
    """Whether the model is one of those whose layers we compute ourselves."""
    config = model.config
    scaling = getattr(config, "rope_parameters", None) or {}
    return (
        config.model_type in FAMILIES
        and not getattr(config, "use_sliding_window", False)
        and getattr(config, "hidden_act", "silu") == "silu"
        and scaling.get("rope_type", "default") in {"default", "linear", "llama3", "yarn"}
    )


def lay_side_by_side(model: Any) -> None:
    for layer in model.model.layers:
        for owner, names in ((layer.self_attn, ATTENTION), (layer.mlp, FEED_FORWARD)):
            modules = [getattr(owner, name) for name in names]
            for kind in ("weight", "bias"):
                parts = [getattr(module, kind) for module in modules]
                if any(part is None for part in parts):
                    continue
                together = torch.cat([part.data for part in parts])
                for part, place in zip(parts, together.split_with_sizes([len(part) for part in parts]), strict=True):
                    part.data = place


def joined(parts: Sequence[torch.Tensor | None]) -> torch.Tensor | None:
    """The tensors as one without a copy; None where they do not lie one after another."""
    first = parts[0]
    if first is None or not first.is_contiguous():
        return None
    place = first.storage_offset()
    for part in parts:
        if (
            part is None
            or not part.is_contiguous()
            or part.dtype != first.dtype
            or part.shape[1:] != first.shape[1:]
            or part.untyped_storage().data_ptr() != first.untyped_storage().data_ptr()
            or part.storage_offset() != place
        ):
            return None
        place += part.numel()
    rows = sum(len(part) for part in parts if part is not None)
    return first.detach().as_strided((rows, *first.shape[1:]), first.stride(), first.storage_offset())
