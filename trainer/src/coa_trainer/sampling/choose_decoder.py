"""Picks the fastest decoder whose logits match the model's, by running it on a few tokens."""

import logging
from typing import Any

import torch

from .decoder import Decoder, RecomputingDecoder, TransformersDecoder
from .llama_decoder import LlamaDecoder, is_supported

log = logging.getLogger(__name__)


def choose_decoder(model: Any, vocabulary: int) -> Decoder:
    candidates: list[Any] = [LlamaDecoder] if is_supported(model) else []
    for candidate in (*candidates, TransformersDecoder):
        try:
            decoder: Decoder = candidate(model)
            if _agrees(decoder, model, vocabulary):
                decoder.cache.clear()
                return decoder
            log.warning("%s does not match the model", candidate.__name__)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            log.warning("%s failed for this model: %s", candidate.__name__, error)
    return RecomputingDecoder(model)


def _agrees(decoder: Decoder, model: Any, vocabulary: int) -> bool:
    tokens = [(5 * step + 1) % vocabulary for step in range(6)]
    others = [(3 * step + 2) % vocabulary for step in range(4)]
    decoder.cache.grow(2, 16)
    decoder.extend([0], [tokens[:4]], [0])
    decoder.extend([1], [others[:2]], [0])
    found = decoder.extend([0, 1], [tokens[4:5], others[2:3]], [4, 2])
    found = torch.stack([found[0], decoder.extend([1], [others[3:]], [3])[0]])
    device = next(model.parameters()).device
    wanted = []
    with torch.no_grad():
        for part in (tokens[:5], others):
            ids = torch.tensor([part], device=device)
            wanted.append(model(input_ids=ids, use_cache=False).logits[0, -1].float())
    expected = torch.stack(wanted)
    narrow = next(model.parameters()).dtype != torch.float32
    tolerance = (5e-2 if narrow else 1e-4) * max(1.0, float(expected.abs().max()))
    return float((found - expected).abs().max()) <= tolerance
