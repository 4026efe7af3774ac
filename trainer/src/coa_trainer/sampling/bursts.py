"""Multi-step decoding: several steps without returning to Python; each sampled token feeds the next step.

Small models otherwise spend more time in Python than on the device. While the host processes one chunk of steps, the
device computes the next. Tokens past the end of a sequence are computed and discarded.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .step_graphs import GraphRecorder, batch_size, next_power_of_two
from .step_ops import KernelOps, StepState
from .token_sampling import BatchParams, SampledTokens, SamplingParams, batch_params, sample_rows, signed, uniforms

if TYPE_CHECKING:
    from .llama_decoder import LlamaDecoder

# Steps per chunk; longer chunks when there are many rows to process.
BURST, LONG_BURST, MANY_ROWS = 16, 32, 512
# Probabilities in double precision take memory; the maximum number of values at a time.
SAMPLED_AT_ONCE = 1 << 26

Numbers = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Chunk = tuple[Numbers, Numbers, Numbers]
"""Tokens, sampling log-probabilities and model log-probabilities, each [steps, sequences]."""


@dataclass(frozen=True)
class BurstInput:
    """State of a sequence at the start of a burst."""

    row: int
    token: int
    start: int
    params: SamplingParams
    seed: int
    step: int


class BurstStream:
    """Chunks of steps as they are computed. After `finish`, only chunks already in flight follow."""

    def __init__(self) -> None:
        self.finished = False
        self.chunks: Iterator[Chunk] = iter(())

    def finish(self) -> None:
        self.finished = True


class Bursts:
    def __init__(self, decoder: "LlamaDecoder") -> None:
        self._decoder = decoder
        self._recorder = GraphRecorder(decoder.device)
        self._bursts: dict[tuple[int, int, bool], _Burst] = {}
        self._generation = -1

    def run(self, inputs: Sequence[BurstInput], steps: int) -> BurstStream:
        """Up to `steps` steps for these sequences."""
        cache = self._decoder.cache
        if self._generation != cache.generation:
            # The captured graphs point into freed tensors.
            self._bursts.clear()
            self._recorder.reset()
            self._generation = cache.generation
        count = batch_size(len(inputs))
        length = cache.length
        if not self._decoder.bounded:
            # The captured length limits how far the sequences can grow in this burst.
            length = min(next_power_of_two(max(entry.start for entry in inputs) + BURST, 64), cache.length)
            remaining = length - max(entry.start for entry in inputs)
            steps = min(steps, max(remaining, BURST)) if length < cache.length else steps
        truncates = any(entry.params.truncates for entry in inputs)
        burst = self._bursts.get((count, length, truncates))
        if burst is None:
            burst = self._bursts[count, length, truncates] = _Burst(
                self._decoder, count, length, truncates, self._recorder
            )
        stream = BurstStream()
        stream.chunks = burst.run(inputs, steps, stream)
        return stream


class _Burst:
    def __init__(
        self, decoder: "LlamaDecoder", count: int, length: int, truncates: bool, recorder: "GraphRecorder"
    ) -> None:
        self._decoder = decoder
        self._count = count
        self._device = decoder.device
        self._vocabulary = decoder.vocabulary
        integer: dict[str, Any] = {"dtype": torch.int64, "device": self._device}
        self._rows = torch.zeros(count, **integer)
        self._tokens = torch.zeros(count, **integer)
        self._positions = torch.zeros(count, **integer)
        # Sequences past their end, and what fills up the batch, write to the scratch slot.
        self._ends = torch.zeros(count, **integer)
        self._seeds = torch.zeros(count, **integer)
        self._steps = torch.zeros(count, **integer)
        self._cursor = torch.zeros(1, **integer)
        self._scratch = torch.full((count,), decoder.cache.length, **integer)
        self._size = LONG_BURST if count >= MANY_ROWS else BURST
        # Double buffering: one half is read while the other is written.
        self._found = torch.zeros(2 * self._size, 3, count, dtype=torch.float64, device=self._device)
        self._read = torch.zeros(self._found.shape, dtype=torch.float64, pin_memory=self._device.type == "cuda")
        self._params = batch_params([SamplingParams()] * count, self._vocabulary, self._device)
        self._params = BatchParams(self._params.temperatures, self._params.top_k, self._params.top_p, truncates)
        self._reach = torch.arange(length, device=self._device)
        self._replay: Callable[[], None] | None = None
        self._recorder = recorder

    def run(self, inputs: Sequence[BurstInput], steps: int, stream: BurstStream) -> Iterator[Chunk]:
        self._begin(inputs)
        if self._replay is None:
            self._replay = self._recorder.record(self._compute, self._restore)
        waiting: deque[tuple[int, int, Callable[[], None]]] = deque()
        half = 0
        while True:
            while steps > 0 and len(waiting) < 2 and not stream.finished:
                size = min(self._size, steps)
                waiting.append((half, size, self._launch(half, size)))
                half, steps = 1 - half, steps - size
            if not waiting:
                return
            ready, size, wait = waiting.popleft()
            wait()
            start = ready * self._size
            found = self._read[start : start + size].numpy()[:, :, : len(inputs)]
            yield found[:, 0], found[:, 1], found[:, 2]

    def _launch(self, half: int, size: int) -> Callable[[], None]:
        assert self._replay is not None
        start = half * self._size
        self._cursor.fill_(start)
        for _ in range(size):
            self._replay()
        self._read[start : start + size].copy_(self._found[start : start + size], non_blocking=True)
        if self._device.type != "cuda":
            return lambda: None
        event: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        wait: Callable[[], None] = event.synchronize
        return wait

    def _begin(self, inputs: Sequence[BurstInput]) -> None:
        self._set(self._rows, [entry.row for entry in inputs])
        self._set(self._tokens, [entry.token for entry in inputs])
        self._set(self._positions, [entry.start for entry in inputs])
        self._set(self._ends, [self._decoder.cache.length] * len(inputs))
        self._set(self._seeds, [signed(entry.seed) for entry in inputs])
        self._set(self._steps, [signed(entry.step) for entry in inputs])
        self._set(self._params.temperatures, [entry.params.temperature for entry in inputs], 1)
        most = [entry.params.top_k if entry.params.top_k > 0 else self._vocabulary for entry in inputs]
        self._set(self._params.top_k, most, 1)
        self._set(self._params.top_p, [entry.params.top_p for entry in inputs], 1)

    def _set(self, tensor: torch.Tensor, values: Sequence[float], default: float = 0) -> None:
        given = torch.full((self._count,), default, dtype=tensor.dtype)
        given[: len(values)] = torch.tensor(values, dtype=tensor.dtype)
        tensor.copy_(given)

    def _compute(self) -> None:
        decoder = self._decoder
        positions = self._positions.clamp(max=len(self._reach) - 1)
        written = torch.where(self._positions < self._ends, self._positions, self._scratch)
        state = StepState(self._rows, positions, written, decoder.cosine, decoder.sine, self._reach)
        logits = decoder.step(self._tokens, state)
        ops = None if decoder.fused is None else decoder.fused.ops
        if isinstance(ops, KernelOps) and not self._params.truncates:
            advanced = (self._tokens, self._positions, self._steps, self._cursor, self._found)
            ops.sample(logits, self._params.temperatures, self._seeds, *advanced)
        else:
            self._sample(logits)
        self._cursor.add_(1)

    def _sample(self, logits: torch.Tensor) -> None:
        sampled = self._sample_chunked(logits, uniforms(self._seeds, self._steps))
        found = torch.stack([sampled.tokens.double(), sampled.logprobs, sampled.model_logprobs])
        self._found.index_copy_(0, self._cursor, found[None])
        self._tokens.copy_(sampled.tokens)
        self._positions.add_(1)
        self._steps.add_(1)

    def _restore(self) -> Callable[[], None]:
        """Capturing runs the step a few times; this undoes its effects."""
        changed = (self._tokens, self._positions, self._steps, self._cursor)
        before = [tensor.clone() for tensor in changed]

        def restore() -> None:
            for tensor, old in zip(changed, before, strict=True):
                tensor.copy_(old)

        return restore

    def _sample_chunked(self, logits: torch.Tensor, numbers: torch.Tensor) -> SampledTokens:
        size = max(1, SAMPLED_AT_ONCE // self._vocabulary)
        params = self._params
        parts = [
            sample_rows(
                logits[at : at + size],
                BatchParams(
                    params.temperatures[at : at + size],
                    params.top_k[at : at + size],
                    params.top_p[at : at + size],
                    params.truncates,
                ),
                numbers[at : at + size],
            )
            for at in range(0, self._count, size)
        ]
        return SampledTokens(
            torch.cat([part.tokens for part in parts]),
            torch.cat([part.logprobs for part in parts]),
            torch.cat([part.model_logprobs for part in parts]),
        )
