"""Index of cache rows by token prefix; lookups do not slow down as the number of rows grows."""

from collections.abc import Collection, Sequence

# Tokens per hashed block.
BLOCK = 16


def add_block_hashes(hashes: list[int], tokens: Sequence[int]) -> None:
    """Appends a chained hash for each whole block of `tokens` that has none yet."""
    last = hashes[-1] if hashes else 0
    for start in range(len(hashes) * BLOCK, len(tokens) - BLOCK + 1, BLOCK):
        last = hash((last, tuple(tokens[start : start + BLOCK])))
        hashes.append(last)


class PrefixIndex:
    """Rows by the hash of each prefix of whole blocks that they hold."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[int, None]] = {}
        self._held: dict[int, list[int]] = {}

    def add(self, row: int, hashes: Sequence[int]) -> None:
        """Adds a row, or the new blocks of a row that has grown."""
        held = self._held.setdefault(row, [])
        for number in hashes[len(held) :]:
            self._rows.setdefault(number, {})[row] = None
            held.append(number)

    def remove(self, row: int) -> None:
        for number in self._held.pop(row, ()):
            rows = self._rows[number]
            del rows[row]
            if not rows:
                del self._rows[number]

    def longest(self, hashes: Sequence[int]) -> tuple[int, Collection[int]]:
        """The most leading blocks that any row holds, and the rows that hold them. All rows hold none."""
        # A row that holds a block holds all before it, so the last one known is found by bisection.
        low, high = 0, len(hashes)
        while low < high:
            middle = (low + high + 1) // 2
            if hashes[middle - 1] in self._rows:
                low = middle
            else:
                high = middle - 1
        return (low, self._rows[hashes[low - 1]]) if low else (0, ())
