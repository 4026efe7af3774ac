"""The kernels give what plain PyTorch gives. They need Triton; on a processor they run as Python."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from coa_trainer.model.llama_body import Form
from coa_trainer.model.load import load_model
from coa_trainer.model.side_by_side import lay_side_by_side
from coa_trainer.sampling.bursts import Bursts
from coa_trainer.sampling.llama_decoder import LlamaDecoder
from coa_trainer.sampling.sampler import Sampler
from coa_trainer.sampling.step_ops import KernelOps, PlainOps, agree
from helpers import request, sample_all
from tiny import save_tiny

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
# As Python, Triton cannot multiply in bfloat16.
NARROW = torch.bfloat16 if torch.cuda.is_available() else torch.float16
# Qwen 3 has all that Llama has, and norms of queries and keys.
KINDS = ["qwen3", "llama"] if os.environ.get("COA_TEST_FULL") == "1" else ["qwen3"]


@pytest.mark.parametrize("dtype", [torch.float32, NARROW])
@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("heads", [(8, 2), (9, 3), (4, 4)])
def test_kernels_are_plain_ops(heads: tuple[int, int], norms: bool, dtype: torch.dtype) -> None:
    assert agree(KernelOps(), Form(*heads, 64, 1e-6), norms, dtype, DEVICE)


def test_a_kernel_that_is_wrong_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = KernelOps.gate
    monkeypatch.setattr(KernelOps, "gate", lambda self, both: right(self, both) * 1.1)
    assert not agree(KernelOps(), Form(8, 2, 64, 1e-6), False, torch.float32, DEVICE)


@pytest.mark.parametrize("kind", KINDS)
def test_bursts_of_kernels_give_what_single_steps_give(tmp_path: Path, kind: str) -> None:
    """All of a step through the kernels, as on CUDA: where rows stand, what is noted, and what is fed on."""
    save_tiny(tmp_path, kind, head_dim=32)
    requests = [
        request(list(b"A prompt of some bytes."), 21, count=2, seed=5),
        request(list(b"Another"), 37, seed=1, temperature=0.7),
        request(list(b"x"), 18, seed=2, temperature=0.0),
    ]
    found = []
    for kernels in (True, False):
        model = load_model(tmp_path).to(DEVICE)
        lay_side_by_side(model)
        decoder = LlamaDecoder(model)
        assert decoder.one is not None
        decoder.one.ops = KernelOps() if kernels else PlainOps()
        decoder.bursts = Bursts(decoder) if kernels else None
        found.append([each for group in sample_all(Sampler(decoder, 256, 259, None), requests) for each in group])
    for one, other in zip(*found, strict=True):
        assert one["tokens"] == other["tokens"]
        for name in ("logprobs", "model_logprobs"):
            assert np.abs(np.array(one[name]) - np.array(other[name])).max() < 1e-4
