"""A decoding step of one token per row over fused weights: few matrix products and few kernels between them."""

from typing import Any, NamedTuple

import torch
from torch.nn.functional import embedding, linear

from ..model.fused_weights import ATTENTION, FEED_FORWARD, fused_view
from ..model.llama_body import Form
from .kv_cache import KVCache
from .step_ops import Norms, StepState, choose_ops


class _Layer(NamedTuple):
    first_norm: torch.Tensor
    into: torch.Tensor
    into_bias: torch.Tensor | None
    norms: Norms | None
    out: torch.Tensor
    out_bias: torch.Tensor | None
    second_norm: torch.Tensor
    gates: torch.Tensor
    gates_bias: torch.Tensor | None
    down: torch.Tensor
    down_bias: torch.Tensor | None


class FusedStep:
    def __init__(self, layers: list[_Layer], model: Any, form: Form) -> None:
        body, head = model.model, model.get_output_embeddings()
        self._layers = layers
        self._form = form
        self._embedding = body.embed_tokens.weight.detach()
        self._norm = body.norm.weight.detach()
        self._head = head.weight.detach()
        self._head_bias = None if head.bias is None else head.bias.detach()
        self.ops = choose_ops(form, layers[0].norms is not None, self._head.dtype, self._head.device)

    def logits(self, tokens: torch.Tensor, state: StepState, cache: KVCache) -> torch.Tensor:
        """[sequences, vocabulary] in the weights' dtype."""
        ops, form = self.ops, self._form
        states = embedding(tokens, self._embedding)
        delta: torch.Tensor | None = None
        for number, layer in enumerate(self._layers):
            states, normed = ops.norm(states, delta, layer.first_norm, form.eps)
            projected = linear(normed, layer.into, layer.into_bias)
            mixed = ops.attend(projected, form, layer.norms, cache.keys[number], cache.values[number], state)
            delta = linear(mixed, layer.out, layer.out_bias)
            states, normed = ops.norm(states, delta, layer.second_norm, form.eps)
            delta = linear(ops.gate(linear(normed, layer.gates, layer.gates_bias)), layer.down, layer.down_bias)
        _, normed = ops.norm(states, delta, self._norm, form.eps)
        return linear(normed, self._head, self._head_bias)


def fused_step(model: Any, form: Form) -> FusedStep | None:
    """None if the weights are not fused, for example under an adapter."""
    if type(model.get_output_embeddings()) is not torch.nn.Linear:
        return None
    layers = [_layer(layer) for layer in model.model.layers]
    found = [layer for layer in layers if layer is not None]
    return FusedStep(found, model, form) if found and len(found) == len(layers) else None


def _layer(layer: Any) -> _Layer | None:
    attention, inner = layer.self_attn, layer.mlp
    projections = [getattr(attention, name) for name in ATTENTION]
    gates = [getattr(inner, name) for name in FEED_FORWARD]
    if any(type(each) is not torch.nn.Linear for each in (*projections, *gates, attention.o_proj, inner.down_proj)):
        return None
    into, both = fused_view([each.weight for each in projections]), fused_view([each.weight for each in gates])
    into_bias, both_bias = fused_view([each.bias for each in projections]), fused_view([each.bias for each in gates])
    biases_apart = (projections[0].bias is not None and into_bias is None) or (
        gates[0].bias is not None and both_bias is None
    )
    if into is None or both is None or biases_apart:
        return None
    has_norms = hasattr(attention, "q_norm")
    return _Layer(
        layer.input_layernorm.weight.detach(),
        into,
        into_bias,
        Norms(attention.q_norm.weight.detach(), attention.k_norm.weight.detach()) if has_norms else None,
        attention.o_proj.weight.detach(),
        _detached(attention.o_proj.bias),
        layer.post_attention_layernorm.weight.detach(),
        both,
        both_bias,
        inner.down_proj.weight.detach(),
        _detached(inner.down_proj.bias),
    )


def _detached(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else tensor.detach()
