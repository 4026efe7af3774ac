"""Samples many sequences together: each joins when there is room and leaves when it is done."""

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

from ..errors import TrainerError, bad_request
from .bursts import Bursts, Chunk
from .decoder import Decoder
from .draw import Draw, draw, uniform_list
from .job import Batch, Job, SampleRequest
from .rows import Rows
from .step_graphs import rounded
from .stops import Decode, StopRules

# Tokens that a sequence must save by waiting for another that reads the same beginning.
WORTH_WAITING = 16
# Prompt tokens computed between two steps of those that are already sampling, filling included; and where sampling
# comes in bursts.
READ_AT_ONCE, READ_BEFORE_BURST = 2048, 65536
# Places that are compared at once when prompts are read: tokens times the length of their rows.
COMPARED_AT_ONCE = 1 << 28
# A burst ends after this time if somebody waits, and when this share of its sequences is done and others wait.
PATIENCE_SECONDS, ENDED_SHARE = 0.1, 8
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
        self._active: dict[Job, None] = {}
        self.hurried: Callable[[], bool] = lambda: False
        """Whether something else waits for the device."""

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
        self._active = {}
        self._rows = Rows()

    def fail(self, error: BaseException) -> None:
        """Ends everything that is under way with this reason, and gives the memory back."""
        jobs, self._active, self._waiting = [*self._active, *self._waiting], {}, []
        self._reset()
        for job in jobs:
            job.batch.fail(error)

    def step(self) -> None:
        """Lets waiting sequences join, then adds a token to each that is ready."""
        self._drop_cancelled()
        self._admit()
        bursts = self._decoder.bursts
        # In a burst the last token of a prompt is fed with the others, so it need not be read before.
        left = {job: len(job.tokens) - job.computed - (bursts is not None and job.bursts) for job in self._active}
        reading = {job: size for job, size in left.items() if size > 0 and len(job.tokens) - job.computed > 1}
        self._read(reading, READ_AT_ONCE if bursts is None else READ_BEFORE_BURST)
        if bursts is not None and any(len(job.tokens) - job.computed > 1 for job in reading if job in self._active):
            return
        ready = [job for job in self._active if job not in reading or (bursts is not None and job.bursts)]
        if bursts is not None and ready and all(job.bursts for job in ready):
            self._burst(bursts, ready)
        else:
            self._extend([(job, 1) for job in ready])

    def _read(self, reading: dict[Job, int], most: int) -> None:
        """As many of those that have about the same to read as fit, filled to the longest of them."""
        taken: list[tuple[Job, int]] = []
        longest = reach = 0
        for job, size in sorted(reading.items(), key=lambda each: -each[1]):
            size = min(size, most)
            longest, reach = max(longest, size), max(reach, job.computed + size)
            count = (len(taken) + 1) * longest
            if taken and (count > most or count * reach > COMPARED_AT_ONCE):
                break
            taken.append((job, size))
        self._extend(taken)

    def _drop_cancelled(self) -> None:
        for job in [job for job in self._active if job.batch.cancelled]:
            self._rows.release(job)
            del self._active[job]
        self._waiting = [job for job in self._waiting if not job.batch.cancelled]

    def _admit(self) -> None:
        """In their order: one that needs more room than there is holds up those behind it."""
        self._shrink()
        still: list[Job] = []
        for number, job in enumerate(self._waiting):
            source, shared = self._rows.best_prefix(job.tokens)
            if self._rows.being_read(job.tokens, shared, WORTH_WAITING):
                still.append(job)
            elif not self._place(job, source, shared, len(self._waiting) - number):
                still += self._waiting[number:]
                break
        self._waiting = still

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

    def _place(self, job: Job, source: int, shared: int, coming: int) -> bool:
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
        # Room for all that wait, so that tensors are not made anew for each.
        cache.grow(min(rounded(len(self._rows.states) - 1 + coming, 1), most), length)
        if shared and row != source:
            cache.copy(source, row, shared)
        if not job.logprobs:
            job.reused = shared
        self._rows.occupy(row, job, job.tokens[:shared])
        self._active[job] = None
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
            self._rows.extend(job.row, more)
            if job.computed == len(job.tokens):
                ready.append(number)
        if ready:
            self._draw([jobs[number] for number in ready], logits[torch.tensor(ready, device=logits.device)])

    def _burst(self, bursts: Bursts, jobs: Sequence[Job]) -> None:
        steps = max(job.limit - len(job.tokens) for job in jobs)
        flow = bursts.run([job.turn() for job in jobs], steps)
        live = dict(enumerate(jobs))
        begun = time.monotonic()
        for chunk in flow.chunks:
            ended = self._take_chunk(live, chunk)
            for number in ended:
                del live[number]
            hurried = self.hurried()
            has_room = len(jobs) - len(live) >= max(1, len(jobs) // ENDED_SHARE)
            is_long = time.monotonic() - begun > PATIENCE_SECONDS
            if not live or (has_room and (self._waiting or hurried)) or (is_long and hurried):
                flow.finish()

    def _take_chunk(self, live: dict[int, Job], chunk: Chunk) -> list[int]:
        """Numbers of the sequences that have ended."""
        numbers = list(live)
        tokens, logprobs, model_logprobs = (each[:, numbers] for each in chunk)
        columns = zip(tokens.T.astype(int).tolist(), logprobs.T.tolist(), model_logprobs.T.tolist(), strict=True)
        # A sum with one that is no number is none either.
        broken: list[bool] = np.isnan(model_logprobs.sum(axis=0)).tolist()
        ended: list[int] = []
        for number, column, bad in zip(numbers, columns, broken, strict=True):
            job = live[number]
            if bad:
                job.batch.fail(NO_NUMBER)
            if job.batch.cancelled:
                # Its row is given back before the next step.
                ended.append(number)
                continue
            fed = job.tokens[-1]
            count = job.take_many(*column)
            self._rows.extend(job.row, [fed, *column[0][: count - 1]])
            job.computed += count
            if job.stopped is not None:
                self._end(job)
                ended.append(number)
        return ended

    def _end(self, job: Job) -> None:
        self._rows.release(job)
        del self._active[job]
        job.batch.job_ended()

    def _draw(self, jobs: Sequence[Job], logits: torch.Tensor) -> None:
        drawn: list[Draw | None] = []
        for start in range(0, len(jobs), DRAWN_AT_ONCE):
            part = jobs[start : start + DRAWN_AT_ONCE]
            numbers = uniform_list([job.place for job in part])
            drawn += draw(logits[start : start + DRAWN_AT_ONCE], [job.request.rules for job in part], numbers)
        for job, token in zip(jobs, drawn, strict=True):
            if token is not None and token.model_logprob != token.model_logprob:
                job.batch.fail(NO_NUMBER)
                continue
            job.take(token)
            if job.stopped is not None:
                self._end(job)
