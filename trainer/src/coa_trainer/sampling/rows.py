"""Which rows of the cache hold what, also after a sequence has ended: the next prompt may begin like it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .job import Job


@dataclass(eq=False)
class RowState:
    tokens: list[int] = field(default_factory=list)
    """Those whose keys and values are in the row."""
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


class Rows:
    def __init__(self) -> None:
        self.states: list[RowState] = []
        self._clock = 0

    def forget(self) -> None:
        self.states = [RowState(job=state.job) for state in self.states]
        while self.states and self.states[-1].job is None:
            self.states.pop()

    def best_prefix(self, tokens: Sequence[int]) -> tuple[int, int]:
        """The row that holds the longest beginning of `tokens`, and how much of it. The last token is always left."""
        best, length = -1, 0
        for number, state in enumerate(self.states):
            shared = min(shared_length(state.tokens, tokens), len(tokens) - 1)
            if shared > length:
                best, length = number, shared
        return best, length

    def being_read(self, tokens: Sequence[int], more_than: int, least: int) -> bool:
        """Whether a running sequence will soon hold a clearly longer beginning than there is now."""
        for state in self.states:
            job = state.job
            if job is None or len(state.tokens) >= len(job.tokens) - 1:
                continue
            if min(shared_length(job.tokens, tokens), len(tokens) - 1) >= more_than + least:
                return True
        return False

    def free_row(self, most: int, keep: int = -1) -> int | None:
        """An empty or the longest unused row, but not `keep`; None where all are busy."""
        free = [number for number, state in enumerate(self.states) if state.job is None]
        empty = [number for number in free if not self.states[number].tokens]
        if empty:
            return empty[0]
        if len(self.states) < most:
            self.states.append(RowState())
            return len(self.states) - 1
        others = [number for number in free if number != keep]
        if not others:
            return keep if keep in free else None
        return min(others, key=lambda number: self.states[number].used)

    def occupy(self, number: int, job: Job, tokens: list[int]) -> None:
        self._clock += 1
        self.states[number] = RowState(tokens=tokens, job=job, used=self._clock)
        job.row, job.computed = number, len(tokens)

    def release(self, job: Job) -> None:
        if job.row >= 0 and job.row < len(self.states) and self.states[job.row].job is job:
            self.states[job.row].job = None
        job.row = -1
