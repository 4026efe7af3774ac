"""Token rows for training, filled with whole documents by worker processes."""

import gzip
import multiprocessing
from array import array

from bpe import GIVEN, Tokenizer
from drills import Drills, Parts

WARM_UP = 0.06
"""The fraction of training that uses only short drills, so that the model first learns to use attention."""

FAR_SHARE = 0.2
MAX_FILLER = 500


class BaseText:
    """Documents of the token files, by index. The last 2% are held out."""

    def __init__(self, paths: list[str], end: int):
        self.tokens = array("H")
        for path in paths:
            with gzip.open(path) as file:
                self.tokens.frombytes(file.read())
        self.ends: list[int] = []
        at = -1
        while at + 1 < len(self.tokens):
            at = self.tokens.index(end, at + 1)
            self.ends.append(at + 1)
        self.documents = len(self.ends)
        self.trained = self.documents - self.documents // 50

    def document(self, number: int) -> array:
        return self.tokens[self.ends[number - 1] if number > 0 else 0 : self.ends[number]]


class RowMaker:
    """Fills rows with drills and documents. During warm-up there are only short drills."""

    def __init__(self, text: BaseText, tokenizer: Tokenizer, seed: int, length: int, drill_share: float):
        self.text, self.tokenizer = text, tokenizer
        self.drills = Drills(seed, list(tokenizer.vocabulary), tokenizer.tags)
        self.random = self.drills.random
        self.length, self.drill_share = length, drill_share
        self.waiting: list[array] = []
        self.drilled = self.made = 0

    def row(self, progress: float) -> array:
        """Returns one token more than the input length, because targets are shifted by one."""
        row = array("H")
        room = self.length + 1
        while room > 0:
            document = next((each for each in self.waiting if len(each) <= room), None)
            if document is not None:
                self.waiting.remove(document)
            else:
                document = self.document(progress)
                if len(document) > room and room > self.length // 8:
                    if len(document) <= self.length and len(self.waiting) < 16:
                        self.waiting.append(document)
                    continue
            # The rest of a row is filled with the start of a document.
            row.extend(document[:room])
            room = self.length + 1 - len(row)
        return row

    def document(self, progress: float) -> array:
        is_warm = progress >= WARM_UP
        is_drill = not is_warm or self.drilled < self.drill_share * self.made
        if is_drill:
            size = 2.2 * self.random.random() ** 2 if is_warm else 0.1 + 0.7 * progress / WARM_UP
            document = self.random_copy(size) if self.random.random() < 0.1 else self.drill(size, is_warm)
        else:
            document = self.text.document(self.random.randrange(self.text.trained))
        if is_warm:
            self.made += len(document)
            self.drilled += len(document) if is_drill else 0
        return document

    def drill(self, size: float, is_warm: bool) -> array:
        parts = self.drills.any(size)
        if is_warm and self.random.random() < FAR_SHARE and can_be_far(parts):
            return far_apart(self.tokenizer, parts, self.text.document(self.random.randrange(self.text.trained)))
        return array("H", [*self.tokenizer.encode(parts), self.tokenizer.end])

    def random_copy(self, size: float) -> array:
        """Random tokens, repeated once."""
        count = self.random.randint(4, 8 + round(80 * size))
        tokens = self.random.choices(range(3, self.tokenizer.size), k=count)
        return array("H", [*(token | GIVEN for token in tokens), *tokens, self.tokenizer.end])


def can_be_far(parts: Parts) -> bool:
    """Whether the questions can be separated from their context."""
    return parts[0][0].endswith("\n")


def far_apart(tokenizer: Tokenizer, parts: Parts, between: array) -> array:
    """A drill with filler text between its context and its questions."""
    filler = [token | GIVEN for token in between[: min(len(between) - 1, MAX_FILLER)]]
    asked = tokenizer.encode(parts[1:])
    return array("H", [*tokenizer.encode(parts[:1]), *filler, *asked, tokenizer.end])


def serve_rows(maker_of, seed: int, rows: int, progress, queue) -> None:
    maker: RowMaker = maker_of(seed)
    while True:
        queue.put(b"".join(maker.row(progress.value).tobytes() for _ in range(rows)))


class RowSource:
    """Rows from several worker processes, or generated here if there are none."""

    def __init__(self, maker_of, workers: int, rows: int):
        # Forked, so that the text is in memory only once.
        context = multiprocessing.get_context("fork")
        self.progress = context.Value("d", 0.0)
        self.rows = rows
        self.processes: list = []
        if workers == 0:
            self.maker: RowMaker = maker_of(0)
            return
        self.queue = context.Queue(4 * workers)
        for worker in range(workers):
            arguments = (maker_of, worker, rows, self.progress, self.queue)
            self.processes.append(context.Process(target=serve_rows, args=arguments, daemon=True))
            self.processes[-1].start()

    def next(self) -> bytes:
        if self.processes:
            return self.queue.get()
        return b"".join(self.maker.row(self.progress.value).tobytes() for _ in range(self.rows))

    def close(self) -> None:
        for process in self.processes:
            process.terminate()
