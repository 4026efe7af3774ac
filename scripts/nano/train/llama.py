"""A Llama in PyTorch with Hugging Face parameter names, and saving in their format."""

import json
import os
import shutil
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Shape:
    vocabulary: int
    width: int = 128
    layers: int = 6
    heads: int = 4
    kv_heads: int = 2
    mlp: int = 320
    context: int = 2048
    rope_base: float = 10_000.0
    epsilon: float = 1e-5
    spread: float = 0.05


class Norm(nn.Module):
    def __init__(self, width: int, epsilon: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x):
        scaled = x.float()
        return (scaled * torch.rsqrt(scaled.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.heads, self.kv_heads, self.size = shape.heads, shape.kv_heads, shape.width // shape.heads
        self.q_proj = nn.Linear(shape.width, shape.width, bias=False)
        self.k_proj = nn.Linear(shape.width, shape.kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(shape.width, shape.kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(shape.width, shape.width, bias=False)

    def forward(self, x, rotation, mask):
        rows, length, width = x.shape
        q = self.q_proj(x).view(rows, length, self.heads, self.size).transpose(1, 2)
        k = self.k_proj(x).view(rows, length, self.kv_heads, self.size).transpose(1, 2)
        v = self.v_proj(x).view(rows, length, self.kv_heads, self.size).transpose(1, 2)
        q, k = rotate(q, rotation), rotate(k, rotation)
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)
        if mask is None:
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.o_proj(out.transpose(1, 2).reshape(rows, length, width))


def rotate(x, rotation):
    cos, sin = rotation
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Mlp(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.gate_proj = nn.Linear(shape.width, shape.mlp, bias=False)
        self.up_proj = nn.Linear(shape.width, shape.mlp, bias=False)
        self.down_proj = nn.Linear(shape.mlp, shape.width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.input_layernorm = Norm(shape.width, shape.epsilon)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = Norm(shape.width, shape.epsilon)
        self.mlp = Mlp(shape)

    def forward(self, x, rotation, mask):
        x = x + self.self_attn(self.input_layernorm(x), rotation, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    """Input and output embeddings are tied. `number` is the compute dtype; weights are float32."""

    def __init__(self, shape: Shape, number=torch.float32):
        super().__init__()
        self.shape, self.number = shape, number
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.width, shape.epsilon)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=shape.spread)
        size = shape.width // shape.heads
        frequencies = shape.rope_base ** (-torch.arange(0, size, 2).float() / size)
        angles = torch.outer(torch.arange(shape.context).float(), frequencies).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens, mask=None):
        x = self.embed_tokens(tokens).to(self.number)
        length = tokens.shape[1]
        rotation = (self.cos[:length].to(x.dtype), self.sin[:length].to(x.dtype))
        for layer in self.layers:
            x = layer(x, rotation, mask)
        return F.linear(self.norm(x), self.embed_tokens.weight)


def save(model: Llama, folder: str, tokenizer_folder: str, end: int) -> None:
    """Saves a model folder in the Hugging Face layout, with 16-bit weights. The weights are written last and atomically."""
    os.makedirs(folder, exist_ok=True)
    shape = model.shape
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.width // shape.heads,
        "intermediate_size": shape.mlp,
        "max_position_embeddings": shape.context,
        "hidden_act": "silu",
        "rms_norm_eps": shape.epsilon,
        "initializer_range": shape.spread,
        "tie_word_embeddings": True,
        "rope_theta": shape.rope_base,
        "rope_scaling": None,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": None,
        "eos_token_id": end,
        "pad_token_id": end,
        "torch_dtype": "float16",
        "use_cache": True,
    }
    generation = {key: config[key] for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    for name, content in {"config.json": config, "generation_config.json": generation}.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(json.dumps(content, indent=2) + "\n")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        source, target = os.path.join(tokenizer_folder, name), os.path.join(folder, name)
        if os.path.abspath(source) != os.path.abspath(target):
            shutil.copyfile(source, target)
    save_weights({f"model.{name}": value for name, value in model.state_dict().items()}, folder)


def save_weights(weights: dict[str, torch.Tensor], folder: str) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    chunks: list[bytes] = []
    offset = 0
    for name, value in sorted(weights.items()):
        data = bytes(value.detach().to("cpu", torch.float16).contiguous().flatten().view(torch.uint8).tolist())
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [offset, offset + len(data)]}
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path = os.path.join(folder, "model.safetensors")
    with open(path + ".part", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(chunks))
    os.replace(path + ".part", path)
