"""Exact-match evaluation of copies and answers, on held-out names and documents."""

import torch

from bpe import GIVEN, Tokenizer
from drills import Drills
from rows import BaseText, can_be_far, far_apart

DRILLS_OF_A_KIND = 40
DOCUMENTS = 240


class Exams:
    """An answer is a run of tokens that are not given. It counts if greedy decoding reproduces all of it."""

    def __init__(self, text: BaseText, tokenizer: Tokenizer, length: int, device, number):
        self.device, self.number = device, number
        drills = Drills(7, list(tokenizer.vocabulary), tokenizer.tags, for_tests=True)
        exams = {
            kind.__name__: [[*tokenizer.encode(kind(0.8)), tokenizer.end] for _ in range(DRILLS_OF_A_KIND)]
            for kind in drills.kinds
        }
        kept = range(text.trained, min(text.documents, text.trained + DOCUMENTS))
        far = [parts for parts in (drills.any(0.8) for _ in range(3 * DRILLS_OF_A_KIND)) if can_be_far(parts)]
        exams["far"] = [list(far_apart(tokenizer, parts, text.document(at))) for parts, at in zip(far, kept)]
        exams["text"] = [list(text.document(number)) for number in kept]
        self.exams = {
            name: torch.tensor([pad(each, longest, tokenizer.end) for each in fitting])
            for name, documents in exams.items()
            for fitting in [[each for each in documents if len(each) <= length]]
            for longest in [max(len(each) for each in fitting)]
        }

    @torch.no_grad()
    def evaluate(self, model) -> dict[str, float]:
        return {name: self._accuracy(model, stored) for name, stored in self.exams.items()}

    def _accuracy(self, model, stored) -> float:
        correct = answers = 0
        for rows in stored.split(40):
            rows = rows.to(self.device)
            tokens = rows & (GIVEN - 1)
            with torch.autocast(self.device.type, dtype=self.number, enabled=self.number != torch.float32):
                likeliest = model(tokens[:, :-1]).argmax(-1)
            is_correct = (likeliest == tokens[:, 1:]).cpu().tolist()
            is_asked = (rows[:, 1:] < GIVEN).cpu().tolist()
            for each_correct, each_asked in zip(is_correct, is_asked):
                found = runs(each_correct, each_asked)
                answers += len(found)
                correct += sum(found)
        return correct / max(1, answers)


def runs(is_correct: list[bool], is_asked: list[bool]) -> list[bool]:
    """Whether each run of asked tokens is entirely correct."""
    found: list[bool] = []
    inside = False
    for correct, asked in zip(is_correct, is_asked):
        if asked and inside:
            found[-1] = found[-1] and correct
        elif asked:
            found.append(correct)
        inside = asked
    return found


def pad(tokens: list[int], length: int, end: int) -> list[int]:
    """Padding counts as given, so it is not evaluated."""
    return tokens + [end | GIVEN] * (length - len(tokens))
