"""Per-position losses, as defined in PROTOCOL.md; the caller sums them.

Inputs at positions with weight 0 are replaced before any computation: multiplying by 0 would let a NaN through, and so
would the derivative of an unused branch.
"""

import math
from collections.abc import Mapping

import torch

from ..errors import bad_request
from .datum import Datum, Loss

Inputs = Mapping[str, torch.Tensor]

NEEDED = {
    "cross_entropy": frozenset[str](),
    "importance_sampling": frozenset({"logprobs", "advantages"}),
    "ppo": frozenset({"logprobs", "advantages"}),
}
_OPTIONAL = {
    "cross_entropy": frozenset({"weights"}),
    "importance_sampling": frozenset({"weights"}),
    "ppo": frozenset({"weights", "sampled_logprobs"}),
}
_SETTINGS = {
    "cross_entropy": frozenset({"temperature"}),
    "importance_sampling": frozenset({"temperature"}),
    "ppo": frozenset({"clip_low_threshold", "clip_high_threshold", "dual_clip", "importance_cap", "temperature"}),
}
MAX_LOG_RATIO = 20.0
"""Bound on the absolute log-ratio, so that no ratio becomes infinite."""


def check_loss(loss: Loss, data: list[Datum]) -> None:
    """Rejects inputs and settings that the loss does not use, so that nothing is silently ignored."""
    if loss.kind not in NEEDED:
        raise bad_request(f"Unknown loss {loss.kind}; use one of {', '.join(NEEDED)}.")
    odd = loss.config.keys() - _SETTINGS[loss.kind]
    if odd:
        raise bad_request(f"The loss {loss.kind} has no setting {', '.join(sorted(odd))}.")
    for name, value in loss.config.items():
        if not math.isfinite(value) or value < 0:
            raise bad_request(f"{name} is {value} but must not be negative.")
    if loss.temperature == 0:
        raise bad_request("temperature is 0 but must be positive.")
    for number, datum in enumerate(data):
        missing = NEEDED[loss.kind] - datum.inputs.keys()
        extra = datum.inputs.keys() - NEEDED[loss.kind] - _OPTIONAL[loss.kind]
        if missing or extra:
            problem = f"lacks {sorted(missing)[0]}" if missing else f"has unknown {sorted(extra)[0]}"
            raise bad_request(f"loss_fn_inputs of datum {number} {problem}; see loss {loss.kind}.")


def elementwise_loss(loss: Loss, logprobs: torch.Tensor, inputs: Inputs) -> torch.Tensor:
    """Loss per position, weights included. Only `logprobs` is differentiated."""
    weights = inputs.get("weights")
    if weights is None:
        weights = torch.ones_like(logprobs)
    live = weights != 0
    zero = torch.zeros_like(logprobs)
    model = torch.where(live, logprobs, zero)
    if loss.kind == "cross_entropy":
        return -weights * model
    clean = {name: torch.where(live, inputs[name], zero) for name in inputs if name != "weights"}
    old, advantages = clean["logprobs"], clean["advantages"]
    if loss.kind == "importance_sampling":
        return -weights * torch.exp(model - old) * advantages
    apart = model - old
    # A clamp would turn a NaN gradient into 0; keep it NaN so that the optimizer rejects the step.
    apart = torch.where(apart.isnan(), apart, apart.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO))
    objective = _clipped(apart, advantages, loss.config)
    cap = loss.config.get("importance_cap")
    if cap is not None:
        distance = old - clean.get("sampled_logprobs", old)
        factor = distance.exp().clamp(max=cap)
        objective = objective * factor
    return -weights * objective


def _clipped(distance: torch.Tensor, advantages: torch.Tensor, config: Mapping[str, float]) -> torch.Tensor:
    """min(r·A, clamp(r)·A), then the dual clip. Where a bound applies, no gradient flows through the ratio."""
    low = config.get("clip_low_threshold", 0.8)
    high = config.get("clip_high_threshold", 1.2)
    with torch.no_grad():
        ratio = distance.exp()
        bounded = torch.where((advantages > 0) & (ratio > high), high * advantages, torch.nan)
        bounded = torch.where((advantages < 0) & (ratio < low), low * advantages, bounded)
        floor = config.get("dual_clip")
        if floor is not None:
            value = torch.where(bounded.isnan(), ratio * advantages, bounded)
            bounded = torch.where((advantages < 0) & (value < floor * advantages), floor * advantages, bounded)
        # A zero advantage contributes nothing, however large the ratio.
        bounded = torch.where(advantages == 0, torch.zeros_like(advantages), bounded)
        free = bounded.isnan()
    safe = torch.where(free, distance, torch.zeros_like(distance))
    return torch.where(free, safe.exp() * advantages, bounded)
