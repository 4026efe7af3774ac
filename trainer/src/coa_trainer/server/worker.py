"""The one thread that touches models: requests in their order, steps of sampling in between."""

import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

import torch

from ..errors import TrainerError

log = logging.getLogger(__name__)

Task = Callable[[], None]

# Requests are taken for so long before those that are being sampled get their next tokens. Most of them only let a
# sequence join: with a step behind each, hundreds that come at once would join one by one.
TAKING_SECONDS = 0.1


class Steps(Protocol):
    def busy(self) -> bool: ...

    def step(self) -> None: ...


class Worker:
    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._tasks: deque[Task] = deque()
        self._ready = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def waiting(self) -> int:
        return len(self._tasks)

    def submit(self, task: Task) -> None:
        with self._ready:
            self._tasks.append(task)
            self._ready.notify()

    def close(self) -> None:
        with self._ready:
            self._closing = True
            self._ready.notify()
        self._thread.join(timeout=60)

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._tasks and not self._closing and not self._steps.busy():
                    self._ready.wait()
                if self._closing:
                    return
            begun = time.monotonic()
            while self._tasks and not self._closing and time.monotonic() - begun < TAKING_SECONDS:
                self._try(self._tasks.popleft())
            if self._steps.busy():
                self._try(self._steps.step)

    def _try(self, work: Task) -> None:
        try:
            work()
        except Exception:
            log.exception("a task failed in a way that nobody foresaw")


def as_trainer_error(error: BaseException) -> TrainerError:
    """What the client is told. Memory is given back before anything else is tried."""
    if isinstance(error, TrainerError):
        return error
    if is_out_of_memory(error):
        error.__traceback__ = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return TrainerError(
            507,
            "Out of memory: lower --batch-tokens or --cache-tokens of the server, or send shorter sequences or fewer "
            "samples at once; gradients gathered so far are forgotten.",
        )
    log.error("a request failed", exc_info=error)
    return TrainerError(500, f"The server failed: {type(error).__name__}: {error}")


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and "allocate memory" in str(error)
