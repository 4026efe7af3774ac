"""The tokenizer of models/nano for ASCII text, using only the standard library.

Words are split as in tokenizer.json and cached, so that encoding takes about one lookup per word. test/nano compares it with coa's
own tokenizer.
"""

import json
import re

GIVEN = 0x8000
"""Flag of given tokens, which have a low loss weight."""

WORD = r"[A-Z]+[a-z]*| ?[a-z]+(?: (?=[A-Z0-9]))?|[0-9]| ?[^\sA-Za-z0-9]+(?: (?=[A-Z0-9]))?|\n+| +|\s"
MAX_CACHED_WORDS = 400_000


class Tokenizer:
    def __init__(self, path: str):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        model = content["model"]
        self.vocabulary: dict[str, int] = model["vocab"]
        merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
        self.ranks = {(left, right): rank for rank, (left, right) in enumerate(merges)}
        added = {token["content"]: token["id"] for token in content["added_tokens"] if not token["special"]}
        self.tags = list(added)
        self.end: int = next(token["id"] for token in content["added_tokens"] if token["content"] == "<|end|>")
        self.size = 1 + max([*self.vocabulary.values(), *added.values()])
        self.known = {text: (token,) for text, token in added.items()}
        longest_first = sorted(added, key=len, reverse=True)
        # A tag ends the preceding piece: a word may look ahead, but only within its own piece.
        self.pieces = re.compile("(" + "|".join(re.escape(tag) for tag in longest_first) + ")")
        self.words = re.compile(WORD)

    def encode(self, parts: list[tuple[str, bool]]) -> list[int]:
        """Tokens of the joined text; those that start in a given part have the flag."""
        text = "".join(part for part, _ in parts)
        tokens: list[int] = []
        bounds = []
        end = 0
        for part, given in parts:
            end += len(part)
            bounds.append((end, GIVEN if given else 0))
        current = 0
        offset = 0
        for index, piece in enumerate(self.pieces.split(text)):
            found = [(0, piece)] if index % 2 else [(m.start(), m.group()) for m in self.words.finditer(piece)]
            for start, word in found:
                while offset + start >= bounds[current][0]:
                    current += 1
                flag = bounds[current][1]
                ids = self.known.get(word) or self._encode_word(word)
                tokens += [token | flag for token in ids] if flag else ids
            offset += len(piece)
        return tokens

    def _encode_word(self, word: str) -> tuple[int, ...]:
        if len(self.known) > MAX_CACHED_WORDS:
            self.known = {tag: self.known[tag] for tag in self.tags}
        symbols = [character_of(byte) for byte in word.encode()]
        while len(symbols) > 1:
            pairs = [(self.ranks.get(pair, 1 << 30), at) for at, pair in enumerate(zip(symbols, symbols[1:]))]
            rank, at = min(pairs)
            if rank == 1 << 30:
                break
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
        ids = tuple(self.vocabulary[symbol] for symbol in symbols)
        self.known[word] = ids
        return ids


def character_of(byte: int) -> str:
    """The character for an ASCII byte in byte-level vocabularies: printable bytes as they are, others shifted."""
    return chr(byte) if 33 <= byte <= 126 else chr(256 + byte if byte <= 32 else 0x121)
