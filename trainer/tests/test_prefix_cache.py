"""The prefix cache against a comparison of every row, token by token."""

import random

from coa_trainer.sampling.job import Batch, Job, SampleRequest
from coa_trainer.sampling.prefix_cache import MAX_COMPARED_ROWS, PrefixCache
from coa_trainer.sampling.stop_conditions import StopConditions


def job_of(tokens: list[int]) -> Job:
    batch = Batch(lambda _: None, lambda _: None)
    return Job(SampleRequest(tokens, 8), 0, list(tokens), StopConditions((), (), None), len(tokens) + 8, batch)


def shared(one: list[int], other: list[int]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def prompts(random_: random.Random, count: int) -> list[list[int]]:
    """Prompts that branch off each other at any position, in or between blocks."""
    made: list[list[int]] = [[]]
    while len(made) <= count:
        start = random_.choice(made)
        kept = start[: random_.randint(0, len(start))]
        made.append(kept + [random_.randrange(3) for _ in range(random_.choice([1, 2, 15, 16, 17, 40]))])
    return made[1:]


def test_finds_the_longest_prefix_whatever_the_rows_hold() -> None:
    for seed in range(300):
        random_ = random.Random(seed)
        cache = PrefixCache()
        held: dict[int, list[int]] = {}
        busy: dict[int, Job] = {}
        for tokens in prompts(random_, 30):
            job = job_of(tokens)
            row, length = cache.best_prefix(job)
            assert length == max((min(shared(have, tokens), len(tokens) - 1) for have in held.values()), default=0)
            assert row == -1 or held[row][:length] == tokens[:length]
            wanted = [each.tokens for row, each in busy.items() if len(held[row]) < len(each.tokens) - 1]
            soon = max((min(shared(each, tokens), len(tokens) - 1) for each in wanted), default=0)
            assert cache.being_prefilled(job, length, 4) == (soon >= length + 4)
            row_ = row if row >= 0 and cache.continues(row, length) else cache.free_row(MAX_COMPARED_ROWS, keep=row)
            if row_ is None:
                continue
            assert row_ not in busy
            cache.occupy(row_, job, length)
            busy[row_], held[row_] = job, tokens[:length]
            more = random_.randint(0, len(tokens) - length)
            cache.extend(row_, more)
            held[row_] = tokens[: length + more]
            if random_.random() < 0.7:
                cache.release(job)
                del busy[row_]


def test_a_sequence_continues_in_the_row_of_its_last_turn() -> None:
    cache = PrefixCache()
    first = job_of(list(range(40)))
    row = cache.free_row(4)
    assert row is not None
    cache.occupy(row, first, 0)
    first.tokens += range(40, 50)
    cache.extend(row, 49)
    cache.release(first)
    second = job_of([*range(50), 7, 7, 7])
    assert cache.best_prefix(second) == (row, 49)
    assert cache.continues(row, 49)
    # Another sequence of the group shares only the prompt: it gets a row of its own.
    third = job_of([*range(40), 9, 9])
    assert cache.best_prefix(third) == (row, 40)
    assert not cache.continues(row, 40)


def test_a_hash_collision_reuses_nothing() -> None:
    cache = PrefixCache()
    first, second = job_of([1] * 20), job_of([2] * 20)
    second.block_hashes()[:] = first.block_hashes()
    row = cache.free_row(4)
    assert row is not None
    cache.occupy(row, first, 0)
    cache.extend(row, 20)
    cache.release(first)
    assert cache.best_prefix(second) == (-1, 0)
