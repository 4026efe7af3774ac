"""Steps of one token for all rows, recorded as CUDA graphs. Elsewhere they are computed without a record."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from .step_ops import Moment

if TYPE_CHECKING:
    from .llama_decoder import LlamaDecoder


def rounded(number: int, least: int) -> int:
    """The next power of two, so that few sizes have to be recorded."""
    return max(least, 1 << (number - 1).bit_length())


class Recorder:
    """Records work on tensors that stay where they are, to be done again with one call; without CUDA just does it."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pool: Any = None

    def forget(self) -> None:
        self._pool = None

    def record(
        self, compute: Callable[[], None], saved: Callable[[], Callable[[], None]] | None = None
    ) -> Callable[[], None]:
        """`saved` is asked before the trial runs for what puts things back after them."""
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
    """The record points into tensors that only `compute` may hold, so it is held as long as the record is."""
    graph.replay()


class StepGraphs:
    def __init__(self, decoder: "LlamaDecoder") -> None:
        self._decoder = decoder
        self._device = decoder.device
        self._graphs: dict[tuple[int, int], _Recorded] = {}
        self._recorder = Recorder(decoder.device)
        self._generation = -1

    def step(self, rows: Sequence[int], tokens: Sequence[int], starts: Sequence[int]) -> torch.Tensor:
        cache = self._decoder.cache
        if self._generation != cache.generation:
            # Recorded steps point into tensors that are gone.
            self._graphs.clear()
            self._recorder.forget()
            self._generation = cache.generation
        count = min(rounded(max(rows) + 1, 1), cache.rows)
        length = cache.length if self._decoder.bounded else min(rounded(max(starts) + 1, 64), cache.length)
        if (count, length) not in self._graphs:
            self._graphs[count, length] = self._record(count, length)
        recorded = self._graphs[count, length]
        # Rows that take no part compute something too; it is written where nobody reads.
        given = torch.zeros(3, count, dtype=torch.int64)
        given[2] = cache.length
        places = torch.tensor(rows)
        given[0, places] = torch.tensor(tokens)
        given[1, places] = torch.tensor(starts)
        given[2, places] = given[1, places]
        recorded.given.copy_(given)
        recorded.replay()
        return recorded.found[0][places.to(self._device)].float()

    def _record(self, count: int, length: int) -> "_Recorded":
        given = torch.zeros(3, count, dtype=torch.int64, device=self._device)
        given[2] = self._decoder.cache.length
        reach = torch.arange(length, device=self._device)

        def compute() -> torch.Tensor:
            moment = Moment(given[1], given[2], self._decoder.cosine, self._decoder.sine, reach)
            return self._decoder.step(given[0], moment)

        found: list[torch.Tensor] = []

        def keep() -> None:
            found[:] = [compute()]

        replay = self._recorder.record(keep)
        return _Recorded(given, found, replay)


@dataclass(frozen=True)
class _Recorded:
    given: torch.Tensor
    """Tokens, positions and places to write to, one column a row."""
    found: list[torch.Tensor]
    """The logits: where the device writes them with every replay, or what was last computed."""
    replay: Callable[[], None]
