"""The tiny models of the fixtures: one for every feature of the Llama family that the engine supports.

Weights are multiples of 1/256 below 4, so that they are exact in float16 and float32, and short in JSON. Norm weights and biases are random too, so that a missing one is detected.
"""

import types
import zlib

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

SCALE = 1 / 256

common = dict(
    vocab_size=41,
    hidden_size=16,
    intermediate_size=24,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=None,
)


def rope(theta, **scaling):
    return {"rope_theta": theta, "rope_type": "default", **scaling}


# A base of 100 and original lengths below 100 let the scaling act within the few positions of a fixture; eight values
# per head give four frequencies, so that llama3 and yarn keep some, interpolate some and scale some.
MODELS = {
    "llama": LlamaConfig(**common, rms_norm_eps=1e-5, tie_word_embeddings=False, rope_parameters=rope(10000.0)),
    "llama-linear": LlamaConfig(
        **common, head_dim=8, tie_word_embeddings=True, rope_parameters=rope(100.0, rope_type="linear", factor=4.0)
    ),
    "llama-llama3": LlamaConfig(
        **common,
        head_dim=8,
        tie_word_embeddings=True,
        rope_parameters=rope(
            100.0,
            rope_type="llama3",
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=64,
        ),
    ),
    "llama-yarn": LlamaConfig(
        **common,
        head_dim=8,
        tie_word_embeddings=False,
        rope_parameters=rope(
            100.0,
            rope_type="yarn",
            factor=4.0,
            beta_fast=8.0,
            beta_slow=1.0,
            original_max_position_embeddings=64,
        ),
    ),
    "smollm2": LlamaConfig(
        **{**common, "hidden_size": 24, "num_attention_heads": 6, "intermediate_size": 40},
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        rope_parameters=rope(100000.0),
    ),
    "qwen2": Qwen2Config(**common, tie_word_embeddings=False, rope_parameters=rope(1000000.0)),
    "qwen3": Qwen3Config(**common, head_dim=8, tie_word_embeddings=True, rope_parameters=rope(1000000.0)),
}


def make_model(name):
    """The model in float64 with random weights, the same on every machine."""
    model = AutoModelForCausalLM.from_config(MODELS[name], attn_implementation="sdpa").double().eval()
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            if key.endswith("norm.weight"):
                value = (1 + 0.3 * noise).clamp(0.3, 2)
            elif parameter.dim() == 1:
                value = 0.4 * noise
            elif "embed_tokens" in key:
                value = noise * (0.5 if model.config.tie_word_embeddings else 1)
            else:
                value = 0.3 * noise
            parameter.copy_((value / SCALE).round().clamp(-1023, 1023) * SCALE)
    return model


def in_double(model):
    """transformers always computes norms and rotary angles in float32; this makes it use float64."""

    def norm(self, hidden):
        return self.weight * hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)

    def rotary(self, hidden, position_ids):
        angles = position_ids[..., None].double() * self.inv_freq.double()
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos() * self.attention_scaling, angles.sin() * self.attention_scaling

    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = types.MethodType(norm, module)
        if type(module).__name__.endswith("RotaryEmbedding"):
            module.forward = types.MethodType(rotary, module)
    return model


def old_spelling(config):
    """The same config as written by transformers 4: `rope_theta` at the top level, `rope_scaling` only if scaled."""
    parameters = dict(config["rope_parameters"])
    left_out = {"rope_parameters", "dtype", "layer_types"}
    if config.get("head_dim") == config["hidden_size"] // config["num_attention_heads"]:
        left_out.add("head_dim")
    old = {key: value for key, value in config.items() if key not in left_out}
    old["rope_theta"] = parameters.pop("rope_theta")
    old["rope_scaling"] = None if parameters["rope_type"] == "default" else parameters
    # An even older form, common in practice: the kind is called `type`.
    if parameters["rope_type"] == "linear":
        old["rope_scaling"] = {"type": "linear", "factor": parameters["factor"]}
    old["torch_dtype"] = "float32"
    old["transformers_version"] = "4.46.0"
    return old
