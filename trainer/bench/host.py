"""What sampling costs the host: the sampler with a device that computes nothing and takes no time.

    python bench/host.py

64 groups of 16 sequences, each of two turns: a prompt that the group shares, 60 to 160 tokens, ten tokens of tool
output, and 30 to 80 tokens. As on a GPU, everything here runs in one thread while the device waits or works.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import torch

from coa_trainer.sampling.bursts import BURST, LONG_BURST, MANY_ROWS, BurstInput, BurstStream, Chunk
from coa_trainer.sampling.job import Batch, SampleRequest
from coa_trainer.sampling.kv_cache import KVCache
from coa_trainer.sampling.sampler import Sampler

GROUPS, SIZE, PROMPT, TURNS, OUTPUT = 64, 16, 370, ((60, 160), (30, 80)), 10
END = 1


class NoDevice:
    """Every sequence ends after as many tokens as its turn has."""

    def __init__(self) -> None:
        self.cache = KVCache()
        self.bursts = self
        self.sampled = 0

    def extend(self, rows: Sequence[int], tokens: Sequence[Sequence[int]], starts: Sequence[int]) -> torch.Tensor:
        return torch.zeros(len(rows), 2)

    def run(self, inputs: Sequence[BurstInput], steps: int) -> BurstStream:
        stream = BurstStream()
        stream.chunks = self._chunks(inputs, steps, stream)
        return stream

    def _chunks(self, inputs: Sequence[BurstInput], steps: int, stream: BurstStream) -> Iterator[Chunk]:
        size = LONG_BURST if len(inputs) >= MANY_ROWS else BURST
        ends = np.array([_length(entry) - 1 - entry.step for entry in inputs])
        numbers = np.zeros((size, len(inputs)))
        for start in range(0, steps, size):
            if stream.finished:
                return
            at = np.arange(start, start + size)[:, None]
            self.sampled += size * len(inputs)
            yield np.where(at == ends, END, 2 + at % 100), numbers, numbers


def _length(entry: BurstInput) -> int:
    least, most = TURNS[entry.start - entry.step > PROMPT]
    return least + entry.seed % (most - least)


class Step:
    """The rollouts of one RL step."""

    def __init__(self) -> None:
        self.device = NoDevice()
        self.taken = 0
        self._sampler = Sampler(cast(Any, self.device), 32768, 151_936, None, GROUPS * SIZE, cache_tokens=1 << 21)

    def run(self) -> float:
        started = time.perf_counter()
        for number in range(GROUPS * SIZE):
            group = number // SIZE
            # Half of the prompt, the instructions, is common to all groups.
            own = range(1000 + 200 * group, 1000 + 200 * group + PROMPT - PROMPT // 2)
            self._begin([*range(2, 2 + PROMPT // 2), *own], 0, 7 * number)
            if number % 8 == 7:
                self._sampler.step()
        while not self._sampler.idle:
            self._sampler.step()
        return time.perf_counter() - started

    def _begin(self, prompt: list[int], turn: int, seed: int) -> None:
        def finished(sequences: list[dict[str, Any]]) -> None:
            written: list[int] = sequences[0]["tokens"]
            self.taken += len(written)
            if turn == 0:
                self._begin([*prompt, *written, *range(3, 3 + OUTPUT)], 1, seed)

        def failed(error: BaseException) -> None:
            raise error

        self._sampler.add(SampleRequest(prompt, 1000, seed=seed, stop_tokens=(END,)), Batch(finished, failed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3)
    steps: int = parser.parse_args().steps
    for number in range(steps):
        step = Step()
        seconds = step.run()
        each, wasted = 1e6 * seconds / step.taken, step.device.sampled / step.taken - 1
        print(f"step {number + 1}: {seconds:.2f} s, {each:.1f} µs per token of {step.taken:,}; {wasted:.0%} in vain")


if __name__ == "__main__":
    main()
