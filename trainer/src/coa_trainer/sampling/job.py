"""One sequence that is being sampled."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .bursts import Turn
from .draw import Draw, DrawRules
from .stops import StopRules


@dataclass(frozen=True)
class SampleRequest:
    prompt: list[int]
    max_tokens: int
    rules: DrawRules = field(default_factory=DrawRules)
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
    stops: StopRules
    limit: int
    """The most tokens there can be, the prompt included."""
    batch: "Batch"
    logprobs: list[float] = field(default_factory=list)
    model_logprobs: list[float] = field(default_factory=list)
    reused: int = 0
    row: int = -1
    computed: int = 0
    stopped: str | None = None

    @property
    def sampled(self) -> list[int]:
        return self.tokens[len(self.request.prompt) :]

    @property
    def place(self) -> tuple[int, int]:
        """The seed and the number of the next token."""
        request = self.request
        return request.seed + self.number, len(self.tokens) - len(request.prompt) + request.first_step

    def take(self, drawn: Draw | None) -> None:
        if drawn is None:
            self.stopped = "nothing-allowed"
            return
        self.tokens.append(drawn.token)
        self.logprobs.append(drawn.logprob)
        self.model_logprobs.append(drawn.model_logprob)
        self.batch.told(self.number, drawn.token)
        self.stopped = self.stops.after(self.tokens, len(self.request.prompt))
        if self.stopped is None and len(self.tokens) >= self.limit:
            self._end_at_limit()

    @property
    def bursts(self) -> bool:
        """True where nothing has to be asked between two tokens."""
        return self.request.rules.allowed is None

    def turn(self) -> Turn:
        return Turn(self.row, self.tokens[-1], self.computed, self.request.rules, *self.place)

    def take_many(self, tokens: list[int], logprobs: list[float], model_logprobs: list[float]) -> int:
        """Takes tokens up to its end and says how many."""
        room = self.limit - len(self.tokens)
        stop = self.stops.first_stop(self.sampled, tokens[:room])
        count = min(len(tokens), room) if stop is None else stop[0] + 1
        self.tokens += tokens[:count]
        self.logprobs += logprobs[:count]
        self.model_logprobs += model_logprobs[:count]
        if self.batch.listens:
            for token in tokens[:count]:
                self.batch.told(self.number, token)
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
            "logprobs": self.logprobs,
            "model_logprobs": self.model_logprobs,
            "stopped": self.stopped,
            "reused": self.reused,
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
    def listens(self) -> bool:
        return self._on_token is not None

    def told(self, number: int, token: int) -> None:
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
