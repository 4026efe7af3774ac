"""Detects what a model supports by running it on a few tokens.

Model class names are not reliable: what matters is whether two packed sequences give the same logits as each alone, and
whether applying the output embedding to the decoder's hidden states gives the same logits as the full model.
"""

import logging
from dataclasses import dataclass
from typing import Any

import torch

from ..errors import TrainerError
from . import attention

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Capabilities:
    packs: bool
    """Packed sequences do not attend to each other."""
    splits: bool
    """Decoder and output embedding can be called separately."""


def probe(model: Any, vocabulary: int) -> Capabilities:
    device = next(model.parameters()).device
    lengths = (5, 3)
    sequences = [
        torch.tensor([(7 * i + 3 * length) % vocabulary for i in range(length)], device=device) for length in lengths
    ]
    with torch.no_grad():
        alone = [_alone(model, tokens) for tokens in sequences]
        packs = splits = False
        try:
            tokens = torch.cat(sequences)
            positions = torch.cat([torch.arange(n, device=device) for n in lengths])
            together = _logits(model, tokens, positions, [lengths[0], sum(lengths)])
            packs = close(together, torch.cat(alone))
        except Exception as error:
            log.info("packing is not supported: %s", error)
        try:
            states = decoder_of(model)(input_ids=sequences[0][None], use_cache=False).last_hidden_state
            splits = close(model.get_output_embeddings()(states)[0], alone[0])
        except Exception as error:
            log.info("decoder and output embedding cannot be called separately: %s", error)
    return Capabilities(packs=packs, splits=splits)


def _alone(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    positions = torch.arange(len(tokens), device=tokens.device)
    try:
        return _logits(model, tokens, positions, None)
    except TrainerError as error:
        log.info("%s Falling back to the model's own attention.", error.detail)
        model.set_attn_implementation("eager")
        return _logits(model, tokens, positions, None)


def decoder_of(model: Any) -> Any:
    return getattr(model, model.base_model_prefix)


def _logits(model: Any, tokens: torch.Tensor, positions: torch.Tensor, ends: list[int] | None) -> torch.Tensor:
    with attention.packed(attention.Layout(ends or [len(tokens)])):
        result = model(input_ids=tokens[None], position_ids=positions[None], use_cache=False)
    logits: torch.Tensor = result.logits[0]
    return logits


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    tolerance = 1e-4 if one.dtype == torch.float32 else 5e-2
    scale = max(1.0, float(other.abs().max()))
    return one.shape == other.shape and float((one - other).abs().max()) <= tolerance * scale
