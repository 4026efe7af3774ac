"""The losses of PROTOCOL.md for each position; the caller adds them up.

Whatever stands at a position of weight 0 is replaced before anything is computed with it: a product with 0 would let
a NaN through, and the derivative of an unused branch would too.
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
MOST_LOG_RATIO = 20.0
"""The logarithm of a ratio is held within this on both sides, so that no ratio becomes infinite."""


def check_loss(loss: Loss, data: list[Datum]) -> None:
    """Refuses what the loss does not know, so that no input is ignored in silence."""
    if loss.kind not in NEEDED:
        raise bad_request(f"There is no loss {loss.kind}; use one of {', '.join(NEEDED)}.")
    odd = loss.config.keys() - _SETTINGS[loss.kind]
    if odd:
        raise bad_request(f"The loss {loss.kind} has no setting {', '.join(sorted(odd))}.")
    for name, value in loss.config.items():
        if not math.isfinite(value) or value < 0:
            raise bad_request(f"{name} is {value} and must be a number that is not negative.")
    if loss.temperature == 0:
        raise bad_request("temperature is 0, and logits cannot be divided by that.")
    for number, datum in enumerate(data):
        missing = NEEDED[loss.kind] - datum.inputs.keys()
        extra = datum.inputs.keys() - NEEDED[loss.kind] - _OPTIONAL[loss.kind]
        if missing or extra:
            problem = f"lacks {sorted(missing)[0]}" if missing else f"has {sorted(extra)[0]}, which is not known"
            raise bad_request(f"loss_fn_inputs of datum {number} {problem}; see loss {loss.kind}.")


def elementwise_loss(loss: Loss, logprobs: torch.Tensor, inputs: Inputs) -> torch.Tensor:
    """The loss of each position, weights included. Only `logprobs` is differentiated."""
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
    # What is not a number must stay so in the gradient, where the optimiser refuses it: through a clamp it becomes 0.
    apart = torch.where(apart.isnan(), apart, apart.clamp(-MOST_LOG_RATIO, MOST_LOG_RATIO))
    objective = _clipped(apart, advantages, loss.config)
    cap = loss.config.get("importance_cap")
    if cap is not None:
        distance = old - clean.get("sampled_logprobs", old)
        factor = distance.exp().clamp(max=cap)
        objective = objective * factor
    return -weights * objective


def _clipped(distance: torch.Tensor, advantages: torch.Tensor, config: Mapping[str, float]) -> torch.Tensor:
    """min(r·A, clamp(r)·A), then the dual clip. Where a bound holds, the ratio is not computed with a gradient."""
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
        # Without an advantage nothing is learned, however large the ratio.
        bounded = torch.where(advantages == 0, torch.zeros_like(advantages), bounded)
        free = bounded.isnan()
    safe = torch.where(free, distance, torch.zeros_like(distance))
    return torch.where(free, safe.exp() * advantages, bounded)
