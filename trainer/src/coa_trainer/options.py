"""Command-line options. PyTorch is loaded only if they are right, so that a wrong one is reported immediately."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .model.compile_modes import AUTO, MODES, ON
from .server.loopback import is_loopback

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Options:
    models: dict[str, Path]
    data: Path
    host: str
    port: int
    key: str | None
    device: torch.device
    dtype: torch.dtype
    random_seed: int | None
    batch_tokens: int
    cache_tokens: int
    max_rows: int
    checkpointing: bool
    compile: str
    body_limit: int
    upload_limit: int
    poll_seconds: float
    session_seconds: float


def parse_options(arguments: list[str] | None = None) -> Options:
    parser = _parser()
    given = parser.parse_args(arguments)
    models: dict[str, Path] = {}
    for entry in given.model:
        name, separator, folder = entry.partition("=")
        path = Path(folder if separator else entry).resolve()
        models[name if separator else path.name] = path
    key = given.key or os.environ.get("COA_TRAINER_KEY") or None
    if key is None and not is_loopback(given.host):
        parser.error(f"--host {given.host} needs --key: without a key the server listens on loopback only")
    import torch

    device = torch.device(given.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    dtype = getattr(torch, given.dtype or ("float32" if device.type == "cpu" else "bfloat16"))
    return Options(
        models=models,
        data=Path(given.data).resolve(),
        host=given.host,
        port=given.port,
        key=key,
        device=device,
        dtype=dtype,
        random_seed=given.seed if given.random_init else None,
        batch_tokens=given.batch_tokens,
        cache_tokens=given.cache_tokens,
        max_rows=given.max_rows or (1024 if device.type == "cuda" else 256),
        checkpointing=given.checkpointing,
        compile=given.compile,
        body_limit=given.body_limit,
        upload_limit=given.upload_limit,
        poll_seconds=given.poll_seconds,
        session_seconds=given.session_seconds,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("coa_trainer", description="A Tinker-protocol server on PyTorch.")
    add = parser.add_argument
    add(
        "--model",
        action="append",
        required=True,
        metavar="[NAME=]FOLDER",
        help="a base model; may be repeated",
    )
    add("--data", required=True, help="folder for checkpoints, uploads and the database of futures")
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=8000, help="0 picks a free port")
    add("--key", help="API key that clients send as X-API-Key; default: COA_TRAINER_KEY")
    add("--device", help="default: cuda if available, else cpu")
    add("--dtype", choices=("bfloat16", "float32"), help="default: bfloat16 on cuda, float32 on cpu")
    add("--random-init", action="store_true", help="initialize random weights; only config.json is needed")
    add("--seed", type=int, default=0, help="random seed for --random-init")
    add("--batch-tokens", type=int, default=0, help="tokens per training batch; 0: what fits, 8192 on cpu")
    add("--cache-tokens", type=int, default=0, help="size of the KV cache in tokens; 0: what fits")
    add("--max-rows", type=int, default=0, help="sequences sampled at once; 0: 1024 on cuda, 256 on cpu")
    add("--checkpointing", action="store_true", help="recompute activations: less memory, more time")
    add(
        "--compile",
        choices=MODES,
        nargs="?",
        const=ON,
        default=AUTO,
        help="torch.compile; auto: on cuda, for Llama, Qwen2 and Qwen3; most: try more kernels, slow to start",
    )
    add("--body-limit", type=int, default=256 << 20, help="maximum size of a request in bytes")
    add("--upload-limit", type=int, default=64 << 30, help="maximum total size of uploads in bytes")
    add("--poll-seconds", type=float, default=30.0, help="how long retrieve_future waits before it returns 408")
    add(
        "--session-seconds",
        type=float,
        default=3600.0,
        help="save and unload the models of a client after this much inactivity, until it returns; 0: never",
    )
    return parser
