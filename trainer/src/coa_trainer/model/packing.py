"""Examples one after another in a row, so that no position is spent on padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .datum import Datum


@dataclass(frozen=True)
class Row:
    """Several examples as one row of tokens, with positions that begin anew at each."""

    members: list[int]
    """Their numbers in the request."""
    ends: list[int]
    tokens: torch.Tensor
    positions: torch.Tensor
    targets: torch.Tensor
    inputs: dict[str, torch.Tensor]

    def parts(self) -> list[tuple[int, slice]]:
        starts = [0, *self.ends[:-1]]
        return [(member, slice(start, end)) for member, start, end in zip(self.members, starts, self.ends, strict=True)]


def groups_within(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Numbers of neighbours that together have at most `budget` tokens; a longer one is alone."""
    groups: list[list[int]] = []
    room = 0
    for number, length in enumerate(lengths):
        if not groups or length > room:
            groups.append([])
            room = budget
        groups[-1].append(number)
        room -= length
    return groups


def pack(data: Sequence[Datum], members: list[int], device: torch.device) -> Row:
    chosen = [data[member] for member in members]
    names = {name for datum in chosen for name in datum.inputs}
    # An input that one example has and another has not stands for its default there.
    inputs = {
        name: _floats([datum.inputs.get(name, _default(name, datum)) for datum in chosen], device)
        for name in sorted(names)
    }
    return Row(
        members=members,
        ends=np.cumsum([len(datum) for datum in chosen]).tolist(),
        tokens=_integers([datum.tokens for datum in chosen], device)[None],
        positions=_integers([np.arange(len(datum)) for datum in chosen], device)[None],
        targets=_integers([datum.targets for datum in chosen], device),
        inputs=inputs,
    )


def _default(name: str, datum: Datum) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    if name == "sampled_logprobs" and "logprobs" in datum.inputs:
        return datum.inputs["logprobs"]
    return np.ones(len(datum), dtype=np.float32)


def _integers(arrays: Sequence[np.ndarray[tuple[int], np.dtype[np.int64]]], device: torch.device) -> torch.Tensor:
    return torch.from_numpy(np.concatenate(arrays).astype(np.int64, copy=False)).to(device)


def _floats(arrays: Sequence[np.ndarray[tuple[int], np.dtype[np.float32]]], device: torch.device) -> torch.Tensor:
    return torch.from_numpy(np.concatenate(arrays).astype(np.float32, copy=False)).to(device)
