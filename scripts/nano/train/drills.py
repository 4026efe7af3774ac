"""Copying and lookup drills, generated at random.

Nothing in them can be memorized: names are composed of syllables, and one in five is held out for evaluation. A drill
is a list of parts, each a text and whether it is given.
"""

import random
import re
import zlib
from collections.abc import Callable

Parts = list[tuple[str, bool]]

ADDRESS = "http://encyclopedia.test/wiki/"
CONSONANTS = "b d f g h k l m n p r s t v w z br dr gr kr st tr sk".split()
VOWELS = "a e i o u".split()
CODAS = ["", "", "l", "n", "r", "s", "t", "nd", "rg", "lm"]
ORDINALS = "First Second Third Fourth Fifth Sixth Seventh Eighth".split()
POOL = 20_000


def is_held_out(name: str) -> bool:
    return zlib.crc32(name.encode()) % 5 == 0


class Drills:
    """`size` scales the length of drills: 1 is a list of a dozen entries."""

    def __init__(self, seed: int, vocabulary: list[str], tags: list[str], for_tests: bool = False):
        self.random = random.Random(seed)
        self.for_tests = for_tests
        self.heads = [word for word in vocabulary if re.fullmatch("[A-Z][a-z]{1,5}", word)]
        self.tails = [word for word in vocabulary if re.fullmatch("[a-z]{2,5}", word)]
        self.words = [word[1:] for word in vocabulary if re.fullmatch("Ġ[a-z]{3,}", word)]
        self.capitals = [word for word in vocabulary if re.fullmatch("[A-Z][a-z]{2,}", word)]
        self.tags = [tag for tag in tags if tag.startswith("<")]
        self.pool = [self.fresh_name() for _ in range(POOL if not for_tests else 2000)]
        self.kinds: list[Callable[[float], Parts]] = [
            self.copy,
            self.look_up,
            self.look_up_back,
            self.place,
            self.neighbour,
            self.two_steps,
            self.address,
            self.statements,
            self.assignments,
            self.put_in,
            self.numbers,
            self.count,
        ]

    def any(self, size: float) -> Parts:
        return self.random.choice(self.kinds)(size)

    # Building blocks

    def fresh_name(self) -> str:
        pick = self.random.choice
        while True:
            if self.random.random() < 0.6:
                name = pick(self.heads) + pick(self.tails) + (pick(self.tails) if self.random.random() < 0.3 else "")
            else:
                name = "".join(
                    pick(CONSONANTS) + pick(VOWELS) + pick(CODAS) for _ in range(self.random.randint(1, 3))
                ).capitalize()
            if is_held_out(name) == self.for_tests:
                return name

    def word_name(self) -> str:
        """One word; one in ten is new and is added to the pool."""
        if self.random.random() < 0.1:
            self.pool[self.random.randrange(len(self.pool))] = self.fresh_name()
        return self.random.choice(self.pool)

    def name(self) -> str:
        pick = self.random.choice
        style = self.random.random()
        if style < 0.4:
            return self.word_name()
        if style < 0.7:
            return f"{self.word_name()} {self.word_name()}"
        if style < 0.8:
            return f"The {pick(self.capitals)} {self.word_name()}"
        if style < 0.9:
            return f"{pick(self.capitals)} {self.word_name()} {pick(self.capitals)}"
        return f"The {self.word_name()} of the {pick(self.capitals)} {self.word_name()}"

    def number(self) -> str:
        value = self.random.randrange(10 ** self.random.randint(1, 6))
        style = self.random.random()
        if style < 0.2:
            return f"{value:,}"
        return f"{value / 100:.2f}" if style < 0.3 else str(value)

    def item(self) -> str:
        style = self.random.random()
        if style < 0.6:
            return self.name()
        return self.number() if style < 0.9 else self.random.choice(self.words)

    def items(self, size: float, most: int = 14, make: Callable[[], str] | None = None) -> list[str]:
        count = self.random.randint(2, 3 + round(size * (most - 3)))
        style = self.random.random()
        make = make or (self.name if style < 0.4 else self.number if style < 0.6 else self.item)
        found: dict[str, None] = {}
        while len(found) < count:
            found[make()] = None
        return list(found)

    # Drills

    def copy(self, size: float) -> Parts:
        if self.random.random() < 0.08:
            items = self.random.sample(self.tags, self.random.randint(2, 6))
            separator = " "
        else:
            items = self.items(size)
            separator = self.random.choice([", ", "; ", "\n", " and ", " | ", "\n- "])
        listed = separator.join(items)
        ask = self.random.choice(["Once more:", "Copy:", "The same:", "Again:"])
        return [(f"{listed}\n{ask}", True), (("\n" if "\n" in separator else " ") + listed, False)]

    def pairs(self, size: float) -> list[tuple[str, str]]:
        keys = self.items(size, 12)
        return [(key, self.item()) for key in keys]

    def look_up(self, size: float) -> Parts:
        pairs = self.pairs(size)
        joint = self.random.choice([": ", " = ", " is ", " has "])
        parts: Parts = [("\n".join(key + joint + value for key, value in pairs) + "\n", True)]
        for key, value in self.random.sample(pairs, min(len(pairs), self.random.randint(1, 4))):
            parts += [(f"\n{key}" + joint.rstrip(), True), (f" {value}", False)]
        return parts

    def look_up_back(self, size: float) -> Parts:
        values = self.items(size, 12)
        pairs = [(self.name(), value) for value in values]
        joint = self.random.choice([": ", " (", " has ", " - "])
        close = ")" if joint == " (" else ""
        parts: Parts = [("\n".join(key + joint + value + close for key, value in pairs) + "\n", True)]
        for key, value in self.random.sample(pairs, min(len(pairs), self.random.randint(1, 3))):
            parts += [(f"\nWho has {value}?", True), (f" {key}", False)]
        return parts

    def place(self, size: float) -> Parts:
        items = self.items(size, 8)[: len(ORDINALS)]
        numbered = self.random.random() < 0.5
        rows = [f"{at + 1}. {item}" if numbered else f"- {item}" for at, item in enumerate(items)]
        parts: Parts = [("\n".join(rows) + "\n", True)]
        for at in self.random.sample(range(len(items)), min(len(items), self.random.randint(1, 3))):
            parts += [(f"\n{ORDINALS[at]}:", True), (f" {items[at]}", False)]
        if self.random.random() < 0.3:
            parts += [("\nLast:", True), (f" {items[-1]}", False)]
        return parts

    def neighbour(self, size: float) -> Parts:
        items = self.items(size)
        parts: Parts = [(self.random.choice([", ", "\n", "; "]).join(items) + "\n", True)]
        for at in self.random.sample(range(len(items) - 1), min(len(items) - 1, self.random.randint(1, 3))):
            if self.random.random() < 0.6:
                parts += [(f"\nAfter {items[at]}:", True), (f" {items[at + 1]}", False)]
            else:
                parts += [(f"\nBefore {items[at + 1]}:", True), (f" {items[at]}", False)]
        return parts

    def two_steps(self, size: float) -> Parts:
        names = self.items(size, 12, self.name)
        links = [(a, self.random.choice([b for b in names if b != a])) for a in names]
        words = self.random.sample(self.words, 2)
        middle = dict(links)
        values = {name: self.item() for name in names}
        rows = [f"The {words[0]} of {a} is {b}." for a, b in links]
        rows += [f"The {words[1]} of {a} is {b}." for a, b in values.items()]
        self.random.shuffle(rows)
        parts: Parts = [(" ".join(rows) + "\n", True)]
        for name in self.random.sample(names, min(len(names), self.random.randint(1, 3))):
            between = middle[name]
            parts.append((f"\nThe {words[1]} of the {words[0]} of {name}?", True))
            if self.random.random() < 0.7:
                parts.append((f" The {words[0]} of {name} is {between}. The {words[1]} of {between} is", False))
            parts.append((f" {values[between]}.", False))
        return parts

    def address(self, size: float) -> Parts:
        names = self.items(size, 8, self.name)
        where = {name: ADDRESS + name.replace(" ", "_") for name in names}
        style = self.random.random()
        if style < 0.4:
            shown = "\n".join(f"[{name}]({where[name]})" for name in names)
        elif style < 0.7:
            shown = "\n".join(f"{at + 1}. {name} ({where[name]})" for at, name in enumerate(names))
        else:
            shown = ", ".join(names)
        parts: Parts = [(shown + "\n", True)]
        for name in self.random.sample(names, min(len(names), self.random.randint(1, 3))):
            if self.random.random() < 0.6:
                parts += [(f"\n{name}:", True), (f" {where[name]}", False)]
            else:
                parts += [(f"\n{where[name]}", True), (f" {name}", False)]
        return parts

    def statements(self, size: float) -> Parts:
        rows: list[tuple[str, str, str]] = []
        for name in self.items(size, 10, self.name):
            word, value = self.random.choice(self.words), self.item()
            said = self.random.choice(
                [f"{name} has the {word} {value}.", f"In {name} the {word} was {value}.", f"{value} is the {word} of {name}."]
            )
            rows.append((said, f"the {word} of {name}", value))
        parts: Parts = [(" ".join(said for said, _, _ in rows) + "\n", True)]
        for said, wanted, value in self.random.sample(rows, min(len(rows), self.random.randint(1, 3))):
            if self.random.random() < 0.5:
                parts += [(f"\nWanted: {wanted}\nIt says:", True), (f" {said} That is {value}", False)]
            else:
                parts += [(f"\n{wanted}:", True), (f" {value}", False)]
        return parts

    def assignments(self, size: float) -> Parts:
        """Names of several words, with spaces and as identifiers."""

        def compound() -> str:
            return " ".join(self.random.sample(self.words, self.random.randint(1, 4)))

        names = self.items(size, 8, compound)
        values = [self.number().replace(",", "") for _ in names]
        spoken = ", ".join(f"{name} {value}" for name, value in zip(names, values))
        written = "\n".join(f"{name.replace(' ', '_')} = {value}" for name, value in zip(names, values))
        if self.random.random() < 0.6:
            return [(f"Numbers: {spoken}\nProgram:", True), (f"\n{written}", False)]
        said = ", ".join(f"{name} is {value}" for name, value in zip(names, values))
        return [(f"Printed:\n{written}\nIn words:", True), (f" {said}.", False)]

    def put_in(self, size: float) -> Parts:
        parts: Parts = []
        for _ in range(self.random.randint(1, 1 + round(3 * size))):
            words = self.random.sample(self.words, self.random.randint(2, 5))
            at = self.random.randrange(1, len(words) + 1)
            name = self.name()
            before, after = " ".join(words[:at]), " ".join(["", *words[at:]])
            parts += [(f"{before} it{after}; it is {name}:", True), (f" {before} {name}{after}", False), ("\n", True)]
        return parts[:-1]

    def numbers(self, size: float) -> Parts:
        parts: Parts = []
        for _ in range(self.random.randint(1, 1 + round(5 * size))):
            length = self.random.randint(1, 6)
            one, other = self.random.randrange(10**length), self.random.randrange(10**length)
            style = self.random.random()
            if style < 0.4:
                word, right = self.random.choice([("larger", max(one, other)), ("smaller", min(one, other))])
                parts += [(f"Which is {word}, {one} or {other}?", True), (f" {right}", False), ("\n", True)]
            elif style < 0.8:
                parts += [(f"{one:,} without comma:", True), (f" {one}", False), ("\n", True)]
            else:
                parts += [(f"{one} with comma:", True), (f" {one:,}", False), ("\n", True)]
        return parts[:-1]

    def count(self, size: float) -> Parts:
        items = self.items(size, 9)
        listed = "\n".join(f"- {item}" for item in items)
        return [(f"{listed}\nHow many?", True), (f" {len(items)}", False)]
