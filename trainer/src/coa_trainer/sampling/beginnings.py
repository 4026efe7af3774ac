"""Finds rows by how their tokens begin, in time that does not grow with their number."""

from collections.abc import Iterator, Sequence

# Tokens that are compared at once.
BLOCK = 16


def chain(tokens: Sequence[int], known: Sequence[int] = ()) -> Iterator[int]:
    """A number for each beginning of whole blocks, after those that are known."""
    last = known[-1] if known else 0
    for start in range(len(known) * BLOCK, len(tokens) - BLOCK + 1, BLOCK):
        last = hash((last, tuple(tokens[start : start + BLOCK])))
        yield last


class Beginnings:
    def __init__(self) -> None:
        self._rows: dict[int, dict[int, None]] = {}
        self._chains: dict[int, list[int]] = {}

    def add(self, row: int, tokens: Sequence[int]) -> None:
        """Also for a row that has grown."""
        held = self._chains.setdefault(row, [])
        for number in chain(tokens, held):
            self._rows.setdefault(number, {})[row] = None
            held.append(number)

    def remove(self, row: int) -> None:
        for number in self._chains.pop(row, ()):
            rows = self._rows[number]
            del rows[row]
            if not rows:
                del self._rows[number]

    def longest(self, tokens: Sequence[int]) -> list[int]:
        """Rows that share the most whole blocks with the tokens."""
        found: dict[int, None] = {}
        for number in chain(tokens):
            rows = self._rows.get(number)
            if not rows:
                break
            found = rows
        return list(found)
