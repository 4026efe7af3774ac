"""Decides after each token whether a sequence is at its end."""

from collections.abc import Callable, Sequence

Decode = Callable[[Sequence[int]], str]


class StopRules:
    def __init__(self, tokens: Sequence[int], texts: Sequence[str], decode: Decode | None) -> None:
        self._tokens = frozenset(tokens)
        self._texts = tuple(texts)
        self._decode = decode
        # Each token is at least a byte, so these many can hold the longest text.
        self._reach = max((len(text.encode()) for text in texts), default=0)

    def first_stop(self, sampled: Sequence[int], more: Sequence[int]) -> tuple[int, str] | None:
        """Where in `more`, which follows what was sampled before, the first token stands that ends a sequence."""
        at = next((at for at, token in enumerate(more) if token in self._tokens), None)
        if self._decode is not None and self._texts:
            # One look at all of them; only where there is something to be found each is looked at.
            tail = [*sampled[max(0, len(sampled) - self._reach) :], *more[:at]]
            text = self._decode(tail)
            if any(stop in text for stop in self._texts):
                known = len(tail) - len(more[:at])
                for end in range(known + 1, len(tail) + 1):
                    if self.after(tail[:end], 0) is not None:
                        return end - known - 1, "text"
        return None if at is None else (at, "token")

    def after(self, tokens: Sequence[int], begin: int) -> str | None:
        """`tokens` are sampled from the place `begin` on."""
        if tokens[-1] in self._tokens:
            return "token"
        if self._decode is None or not self._texts:
            return None
        # An earlier one would have been the end already, so wherever it stands in here it has just been completed.
        tail = self._decode(tokens[max(begin, len(tokens) - self._reach) :])
        return "text" if any(text in tail for text in self._texts) else None
