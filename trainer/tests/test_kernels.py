"""The Triton kernels match plain PyTorch. Without a GPU they run in Triton's interpreter."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from coa_trainer.model.fused_weights import fuse_weights
from coa_trainer.model.llama_body import Form
from coa_trainer.model.load import load_model
from coa_trainer.sampling.bursts import Bursts
from coa_trainer.sampling.llama_decoder import LlamaDecoder
from coa_trainer.sampling.sampler import Sampler
from coa_trainer.sampling.step_ops import KernelOps, PlainOps, matches_plain_ops
from helpers import request, sample_all
from tiny import save_tiny

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
# Triton's interpreter cannot multiply in bfloat16.
NARROW = torch.bfloat16 if torch.cuda.is_available() else torch.float16


@pytest.mark.parametrize("dtype", [torch.float32, NARROW])
@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("heads", [(8, 2), (9, 3), (4, 4)])
def test_kernels_match_plain_ops(heads: tuple[int, int], norms: bool, dtype: torch.dtype) -> None:
    assert matches_plain_ops(KernelOps(), Form(*heads, 64, 1e-6), norms, dtype, DEVICE)


def test_a_wrong_kernel_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    right = KernelOps.gate
    monkeypatch.setattr(KernelOps, "gate", lambda self, both: right(self, both) * 1.1)
    assert not matches_plain_ops(KernelOps(), Form(8, 2, 64, 1e-6), False, torch.float32, DEVICE)


# A minute in the interpreter. Every kernel by itself is compared above.
@pytest.mark.skipif(
    DEVICE.type == "cpu" and os.environ.get("COA_TEST_FULL") != "1", reason="runs with COA_TEST_FULL=1 or a GPU"
)
@pytest.mark.parametrize("kind", ["qwen3", "llama"])
def test_kernel_bursts_match_single_steps(tmp_path: Path, kind: str) -> None:
    """A complete step through the kernels, as on CUDA: positions, recorded results and the tokens fed back."""
    save_tiny(tmp_path, kind, head_dim=32)
    requests = [
        request(list(b"A prompt of some bytes."), 21, count=2, seed=5),
        request(list(b"Another"), 37, seed=1, temperature=0.7),
        request(list(b"x"), 18, seed=2, temperature=0.0),
    ]
    found = []
    for kernels in (True, False):
        model = load_model(tmp_path).to(DEVICE)
        fuse_weights(model)
        decoder = LlamaDecoder(model)
        assert decoder.fused is not None
        decoder.fused.ops = KernelOps() if kernels else PlainOps()
        decoder.bursts = Bursts(decoder) if kernels else None
        found.append([each for group in sample_all(Sampler(decoder, 256, 259, None), requests) for each in group])
    for one, other in zip(*found, strict=True):
        assert one["tokens"] == other["tokens"]
        for name in ("logprobs", "model_logprobs"):
            assert np.abs(np.array(one[name]) - np.array(other[name])).max() < 1e-4
