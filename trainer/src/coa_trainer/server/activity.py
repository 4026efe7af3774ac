"""When clients were last active."""

import time
from collections.abc import Callable


class ActivityTracker:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._started = clock()
        self._seen: dict[str, float] = {}

    def touch(self, name: str) -> None:
        """Records a heartbeat of a session or a request for a model."""
        self._seen[name] = self.clock()

    def idle_seconds(self, *names: str) -> float:
        """Seconds since the last activity of any of these, or since the server started."""
        return self.clock() - max(self._seen.get(name, self._started) for name in names)
