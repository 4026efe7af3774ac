"""Packs examples into rows, so that little is spent on padding and on prefixes that examples have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .datum import Datum, Floats
from .packed_attention import Layout

# Length of each padding sequence.
PADDING = 128
# A shorter common prefix is not worth the bookkeeping.
MIN_SHARED = 16


@dataclass(frozen=True)
class RowPlan:
    members: list[int]
    """Indices of consecutive examples of the request."""
    shared: list[int]
    """How many leading positions each member shares with the one before it."""


@dataclass(frozen=True)
class Row:
    """Several examples in one row of tokens, with positions that restart at each example."""

    plan: RowPlan
    layout: Layout
    """Padding sequences come after the members."""
    tokens: torch.Tensor
    positions: torch.Tensor
    scored: torch.Tensor | None
    """Where log-probabilities are needed; None: everywhere. The last entries may be padding."""
    scored_places: NDArray[np.int64] | None
    """The same without padding, in host memory."""
    targets: torch.Tensor
    inputs: dict[str, torch.Tensor]
    """Targets and inputs of the loss for the scored positions only."""

    def select(self, states: torch.Tensor) -> torch.Tensor:
        return states if self.scored is None else states.index_select(0, self.scored)


def shared_prefix(one: Datum, other: Datum) -> int:
    """How many leading positions of `other` are context only and the same as in `one`, with the same results."""
    weights = other.inputs.get("weights")
    length = min(len(one), len(other) - 1)
    if weights is None or length < MIN_SHARED or one.tokens[0] != other.tokens[0]:
        return 0
    part = slice(0, length)
    same = (one.tokens[part] == other.tokens[part]) & (one.targets[part] == other.targets[part]) & (weights[part] == 0)
    count = length if same.all() else int(same.argmin())
    return count if count >= MIN_SHARED else 0


def plan_rows(data: Sequence[Datum], budget: int) -> list[RowPlan]:
    """Rows of consecutive examples with at most `budget` tokens; a longer example gets a row of its own."""
    plans: list[RowPlan] = []
    remaining = 0
    for number, datum in enumerate(data):
        shared = shared_prefix(data[number - 1], datum) if plans and budget > 0 else 0
        if not plans or len(datum) - shared > remaining:
            plans.append(RowPlan([], []))
            remaining, shared = budget, 0
        plans[-1].members.append(number)
        plans[-1].shared.append(shared)
        remaining -= len(datum) - shared
    return plans


def size_for(tokens: int) -> int:
    """Rounds up to a power of two or 1.5 times one, so that there are few distinct sizes."""
    power = max(256, 1 << (tokens - 1).bit_length())
    return power * 3 // 4 if tokens <= power * 3 // 4 else power


def pack(data: Sequence[Datum], plan: RowPlan, device: torch.device, fill: bool = False, every: bool = True) -> Row:
    """With `fill`, the row is padded to one of a few sizes with short zero-weight sequences.

    With `every`, log-probabilities are computed at every position, otherwise only where the weight is not 0.
    """
    chosen = [data[member] for member in plan.members]
    names = {name for datum in chosen for name in datum.inputs}
    total = sum(len(datum) for datum in chosen) - sum(plan.shared)
    missing = size_for(total) - total if fill else 0
    ends = np.cumsum([len(datum) - shared for datum, shared in zip(chosen, plan.shared, strict=True)]).tolist()
    ends += [min(end, total + missing) for end in range(total + PADDING, total + missing + PADDING, PADDING)]
    if missing:
        names.add("weights")
    columns = {name: _column([_input(name, datum) for datum in chosen], plan, missing) for name in names}
    integers = [
        _column([datum.tokens for datum in chosen], plan, missing),
        _column([np.arange(len(datum)) for datum in chosen], plan, missing),
    ]
    targets = _column([datum.targets for datum in chosen], plan, missing)
    places = None if every or "weights" not in columns else np.flatnonzero(columns["weights"])
    scored = places
    if places is not None:
        # At least one position, so that there is something to differentiate.
        count = max(len(places), 1)
        scored = np.concatenate([places, np.zeros((size_for(count) if fill else count) - len(places), dtype=np.int64)])
        targets = targets[scored]
        columns = {name: values[scored] for name, values in columns.items()}
        columns["weights"][len(places) :] = 0
    tokens, positions = _to(np.stack(integers).astype(np.int64, copy=False), device)
    rest = [targets] if scored is None else [targets, scored]
    on_device = _to(np.stack(rest).astype(np.int64, copy=False), device)
    floats = [columns[name] for name in sorted(names)]
    found = _to(np.stack(floats).astype(np.float32, copy=False), device) if floats else []
    return Row(
        plan=plan,
        layout=Layout(ends, plan.shared),
        tokens=tokens,
        positions=positions,
        scored=None if scored is None else on_device[1],
        scored_places=places,
        targets=on_device[0],
        inputs=dict(zip(sorted(names), found, strict=True)),
    )


def results_of(row: Row, found: Floats, every: bool) -> list[tuple[int, Floats, Floats]]:
    """Index, log-probabilities and losses of each member, from the [log-probabilities, losses] of the scored positions.

    Positions that were not scored, and those that another member is scored for, are 0.
    """
    if row.scored_places is not None:
        spread = np.zeros((2, row.layout.ends[-1]), dtype=np.float32)
        spread[:, row.scored_places] = found[:, : len(row.scored_places)]
        found = spread
    results: list[tuple[int, Floats, Floats]] = []
    for member, shared, places in zip(row.plan.members, row.plan.shared, row.layout.places, strict=False):
        logprobs, losses = found[:, places]
        losses[:shared] = 0
        if not every:
            logprobs[:shared] = 0
        results.append((member, logprobs, losses))
    return results


def _column(values: Sequence[NDArray[Any]], plan: RowPlan, missing: int) -> NDArray[Any]:
    own = [each[shared:] for each, shared in zip(values, plan.shared, strict=True)]
    return np.concatenate([*own, np.zeros(missing, dtype=own[0].dtype)])


def _input(name: str, datum: Datum) -> Floats:
    """An optional input that only some examples have gets its default value in the others."""
    if name in datum.inputs:
        return datum.inputs[name]
    if name == "sampled_logprobs" and "logprobs" in datum.inputs:
        return datum.inputs["logprobs"]
    return np.ones(len(datum), dtype=np.float32)


def _to(array: np.ndarray[tuple[int, int], np.dtype[np.generic]], device: torch.device) -> list[torch.Tensor]:
    """One asynchronous copy to the device for all rows."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return list(tensor.to(device, non_blocking=True).unbind())
