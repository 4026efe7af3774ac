"""Sequences being sampled."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bursts import BurstInput
from .prefix_index import add_block_hashes
from .stop_conditions import StopConditions
from .token_sampling import SampledToken, SamplingParams

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class SampleRequest:
    prompt: list[int]
    max_tokens: int
    params: SamplingParams = field(default_factory=SamplingParams)
    count: int = 1
    seed: int = 0
    first_step: int = 0
    stop_tokens: tuple[int, ...] = ()
    stop_texts: tuple[str, ...] = ()


@dataclass(eq=False)
class Job:
    request: SampleRequest
    number: int
    tokens: list[int]
    stops: StopConditions
    limit: int
    """Maximum number of tokens, including the prompt."""
    batch: "Batch"
    logprobs: "array[float]" = field(default_factory=lambda: array("f"))
    model_logprobs: "array[float]" = field(default_factory=lambda: array("f"))
    reused: int = 0
    row: int = -1
    computed: int = 0
    stopped: str | None = None
    version: int = 0
    """Of the weights that sample the next token."""
    changes: list[tuple[int, int]] = field(default_factory=list)
    """Earlier versions, each with the number of tokens sampled until it was replaced."""

    _hashes: list[int] = field(default_factory=list)

    def block_hashes(self) -> list[int]:
        """Of the prefixes of its tokens, for the prefix cache. Tokens are only ever appended."""
        add_block_hashes(self._hashes, self.tokens)
        return self._hashes

    def weights_changed(self, version: int) -> None:
        self.changes.append((self.version, len(self.tokens) - len(self.request.prompt)))
        self.version = version

    def versions(self) -> list[list[int]]:
        """Runs of sampled tokens, as pairs of their weights' version and their number."""
        runs: list[list[int]] = []
        start = 0
        for version, end in [*self.changes, (self.version, len(self.tokens) - len(self.request.prompt))]:
            if end > start:
                runs.append([version, end - start])
            start = end
        return runs

    @property
    def sampled(self) -> list[int]:
        return self.tokens[len(self.request.prompt) :]

    @property
    def seed_and_step(self) -> tuple[int, int]:
        """The seed and index of the next token."""
        request = self.request
        return request.seed + self.number, len(self.tokens) - len(request.prompt) + request.first_step

    def take(self, token: SampledToken | None) -> None:
        if token is None:
            self.stopped = "nothing-allowed"
            return
        self.tokens.append(token.token)
        self.logprobs.append(token.logprob)
        self.model_logprobs.append(token.model_logprob)
        self.batch.emit(self.number, token.token)
        self.stopped = self.stops.after(self.tokens, len(self.request.prompt))
        if self.stopped is None and len(self.tokens) >= self.limit:
            self._end_at_limit()

    @property
    def bursts(self) -> bool:
        """Whether the sequence needs no input from the host between tokens."""
        return self.request.params.allowed is None

    def burst_input(self) -> BurstInput:
        return BurstInput(self.row, self.tokens[-1], self.computed, self.request.params, *self.seed_and_step)

    def take_many(self, tokens: list[int], logprobs: Floats, model_logprobs: Floats) -> int:
        """Takes tokens until the sequence ends and returns how many were taken."""
        remaining = self.limit - len(self.tokens)
        stop = self.stops.first_stop(self.sampled, tokens[:remaining])
        count = min(len(tokens), remaining) if stop is None else stop[0] + 1
        self.tokens += tokens[:count]
        self.logprobs.frombytes(logprobs[:count].tobytes())
        self.model_logprobs.frombytes(model_logprobs[:count].tobytes())
        if self.batch.streams:
            for token in tokens[:count]:
                self.batch.emit(self.number, token)
        if stop is not None:
            self.stopped = stop[1]
        elif len(self.tokens) >= self.limit:
            self._end_at_limit()
        return count

    def _end_at_limit(self) -> None:
        full = len(self.tokens) - len(self.request.prompt) >= self.request.max_tokens
        self.stopped = "length" if full else "context"

    def result(self) -> dict[str, Any]:
        return {
            "stop_reason": "length" if self.stopped in ("length", "context") else "stop",
            "tokens": self.sampled,
            "logprobs": np.array(self.logprobs),
            "model_logprobs": np.array(self.model_logprobs),
            "stopped": self.stopped,
            "reused": self.reused,
            "versions": self.versions(),
        }


class Batch:
    """All continuations of one request."""

    def __init__(
        self,
        finished: Callable[[list[dict[str, Any]]], None],
        failed: Callable[[BaseException], None],
        on_token: Callable[[int, int], None] | None = None,
    ) -> None:
        self._finished = finished
        self._failed = failed
        self._on_token = on_token
        self._jobs: list[Job] = []
        self.cancelled = False
        self._over = False

    def add(self, job: Job) -> None:
        self._jobs.append(job)

    @property
    def streams(self) -> bool:
        return self._on_token is not None

    def emit(self, number: int, token: int) -> None:
        if self._on_token is not None:
            self._on_token(number, token)

    def job_ended(self) -> None:
        if not self._over and all(job.stopped is not None for job in self._jobs):
            self._over = True
            self._finished([job.result() for job in self._jobs])

    def fail(self, error: BaseException) -> None:
        if not self._over:
            self._over = True
            self.cancelled = True
            self._failed(error)
