"""What a captured graph must keep alive. Capturing needs CUDA, which is mocked here."""

import gc
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch

from coa_trainer.sampling.step_graphs import GraphRecorder


class MockGraph:
    def replay(self) -> None:
        pass

    def pool(self) -> int:
        return 0


def step_over(tensor: torch.Tensor) -> Callable[[], None]:
    def compute() -> None:
        tensor.sum()

    return compute


def test_a_captured_graph_keeps_its_tensors_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every replay reads the same addresses, whoever owns them by then."""
    stream = SimpleNamespace(wait_stream=lambda other: None)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", MockGraph)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda other: nullcontext())
    monkeypatch.setattr(torch.cuda, "graph", lambda *values, **options: nullcontext())
    tensor = torch.arange(4)
    held = weakref.ref(tensor)
    replay = GraphRecorder(torch.device("cuda")).record(step_over(tensor))
    del tensor
    gc.collect()
    assert held() is not None
    replay()
    del replay
    gc.collect()
    assert held() is None
