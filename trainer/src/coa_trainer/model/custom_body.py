"""Chooses the custom forward pass for supported models, if its output matches that of transformers.

Compiled layers are compared when the model is first trained: compiling takes many seconds, and a model that is only
sampled from does not need it.
"""

import logging
from typing import Any

import torch

from .bases import ModelOptions
from .compiled import Compiler, custom_mode
from .fused_weights import is_supported
from .llama_body import LlamaBody
from .packed_attention import Layout, packed
from .packing import size_for
from .probe import Capabilities, close

log = logging.getLogger(__name__)


def custom_body(model: Any, vocabulary: int, options: ModelOptions, capabilities: Capabilities) -> LlamaBody | None:
    if not is_supported(model) or not capabilities.packs or not capabilities.splits:
        return None
    compiler = Compiler(custom_mode(options.compile, options.device))
    try:
        body = LlamaBody(model, compiler, options.checkpointing)
        with compiler.paused():
            if _agrees(body, model, vocabulary):
                return body
        log.warning("custom layers do not match the model; falling back to transformers")
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        log.warning("custom layers failed for this model; falling back to transformers: %s", error)
    return None


def check_compiled(body: LlamaBody, model: Any, vocabulary: int) -> None:
    """Falls back to eager execution if the compiled layers do not match the model."""
    if body.compiler.on and not _agrees(body, model, vocabulary):
        body.compiler.disable("compiled layers do not match the model")


def _agrees(body: LlamaBody, model: Any, vocabulary: int) -> bool:
    """Compares logits on a packed row, and checks that the first layer's gradient is finite."""
    total, length = size_for(1), min(150, model.config.max_position_embeddings)
    device = body.head.device
    tokens = torch.arange(total, device=device) * 7 % vocabulary
    positions = torch.arange(total, device=device) % length
    with packed(Layout([*range(length, total, length), total])):
        with torch.no_grad():
            wanted = model(input_ids=tokens[None], position_ids=positions[None], use_cache=False).logits[0]
        with torch.enable_grad():
            states = body.states(tokens, positions)
            (slope,) = torch.autograd.grad(states.float().square().sum(), body.leaves[1].parameter)
        with torch.no_grad():
            found = states @ body.head.T
    return close(found, wanted) and bool(slope.isfinite().all())
