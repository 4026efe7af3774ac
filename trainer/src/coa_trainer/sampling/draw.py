"""Draws tokens. Which one depends on the seed, the number of the token and the distribution alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

# Multipliers of SplitMix64, as 64-bit numbers with a sign, which is what tensors hold.
_GAP = 0x9E3779B97F4A7C15 - 2**64
_FIRST = 0xBF58476D1CE4E5B9 - 2**64
_SECOND = 0x94D049BB133111EB - 2**64


def _shifted(bits: torch.Tensor, by: int) -> torch.Tensor:
    """Shifts to the right as if there were no sign."""
    return (bits >> by) & ((1 << (64 - by)) - 1)


def _mixed(bits: torch.Tensor) -> torch.Tensor:
    bits = (bits ^ _shifted(bits, 30)) * _FIRST
    bits = (bits ^ _shifted(bits, 27)) * _SECOND
    return bits ^ _shifted(bits, 31)


def uniforms(seeds: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
    """Numbers from 0 up to 1 of 53 random bits, one for each seed and number of a token (int64, any device)."""
    bits = _mixed(_mixed(seeds + _GAP) + (steps + 1) * _GAP)
    return _shifted(bits, 11).double() / float(2**53)


def uniform(seed: int, step: int) -> float:
    return uniform_list([(seed, step)])[0]


def uniform_list(places: Sequence[tuple[int, int]]) -> list[float]:
    seeds = torch.tensor([signed(seed) for seed, _ in places], dtype=torch.int64)
    steps = torch.tensor([signed(step) for _, step in places], dtype=torch.int64)
    found: list[float] = uniforms(seeds, steps).tolist()
    return found


def signed(number: int) -> int:
    """The same 64 bits as a number with a sign."""
    return (number + 2**63) % 2**64 - 2**63


@dataclass(frozen=True)
class DrawRules:
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    allowed: torch.Tensor | None = None
    """Which tokens may be drawn; all where it is left out."""

    @property
    def cuts(self) -> bool:
        return self.top_k > 0 or self.top_p < 1


@dataclass(frozen=True)
class Draw:
    token: int
    logprob: float
    """Of the distribution that was drawn from."""
    model_logprob: float
    """Of the model as it is."""


@dataclass(frozen=True)
class Drawn:
    """One entry a row."""

    tokens: torch.Tensor
    logprobs: torch.Tensor
    model_logprobs: torch.Tensor


@dataclass(frozen=True)
class RowRules:
    """Rules of several rows as tensors, so that nothing has to be asked of the device while it draws."""

    temperatures: torch.Tensor
    top_k: torch.Tensor
    top_p: torch.Tensor
    cuts: bool
    allowed: torch.Tensor | None = None


def row_rules(rules: Sequence[DrawRules], vocabulary: int, device: torch.device) -> RowRules:
    allowed: torch.Tensor | None = None
    if any(rule.allowed is not None for rule in rules):
        everything = torch.ones(vocabulary, dtype=torch.bool)
        allowed = torch.stack([everything if rule.allowed is None else rule.allowed for rule in rules]).to(device)
    return RowRules(
        torch.tensor([rule.temperature for rule in rules], dtype=torch.float64, device=device),
        torch.tensor([rule.top_k if rule.top_k > 0 else vocabulary for rule in rules], device=device),
        torch.tensor([rule.top_p for rule in rules], dtype=torch.float64, device=device),
        any(rule.cuts for rule in rules),
        allowed,
    )


def draw_rows(logits: torch.Tensor, rules: RowRules, numbers: torch.Tensor) -> Drawn:
    """One token for each row of logits [rows, vocabulary]. A row without an allowed token gives something, unasked."""
    logits = logits.double()
    model = logits.log_softmax(-1)
    cold = rules.temperatures == 0
    # A row of temperature 0 is computed with 1 here; it takes the likeliest token below.
    # Nothing here may send a number to the device: the step that this is part of is recorded.
    scaled = logits / rules.temperatures.masked_fill(cold, 1.0)[:, None]
    if rules.allowed is not None:
        scaled = scaled.masked_fill(~rules.allowed, -torch.inf)
    best = scaled.argmax(-1)
    shares = scaled.softmax(-1)
    if rules.cuts:
        shares = _cut(shares, rules)
    sums = shares.cumsum(-1)
    totals = sums[:, -1]
    drawn = torch.searchsorted(sums, (numbers * totals)[:, None], right=True)[:, 0]
    # Rounding may lead past the last token that has a share.
    last = shares.shape[-1] - 1 - (shares > 0).flip(-1).int().argmax(-1)
    tokens = torch.where(cold, best, torch.minimum(drawn, last))
    column = tokens[:, None]
    logprobs = (shares.gather(1, column)[:, 0] / totals).log()
    return Drawn(tokens, logprobs.masked_fill(cold, 0.0), model.gather(1, column)[:, 0])


def draw(logits: torch.Tensor, rules: Sequence[DrawRules], numbers: Sequence[float]) -> list[Draw | None]:
    """One token for each row; None where nothing is allowed."""
    device = logits.device
    wanted = torch.tensor(numbers, dtype=torch.float64, device=device)
    found = draw_rows(logits, row_rules(rules, logits.shape[-1], device), wanted)
    tokens, logprobs, model = found.tokens.tolist(), found.logprobs.tolist(), found.model_logprobs.tolist()
    return [
        None if rule.allowed is not None and not bool(rule.allowed.any()) else Draw(*drawn)
        for rule, drawn in zip(rules, zip(tokens, logprobs, model, strict=True), strict=True)
    ]


def _cut(shares: torch.Tensor, rules: RowRules) -> torch.Tensor:
    """The likeliest tokens only; of equal ones the smaller number comes first."""
    ordered, ids = shares.sort(dim=-1, descending=True, stable=True)
    ranks = torch.arange(shares.shape[-1], device=shares.device)
    keep = (ordered.cumsum(-1) - ordered < rules.top_p[:, None]) | (rules.top_p >= 1)[:, None]
    keep &= ranks < rules.top_k[:, None]
    keep |= ranks == 0
    return torch.zeros_like(shares).scatter(-1, ids, ordered.masked_fill(~keep, 0.0))
