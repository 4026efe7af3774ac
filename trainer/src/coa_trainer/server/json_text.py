"""JSON serialization as the protocol defines it: a non-finite float is null. Arrays become lists."""

import json
import math
from typing import Any

import numpy as np


def to_json(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_list).encode()
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, separators=(",", ":")).encode()


def _list(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be serialized")


def _finite(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _finite(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
