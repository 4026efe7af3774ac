"""How many tokens are computed at once where nobody says."""

from typing import Any

import torch

ON_CPU, LEAST, MOST = 8192, 4096, 65536
# Of the GPU's memory, for activations; the rest is for weights, the optimiser and the cache of the sampler.
SHARE = 0.45


def fitting_batch(model: Any, checkpointing: bool) -> int:
    """A power of two whose activations fit by a rough count of what a layer keeps for the gradient."""
    parameter = next(model.parameters())
    if parameter.device.type != "cuda":
        return ON_CPU
    config = model.config.get_text_config()
    width = config.hidden_size
    inner = getattr(config, "intermediate_size", None) or 4 * width
    numbers = config.num_hidden_layers * (4 * width if checkpointing else 10 * width + 5 * inner)
    bytes_each = (numbers + 2 * config.vocab_size) * parameter.element_size()
    room = torch.cuda.get_device_properties(parameter.device).total_memory * SHARE
    tokens = max(LEAST, min(MOST, int(room // bytes_each)))
    return 1 << (tokens.bit_length() - 1)
