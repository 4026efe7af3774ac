"""Custom forward pass for Llama, Qwen2 and Qwen3: the layers as plain functions of tensors.

Everything between two attention calls, from the end of one layer to the start of the next, is a single function. All
layers share it, so it is compiled once, and residual additions, norms and rotary embeddings are fused.
"""

from typing import Any, NamedTuple

import torch
from torch.nn.functional import embedding, linear, silu
from torch.utils.checkpoint import checkpoint

from .adamw import Leaf
from .compiled import Compiler
from .fused_weights import ATTENTION, FEED_FORWARD, fused_view
from .packed_attention import attend


class Into(NamedTuple):
    """Weights applied before the attention."""

    norm: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor | None
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None


class Out(NamedTuple):
    """Weights applied after the attention."""

    weight: torch.Tensor
    bias: torch.Tensor | None
    norm: torch.Tensor
    inner: torch.Tensor
    inner_bias: torch.Tensor | None
    outer: torch.Tensor
    outer_bias: torch.Tensor | None


class Form(NamedTuple):
    heads: int
    shared: int
    width: int
    eps: float


Heads = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
Rotation = tuple[torch.Tensor, torch.Tensor]


def normed(states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    wide = states.float()
    return weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(states.dtype)


def apply_rope(heads: torch.Tensor, rotation: Rotation) -> torch.Tensor:
    cosine, sine = rotation
    half = heads.shape[-1] // 2
    swapped = torch.cat((-heads[..., half:], heads[..., :half]), dim=-1)
    return heads * cosine[:, None] + swapped * sine[:, None]


def into_attention(states: torch.Tensor, into: Into, rotation: Rotation, form: Form) -> Heads:
    """Queries, keys and values [tokens, heads, width]."""
    projected = linear(normed(states, into.norm, form.eps), into.weight, into.bias)
    query, key, value = projected.view(len(states), -1, form.width).split_with_sizes(
        (form.heads, form.shared, form.shared), dim=1
    )
    if into.query_norm is not None and into.key_norm is not None:
        query, key = normed(query, into.query_norm, form.eps), normed(key, into.key_norm, form.eps)
    return apply_rope(query, rotation), apply_rope(key, rotation), value.contiguous()


def out_of_attention(mixed: torch.Tensor, states: torch.Tensor, out: Out, form: Form) -> torch.Tensor:
    states = states + linear(mixed.flatten(1), out.weight, out.bias)
    gate, up = linear(normed(states, out.norm, form.eps), out.inner, out.inner_bias).chunk(2, dim=-1)
    return states + linear(silu(gate) * up, out.outer, out.outer_bias)


def between(
    mixed: torch.Tensor, states: torch.Tensor, out: Out, into: Into, rotation: Rotation, form: Form
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    states = out_of_attention(mixed, states, out, form)
    return (states, *into_attention(states, into, rotation, form))


def ending(mixed: torch.Tensor, states: torch.Tensor, out: Out, norm: torch.Tensor, form: Form) -> torch.Tensor:
    return normed(out_of_attention(mixed, states, out, form), norm, form.eps)


class LlamaBody:
    def __init__(self, model: Any, compiler: Compiler, checkpointing: bool = False) -> None:
        config, body = model.config, model.model
        self.compiler = compiler
        self._checkpointing = checkpointing
        self._names = {id(parameter): name for name, parameter in model.named_parameters()}
        self.leaves: list[Leaf] = []
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self._form = Form(config.num_attention_heads, config.num_key_value_heads, width, config.rms_norm_eps)
        self._embedding = self._leaf([body.embed_tokens.weight])
        self._into: list[Into] = []
        self._out: list[Out] = []
        for layer in body.layers:
            self._add(layer)
        self._norm = self._leaf([body.norm.weight])
        weight = model.get_output_embeddings().weight
        self.head = self._embedding if weight is body.embed_tokens.weight else self._leaf([weight])
        positions = torch.arange(config.max_position_embeddings, device=weight.device)[None]
        with torch.no_grad():
            cosine, sine = body.rotary_emb(weight[:1, None], positions)
        self._cosine: torch.Tensor = cosine[0]
        self._sine: torch.Tensor = sine[0]
        self._first = compiler.compile(into_attention)
        self._between = compiler.compile(between)
        self._ending = compiler.compile(ending)

    def _add(self, layer: Any) -> None:
        attention, inner = layer.self_attn, layer.mlp
        projections = [getattr(attention, name) for name in ATTENTION]
        gates = [getattr(inner, name) for name in FEED_FORWARD]
        self._into.append(
            Into(
                self._leaf([layer.input_layernorm.weight]),
                self._leaf([each.weight for each in projections]),
                self._bias(projections),
                self._leaf([attention.q_norm.weight]) if hasattr(attention, "q_norm") else None,
                self._leaf([attention.k_norm.weight]) if hasattr(attention, "k_norm") else None,
            )
        )
        self._out.append(
            Out(
                self._leaf([attention.o_proj.weight]),
                self._bias([attention.o_proj]),
                self._leaf([layer.post_attention_layernorm.weight]),
                self._leaf([each.weight for each in gates]),
                self._bias(gates),
                self._leaf([inner.down_proj.weight]),
                self._bias([inner.down_proj]),
            )
        )

    def _bias(self, modules: list[Any]) -> torch.Tensor | None:
        parts = [module.bias for module in modules]
        return None if parts[0] is None else self._leaf(parts)

    def _leaf(self, parts: list[Any]) -> torch.nn.Parameter:
        names = tuple(self._names[id(part)] for part in parts)
        if len(parts) == 1:
            parameter: torch.nn.Parameter = parts[0]
        else:
            together = fused_view(parts)
            if together is None:
                raise ValueError(f"{names[0]} and the parameters fused with it are not contiguous")
            parameter = torch.nn.Parameter(together)
        self.leaves.append(Leaf(parameter, names, tuple(len(part) for part in parts)))
        return parameter

    def states(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Hidden states [tokens, width] after the final norm, for a row described by `attention.packed`."""
        form = self._form
        rotation = (self._cosine[positions], self._sine[positions])
        states = embedding(tokens, self._embedding)
        query, key, value = self._first(states, self._into[0], rotation, form)
        for out, into in zip(self._out[:-1], self._into[1:], strict=True):
            given = (states, query, key, value, out, into, rotation)
            if self._checkpointing and torch.is_grad_enabled():
                states, query, key, value = checkpoint(self._layer, *given, use_reentrant=False)
            else:
                states, query, key, value = self._layer(*given)
        hidden: torch.Tensor = self._ending(attend(query, key, value), states, self._out[-1], self._norm, form)
        return hidden

    def _layer(
        self,
        states: torch.Tensor,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        out: Out,
        into: Into,
        rotation: Rotation,
    ) -> Any:
        return self._between(attend(query, key, value), states, out, into, rotation, self._form)
