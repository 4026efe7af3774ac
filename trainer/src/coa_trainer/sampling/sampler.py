"""Continuous batching: sequences join when there is space and leave when they are done."""

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

from ..errors import TrainerError, bad_request
from .bursts import Bursts, Chunk
from .decoder import Decoder
from .job import Batch, Job, SampleRequest
from .prefix_cache import PrefixCache
from .step_graphs import batch_size, next_power_of_two
from .stop_conditions import Decode, StopConditions
from .token_sampling import SampledToken, sample_tokens, uniform_list

# Prefix tokens that a sequence must save to wait for another that is prefilling the same prefix.
MIN_SHARED_TOKENS = 16
# Prefill tokens between two decoding steps, padding included; and between two bursts.
PREFILL_TOKENS, BURST_PREFILL_TOKENS = 2048, 65536
# Attention entries computed at once in prefill: tokens times the length of their rows.
MAX_ATTENTION_ENTRIES = 1 << 28
# A burst ends after this time if other work waits, or when this fraction of its sequences is done and others wait.
PATIENCE_SECONDS, ENDED_FRACTION = 0.1, 8
# Rows sampled at a time; probabilities in double precision take memory.
SAMPLED_AT_ONCE = 64
NAN_OUTPUT = TrainerError(400, "The model's output is not a number (NaN): load a checkpoint.")


class Sampler:
    def __init__(
        self,
        decoder: Decoder,
        context: int,
        vocabulary: int,
        decode: Decode | None,
        max_rows: int = 256,
        cache_tokens: int = 1 << 20,
        version: int = 0,
    ) -> None:
        self._decoder = decoder
        self._context = context
        self._vocabulary = vocabulary
        self._decode = decode
        self._max_rows = max_rows
        self._cache_tokens = cache_tokens
        self._version = version
        self._prefix_cache = PrefixCache()
        self._waiting: list[Job] = []
        self._active: dict[Job, None] = {}
        self.should_yield: Callable[[], bool] = lambda: False
        """Whether other work waits for the device."""

    @property
    def idle(self) -> bool:
        return not self._waiting and not self._active

    @property
    def sequences(self) -> int:
        return len(self._waiting) + len(self._active)

    def check(self, request: SampleRequest) -> None:
        if not request.prompt:
            raise bad_request("The prompt is empty; pass at least one token.")
        if min(request.prompt) < 0 or max(request.prompt) >= self._vocabulary:
            raise bad_request(f"The prompt has a token outside the vocabulary of {self._vocabulary} tokens.")
        if len(request.prompt) >= self._context:
            raise bad_request(
                f"The prompt has {len(request.prompt)} tokens, but the model's context is {self._context}; shorten it."
            )
        if request.stop_texts and self._decode is None:
            raise bad_request("Stop strings need a tokenizer.json in the model's folder; use stop_tokens instead.")

    def add(self, request: SampleRequest, batch: Batch) -> None:
        self.check(request)
        limit = min(len(request.prompt) + request.max_tokens, self._context)
        for number in range(request.count):
            stops = StopConditions(request.stop_tokens, request.stop_texts, self._decode)
            job = Job(request, number, list(request.prompt), stops, limit, batch, version=self._version)
            batch.add(job)
            self._waiting.append(job)

    def weights_changed(self, version: int) -> None:
        """Invalidates everything computed with the old weights."""
        self._version = version
        for job in self._active:
            self._prefix_cache.release(job)
        self._waiting[:0] = self._active
        for job in self._waiting:
            job.weights_changed(version)
        self._active = {}
        self._prefix_cache = PrefixCache()

    def fail(self, error: BaseException) -> None:
        """Fails all sequences in progress and frees the memory."""
        jobs, self._active, self._waiting = [*self._active, *self._waiting], {}, []
        self._reset()
        for job in jobs:
            job.batch.fail(error)

    def step(self) -> None:
        """Admits waiting sequences, then adds a token to each that is ready."""
        self._drop_cancelled()
        self._admit()
        bursts = self._decoder.bursts
        # A burst feeds the last prompt token itself, so it is not prefilled.
        left = {job: len(job.tokens) - job.computed - (bursts is not None and job.bursts) for job in self._active}
        prefilling = {job: size for job, size in left.items() if size > 0 and len(job.tokens) - job.computed > 1}
        self._prefill(prefilling, PREFILL_TOKENS if bursts is None else BURST_PREFILL_TOKENS)
        if bursts is not None and any(len(job.tokens) - job.computed > 1 for job in prefilling if job in self._active):
            return
        ready = [job for job in self._active if job not in prefilling or (bursts is not None and job.bursts)]
        if bursts is not None and ready and all(job.bursts for job in ready):
            self._burst(bursts, ready)
        else:
            self._extend([(job, 1) for job in ready])

    def _prefill(self, prefilling: dict[Job, int], most: int) -> None:
        """Prefills as many prompts of similar length as fit, padded to the longest of them."""
        taken: list[tuple[Job, int]] = []
        longest = reach = 0
        for job, size in sorted(prefilling.items(), key=lambda each: -each[1]):
            size = min(size, most)
            longest, reach = max(longest, size), max(reach, job.computed + size)
            count = (len(taken) + 1) * longest
            if taken and (count > most or count * reach > MAX_ATTENTION_ENTRIES):
                break
            taken.append((job, size))
        self._extend(taken)

    def _drop_cancelled(self) -> None:
        for job in [job for job in self._active if job.batch.cancelled]:
            self._prefix_cache.release(job)
            del self._active[job]
        self._waiting = [job for job in self._waiting if not job.batch.cancelled]

    def _admit(self) -> None:
        """First come, first served: a sequence that does not fit holds up those behind it."""
        self._shrink()
        still: list[Job] = []
        for number, job in enumerate(self._waiting):
            source, shared = self._prefix_cache.best_prefix(job)
            if self._prefix_cache.being_prefilled(job, shared, MIN_SHARED_TOKENS):
                still.append(job)
            elif not self._place(job, source, shared, len(self._waiting) - number):
                still += self._waiting[number:]
                break
        self._waiting = still

    def _length(self, limit: int) -> int:
        return min(next_power_of_two(limit, 64), self._context)

    def _shrink(self) -> None:
        """Drops rows that grew long for one sequence, if that leaves too few for many short ones."""
        cache = self._decoder.cache
        if self._active or not self._waiting or cache.length <= self._length(max(job.limit for job in self._waiting)):
            return
        if len(self._waiting) > self._cache_tokens // cache.length:
            self._reset()

    def _reset(self) -> None:
        self._prefix_cache = PrefixCache()
        self._decoder.cache.clear()

    def _place(self, job: Job, source: int, shared: int, coming: int) -> bool:
        cache = self._decoder.cache
        length = max(cache.length, self._length(job.limit))
        if length > cache.length and cache.rows * length > self._cache_tokens:
            # Longer rows do not fit: this sequence waits until the others are done; then cached rows are dropped.
            if self._active:
                return False
            self._reset()
            source, shared = -1, 0
        most = min(self._max_rows, max(1, self._cache_tokens // length))
        row: int | None = source
        if source < 0 or not self._prefix_cache.continues(source, shared):
            row = self._prefix_cache.free_row(most, keep=source)
        if row is None:
            return False
        # Sized for all waiting sequences, so that the cache is not reallocated for each.
        cache.grow(min(next_power_of_two(len(self._prefix_cache.states) - 1 + coming, 1), most), length)
        if shared and row != source:
            cache.copy(source, row, shared)
        if not job.logprobs:
            job.reused = shared
        self._prefix_cache.occupy(row, job, shared)
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
            self._prefix_cache.extend(job.row, len(more))
            if job.computed == len(job.tokens):
                ready.append(number)
        if ready:
            self._sample([jobs[number] for number in ready], logits[torch.tensor(ready, device=logits.device)])

    def _burst(self, bursts: Bursts, jobs: Sequence[Job]) -> None:
        steps = max(job.limit - len(job.tokens) for job in jobs)
        stream = bursts.run([job.burst_input() for job in jobs], steps)
        live = dict(enumerate(jobs))
        started = time.monotonic()
        for chunk in stream.chunks:
            ended = self._take_chunk(live, chunk)
            for number in ended:
                del live[number]
            should_yield = self.should_yield()
            many_ended = len(jobs) - len(live) >= max(1, len(jobs) // ENDED_FRACTION)
            is_long = time.monotonic() - started > PATIENCE_SECONDS
            # The sequences that are left continue in a smaller batch.
            is_sparse = not live or 2 * batch_size(len(live)) <= batch_size(len(jobs))
            if is_sparse or (many_ended and (self._waiting or should_yield)) or (is_long and should_yield):
                stream.finish()

    def _take_chunk(self, live: dict[int, Job], chunk: Chunk) -> list[int]:
        """Returns the indices of the sequences that have ended."""
        numbers = list(live)
        tokens, logprobs, model_logprobs = (each[:, numbers] for each in chunk)
        columns = zip(
            tokens.T.astype(int).tolist(),
            np.ascontiguousarray(logprobs.T, dtype=np.float32),
            np.ascontiguousarray(model_logprobs.T, dtype=np.float32),
            strict=True,
        )
        # A sum with a NaN is NaN.
        broken: list[bool] = np.isnan(model_logprobs.sum(axis=0)).tolist()
        ended: list[int] = []
        for number, column, bad in zip(numbers, columns, broken, strict=True):
            job = live[number]
            if bad:
                job.batch.fail(NAN_OUTPUT)
            if job.batch.cancelled:
                # Its row is released before the next step.
                ended.append(number)
                continue
            count = job.take_many(*column)
            # The last token taken has not been fed to the model yet; the one before the first has.
            self._prefix_cache.extend(job.row, count)
            job.computed += count
            if job.stopped is not None:
                self._end(job)
                ended.append(number)
        return ended

    def _end(self, job: Job) -> None:
        self._prefix_cache.release(job)
        del self._active[job]
        job.batch.job_ended()

    def _sample(self, jobs: Sequence[Job], logits: torch.Tensor) -> None:
        sampled: list[SampledToken | None] = []
        for start in range(0, len(jobs), SAMPLED_AT_ONCE):
            part = jobs[start : start + SAMPLED_AT_ONCE]
            numbers = uniform_list([job.seed_and_step for job in part])
            sampled += sample_tokens(
                logits[start : start + SAMPLED_AT_ONCE], [job.request.params for job in part], numbers
            )
        for job, token in zip(jobs, sampled, strict=True):
            if token is not None and token.model_logprob != token.model_logprob:
                job.batch.fail(NAN_OUTPUT)
                continue
            job.take(token)
            if job.stopped is not None:
                self._end(job)
