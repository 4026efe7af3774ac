"""When clients were last heard of."""

import time
from collections.abc import Callable


class Signs:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._begun = clock()
        self._seen: dict[str, float] = {}

    def seen(self, name: str) -> None:
        """A session that sent its heartbeat, or a model that was asked for something."""
        self._seen[name] = self.clock()

    def silent(self, *names: str) -> float:
        """Seconds since the last of these was heard of, or since the server began."""
        return self.clock() - max(self._seen.get(name, self._begun) for name in names)
