"""Variable-length attention over packed sequences in one kernel: PyTorch's varlen_attn, if it is correct here.

It supports only 16-bit types on CUDA, and its signature differs between PyTorch releases, so each way to call it is
first compared with plain attention, sequence by sequence.
"""

import importlib
import inspect
import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

log = logging.getLogger(__name__)

_NARROW = (torch.bfloat16, torch.float16)
Form = tuple[torch.dtype, int, int, int]
Starts = tuple[torch.Tensor, torch.Tensor]
Longest = tuple[int, int]
Way = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Starts, Longest, float | None], torch.Tensor]
_trusted: dict[Form, Way | None] = {}


def _form(query: torch.Tensor, key: torch.Tensor) -> Form:
    return (query.dtype, query.shape[1], key.shape[1], query.shape[2])


def usable(query: torch.Tensor, key: torch.Tensor) -> bool:
    """For tensors [tokens, heads, width]."""
    if query.device.type != "cuda" or query.dtype not in _NARROW:
        return False
    form = _form(query, key)
    if form not in _trusted:
        _trusted[form] = _first_correct(query.device, form)
    return _trusted[form] is not None


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    starts: Starts,
    longest: Longest,
    scaling: float | None,
) -> torch.Tensor:
    """Causal attention over [tokens, heads, width].

    `starts` holds each sequence's start and the end of the last, for queries and for keys; the queries may be only
    the last positions of a sequence.
    """
    way = _trusted[_form(query, key)]
    assert way is not None
    return way(query, key, value, starts, longest, scaling)


@cache
def _kernel() -> tuple[Any, frozenset[str]]:
    # Inspected at runtime: the signature differs between releases.
    kernel: Any = importlib.import_module("torch.nn.attention.varlen").varlen_attn
    return kernel, frozenset(inspect.signature(kernel).parameters)


def _shared(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    starts: Starts,
    longest: Longest,
    scaling: float | None,
) -> torch.Tensor:
    """Passes grouped-query heads as they are: the kernel supports them even in releases without `enable_gqa`."""
    kernel, known = _kernel()
    others: dict[str, Any] = {"is_causal": True} if "is_causal" in known else {"window_size": (-1, 0)}
    if query.shape[1] != key.shape[1] and "enable_gqa" in known:
        others["enable_gqa"] = True
    if scaling is not None and "scale" in known:
        others["scale"] = scaling
    elif scaling is not None:
        query = query * (scaling * query.shape[2] ** 0.5)
    result: torch.Tensor = kernel(query, key, value, *starts, *longest, **others)
    return result


def _repeated(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    starts: Starts,
    longest: Longest,
    scaling: float | None,
) -> torch.Tensor:
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    return _shared(query, key, value, starts, longest, scaling)


def _first_correct(device: torch.device, form: Form) -> Way | None:
    for way in (_shared, _repeated):
        try:
            if _agrees(way, device, form):
                return way
            log.warning("varlen_attn does not match plain attention%s", _suffix(way))
        except Exception as error:
            log.warning("varlen_attn failed%s: %s", _suffix(way), error)
    return None


def _suffix(way: Way) -> str:
    return " with grouped-query heads" if way is _shared else ""


def _agrees(way: Way, device: torch.device, form: Form) -> bool:
    dtype, heads, shared, width = form
    generator = torch.Generator(device).manual_seed(1)
    # The second sequence has queries only for its last 33 positions.
    own, ends = (5, 38, 70), (5, 59, 91)
    query, key, value = (
        torch.randn(tokens, count, width, device=device, generator=generator).to(dtype).requires_grad_()
        for tokens, count in ((own[-1], heads), (ends[-1], shared), (ends[-1], shared))
    )
    starts = [torch.tensor([0, *each], dtype=torch.int32, device=device) for each in (own, ends)]
    with torch.enable_grad():
        found = way(query, key, value, (starts[0], starts[1]), (33, 54), 0.3)
        parts = []
        for q0, q1, k0, k1 in zip((0, *own), own, (0, *ends), ends, strict=False):
            pieces = (query[None, q0:q1], key[None, k0:k1], value[None, k0:k1])
            q, k, v = (each.transpose(1, 2).float() for each in pieces)
            mask = torch.ones(q1 - q0, k1 - k0, dtype=torch.bool, device=device).tril(k1 - k0 - q1 + q0)
            parts.append(scaled_dot_product_attention(q, k, v, mask, scale=0.3, enable_gqa=True))
        wanted = torch.cat(parts, dim=2)[0].transpose(0, 1)
        weights = torch.randn(wanted.shape, device=device, generator=generator)
        given = torch.autograd.grad((found.float() * weights).sum(), (query, key, value))
        right = torch.autograd.grad((wanted * weights).sum(), (query, key, value))
    pairs = [(found.float(), wanted), *((one.float(), other.float()) for one, other in zip(given, right, strict=True))]
    return all(float((one - other).abs().max()) <= 0.05 * float(other.abs().max()) for one, other in pairs)
