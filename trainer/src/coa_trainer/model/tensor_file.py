"""Writes safetensors files without holding Python's lock, so that other threads keep training."""

import hashlib
import json
import os
from collections.abc import MutableMapping
from pathlib import Path

import torch

_NAMES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
# Bytes written and hashed at a time; both release the lock.
_CHUNK = 8 << 20


def write_tensors(path: Path, tensors: MutableMapping[str, torch.Tensor], metadata: dict[str, str]) -> str:
    """Writes to disk and returns the SHA-256 of the file.

    The mapping is emptied on the way: a tensor on the device is released as soon as it has been written.
    """
    names = sorted(tensors)
    digest = hashlib.sha256()
    with path.open("wb", buffering=0) as file:

        def put(data: memoryview) -> None:
            for start in range(0, len(data), _CHUNK):
                chunk = data[start : start + _CHUNK]
                digest.update(chunk)
                while len(chunk) > 0:
                    chunk = chunk[file.write(chunk) :]

        put(memoryview(_header(names, tensors, metadata)))
        for name in names:
            host = tensors.pop(name).detach().to("cpu").contiguous().reshape(-1)
            if host.dtype == torch.float16 and not bool(host.isfinite().all()):
                raise OSError(f"{name} has values that are too large for float16")
            put(memoryview(host.view(torch.uint8).numpy()))  # type: ignore[arg-type]
        os.fsync(file.fileno())
    return digest.hexdigest()


def _header(names: list[str], tensors: MutableMapping[str, torch.Tensor], metadata: dict[str, str]) -> bytes:
    entries: dict[str, object] = {"__metadata__": {"format": "pt", **metadata}}
    reached = 0
    for name in names:
        tensor = tensors[name]
        end = reached + tensor.numel() * tensor.element_size()
        entries[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [reached, end]}
        reached = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text
