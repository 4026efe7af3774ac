"""The two losses of the engine contract, as plainly as possible. Both are sums: the engine normalizes."""

import torch


def target_logprobs(logits, targets):
    return torch.log_softmax(logits, -1).gather(-1, targets[:, None])[:, 0]


def cross_entropy(logprobs, weights):
    return -(weights * logprobs).sum()


def policy_terms(logprobs, old, sampler, advantages, low, high, dual_clip=None, importance_cap=None):
    """Ratio and objective of every token.

    old is the proximal policy's log-probability, sampler that of the policy that sampled the token. The truncated
    importance weight min(exp(old - sampler), cap) corrects for the difference between the two; it is a constant.
    """
    ratio = torch.exp(logprobs - old)
    objective = torch.minimum(ratio * advantages, ratio.clamp(1 - low, 1 + high) * advantages)
    if dual_clip is not None:
        bounded = torch.maximum(objective, dual_clip * advantages)
        objective = torch.where(advantages < 0, bounded, objective)
    if importance_cap is not None:
        objective = objective * torch.exp(old - sampler).clamp(max=importance_cap).detach()
    return ratio, objective


def policy_loss(objective, weights):
    return -(weights * objective).sum()
