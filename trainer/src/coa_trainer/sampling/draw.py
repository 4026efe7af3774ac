"""Draws tokens. Which one depends on the seed, the number of the token and the distribution alone."""

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import torch


def uniform(seed: int, step: int) -> float:
    """A number from 0 up to 1 of 53 random bits, for token `step` of the sequence with this seed."""
    message = struct.pack("<QQ", seed % 2**64, step % 2**64)
    digest = hashlib.blake2b(message, digest_size=8).digest()
    return float(int.from_bytes(digest, "little") >> 11) / float(2**53)


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


def draw(logits: torch.Tensor, rules: Sequence[DrawRules], numbers: Sequence[float]) -> list[Draw | None]:
    """One token for each row of logits [rows, vocabulary]; None where nothing is allowed."""
    device = logits.device
    logits = logits.double()
    model = logits.log_softmax(-1)
    temperatures = [rule.temperature for rule in rules]
    # A row of temperature 0 is computed with 1 here; it takes the likeliest token below.
    divisors = torch.tensor([t if t > 0 else 1.0 for t in temperatures], dtype=torch.float64, device=device)
    scaled = logits / divisors[:, None]
    for row, rule in enumerate(rules):
        if rule.allowed is not None:
            scaled[row].masked_fill_(~rule.allowed.to(device), -torch.inf)
    best = scaled.argmax(-1)
    shares = scaled.softmax(-1)
    for row, rule in enumerate(rules):
        if rule.cuts and rule.temperature > 0:
            shares[row] = _cut(shares[row], rule)
    sums = shares.cumsum(-1)
    totals = sums[:, -1]
    goals = torch.tensor(numbers, dtype=torch.float64, device=device) * totals
    drawn = torch.searchsorted(sums, goals[:, None], right=True)[:, 0]
    # Rounding may lead past the last token that has a share.
    last = shares.shape[-1] - 1 - (shares > 0).flip(-1).int().argmax(-1)
    drawn = torch.minimum(drawn, last)
    cold = torch.tensor([t == 0 for t in temperatures], device=device)
    tokens = torch.where(cold, best, drawn)
    column = tokens[:, None]
    drawn_logprobs = (shares.gather(1, column)[:, 0] / totals).log()
    chosen = torch.stack([tokens.double(), drawn_logprobs, model.gather(1, column)[:, 0]]).cpu().tolist()
    results: list[Draw | None] = []
    for row, rule in enumerate(rules):
        if rule.allowed is not None and not bool(rule.allowed.any()):
            results.append(None)
            continue
        logprob = 0.0 if rule.temperature == 0 else chosen[1][row]
        results.append(Draw(int(chosen[0][row]), logprob, chosen[2][row]))
    return results


def _cut(shares: torch.Tensor, rule: DrawRules) -> torch.Tensor:
    """The likeliest tokens only; of equal ones the smaller number comes first."""
    ordered, ids = shares.sort(descending=True, stable=True)
    keep = torch.ones_like(ordered, dtype=torch.bool)
    if rule.top_p < 1:
        keep &= ordered.cumsum(-1) - ordered < rule.top_p
    if rule.top_k > 0:
        keep[rule.top_k :] = False
    keep[0] = True
    result = torch.zeros_like(shares)
    result[ids[keep]] = ordered[keep]
    return result
