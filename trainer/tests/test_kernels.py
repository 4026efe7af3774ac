"""The kernels give what plain PyTorch gives. They run as Python here, where Triton is installed."""

import importlib.util

import pytest
import torch

from coa_trainer.model.llama_body import Form

if importlib.util.find_spec("triton") is None:
    pytest.skip("Triton is not installed", allow_module_level=True)

from coa_trainer.sampling.step_ops import KernelOps, agree

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
# As Python, Triton cannot multiply in bfloat16.
NARROW = torch.bfloat16 if torch.cuda.is_available() else torch.float16


@pytest.mark.parametrize("dtype", [torch.float32, NARROW])
@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("heads", [(8, 2), (9, 3), (4, 4)])
def test_kernels_are_plain_ops(heads: tuple[int, int], norms: bool, dtype: torch.dtype) -> None:
    assert agree(KernelOps(), Form(*heads, 64, 1e-6), norms, dtype, DEVICE)


def test_a_kernel_that_is_wrong_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = KernelOps.gate
    monkeypatch.setattr(KernelOps, "gate", lambda self, both: right(self, both) * 1.1)
    assert not agree(KernelOps(), Form(8, 2, 64, 1e-6), False, torch.float32, DEVICE)
