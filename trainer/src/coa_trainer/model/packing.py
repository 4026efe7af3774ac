"""Packs examples into rows, so that little is spent on padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .datum import Datum

# Length of each padding sequence.
PADDING = 128


@dataclass(frozen=True)
class Row:
    """Several examples in one row of tokens, with positions that restart at each example."""

    members: list[int]
    """Their indices in the request."""
    ends: list[int]
    """Padding sequences come after the members."""
    tokens: torch.Tensor
    positions: torch.Tensor
    targets: torch.Tensor
    inputs: dict[str, torch.Tensor]

    def parts(self) -> list[tuple[int, slice]]:
        starts = [0, *self.ends]
        return [
            (member, slice(start, end)) for member, start, end in zip(self.members, starts, self.ends, strict=False)
        ]


def groups_within(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Groups of consecutive indices with at most `budget` tokens in total; a longer example gets a group of its own."""
    groups: list[list[int]] = []
    remaining = 0
    for number, length in enumerate(lengths):
        if not groups or length > remaining:
            groups.append([])
            remaining = budget
        groups[-1].append(number)
        remaining -= length
    return groups


def size_for(tokens: int) -> int:
    """Rounds up to a power of two or 1.5 times one, so that there are few distinct sizes."""
    power = max(256, 1 << (tokens - 1).bit_length())
    return power * 3 // 4 if tokens <= power * 3 // 4 else power


def pack(data: Sequence[Datum], members: list[int], device: torch.device, fill: bool = False) -> Row:
    """With `fill`, the row is padded to one of a few sizes with short zero-weight sequences."""
    chosen = [data[member] for member in members]
    names = {name for datum in chosen for name in datum.inputs}
    total = sum(len(datum) for datum in chosen)
    missing = size_for(total) - total if fill else 0
    ends = np.cumsum([len(datum) for datum in chosen]).tolist()
    ends += [min(end, total + missing) for end in range(total + PADDING, total + missing + PADDING, PADDING)]
    if missing:
        names.add("weights")
    # An optional input that only some examples have gets its default value in the others.
    floats = [
        np.concatenate([*(datum.inputs.get(name, _default(name, datum)) for datum in chosen), np.zeros(missing)])
        for name in sorted(names)
    ]
    zeros = np.zeros(missing, dtype=np.int64)
    integers = [
        np.concatenate([*(datum.tokens for datum in chosen), zeros]),
        np.concatenate([*(np.arange(len(datum)) for datum in chosen), zeros]),
        np.concatenate([*(datum.targets for datum in chosen), zeros]),
    ]
    tokens, positions, targets = _to(np.stack(integers).astype(np.int64, copy=False), device)
    found = _to(np.stack(floats).astype(np.float32, copy=False), device) if floats else []
    return Row(
        members=members,
        ends=ends,
        tokens=tokens,
        positions=positions,
        targets=targets,
        inputs=dict(zip(sorted(names), found, strict=True)),
    )


def _default(name: str, datum: Datum) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    if name == "sampled_logprobs" and "logprobs" in datum.inputs:
        return datum.inputs["logprobs"]
    return np.ones(len(datum), dtype=np.float32)


def _to(array: np.ndarray[tuple[int, int], np.dtype[np.generic]], device: torch.device) -> list[torch.Tensor]:
    """One asynchronous copy to the device for all rows."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return list(tensor.to(device, non_blocking=True).unbind())
