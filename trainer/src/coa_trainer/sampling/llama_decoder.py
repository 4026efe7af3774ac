"""Custom decoder for Llama, Qwen2 and Qwen3, running on the modules being trained.

A decoding step of one token per row only touches tensors at fixed addresses, so on CUDA it is captured once per size
as a CUDA graph and replayed: otherwise small models spend their time launching kernels.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from ..model.fused_weights import is_supported
from ..model.llama_body import Form
from .bursts import Bursts
from .cache_slots import slots_for
from .fused_step import fused_step
from .kv_cache import KVCache, KVCacheShape
from .step_graphs import StepGraphs
from .step_ops import StepState

__all__ = ["LlamaDecoder", "is_supported"]


class LlamaDecoder:
    def __init__(self, model: Any) -> None:
        self._head = model.get_output_embeddings()
        self._body = model.model
        self.device = next(model.parameters()).device
        weights = self._body.embed_tokens.weight
        config = model.config
        self._width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        form = Form(config.num_attention_heads, config.num_key_value_heads, self._width, config.rms_norm_eps)
        self.cache = KVCache(
            KVCacheShape(config.num_hidden_layers, form.shared, form.width, weights.dtype, weights.device)
        )
        positions = torch.arange(config.max_position_embeddings, device=self.device)[None]
        with torch.no_grad():
            cosine, sine = self._body.rotary_emb(weights[:1, None], positions)
        self.cosine: torch.Tensor = cosine[0].contiguous()
        self.sine: torch.Tensor = sine[0].contiguous()
        self.vocabulary: int = self._head.weight.shape[0]
        self.fused = fused_step(model, form)
        on_cuda = self.device.type == "cuda"
        self.steps = StepGraphs(self) if on_cuda else None
        self.bursts = Bursts(self) if on_cuda else None

    @property
    def bounded(self) -> bool:
        """Whether a step reads each row only to its own end; otherwise all rows are read to the longest one's end."""
        return self.fused is not None and self.fused.ops.bounded

    def step(self, tokens: torch.Tensor, state: StepState) -> torch.Tensor:
        """Logits [sequences, vocabulary] after one more token in each of them, in the weights' dtype."""
        with torch.no_grad():
            if self.fused is not None:
                return self.fused.logits(tokens, state, self.cache)
            mask = (state.reach <= state.positions[:, None, None])[:, None]
            slots, written = state.positions[:, None], state.written[:, None]
            states = self.layers(tokens[:, None], slots, written, state.rows, None, mask, len(state.reach))
            return self.logits(states[:, 0])

    def extend(self, rows: Sequence[int], tokens: Sequence[Sequence[int]], starts: Sequence[int]) -> torch.Tensor:
        if self.steps is not None and max(len(part) for part in tokens) == 1:
            return self.steps.step(rows, [part[0] for part in tokens], starts)
        slots = slots_for(self.cache, rows, tokens, starts, self.device)
        with torch.no_grad():
            states = self.layers(
                slots.tokens,
                slots.positions,
                slots.written,
                slots.rows,
                slots.first,
                slots.mask,
                slots.length,
            )
            last = states[torch.arange(len(rows), device=self.device), slots.last]
            return self.logits(last)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self._head(self._body.norm(states)).float()
        return result

    def layers(
        self,
        tokens: torch.Tensor,
        positions: torch.Tensor,
        written: torch.Tensor,
        rows: torch.Tensor,
        first: int | None,
        mask: torch.Tensor,
        length: int,
    ) -> torch.Tensor:
        """Hidden states [sequences, tokens, width] after all layers."""
        states: torch.Tensor = self._body.embed_tokens(tokens)
        rotation = (self.cosine[positions][:, None], self.sine[positions][:, None])
        for number, layer in enumerate(self._body.layers):
            attention = layer.self_attn
            normed = layer.input_layernorm(states)
            query = self._heads(attention.q_proj(normed), getattr(attention, "q_norm", None))
            key = self._heads(attention.k_proj(normed), getattr(attention, "k_norm", None))
            value = self._heads(attention.v_proj(normed), None)
            self.cache.write(number, _apply_rope(key, rotation), value, rows, written)
            keys, values = self.cache.read(number, rows, first, length)
            mixed = _attend(_apply_rope(query, rotation), keys, values, mask)
            states = states + attention.o_proj(mixed)
            states = states + layer.mlp(layer.post_attention_layernorm(states))
        return states

    def _heads(self, projected: torch.Tensor, norm: Any) -> torch.Tensor:
        split = projected.view(*projected.shape[:-1], -1, self._width)
        return (split if norm is None else norm(split)).transpose(1, 2)


def _apply_rope(heads: torch.Tensor, rotation: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    cosine, sine = rotation
    half = heads.shape[-1] // 2
    swapped = torch.cat((-heads[..., half:], heads[..., :half]), dim=-1)
    return heads * cosine + swapped * sine


def _attend(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    count, heads, steps, width = query.shape
    groups = heads // keys.shape[1]
    if steps == 1:
        # Grouped-query heads become queries of one head, so that keys are not copied.
        folded = query.view(count, keys.shape[1], groups, width)
        mixed = scaled_dot_product_attention(folded, keys, values, attn_mask=mask)
        return mixed.reshape(count, 1, heads * width)
    if groups > 1:
        keys = keys.repeat_interleave(groups, dim=1)
        values = values.repeat_interleave(groups, dim=1)
    mixed = scaled_dot_product_attention(query, keys, values, attn_mask=mask)
    return mixed.transpose(1, 2).reshape(count, steps, heads * width)
