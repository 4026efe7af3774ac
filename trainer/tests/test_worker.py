"""Requests and steps of sampling take turns."""

import threading
import time
from functools import partial

from coa_trainer.server import worker as module
from coa_trainer.server.worker import Worker


class Sampling:
    """Always busy until it is told to rest. Writes down how many requests had been taken before each step."""

    def __init__(self, taken: list[int]) -> None:
        self.taken = taken
        self.seen: list[int] = []
        self.resting = threading.Event()

    def busy(self) -> bool:
        return not self.resting.is_set()

    def step(self) -> None:
        self.seen.append(len(self.taken))
        time.sleep(0.001)


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
    assert done.wait(30)
    sampling.resting.set()
    worker.close()
    return taken, sampling.seen


def test_requests_that_wait_are_taken_together() -> None:
    taken, seen = run_with(200, 0)
    assert taken == list(range(200))
    # A step behind each would have seen 1, 2, 3, …
    assert len([count for count in seen if count < 200]) <= 2


def test_long_requests_let_sampling_go_on() -> None:
    _, seen = run_with(6, module.TAKING_SECONDS)
    assert {1, 2, 3, 4, 5} <= set(seen)


def test_a_request_that_fails_stops_nothing() -> None:
    taken: list[int] = []
    sampling = Sampling(taken)
    worker = Worker(sampling)
    done = threading.Event()

    def fail() -> None:
        raise ValueError("nobody foresaw this")

    worker.submit(fail)
    worker.submit(done.set)
    worker.start()
    assert done.wait(30)
    sampling.resting.set()
    worker.close()
