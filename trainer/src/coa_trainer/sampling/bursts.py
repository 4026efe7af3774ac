"""Several steps for all rows without a word to the program in between: what is drawn is fed to the next step at once.

Small models spend more time in Python than on the device otherwise. While the program looks at some steps the device
computes the next ones. Tokens that a sequence gets after its end are computed and thrown away.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .draw import Drawn, DrawRules, RowRules, draw_rows, row_rules, signed, uniforms
from .step_graphs import Recorder, rounded
from .step_ops import KernelOps, Moment

if TYPE_CHECKING:
    from .llama_decoder import LlamaDecoder

# Steps that are looked at together. More of them where there are many rows to look at.
BURST, LONG_BURST, MANY_ROWS = 16, 32, 512
# Distributions in double precision take memory: so many numbers at a time.
DRAWN_AT_ONCE = 1 << 26

Numbers = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Chunk = tuple[Numbers, Numbers, Numbers]
"""Tokens, log-probabilities and the model's, each [steps, turns]."""


@dataclass(frozen=True)
class Turn:
    """A sequence at the beginning of a burst."""

    row: int
    token: int
    start: int
    rules: DrawRules
    seed: int
    step: int


class Flow:
    """Chunks of steps as they are computed. After `finish` comes what is being computed already, and no more."""

    def __init__(self) -> None:
        self.finished = False
        self.chunks: Iterator[Chunk] = iter(())

    def finish(self) -> None:
        self.finished = True


class Bursts:
    def __init__(self, decoder: "LlamaDecoder") -> None:
        self._decoder = decoder
        self._recorder = Recorder(decoder.device)
        self._made: dict[tuple[int, int, bool], _Burst] = {}
        self._generation = -1

    def run(self, turns: Sequence[Turn], steps: int) -> Flow:
        """So many steps for these sequences, unless it is finished before."""
        cache = self._decoder.cache
        if self._generation != cache.generation:
            # Recorded steps point into tensors that are gone.
            self._made.clear()
            self._recorder.forget()
            self._generation = cache.generation
        count = min(rounded(max(turn.row for turn in turns) + 1, 1), cache.rows)
        length = cache.length
        if not self._decoder.bounded:
            # The sequences grow out of this length, and a burst is as long as its record.
            length = min(rounded(max(turn.start for turn in turns) + BURST, 64), cache.length)
            room = length - max(turn.start for turn in turns)
            steps = min(steps, max(room, BURST)) if length < cache.length else steps
        cuts = any(turn.rules.cuts for turn in turns)
        burst = self._made.get((count, length, cuts))
        if burst is None:
            burst = self._made[count, length, cuts] = _Burst(self._decoder, count, length, cuts, self._recorder)
        flow = Flow()
        flow.chunks = burst.run(turns, steps, flow)
        return flow


class _Burst:
    def __init__(self, decoder: "LlamaDecoder", count: int, length: int, cuts: bool, recorder: "Recorder") -> None:
        self._decoder = decoder
        self._count = count
        self._device = decoder.device
        self._vocabulary = decoder.vocabulary
        whole: dict[str, Any] = {"dtype": torch.int64, "device": self._device}
        self._tokens = torch.zeros(count, **whole)
        self._positions = torch.zeros(count, **whole)
        # Rows that take no part, and those past their end, write where nobody reads.
        self._ends = torch.zeros(count, **whole)
        self._seeds = torch.zeros(count, **whole)
        self._steps = torch.zeros(count, **whole)
        self._cursor = torch.zeros(1, **whole)
        self._nowhere = torch.full((count,), decoder.cache.length, **whole)
        self._size = LONG_BURST if count >= MANY_ROWS else BURST
        # Two halves: one is read while the other is written.
        self._found = torch.zeros(2 * self._size, 3, count, dtype=torch.float64, device=self._device)
        self._read = torch.zeros(self._found.shape, dtype=torch.float64, pin_memory=self._device.type == "cuda")
        self._rules = row_rules([DrawRules()] * count, self._vocabulary, self._device)
        self._rules = RowRules(self._rules.temperatures, self._rules.top_k, self._rules.top_p, cuts)
        self._reach = torch.arange(length, device=self._device)
        self._replay: Callable[[], None] | None = None
        self._recorder = recorder

    def run(self, turns: Sequence[Turn], steps: int, flow: Flow) -> Iterator[Chunk]:
        rows = [turn.row for turn in turns]
        self._begin(turns, rows)
        if self._replay is None:
            self._replay = self._recorder.record(self._compute, self._restore)
        waiting: deque[tuple[int, int, Callable[[], None]]] = deque()
        half = 0
        while True:
            while steps > 0 and len(waiting) < 2 and not flow.finished:
                size = min(self._size, steps)
                waiting.append((half, size, self._launch(half, size)))
                half, steps = 1 - half, steps - size
            if not waiting:
                return
            ready, size, wait = waiting.popleft()
            wait()
            start = ready * self._size
            found = self._read[start : start + size].numpy()[:, :, rows]
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

    def _begin(self, turns: Sequence[Turn], rows: Sequence[int]) -> None:
        self._set(self._tokens, rows, [turn.token for turn in turns])
        self._set(self._positions, rows, [turn.start for turn in turns])
        self._set(self._ends, rows, [self._decoder.cache.length] * len(rows))
        self._set(self._seeds, rows, [signed(turn.seed) for turn in turns])
        self._set(self._steps, rows, [signed(turn.step) for turn in turns])
        self._set(self._rules.temperatures, rows, [turn.rules.temperature for turn in turns], 1)
        whole = self._vocabulary
        self._set(self._rules.top_k, rows, [turn.rules.top_k if turn.rules.top_k > 0 else whole for turn in turns], 1)
        self._set(self._rules.top_p, rows, [turn.rules.top_p for turn in turns], 1)

    def _set(self, tensor: torch.Tensor, rows: Sequence[int], values: Sequence[float], default: float = 0) -> None:
        given = torch.full((self._count,), default, dtype=tensor.dtype)
        given[torch.tensor(rows)] = torch.tensor(values, dtype=tensor.dtype)
        tensor.copy_(given)

    def _compute(self) -> None:
        decoder = self._decoder
        positions = self._positions.clamp(max=len(self._reach) - 1)
        written = torch.where(self._positions < self._ends, self._positions, self._nowhere)
        logits = decoder.step(self._tokens, Moment(positions, written, decoder.cosine, decoder.sine, self._reach))
        ops = None if decoder.one is None else decoder.one.ops
        if isinstance(ops, KernelOps) and not self._rules.cuts:
            state = (self._tokens, self._positions, self._steps, self._cursor, self._found)
            ops.draw(logits, self._rules.temperatures, self._seeds, *state)
        else:
            self._draw(logits)
        self._cursor.add_(1)

    def _draw(self, logits: torch.Tensor) -> None:
        drawn = self._drawn(logits, uniforms(self._seeds, self._steps))
        found = torch.stack([drawn.tokens.double(), drawn.logprobs, drawn.model_logprobs])
        self._found.index_copy_(0, self._cursor, found[None])
        self._tokens.copy_(drawn.tokens)
        self._positions.add_(1)
        self._steps.add_(1)

    def _restore(self) -> Callable[[], None]:
        """Recording runs the step a few times: what that changed is put back."""
        changed = (self._tokens, self._positions, self._steps, self._cursor)
        before = [tensor.clone() for tensor in changed]

        def restore() -> None:
            for tensor, old in zip(changed, before, strict=True):
                tensor.copy_(old)

        return restore

    def _drawn(self, logits: torch.Tensor, numbers: torch.Tensor) -> Drawn:
        size = max(1, DRAWN_AT_ONCE // self._vocabulary)
        rules = self._rules
        parts = [
            draw_rows(
                logits[at : at + size],
                RowRules(
                    rules.temperatures[at : at + size],
                    rules.top_k[at : at + size],
                    rules.top_p[at : at + size],
                    rules.cuts,
                ),
                numbers[at : at + size],
            )
            for at in range(0, self._count, size)
        ]
        return Drawn(
            torch.cat([part.tokens for part in parts]),
            torch.cat([part.logprobs for part in parts]),
            torch.cat([part.model_logprobs for part in parts]),
        )
