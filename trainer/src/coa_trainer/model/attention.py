"""Attention over rows that hold several sequences one after another.

Each sequence is attended to by itself, so nothing leaks from one into the next, and the work grows with the square of
the sequences and not of the row. It is an attention implementation of transformers, which hands it queries, keys and
values of any model that lets its attention be chosen.
"""

from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from ..errors import TrainerError
from .packed_attention import attend, ends_of, packed

__all__ = ["NAME", "packed"]

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
            raise TrainerError(400, f"The attention of this model uses {name}, which packed rows do not know.")
    groups = query.shape[1] // key.shape[1]
    if attention_mask is not None:
        output = _masked(query, key, value, _windowed(attention_mask, sliding_window), scaling, groups)
        return output.transpose(1, 2).contiguous(), None
    ends = ends_of(query.shape[2])
    if query.shape[0] == 1 and (sliding_window is None or ends.longest <= sliding_window):
        flat_query, flat_key, flat_value = (tensor[0].transpose(0, 1) for tensor in (query, key, value))
        return attend(flat_query, flat_key, flat_value, scaling)[None].contiguous(), None
    parts: list[torch.Tensor] = []
    start = 0
    for end in ends.ends:
        q, k, v = (tensor[:, :, start:end] for tensor in (query, key, value))
        if sliding_window is not None and end - start > sliding_window:
            causal = torch.ones(end - start, end - start, dtype=torch.bool, device=query.device).tril()
            parts.append(_masked(q, k, v, _windowed(causal[None, None], sliding_window), scaling, groups))
        else:
            parts.append(scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling, enable_gqa=groups > 1))
        start = end
    output = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)
    return output.transpose(1, 2).contiguous(), None


def _windowed(mask: torch.Tensor, window: int | None) -> torch.Tensor:
    """A query that may see the first n keys sees only the last `window` of them."""
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
    # With a mask and shared heads PyTorch takes its slowest kernel; repeated heads keep the faster ones.
    if groups > 1:
        key = key.repeat_interleave(groups, dim=1)
        value = value.repeat_interleave(groups, dim=1)
    return scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling)


AttentionInterface.register(NAME, _attend)
