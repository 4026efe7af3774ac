"""Attention over packed rows, registered with transformers as an attention implementation.

Each sequence in a row attends only to itself, so nothing leaks between sequences, and the cost grows with the square
of the sequence lengths rather than of the row length. It works for any model that supports custom attention.
"""

from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from ..errors import TrainerError
from .packed_attention import Layout, attend, causal_mask, layout_of, packed

__all__ = ["NAME", "Layout", "packed"]

NAME = "coa_packed"


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    for name in ("softcap", "s_aux", "position_bias"):
        if others.get(name) is not None:
            raise TrainerError(400, f"This model's attention uses {name}, which is not supported in packed rows.")
    groups = query.shape[1] // key.shape[1]
    if attention_mask is not None:
        output = _masked(query, key, value, _windowed(attention_mask, sliding_window), scaling, groups)
        return output.transpose(1, 2).contiguous(), None
    layout = layout_of(query.shape[2])
    if query.shape[0] == 1 and (sliding_window is None or layout.longest <= sliding_window):
        flat_query, flat_key, flat_value = (tensor[0].transpose(0, 1) for tensor in (query, key, value))
        return attend(flat_query, flat_key, flat_value, scaling)[None].contiguous(), None
    key, value = (layout.spread(tensor.transpose(0, 2)).transpose(0, 2) for tensor in (key, value))
    parts: list[torch.Tensor] = []
    start = first = 0
    for end, length in zip(layout.ends, layout.lengths, strict=True):
        q, k, v = query[:, :, start:end], key[:, :, first : first + length], value[:, :, first : first + length]
        causal = causal_mask(end - start, length, query.device)
        parts.append(_masked(q, k, v, _windowed(causal[None, None], sliding_window), scaling, groups))
        start, first = end, first + length
    output = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)
    return output.transpose(1, 2).contiguous(), None


def _windowed(mask: torch.Tensor, window: int | None) -> torch.Tensor:
    """Limits a query that sees the first n keys to the last `window` of them."""
    if window is None:
        return mask
    seen = mask.sum(dim=-1, keepdim=True)
    return mask & (torch.arange(mask.shape[-1], device=mask.device) >= seen - window)


def _masked(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    scaling: float | None,
    groups: int,
) -> torch.Tensor:
    # With a mask and grouped-query heads PyTorch picks its slowest kernel; repeating the heads keeps the fast ones.
    if groups > 1:
        key = key.repeat_interleave(groups, dim=1)
        value = value.repeat_interleave(groups, dim=1)
    return scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling)


AttentionInterface.register(NAME, _attend)
