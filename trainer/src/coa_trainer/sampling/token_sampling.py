"""Token sampling. The result depends only on the seed, the token's index and the distribution."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

# SplitMix64 constants as signed 64-bit integers, as tensors store them.
_GAP = 0x9E3779B97F4A7C15 - 2**64
_FIRST = 0xBF58476D1CE4E5B9 - 2**64
_SECOND = 0x94D049BB133111EB - 2**64


def _shifted(bits: torch.Tensor, by: int) -> torch.Tensor:
    """Logical (unsigned) right shift."""
    return (bits >> by) & ((1 << (64 - by)) - 1)


def _mixed(bits: torch.Tensor) -> torch.Tensor:
    bits = (bits ^ _shifted(bits, 30)) * _FIRST
    bits = (bits ^ _shifted(bits, 27)) * _SECOND
    return bits ^ _shifted(bits, 31)


def uniforms(seeds: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
    """Uniform numbers in [0, 1) with 53 random bits, one per seed and token index (int64, any device)."""
    bits = _mixed(_mixed(seeds + _GAP) + (steps + 1) * _GAP)
    return _shifted(bits, 11).double() / float(2**53)


def uniform_list(pairs: Sequence[tuple[int, int]]) -> list[float]:
    seeds = torch.tensor([signed(seed) for seed, _ in pairs], dtype=torch.int64)
    steps = torch.tensor([signed(step) for _, step in pairs], dtype=torch.int64)
    found: list[float] = uniforms(seeds, steps).tolist()
    return found


def signed(number: int) -> int:
    """Reinterprets 64 bits as a signed integer."""
    return (number + 2**63) % 2**64 - 2**63


@dataclass(frozen=True)
class SamplingParams:
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    allowed: torch.Tensor | None = None
    """Mask of allowed tokens; None allows all."""

    @property
    def truncates(self) -> bool:
        return self.top_k > 0 or self.top_p < 1


@dataclass(frozen=True)
class SampledToken:
    token: int
    logprob: float
    """Under the distribution that was sampled from."""
    model_logprob: float
    """Under the unmodified model distribution."""


@dataclass(frozen=True)
class SampledTokens:
    """One entry per row."""

    tokens: torch.Tensor
    logprobs: torch.Tensor
    model_logprobs: torch.Tensor


@dataclass(frozen=True)
class BatchParams:
    """Parameters of several rows as tensors, so that sampling needs no host-device synchronization."""

    temperatures: torch.Tensor
    top_k: torch.Tensor
    top_p: torch.Tensor
    truncates: bool
    allowed: torch.Tensor | None = None


def batch_params(params: Sequence[SamplingParams], vocabulary: int, device: torch.device) -> BatchParams:
    allowed: torch.Tensor | None = None
    if any(param.allowed is not None for param in params):
        everything = torch.ones(vocabulary, dtype=torch.bool)
        allowed = torch.stack([everything if param.allowed is None else param.allowed for param in params]).to(device)
    return BatchParams(
        torch.tensor([param.temperature for param in params], dtype=torch.float64, device=device),
        torch.tensor([param.top_k if param.top_k > 0 else vocabulary for param in params], device=device),
        torch.tensor([param.top_p for param in params], dtype=torch.float64, device=device),
        any(param.truncates for param in params),
        allowed,
    )


def sample_rows(logits: torch.Tensor, params: BatchParams, numbers: torch.Tensor) -> SampledTokens:
    """One token per row of logits [rows, vocabulary]. A row without an allowed token gets an arbitrary one."""
    logits = logits.double()
    model = logits.log_softmax(-1)
    greedy = params.temperatures == 0
    # Rows with temperature 0 use 1 here and take the argmax below.
    # No host-to-device copies here: this runs inside a captured CUDA graph.
    scaled = logits / params.temperatures.masked_fill(greedy, 1.0)[:, None]
    if params.allowed is not None:
        scaled = scaled.masked_fill(~params.allowed, -torch.inf)
    best = scaled.argmax(-1)
    probabilities = scaled.softmax(-1)
    if params.truncates:
        probabilities = _truncate(probabilities, params)
    sums = probabilities.cumsum(-1)
    totals = sums[:, -1]
    sampled = torch.searchsorted(sums, (numbers * totals)[:, None], right=True)[:, 0]
    # Rounding may select an index past the last token with nonzero probability.
    last = probabilities.shape[-1] - 1 - (probabilities > 0).flip(-1).int().argmax(-1)
    tokens = torch.where(greedy, best, torch.minimum(sampled, last))
    column = tokens[:, None]
    logprobs = (probabilities.gather(1, column)[:, 0] / totals).log()
    return SampledTokens(tokens, logprobs.masked_fill(greedy, 0.0), model.gather(1, column)[:, 0])


def sample_tokens(
    logits: torch.Tensor, params: Sequence[SamplingParams], numbers: Sequence[float]
) -> list[SampledToken | None]:
    """One token per row; None if no token is allowed."""
    device = logits.device
    wanted = torch.tensor(numbers, dtype=torch.float64, device=device)
    found = sample_rows(logits, batch_params(params, logits.shape[-1], device), wanted)
    tokens, logprobs, model = found.tokens.tolist(), found.logprobs.tolist(), found.model_logprobs.tolist()
    return [
        None if param.allowed is not None and not bool(param.allowed.any()) else SampledToken(*sampled)
        for param, sampled in zip(params, zip(tokens, logprobs, model, strict=True), strict=True)
    ]


def _truncate(probabilities: torch.Tensor, params: BatchParams) -> torch.Tensor:
    """Applies top-k and top-p; ties are broken by the smaller token id."""
    ordered, ids = probabilities.sort(dim=-1, descending=True, stable=True)
    ranks = torch.arange(probabilities.shape[-1], device=probabilities.device)
    keep = (ordered.cumsum(-1) - ordered < params.top_p[:, None]) | (params.top_p >= 1)[:, None]
    keep &= ranks < params.top_k[:, None]
    keep |= ranks == 0
    return torch.zeros_like(probabilities).scatter(-1, ids, ordered.masked_fill(~keep, 0.0))
