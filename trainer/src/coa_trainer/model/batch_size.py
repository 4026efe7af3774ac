"""The default number of tokens per training batch."""

from typing import Any

import torch

CPU_TOKENS, MIN_TOKENS, MAX_TOKENS = 8192, 4096, 65536
# Fraction of GPU memory for activations; the rest is for weights, optimizer and the sampler's KV cache.
MEMORY_FRACTION = 0.45


def default_batch_tokens(model: Any, checkpointing: bool) -> int:
    """A power of two, from a rough estimate of the activations a layer keeps for the backward pass."""
    parameter = next(model.parameters())
    if parameter.device.type != "cuda":
        return CPU_TOKENS
    config = model.config.get_text_config()
    width = config.hidden_size
    inner = getattr(config, "intermediate_size", None) or 4 * width
    numbers = config.num_hidden_layers * (4 * width if checkpointing else 10 * width + 5 * inner)
    bytes_each = (numbers + 2 * config.vocab_size) * parameter.element_size()
    budget = torch.cuda.get_device_properties(parameter.device).total_memory * MEMORY_FRACTION
    tokens = max(MIN_TOKENS, min(MAX_TOKENS, int(budget // bytes_each)))
    return 1 << (tokens.bit_length() - 1)
