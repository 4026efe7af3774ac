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

    @property
    def needs_text(self) -> bool:
        return bool(self._texts)

    def first_stop(self, tokens: Sequence[int]) -> int | None:
        """Where the first token stands that ends a sequence."""
        if not self._tokens:
            return None
        return next((at for at, token in enumerate(tokens) if token in self._tokens), None)

    def after(self, tokens: Sequence[int], begin: int) -> str | None:
        """`tokens` are sampled from the place `begin` on."""
        if tokens[-1] in self._tokens:
            return "token"
        if self._decode is None or not self._texts:
            return None
        # An earlier one would have been the end already, so wherever it stands in here it has just been completed.
        tail = self._decode(tokens[max(begin, len(tokens) - self._reach) :])
        return "text" if any(text in tail for text in self._texts) else None
