"""What a record of a step has to keep. Recording itself needs CUDA, which is pretended here."""

import gc
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch

from coa_trainer.sampling.step_graphs import Recorder


class PretendedGraph:
    def replay(self) -> None:
        pass

    def pool(self) -> int:
        return 0


def step_over(tensor: torch.Tensor) -> Callable[[], None]:
    def compute() -> None:
        tensor.sum()

    return compute


def test_a_record_keeps_what_it_points_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device reads the same places again with every replay, whoever has them by then."""
    stream = SimpleNamespace(wait_stream=lambda other: None)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", PretendedGraph)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda other: nullcontext())
    monkeypatch.setattr(torch.cuda, "graph", lambda *values, **options: nullcontext())
    tensor = torch.arange(4)
    held = weakref.ref(tensor)
    replay = Recorder(torch.device("cuda")).record(step_over(tensor))
    del tensor
    gc.collect()
    assert held() is not None
    replay()
    del replay
    gc.collect()
    assert held() is None
