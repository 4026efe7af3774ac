"""Architectures other than Llama can be trained and sampled too."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, Gemma2Config, GPT2Config, MambaConfig, MistralConfig

from coa_trainer.model.datum import Datum, Loss
from coa_trainer.sampling.choose_decoder import choose_decoder
from coa_trainer.sampling.sampler import Sampler
from helpers import bases_of, full_model, random_datum, request, sample_all

PROMPT = list(b"Some forty bytes of text as a prompt. ")

SMALL: dict[str, Any] = {"vocab_size": 259, "max_position_embeddings": 256, "tie_word_embeddings": False}
LAYERS: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "initializer_range": 0.2,
}
CONFIGS: dict[str, tuple[Any, bool, str]] = {
    "gpt2": (
        GPT2Config(vocab_size=259, n_positions=256, n_embd=32, n_layer=2, n_head=4, initializer_range=0.2),
        True,
        "TransformersDecoder",
    ),
    "mistral": (MistralConfig(**SMALL, **LAYERS, sliding_window=9), True, "TransformersDecoder"),
    "gemma2": (Gemma2Config(**SMALL, **LAYERS, sliding_window=9, query_pre_attn_scalar=8), True, "RecomputingDecoder"),
    "mamba": (MambaConfig(vocab_size=259, hidden_size=32, num_hidden_layers=2), False, "RecomputingDecoder"),
}


@pytest.mark.parametrize("kind", CONFIGS)
def test_other_architectures(tmp_path: Path, kind: str) -> None:
    config, packs, decoder_name = CONFIGS[kind]
    torch.manual_seed(1)
    reference = AutoModelForCausalLM.from_config(config).eval()
    if kind == "gemma2":
        # Some versions of transformers omit the soft cap in the other attention implementations.
        reference.set_attn_implementation("eager")
    reference.save_pretrained(tmp_path / kind)
    trained = full_model(bases_of(tmp_path / kind))
    data = [random_datum(length, length) for length in (30, 4, 17)]
    result = trained.run(data, Loss("cross_entropy"), backward=True)
    assert trained.learner._capabilities.packs is packs
    assert trained.optimizer.norm() > 0
    for datum, found in zip(data, result.logprobs, strict=True):
        with torch.no_grad():
            spread = reference(torch.tensor(datum.tokens)[None], use_cache=False).logits[0].log_softmax(-1)
        wanted = spread.gather(1, torch.tensor(datum.targets)[:, None])[:, 0].numpy()
        assert np.abs(found - wanted).max() < 2e-4
    decoder = choose_decoder(trained.weights.model, 259)
    assert type(decoder).__name__ == decoder_name
    [sequences] = sample_all(Sampler(decoder, 256, 259, None), [request(PROMPT, 12, count=2, seed=3)])
    for sequence in sequences:
        whole = np.array([*PROMPT, *sequence["tokens"]])
        learned = trained.run([Datum(whole[:-1], whole[1:])], Loss("cross_entropy"), backward=False).logprobs[0]
        assert np.abs(learned[len(PROMPT) - 1 :] - np.array(sequence["model_logprobs"])).max() < 2e-4
