"""Index of cache rows by token prefix; lookups do not slow down as the number of rows grows."""

from collections.abc import Iterator, Sequence

# Tokens per hashed block.
BLOCK = 16


def block_hashes(tokens: Sequence[int], known: Sequence[int] = ()) -> Iterator[int]:
    """A chained hash for each prefix of whole blocks, after those already known."""
    last = known[-1] if known else 0
    for start in range(len(known) * BLOCK, len(tokens) - BLOCK + 1, BLOCK):
        last = hash((last, tuple(tokens[start : start + BLOCK])))
        yield last


class PrefixIndex:
    def __init__(self) -> None:
        self._rows: dict[int, dict[int, None]] = {}
        self._chains: dict[int, list[int]] = {}

    def add(self, row: int, tokens: Sequence[int]) -> None:
        """Adds a row, or the new blocks of a row that has grown."""
        held = self._chains.setdefault(row, [])
        for number in block_hashes(tokens, held):
            self._rows.setdefault(number, {})[row] = None
            held.append(number)

    def remove(self, row: int) -> None:
        for number in self._chains.pop(row, ()):
            rows = self._rows[number]
            del rows[row]
            if not rows:
                del self._rows[number]

    def longest(self, tokens: Sequence[int]) -> list[int]:
        """Rows that share the most whole blocks with `tokens`."""
        found: dict[int, None] = {}
        for number in block_hashes(tokens):
            rows = self._rows.get(number)
            if not rows:
                break
            found = rows
        return list(found)
