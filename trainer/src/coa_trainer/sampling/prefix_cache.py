"""Prefix cache: tracks what each row of the KV cache holds, so that new prompts can reuse a common prefix.

Rows keep their contents after a sequence has ended, until they are reused, least recently used first.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from .job import Job
from .prefix_index import BLOCK, PrefixIndex

# Rows with equally many matching blocks that are compared token by token.
MAX_COMPARED_ROWS = 32


@dataclass(eq=False)
class RowState:
    tokens: list[int] = field(default_factory=list)
    """Those of the last sequence in the row, in part not computed yet."""
    held: int = 0
    """The number of tokens whose keys and values are in the row."""
    job: Job | None = None
    used: int = 0


class PrefixCache:
    def __init__(self) -> None:
        self.states: list[RowState] = []
        self._clock = 0
        self._held = PrefixIndex()
        self._wanted = PrefixIndex()
        """Prompts that are being prefilled."""
        self._free: list[tuple[bool, int, int]] = []
        """A heap of (holds tokens, last use, row); entries may be stale."""

    def best_prefix(self, job: Job) -> tuple[int, int]:
        """The row with the longest prefix of the job, and its length. The last token is always left to compute."""
        blocks, rows = self._held.longest(job.block_hashes())
        return self._longest_of(job, blocks, ((number, self.states[number].held) for number in self._compared(rows)))

    def being_prefilled(self, job: Job, more_than: int, least: int) -> bool:
        """Whether a sequence in prefill will soon provide a clearly longer prefix than the cache has now."""
        blocks, rows = self._wanted.longest(job.block_hashes())
        prefilling = (
            (number, len(state.tokens))
            for number in self._compared(rows)
            if (state := self.states[number]).job is not None and state.held < len(state.tokens) - 1
        )
        return self._longest_of(job, blocks, prefilling)[1] >= more_than + least

    def _compared(self, rows: Iterable[int]) -> Iterable[int]:
        return islice(rows or range(len(self.states)), MAX_COMPARED_ROWS)

    def _longest_of(self, job: Job, blocks: int, rows: Iterable[tuple[int, int]]) -> tuple[int, int]:
        """Of rows that share whole blocks with the job, each known to a length: the longest prefix, and its length."""
        start, most = blocks * BLOCK, len(job.tokens) - 1
        wanted = job.tokens[start : start + BLOCK]
        best, length = -1, 0
        for number, known in rows:
            shared = min(start + _equal(self.states[number].tokens[start : min(known, start + BLOCK)], wanted), most)
            if shared > length:
                best, length = number, shared
                if length == most:
                    break
        # Hashes can collide.
        if best >= 0 and self.states[best].tokens[:length] != job.tokens[:length]:
            return -1, 0
        return best, length

    def continues(self, number: int, shared: int) -> bool:
        """Whether a sequence that shares this many tokens can continue in the row, using all of its contents."""
        state = self.states[number]
        return state.job is None and state.held == shared

    def free_row(self, most: int, keep: int = -1) -> int | None:
        """An empty or the least recently used row, but not `keep`; None if all are busy."""
        first = self._next_free()
        if first is not None and not self.states[first].held:
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
            if state.job is None and (bool(state.held), state.used) == (holds, used):
                return number
        return None

    def _reinsert(self, number: int) -> None:
        state = self.states[number]
        heapq.heappush(self._free, (bool(state.held), state.used, number))

    def occupy(self, number: int, job: Job, held: int) -> None:
        """Gives the row to a job, of whose tokens it holds that many."""
        self._clock += 1
        self._held.remove(number)
        self._wanted.remove(number)
        self.states[number] = RowState(job.tokens, held, job, self._clock)
        hashes = job.block_hashes()
        self._held.add(number, hashes[: held // BLOCK])
        self._wanted.add(number, hashes)
        job.row, job.computed = number, held

    def extend(self, number: int, count: int) -> None:
        """Tokens of the row's job have been computed."""
        state = self.states[number]
        assert state.job is not None
        state.held += count
        self._held.add(number, state.job.block_hashes()[: state.held // BLOCK])
        if state.held >= len(state.tokens) - 1:
            self._wanted.remove(number)

    def release(self, job: Job) -> None:
        if job.row >= 0 and job.row < len(self.states) and self.states[job.row].job is job:
            self.states[job.row].job = None
            self._wanted.remove(job.row)
            self._reinsert(job.row)
        job.row = -1


def _equal(one: list[int], other: list[int]) -> int:
    """The number of leading tokens in which they agree."""
    for at, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return at
    return min(len(one), len(other))
