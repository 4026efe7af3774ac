"""Writes checkpoints in a thread of its own, one at a time."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Any

Later = Future[dict[str, Any]]
"""The result of a request that has not ended when the next one begins."""


class BackgroundSaves:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "saves")
        self._last: Later | None = None

    def start(self, write: Callable[[], dict[str, Any]]) -> Later:
        self._last = self._thread.submit(write)
        return self._last

    def wait(self) -> None:
        """Until the last one has ended. Its own request reports a failure."""
        if self._last is not None:
            wait_for([self._last])
            self._last = None

    def close(self) -> None:
        self._thread.shutdown(wait=True)
