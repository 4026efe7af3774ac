"""Attention within sequences that stand one after another, in one kernel: PyTorch's varlen_attn, where it is right.

It takes narrow types on CUDA only, and its form differs between releases of PyTorch; so it is compared once with plain
attention, sequence by sequence, before it is used.
"""

import importlib
import inspect
import logging
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

log = logging.getLogger(__name__)

_NARROW = (torch.bfloat16, torch.float16)
_trusted: dict[tuple[torch.dtype, int, int, int], bool] = {}


def usable(query: torch.Tensor, key: torch.Tensor) -> bool:
    """For tensors [1, heads, tokens, width]."""
    if query.device.type != "cuda" or query.dtype not in _NARROW or query.shape[0] != 1:
        return False
    form = (query.dtype, query.shape[1], key.shape[1], query.shape[3])
    if form not in _trusted:
        _trusted[form] = _agrees(query.device, *form)
    return _trusted[form]


def attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, ends: Sequence[int], scaling: float | None
) -> torch.Tensor:
    """[1, heads, tokens, width], each sequence by itself and looking back only."""
    groups = query.shape[1] // key.shape[1]
    # Looked up by name: the form that is written down differs between releases.
    varlen_attn: Any = importlib.import_module("torch.nn.attention.varlen").varlen_attn
    known = inspect.signature(varlen_attn).parameters
    others: dict[str, Any] = {"is_causal": True} if "is_causal" in known else {"window_size": (-1, 0)}
    if groups > 1 and "enable_gqa" in known:
        others["enable_gqa"] = True
    elif groups > 1:
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    if scaling is not None and "scale" in known:
        others["scale"] = scaling
    elif scaling is not None:
        query = query * (scaling * query.shape[3] ** 0.5)
    starts = torch.tensor([0, *ends], dtype=torch.int32, device=query.device)
    longest = max(end - start for start, end in zip([0, *ends], ends, strict=False))
    flat = (tensor[0].transpose(0, 1) for tensor in (query, key, value))
    result: torch.Tensor = varlen_attn(*flat, starts, starts, longest, longest, **others)
    return result.transpose(0, 1)[None]


def _agrees(device: torch.device, dtype: torch.dtype, heads: int, shared: int, width: int) -> bool:
    try:
        generator = torch.Generator(device).manual_seed(1)
        ends = (5, 38, 70)
        query, key, value = (
            torch.randn(1, count, ends[-1], width, device=device, generator=generator).to(dtype).requires_grad_()
            for count in (heads, shared, shared)
        )
        found = attend(query, key, value, ends, 0.3)
        parts = []
        for start, end in zip((0, *ends), ends, strict=False):
            part = slice(start, end)
            parts.append(
                scaled_dot_product_attention(
                    query[:, :, part].float(),
                    key[:, :, part].float(),
                    value[:, :, part].float(),
                    is_causal=True,
                    scale=0.3,
                    enable_gqa=True,
                )
            )
        wanted = torch.cat(parts, dim=2)
        weights = torch.randn(wanted.shape, device=device, generator=generator)
        given = torch.autograd.grad((found.float() * weights).sum(), (query, key, value))
        right = torch.autograd.grad((wanted * weights).sum(), (query, key, value))
        pairs = [
            (found.float(), wanted),
            *((one.float(), other.float()) for one, other in zip(given, right, strict=True)),
        ]
        if all(float((one - other).abs().max()) <= 0.05 * float(other.abs().max()) for one, other in pairs):
            return True
        log.warning("varlen_attn does not give what plain attention gives, so it is not used")
    except Exception as error:
        log.warning("varlen_attn cannot be used: %s", error)
    return False
