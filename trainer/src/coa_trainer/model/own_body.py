"""Our own passes instead of transformers', for models that are known and where both give the same."""

import logging
from typing import Any

import torch

from .bases import ModelOptions
from .compiled import Compiler, own_mode
from .llama_body import LlamaBody
from .packed_attention import packed
from .packing import size_for
from .probe import Abilities, close
from .side_by_side import knows

log = logging.getLogger(__name__)


def own_body(model: Any, vocabulary: int, options: ModelOptions, abilities: Abilities) -> LlamaBody | None:
    if not knows(model) or not abilities.packs or not abilities.splits:
        return None
    compiler = Compiler(own_mode(options.compile, options.device))
    try:
        body = LlamaBody(model, compiler, options.checkpointing)
        if _agrees(body, model, vocabulary):
            return body
        if compiler.on:
            compiler.give_up("compiled layers do not give what the model gives")
            if _agrees(body, model, vocabulary):
                return body
        log.warning("our layers do not give what the model gives, so its own are used")
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        log.warning("our layers cannot be used with this model: %s", error)
    return None


def _agrees(body: LlamaBody, model: Any, vocabulary: int) -> bool:
    """Logits of a row of sequences, and that a gradient of the first layer can be had and is one of numbers."""
    total, length = size_for(1), min(150, model.config.max_position_embeddings)
    device = body.head.device
    tokens = torch.arange(total, device=device) * 7 % vocabulary
    positions = torch.arange(total, device=device) % length
    with packed([*range(length, total, length), total]):
        with torch.no_grad():
            wanted = model(input_ids=tokens[None], position_ids=positions[None], use_cache=False).logits[0]
        with torch.enable_grad():
            states = body.states(tokens, positions)
            (slope,) = torch.autograd.grad(states.float().square().sum(), body.leaves[1].parameter)
        with torch.no_grad():
            found = states @ body.head.T
    return close(found, wanted) and bool(slope.isfinite().all())
