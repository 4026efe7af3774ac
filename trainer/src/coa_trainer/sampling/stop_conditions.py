"""Stop conditions, checked after each token."""

from collections.abc import Callable, Sequence

Decode = Callable[[Sequence[int]], str]


class StopConditions:
    def __init__(self, tokens: Sequence[int], texts: Sequence[str], decode: Decode | None) -> None:
        self._tokens = frozenset(tokens)
        self._texts = tuple(texts)
        self._decode = decode
        # A token is at least one byte, so this many tokens hold the longest stop string.
        self._reach = max((len(text.encode()) for text in texts), default=0)

    def first_stop(self, sampled: Sequence[int], more: Sequence[int]) -> tuple[int, str] | None:
        """Index of the first token in `more`, which follows `sampled`, that ends the sequence, and the reason."""
        at = next((at for at, token in enumerate(more) if token in self._tokens), None)
        if self._decode is not None and self._texts:
            # Decode once; only if a stop string occurs, find the token that completes it, by bisection.
            tail = [*sampled[max(0, len(sampled) - self._reach) :], *more[:at]]
            text = self._decode(tail)
            if any(stop in text for stop in self._texts):
                known = len(tail) - len(more[:at])
                low, high = known + 1, len(tail)
                while low < high:
                    middle = (low + high) // 2
                    text = self._decode(tail[:middle])
                    if any(stop in text for stop in self._texts):
                        high = middle
                    else:
                        low = middle + 1
                return low - known - 1, "text"
        return None if at is None else (at, "token")

    def after(self, tokens: Sequence[int], begin: int) -> str | None:
        """Why the sequence ends after `tokens`, of which those from index `begin` on were sampled."""
        if tokens[-1] in self._tokens:
            return "token"
        if self._decode is None or not self._texts:
            return None
        # An earlier match would have ended the sequence, so any match here was just completed.
        tail = self._decode(tokens[max(begin, len(tokens) - self._reach) :])
        return "text" if any(text in tail for text in self._texts) else None
