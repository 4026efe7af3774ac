"""What a step of one token in every row consists of, beside products: in plain PyTorch, and as kernels of ours.

The kernels are compared with the plain form on the device before they are used.
"""

import importlib
import logging
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.nn.functional import scaled_dot_product_attention, silu

from ..model.llama_body import Form, normed

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Norms:
    """Of queries and keys, in models that have them."""

    query: torch.Tensor
    key: torch.Tensor


@dataclass(frozen=True)
class Moment:
    """Where each row stands: everything is on the device."""

    positions: torch.Tensor
    written: torch.Tensor
    cosine: torch.Tensor
    sine: torch.Tensor
    """Tables [positions, width]."""
    reach: torch.Tensor
    """The places of the cache that have to be looked at, for ops that look at the same for all rows."""


class Ops(Protocol):
    bounded: bool
    """Whether each row is read to its own end, whatever `reach` says."""

    def norm(
        self, states: torch.Tensor, delta: torch.Tensor | None, weight: torch.Tensor, eps: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The states with delta added, and their norm. The first argument may be overwritten."""
        ...

    def gate(self, both: torch.Tensor) -> torch.Tensor: ...

    def attend(
        self,
        projected: torch.Tensor,
        form: Form,
        norms: Norms | None,
        keys: torch.Tensor,
        values: torch.Tensor,
        moment: Moment,
    ) -> torch.Tensor:
        """For [rows, queries and keys and values]; keys and values are [rows, heads, places, width]."""
        ...


class PlainOps:
    bounded = False

    def norm(
        self, states: torch.Tensor, delta: torch.Tensor | None, weight: torch.Tensor, eps: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if delta is not None:
            states = states + delta
        return states, normed(states, weight, eps)

    def gate(self, both: torch.Tensor) -> torch.Tensor:
        one, two = both.chunk(2, dim=-1)
        return silu(one) * two

    def attend(
        self,
        projected: torch.Tensor,
        form: Form,
        norms: Norms | None,
        keys: torch.Tensor,
        values: torch.Tensor,
        moment: Moment,
    ) -> torch.Tensor:
        count, length = len(projected), len(moment.reach)
        split = projected.view(count, -1, form.width)
        query, key, value = split.split_with_sizes((form.heads, form.shared, form.shared), dim=1)
        if norms is not None:
            query, key = normed(query, norms.query, form.eps), normed(key, norms.key, form.eps)
        turn = (moment.cosine[moment.positions][:, None], moment.sine[moment.positions][:, None])
        rows = torch.arange(count, device=projected.device)
        keys[rows, :, moment.written] = _turned(key, turn)
        values[rows, :, moment.written] = value
        mask = (moment.reach <= moment.positions[:, None])[:, None, None]
        # Heads that share keys become queries of one head: no key is copied.
        folded = _turned(query, turn).view(count, form.shared, -1, form.width)
        mixed = scaled_dot_product_attention(folded, keys[:count, :, :length], values[:count, :, :length], mask)
        return mixed.reshape(count, -1)


def _turned(heads: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    half = heads.shape[-1] // 2
    swapped = torch.cat((-heads[..., half:], heads[..., :half]), dim=-1)
    return heads * turn[0] + swapped * turn[1]


class KernelOps:
    bounded = True

    def __init__(self) -> None:
        self._kernels: Any = importlib.import_module(f"{__package__}.kernels")

    def norm(
        self, states: torch.Tensor, delta: torch.Tensor | None, weight: torch.Tensor, eps: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        count, width = states.shape
        out = torch.empty_like(states)
        self._kernels.add_and_norm[(count,)](
            states,
            states if delta is None else delta,
            weight,
            out,
            eps,
            width,
            HAS_DELTA=delta is not None,
            BLOCK=_power(width),
        )
        return states, out

    def gate(self, both: torch.Tensor) -> torch.Tensor:
        count, width = both.shape[0], both.shape[1] // 2
        out = both.new_empty(count, width)
        block = min(1024, _power(width))
        self._kernels.gate[(count, -(-width // block))](both, out, width, BLOCK=block)
        return out

    def attend(
        self,
        projected: torch.Tensor,
        form: Form,
        norms: Norms | None,
        keys: torch.Tensor,
        values: torch.Tensor,
        moment: Moment,
    ) -> torch.Tensor:
        count = len(projected)
        group = form.heads // form.shared
        out = projected.new_empty(count, form.heads * form.width)
        self._kernels.attend[(count, form.shared)](
            projected,
            moment.cosine,
            moment.sine,
            moment.cosine if norms is None else norms.query,
            moment.cosine if norms is None else norms.key,
            keys,
            values,
            moment.positions,
            moment.written,
            out,
            form.eps,
            form.width**-0.5,
            keys.stride(0),
            keys.stride(1),
            HEADS=form.heads,
            SHARED=form.shared,
            GROUP=group,
            PADDED=max(16, _power(group)),
            WIDTH=form.width,
            HALF=form.width // 2,
            NORMS=norms is not None,
            PRECISION="ieee" if keys.dtype == torch.float32 else "tf32",
            BLOCK=64,
        )
        return out

    def draw(
        self,
        logits: torch.Tensor,
        temperatures: torch.Tensor,
        seeds: torch.Tensor,
        tokens: torch.Tensor,
        positions: torch.Tensor,
        steps: torch.Tensor,
        cursor: torch.Tensor,
        found: torch.Tensor,
    ) -> None:
        """Notes tokens and log-probabilities in found[cursor] and moves tokens, positions and steps on."""
        count, vocabulary = logits.shape
        self._kernels.draw[(count,)](
            logits,
            temperatures,
            seeds,
            tokens,
            positions,
            steps,
            cursor,
            found,
            vocabulary,
            found.shape[2],
            BLOCK=min(2048, _power(vocabulary)),
        )


def _power(number: int) -> int:
    return max(16, 1 << (number - 1).bit_length())


_found: dict[tuple[Form, bool, torch.dtype, torch.device], Ops] = {}


def choose_ops(form: Form, has_norms: bool, dtype: torch.dtype, device: torch.device) -> Ops:
    key = (form, has_norms, dtype, device)
    if key not in _found:
        _found[key] = _chosen(*key)
    return _found[key]


def _chosen(form: Form, has_norms: bool, dtype: torch.dtype, device: torch.device) -> Ops:
    if device.type != "cuda" or form.width < 32 or form.width & (form.width - 1):
        return PlainOps()
    try:
        ops = KernelOps()
        if agree(ops, form, has_norms, dtype, device):
            return ops
        log.warning("our kernels for sampling do not give what plain PyTorch gives, so they are not used")
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        log.warning("our kernels for sampling cannot be used: %s", error)
    return PlainOps()


def agree(ops: KernelOps, form: Form, has_norms: bool, dtype: torch.dtype, device: torch.device) -> bool:
    """One call of each, with rows of different lengths."""
    plain = PlainOps()
    generator = torch.Generator(device).manual_seed(3)

    def some(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=device, generator=generator).to(dtype)

    count, places = 4, 200
    tolerance = 1e-4 if dtype == torch.float32 else 4e-2

    def close(one: torch.Tensor, other: torch.Tensor) -> bool:
        gap = (one.float() - other.float()).abs().max()
        return float(gap) <= tolerance * max(1.0, float(other.float().abs().max()))

    states, delta, weight = some(count, 96), some(count, 96), some(96)
    wanted = plain.norm(states, delta, weight, form.eps)
    right = all(
        close(*pair) for pair in zip(ops.norm(states.clone(), delta, weight, form.eps), wanted, strict=True)
    ) and close(ops.gate(delta), plain.gate(delta))
    projected = some(count, (form.heads + 2 * form.shared) * form.width)
    positions = torch.tensor([0, 1, 70, 198], device=device)
    angles = torch.outer(torch.arange(places, device=device), torch.rand(form.width // 2, device=device))
    both = torch.cat((angles, angles), dim=-1)
    moment = Moment(
        positions, positions, both.cos().to(dtype), both.sin().to(dtype), torch.arange(places, device=device)
    )
    norms = Norms(some(form.width), some(form.width)) if has_norms else None
    keys, values = some(count, form.shared, places, form.width), some(count, form.shared, places, form.width)
    keys_too, values_too = keys.clone(), values.clone()
    expected = plain.attend(projected, form, norms, keys, values, moment)
    right = right and close(ops.attend(projected, form, norms, keys_too, values_too, moment), expected)
    right = right and close(keys_too, keys) and close(values_too, values)
    return right and _draws(ops, some(count, 3000) * 3, device)


def _draws(ops: KernelOps, logits: torch.Tensor, device: torch.device) -> bool:
    from .draw import RowRules, draw_rows, uniforms

    count, vocabulary = logits.shape
    # Of equal ones either may be the likeliest.
    logits[3, 1234] = 50.0
    heats = torch.tensor([1.0, 0.5, 2.0, 0.0], dtype=torch.float64, device=device)
    seeds, steps = (torch.arange(count, device=device) * by for by in (-(10**17), 1000))
    rules = RowRules(heats, torch.full_like(seeds, vocabulary), torch.ones_like(heats), False)
    wanted = draw_rows(logits, rules, uniforms(seeds, steps))
    tokens, positions = torch.zeros_like(seeds), torch.zeros_like(seeds)
    found = torch.zeros(2, 3, count, dtype=torch.float64, device=device)
    ops.draw(logits, heats, seeds, tokens, positions, steps, torch.ones_like(seeds[:1]), found)
    gaps = (found[1, 1] - wanted.logprobs).abs().max(), (found[1, 2] - wanted.model_logprobs).abs().max()
    return bool((tokens == wanted.tokens).all()) and all(float(gap) < 1e-4 for gap in gaps)
