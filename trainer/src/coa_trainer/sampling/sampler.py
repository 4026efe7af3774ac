"""Samples many sequences together: each joins when there is room and leaves when it is done."""

from collections.abc import Sequence

import numpy as np
import torch

from ..errors import TrainerError, bad_request
from .bursts import BURST, Bursts
from .decoder import Decoder
from .draw import Draw, draw
from .job import Batch, Job, SampleRequest
from .rows import Rows
from .step_graphs import rounded
from .stops import Decode, StopRules

# Tokens that a sequence must save by waiting for another that reads the same beginning.
WORTH_WAITING = 16
# Prompt tokens computed between two steps of those that are already sampling.
READ_AT_ONCE = 2048
# Distributions in double precision take a while of memory: so many rows at a time.
DRAWN_AT_ONCE = 64
NO_NUMBER = TrainerError(400, "The model's output is not a number: load a checkpoint.")


class Sampler:
    def __init__(
        self,
        decoder: Decoder,
        context: int,
        vocabulary: int,
        decode: Decode | None,
        most_rows: int = 256,
        cache_tokens: int = 1 << 20,
    ) -> None:
        self._decoder = decoder
        self._context = context
        self._vocabulary = vocabulary
        self._decode = decode
        self._most_rows = most_rows
        self._cache_tokens = cache_tokens
        self._rows = Rows()
        self._waiting: list[Job] = []
        self._active: list[Job] = []

    @property
    def idle(self) -> bool:
        return not self._waiting and not self._active

    @property
    def sequences(self) -> int:
        return len(self._waiting) + len(self._active)

    def check(self, request: SampleRequest) -> None:
        if not request.prompt:
            raise bad_request("The prompt is empty; give at least one token.")
        if min(request.prompt) < 0 or max(request.prompt) >= self._vocabulary:
            raise bad_request(f"The prompt has a token outside of the vocabulary of {self._vocabulary} tokens.")
        if len(request.prompt) >= self._context:
            raise bad_request(
                f"The prompt has {len(request.prompt)} tokens and the model reads {self._context}; shorten it."
            )
        if request.stop_texts and self._decode is None:
            raise bad_request("Stopping at a text needs a tokenizer.json in the model's folder; stop at tokens.")

    def add(self, request: SampleRequest, batch: Batch) -> None:
        self.check(request)
        limit = min(len(request.prompt) + request.max_tokens, self._context)
        for number in range(request.count):
            stops = StopRules(request.stop_tokens, request.stop_texts, self._decode)
            job = Job(request, number, list(request.prompt), stops, limit, batch)
            batch.add(job)
            self._waiting.append(job)

    def weights_changed(self) -> None:
        """Nothing that was computed with the old weights may be used."""
        for job in self._active:
            self._rows.release(job)
        self._waiting[:0] = self._active
        self._active = []
        self._rows = Rows()

    def fail(self, error: BaseException) -> None:
        """Ends everything that is under way with this reason, and gives the memory back."""
        jobs, self._active, self._waiting = [*self._active, *self._waiting], [], []
        self._reset()
        for job in jobs:
            job.batch.fail(error)

    def step(self) -> None:
        """Lets waiting sequences join, then adds a token to each that is ready."""
        self._drop_cancelled()
        self._admit()
        reading = [job for job in self._active if len(job.tokens) - job.computed > 1]
        room = READ_AT_ONCE
        taken: list[tuple[Job, int]] = []
        for job in reading:
            size = min(len(job.tokens) - job.computed, room)
            if size > 0:
                taken.append((job, size))
                room -= size
        self._extend(taken)
        ready = [job for job in self._active if job not in reading]
        if self._decoder.bursts is not None and ready and all(job.bursts for job in ready):
            self._burst(self._decoder.bursts, ready)
        else:
            self._extend([(job, 1) for job in ready])

    def _drop_cancelled(self) -> None:
        for job in [job for job in self._active if job.batch.cancelled]:
            self._rows.release(job)
            self._active.remove(job)
        self._waiting = [job for job in self._waiting if not job.batch.cancelled]

    def _admit(self) -> None:
        """In their order: one that needs more room than there is holds up those behind it."""
        self._shrink()
        still: list[Job] = []
        while self._waiting:
            job = self._waiting.pop(0)
            source, shared = self._rows.best_prefix(job.tokens)
            if self._rows.being_read(job.tokens, shared, WORTH_WAITING):
                still.append(job)
            elif not self._place(job, source, shared):
                still.append(job)
                break
        self._waiting[:0] = still

    def _length(self, limit: int) -> int:
        return min(rounded(limit, 64), self._context)

    def _shrink(self) -> None:
        """Rows as long as one sequence once needed would leave too few for many short ones."""
        cache = self._decoder.cache
        if self._active or not self._waiting or cache.length <= self._length(max(job.limit for job in self._waiting)):
            return
        if len(self._waiting) > self._cache_tokens // cache.length:
            self._reset()

    def _reset(self) -> None:
        self._rows = Rows()
        self._decoder.cache.clear()

    def _place(self, job: Job, source: int, shared: int) -> bool:
        cache = self._decoder.cache
        length = max(cache.length, self._length(job.limit))
        if length > cache.length and cache.rows * length > self._cache_tokens:
            # Longer rows for all do not fit: this one waits for the others, and what is kept of old ones goes.
            if self._active:
                return False
            self._reset()
            source, shared = -1, 0
        most = min(self._most_rows, max(1, self._cache_tokens // length))
        row = self._rows.free_row(most, keep=source)
        if row is None:
            return False
        cache.grow(min(rounded(len(self._rows.states), 1), most), length)
        if shared and row != source:
            cache.copy(source, row, shared)
        if not job.logprobs:
            job.reused = shared
        self._rows.occupy(row, job, job.tokens[:shared])
        self._active.append(job)
        return True

    def _extend(self, parts: Sequence[tuple[Job, int]]) -> None:
        if not parts:
            return
        parts = sorted(parts, key=lambda part: part[0].row)
        jobs = [job for job, _ in parts]
        tokens = [job.tokens[job.computed : job.computed + size] for job, size in parts]
        logits = self._decoder.extend([job.row for job in jobs], tokens, [job.computed for job in jobs])
        ready: list[int] = []
        for number, (job, more) in enumerate(zip(jobs, tokens, strict=True)):
            job.computed += len(more)
            self._rows.states[job.row].tokens.extend(more)
            if job.computed == len(job.tokens):
                ready.append(number)
        if ready:
            self._draw([jobs[number] for number in ready], logits[torch.tensor(ready, device=logits.device)])

    def _burst(self, bursts: Bursts, jobs: Sequence[Job]) -> None:
        steps = min(BURST, max(job.limit - len(job.tokens) for job in jobs))
        tokens, logprobs, model_logprobs = bursts.run([job.turn() for job in jobs], steps)
        columns = zip(tokens.T.astype(int).tolist(), logprobs.T.tolist(), model_logprobs.T.tolist(), strict=True)
        # A sum with one that is no number is none either.
        broken = [bool(each) for each in np.isnan(model_logprobs.sum(axis=0))]
        for number, (job, column) in enumerate(zip(jobs, columns, strict=True)):
            if broken[number]:
                job.batch.fail(NO_NUMBER)
                continue
            fed = job.tokens[-1]
            count = job.take_many(*column)
            self._rows.states[job.row].tokens += [fed, *column[0][: count - 1]]
            job.computed += count
            if job.stopped is not None:
                self._end(job)

    def _end(self, job: Job) -> None:
        self._rows.release(job)
        self._active.remove(job)
        job.batch.job_ended()

    def _draw(self, jobs: Sequence[Job], logits: torch.Tensor) -> None:
        drawn: list[Draw | None] = []
        for start in range(0, len(jobs), DRAWN_AT_ONCE):
            part = jobs[start : start + DRAWN_AT_ONCE]
            numbers = [job.next_number() for job in part]
            drawn += draw(logits[start : start + DRAWN_AT_ONCE], [job.request.rules for job in part], numbers)
        for job, token in zip(jobs, drawn, strict=True):
            if token is not None and token.model_logprob != token.model_logprob:
                job.batch.fail(NO_NUMBER)
                continue
            job.take(token)
            if job.stopped is not None:
                self._end(job)
