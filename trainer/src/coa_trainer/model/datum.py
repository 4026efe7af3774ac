"""Training examples as the protocol defines them: a token sequence and a target for each position."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Datum:
    tokens: Integers
    """The input; position i predicts `targets[i]`."""
    targets: Integers
    inputs: dict[str, Floats] = field(default_factory=dict)
    """Per-position inputs of the loss besides the targets: weights, logprobs, advantages, …"""

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True)
class PassResult:
    loss: float
    logprobs: list[Floats]
    elementwise: list[Floats]


@dataclass(frozen=True)
class Loss:
    kind: str
    config: dict[str, float] = field(default_factory=dict)

    @property
    def temperature(self) -> float:
        """Divides the logits before the softmax."""
        return self.config.get("temperature", 1.0)
