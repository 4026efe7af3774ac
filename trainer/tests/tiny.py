"""A tiny random Llama of 259 byte tokens, saved as a folder."""

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

KINDS: dict[str, Any] = {"llama": LlamaConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config}


def tiny_config(kind: str = "llama", **changes: Any) -> Any:
    settings: dict[str, Any] = {
        "vocab_size": 259,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 256,
        "initializer_range": 0.2,
        "tie_word_embeddings": True,
        "bos_token_id": 256,
        "eos_token_id": 257,
        "pad_token_id": 258,
    }
    return KINDS[kind](**(settings | changes))


def save_tiny(
    folder: Path, kind: str = "llama", seed: int = 0, dtype: torch.dtype = torch.float32, **changes: Any
) -> None:
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(tiny_config(kind, **changes))
    model.to(dtype).save_pretrained(folder)
    _byte_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))


def _byte_tokenizer() -> Tokenizer:
    """Token n is the byte n."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    names: dict[str, int] = {}
    extra = 0
    for byte in range(256):
        if byte in printable:
            names[chr(byte)] = byte
        else:
            names[chr(256 + extra)] = byte
            extra += 1
    tokenizer = Tokenizer(models.BPE(vocab=names, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>", "</s>", "<pad>"])
    return tokenizer
