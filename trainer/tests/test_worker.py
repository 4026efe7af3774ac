"""Requests and sampling steps alternate."""

import threading
import time
from functools import partial

import pytest

from coa_trainer.server import worker as module
from coa_trainer.server.worker import Worker


class Sampling:
    """Always busy until stopped. Records how many requests had been processed before each step."""

    def __init__(self, taken: list[int]) -> None:
        self.taken = taken
        self.seen: list[int] = []
        self.resting = threading.Event()

    def busy(self) -> bool:
        return not self.resting.is_set()

    def step(self) -> None:
        self.seen.append(len(self.taken))
        time.sleep(0.001)


# Only to end a test that hangs: on a busy machine everything takes many times as long.
HANGS = 600


def run_with(tasks: int, seconds: float) -> tuple[list[int], list[int]]:
    taken: list[int] = []
    sampling = Sampling(taken)
    worker = Worker(sampling)
    done = threading.Event()

    def task(number: int) -> None:
        time.sleep(seconds)
        taken.append(number)
        if number == tasks - 1:
            done.set()

    for number in range(tasks):
        worker.submit(partial(task, number))
    worker.start()
    assert done.wait(HANGS)
    sampling.resting.set()
    worker.close()
    return taken, sampling.seen


def test_queued_requests_are_processed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REQUEST_SECONDS", HANGS)
    taken, seen = run_with(200, 0)
    assert taken == list(range(200))
    # With a step after each it would have seen 1, 2, 3, …
    assert len([count for count in seen if count < 200]) <= 2


def test_long_requests_do_not_stall_sampling() -> None:
    _, seen = run_with(6, module.REQUEST_SECONDS)
    assert {1, 2, 3, 4, 5} <= set(seen)


def test_a_failing_request_does_not_stop_the_worker() -> None:
    taken: list[int] = []
    sampling = Sampling(taken)
    worker = Worker(sampling)
    done = threading.Event()

    def fail() -> None:
        raise ValueError("unexpected")

    worker.submit(fail)
    worker.submit(done.set)
    worker.start()
    assert done.wait(HANGS)
    sampling.resting.set()
    worker.close()
