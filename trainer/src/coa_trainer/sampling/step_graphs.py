"""Decoding steps captured as CUDA graphs; on other devices they run eagerly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from .step_ops import StepState

if TYPE_CHECKING:
    from .llama_decoder import LlamaDecoder


def next_power_of_two(number: int, least: int) -> int:
    """The next power of two, so that few sizes have to be captured."""
    return max(least, 1 << (number - 1).bit_length())


def batch_size(sequences: int) -> int:
    """The next power of two or 1.5 times one: few sizes to capture, and little computed in vain."""
    power = next_power_of_two(sequences, 1)
    return power * 3 // 4 if power >= 4 and sequences <= power * 3 // 4 else power


class GraphRecorder:
    """Captures work on tensors at fixed addresses as a CUDA graph; without CUDA the work just runs."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pool: Any = None

    def reset(self) -> None:
        self._pool = None

    def record(
        self, compute: Callable[[], None], saved: Callable[[], Callable[[], None]] | None = None
    ) -> Callable[[], None]:
        """`saved` is called before the warm-up runs and returns a function that undoes them."""
        if self._device.type != "cuda":
            return compute
        restore = saved() if saved is not None else None
        side: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                compute()
        torch.cuda.current_stream().wait_stream(side)
        if restore is not None:
            restore()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            compute()
        if self._pool is None:
            self._pool = graph.pool()
        return partial(_replay, graph, compute)


def _replay(graph: Any, _compute: Callable[[], None]) -> None:
    """The graph points into tensors that only `compute` may reference, so `compute` is kept alive with it."""
    graph.replay()


class StepGraphs:
    def __init__(self, decoder: "LlamaDecoder") -> None:
        self._decoder = decoder
        self._device = decoder.device
        self._graphs: dict[tuple[int, int], _Recorded] = {}
        self._recorder = GraphRecorder(decoder.device)
        self._generation = -1

    def step(self, rows: Sequence[int], tokens: Sequence[int], starts: Sequence[int]) -> torch.Tensor:
        cache = self._decoder.cache
        if self._generation != cache.generation:
            # The captured graphs point into freed tensors.
            self._graphs.clear()
            self._recorder.reset()
            self._generation = cache.generation
        count = batch_size(len(rows))
        length = cache.length if self._decoder.bounded else min(next_power_of_two(max(starts) + 1, 64), cache.length)
        if (count, length) not in self._graphs:
            self._graphs[count, length] = self._record(count, length)
        recorded = self._graphs[count, length]
        # What fills up the batch writes to the scratch slot of the first row.
        given = torch.zeros(4, count, dtype=torch.int64)
        given[2] = cache.length
        given[:, : len(rows)] = torch.tensor([tokens, starts, starts, rows])
        recorded.given.copy_(given)
        recorded.replay()
        return recorded.found[0][: len(rows)].float()

    def _record(self, count: int, length: int) -> "_Recorded":
        given = torch.zeros(4, count, dtype=torch.int64, device=self._device)
        given[2] = self._decoder.cache.length
        reach = torch.arange(length, device=self._device)

        def compute() -> torch.Tensor:
            state = StepState(given[3], given[1], given[2], self._decoder.cosine, self._decoder.sine, reach)
            return self._decoder.step(given[0], state)

        found: list[torch.Tensor] = []

        def keep() -> None:
            found[:] = [compute()]

        replay = self._recorder.record(keep)
        return _Recorded(given, found, replay)


@dataclass(frozen=True)
class _Recorded:
    given: torch.Tensor
    """Tokens, positions, cache slots to write and cache rows, one column per sequence."""
    found: list[torch.Tensor]
    """The logits: the buffer each replay writes to, or the last result."""
    replay: Callable[[], None]
