"""Prefix cache: tracks what each row of the KV cache holds, so that new prompts can reuse a common prefix.

Rows keep their contents after a sequence has ended, until they are reused, least recently used first.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from .job import Job
from .prefix_index import PrefixIndex

# Up to this many rows, each is compared with a new prompt token by token; beyond, hashed blocks are looked up.
MAX_SCANNED_ROWS = 64
# Rows with equally many matching blocks that are compared.
MAX_COMPARED_ROWS = 16


@dataclass(eq=False)
class RowState:
    tokens: list[int] = field(default_factory=list)
    """Tokens whose keys and values are in the row."""
    job: Job | None = None
    used: int = 0


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    low, high = 0, length
    while low + 1 < high:
        middle = (low + high) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle
    return low


class PrefixCache:
    def __init__(self) -> None:
        self.states: list[RowState] = []
        self._clock = 0
        self._held = PrefixIndex()
        self._wanted = PrefixIndex()
        """Prompts that are being prefilled."""
        self._free: list[tuple[bool, int, int]] = []
        """A heap of (holds tokens, last use, row); entries may be stale."""

    def _candidates(self, known: PrefixIndex, tokens: Sequence[int]) -> Sequence[int]:
        return (
            range(len(self.states))
            if len(self.states) <= MAX_SCANNED_ROWS
            else known.longest(tokens)[:MAX_COMPARED_ROWS]
        )

    def best_prefix(self, tokens: Sequence[int]) -> tuple[int, int]:
        """The row with the longest prefix of `tokens`, and its length. The last token is always left to compute."""
        best, length = -1, 0
        for number in self._candidates(self._held, tokens):
            shared = min(shared_length(self.states[number].tokens, tokens), len(tokens) - 1)
            if shared > length:
                best, length = number, shared
                if length == len(tokens) - 1:
                    break
        return best, length

    def being_prefilled(self, tokens: Sequence[int], more_than: int, least: int) -> bool:
        """Whether a sequence in prefill will soon provide a clearly longer prefix than the cache has now."""
        for number in self._candidates(self._wanted, tokens):
            state = self.states[number]
            job = state.job
            if job is None or len(state.tokens) >= len(job.tokens) - 1:
                continue
            if min(shared_length(job.tokens, tokens), len(tokens) - 1) >= more_than + least:
                return True
        return False

    def free_row(self, most: int, keep: int = -1) -> int | None:
        """An empty or the least recently used row, but not `keep`; None if all are busy."""
        first = self._next_free()
        if first is not None and not self.states[first].tokens:
            return first
        if len(self.states) < most:
            if first is not None:
                self._reinsert(first)
            self.states.append(RowState())
            return len(self.states) - 1
        if first is None or first != keep:
            return first
        second = self._next_free()
        if second is None:
            return keep
        self._reinsert(keep)
        return second

    def _next_free(self) -> int | None:
        while self._free:
            holds, used, number = heapq.heappop(self._free)
            state = self.states[number]
            if state.job is None and (bool(state.tokens), state.used) == (holds, used):
                return number
        return None

    def _reinsert(self, number: int) -> None:
        state = self.states[number]
        heapq.heappush(self._free, (bool(state.tokens), state.used, number))

    def occupy(self, number: int, job: Job, tokens: list[int]) -> None:
        self._clock += 1
        self._held.remove(number)
        self._wanted.remove(number)
        self.states[number] = RowState(tokens=tokens, job=job, used=self._clock)
        self._held.add(number, tokens)
        self._wanted.add(number, job.tokens)
        job.row, job.computed = number, len(tokens)

    def extend(self, number: int, tokens: Sequence[int]) -> None:
        state = self.states[number]
        state.tokens.extend(tokens)
        self._held.add(number, state.tokens)
        if state.job is not None and len(state.tokens) >= len(state.job.tokens) - 1:
            self._wanted.remove(number)

    def release(self, job: Job) -> None:
        if job.row >= 0 and job.row < len(self.states) and self.states[job.row].job is job:
            self.states[job.row].job = None
            self._wanted.remove(job.row)
            self._reinsert(job.row)
        job.row = -1
