"""Operations of a decoding step other than matrix products: in plain PyTorch, and as custom kernels.

The kernels are checked against plain PyTorch on the device before they are used.
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
    """Query and key norms, in models that have them."""

    query: torch.Tensor
    key: torch.Tensor


@dataclass(frozen=True)
class StepState:
    """State of each sequence in a step; all tensors are on the device."""

    rows: torch.Tensor
    """The sequence's row of the cache."""
    positions: torch.Tensor
    written: torch.Tensor
    cosine: torch.Tensor
    sine: torch.Tensor
    """RoPE tables [positions, width]."""
    reach: torch.Tensor
    """Cache slots to read, for ops that read the same slots in all rows."""


class Ops(Protocol):
    bounded: bool
    """Whether each row is read only to its own end, regardless of `reach`."""

    def norm(
        self, states: torch.Tensor, delta: torch.Tensor | None, weight: torch.Tensor, eps: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The states plus delta, and their norm. The first argument may be overwritten."""
        ...

    def gate(self, both: torch.Tensor) -> torch.Tensor: ...

    def attend(
        self,
        projected: torch.Tensor,
        form: Form,
        norms: Norms | None,
        keys: torch.Tensor,
        values: torch.Tensor,
        state: StepState,
    ) -> torch.Tensor:
        """For [sequences, queries and keys and values]; keys and values are [rows, heads, slots, width]."""
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
        state: StepState,
    ) -> torch.Tensor:
        count, length = len(projected), len(state.reach)
        split = projected.view(count, -1, form.width)
        query, key, value = split.split_with_sizes((form.heads, form.shared, form.shared), dim=1)
        if norms is not None:
            query, key = normed(query, norms.query, form.eps), normed(key, norms.key, form.eps)
        rotation = (state.cosine[state.positions][:, None], state.sine[state.positions][:, None])
        keys[state.rows, :, state.written] = _apply_rope(key, rotation)
        values[state.rows, :, state.written] = value
        mask = (state.reach <= state.positions[:, None])[:, None, None]
        # Grouped-query heads become queries of one head, so that keys are not copied.
        folded = _apply_rope(query, rotation).view(count, form.shared, -1, form.width)
        old_keys, old_values = (each[:, :, :length].index_select(0, state.rows) for each in (keys, values))
        mixed = scaled_dot_product_attention(folded, old_keys, old_values, mask)
        return mixed.reshape(count, -1)


def _apply_rope(heads: torch.Tensor, rotation: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    half = heads.shape[-1] // 2
    swapped = torch.cat((-heads[..., half:], heads[..., :half]), dim=-1)
    return heads * rotation[0] + swapped * rotation[1]


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
        state: StepState,
    ) -> torch.Tensor:
        count = len(projected)
        group = form.heads // form.shared
        out = projected.new_empty(count, form.heads * form.width)
        self._kernels.attend[(count, form.shared)](
            projected,
            state.cosine,
            state.sine,
            state.cosine if norms is None else norms.query,
            state.cosine if norms is None else norms.key,
            keys,
            values,
            state.rows,
            state.positions,
            state.written,
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

    def sample(
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
        """Stores tokens and log-probabilities in found[cursor] and advances tokens, positions and steps."""
        count, vocabulary = logits.shape
        self._kernels.sample[(count,)](
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
        if matches_plain_ops(ops, form, has_norms, dtype, device):
            return ops
        log.warning("sampling kernels do not match plain PyTorch; falling back to it")
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        log.warning("sampling kernels failed; falling back to plain PyTorch: %s", error)
    return PlainOps()


def matches_plain_ops(ops: KernelOps, form: Form, has_norms: bool, dtype: torch.dtype, device: torch.device) -> bool:
    """Compares one call of each operation, with sequences of different lengths in some rows of a cache."""
    plain = PlainOps()
    generator = torch.Generator(device).manual_seed(3)

    def some(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=device, generator=generator).to(dtype)

    count, slots = 4, 200
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
    angles = torch.outer(torch.arange(slots, device=device), torch.rand(form.width // 2, device=device))
    both = torch.cat((angles, angles), dim=-1)
    rows = torch.tensor([5, 2, 0, 3], device=device)
    tables = both.cos().to(dtype), both.sin().to(dtype)
    state = StepState(rows, positions, positions, *tables, torch.arange(slots, device=device))
    norms = Norms(some(form.width), some(form.width)) if has_norms else None
    keys, values = (some(count + 2, form.shared, slots, form.width) for _ in range(2))
    keys_too, values_too = keys.clone(), values.clone()
    expected = plain.attend(projected, form, norms, keys, values, state)
    right = right and close(ops.attend(projected, form, norms, keys_too, values_too, state), expected)
    right = right and close(keys_too, keys) and close(values_too, values)
    return right and _sampling_matches(ops, some(count, 3000) * 3, device)


def _sampling_matches(ops: KernelOps, logits: torch.Tensor, device: torch.device) -> bool:
    from .token_sampling import BatchParams, sample_rows, uniforms

    count, vocabulary = logits.shape
    # A unique maximum: argmax ties may be resolved differently.
    logits[3, 1234] = 50.0
    temperatures = torch.tensor([1.0, 0.5, 2.0, 0.0], dtype=torch.float64, device=device)
    seeds, steps = (torch.arange(count, device=device) * by for by in (-(10**17), 1000))
    params = BatchParams(temperatures, torch.full_like(seeds, vocabulary), torch.ones_like(temperatures), False)
    wanted = sample_rows(logits, params, uniforms(seeds, steps))
    tokens, positions = torch.zeros_like(seeds), torch.zeros_like(seeds)
    found = torch.zeros(2, 3, count, dtype=torch.float64, device=device)
    ops.sample(logits, temperatures, seeds, tokens, positions, steps, torch.ones_like(seeds[:1]), found)
    gaps = (found[1, 1] - wanted.logprobs).abs().max(), (found[1, 2] - wanted.model_logprobs).abs().max()
    return bool((tokens == wanted.tokens).all()) and all(float(gap) < 1e-4 for gap in gaps)
