"""The single thread that uses the models: runs requests in order, with sampling steps in between."""

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

# Time spent on queued requests before the next sampling step. Most requests only add a sequence: with a step after
# each, hundreds of simultaneous requests would join one at a time.
REQUEST_SECONDS = 0.1


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
            started = time.monotonic()
            while self._tasks and not self._closing and time.monotonic() - started < REQUEST_SECONDS:
                self._try(self._tasks.popleft())
            if self._steps.busy():
                self._try(self._steps.step)

    def _try(self, work: Task) -> None:
        try:
            work()
        except Exception:
            log.exception("unexpected error in a task")


def as_trainer_error(error: BaseException) -> TrainerError:
    """Converts an exception for the client; after running out of memory, frees memory first."""
    if isinstance(error, TrainerError):
        return error
    if is_out_of_memory(error):
        error.__traceback__ = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return TrainerError(
            507,
            "Out of memory: lower the server's --batch-tokens or --cache-tokens, or send shorter sequences or fewer "
            "samples at once; accumulated gradients were discarded.",
        )
    log.error("a request failed", exc_info=error)
    return TrainerError(500, f"Internal server error: {type(error).__name__}: {error}")


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and "allocate memory" in str(error)
