"""What a user would otherwise run: transformers with torch.compile, padded batches and PyTorch's fused AdamW.

    python bench/plain.py --size 0.5b --size 1.5b

Prints tokens per second on the sequences that speed.py trains on, so that both can be compared in one session on the
same device: equal lengths, mixed lengths, and groups of 16 that share a prompt. Weights and optimizer state are
bfloat16 here, which is faster than the trainer's float32 master weights; the batch is the largest that fits.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from speed import ANSWER, GROUP, PEAKS, PROMPT, SIZES, write_config
from transformers import AutoConfig, AutoModelForCausalLM


def batches(lengths: list[int], vocabulary: int, rows: int, device: torch.device) -> list[dict[str, torch.Tensor]]:
    """Padded to the longest of each batch, rounded up to 128 so that few shapes are compiled."""
    random = np.random.default_rng(1)
    ordered = sorted(lengths)
    found: list[dict[str, torch.Tensor]] = []
    for start in range(0, len(ordered), rows):
        part = ordered[start : start + rows]
        width = -(-max(part) // 128) * 128
        ids = torch.from_numpy(random.integers(0, vocabulary, (rows, width)))
        mask = torch.zeros(rows, width, dtype=torch.long)
        for row, length in enumerate(part):
            mask[row, :length] = 1
        labels = torch.where(mask == 1, ids, -100)
        given = {"input_ids": ids, "labels": labels}
        if int(mask.sum()) < mask.numel():
            given["attention_mask"] = mask
        found.append({name: each.to(device) for name, each in given.items()})
    return found


def measure(size: str, what: str, lengths: list[int], rows: int, seconds: float) -> dict[str, Any]:
    device = torch.device("cuda")
    with tempfile.TemporaryDirectory() as name:
        write_config(Path(name), size)
        config = AutoConfig.from_pretrained(name)
    torch.manual_seed(0)
    with device:
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="sdpa")
    model.train()
    parameters = sum(each.numel() for each in model.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    compiled: Any = torch.compile(model)
    data = batches(lengths, config.vocab_size, rows, device)

    def step() -> None:
        for given in data:
            (compiled(**given, use_cache=False).loss / len(data)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    started = time.perf_counter()
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    first = time.perf_counter() - started
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and len(times) < 30:
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    each = float(np.median(times))
    shape, tokens = SIZES[size], sum(lengths)
    operations = 6 * parameters * tokens + sum(6 * shape["layers"] * shape["width"] * one * one for one in lengths)
    peak = next((value for key, value in PEAKS.items() if key in torch.cuda.get_device_name()), 1.0)
    return {
        "size": size,
        "what": f"plain {what}",
        "rows": rows,
        "tokens_per_second": round(tokens / each),
        "utilization": round(operations / each / peak, 3),
        "first_three_seconds": round(first, 1),
        "memory_gib": round(torch.cuda.max_memory_allocated() / 2**30, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", action="append", choices=SIZES, required=True)
    parser.add_argument("--batch-tokens", type=int, default=32768)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    uneven = np.random.default_rng(7).integers(16, 1024, given.batch_tokens // 520).tolist()
    works = {"training": [512] * (given.batch_tokens // 512), "ragged": uneven, "groups": [PROMPT + ANSWER] * GROUP * 4}
    for size in given.size:
        for what, lengths in works.items():
            for rows in (32, 16, 8):
                try:
                    print(json.dumps(measure(size, what, lengths, rows, given.seconds)), flush=True)
                    break
                except torch.OutOfMemoryError:
                    torch._dynamo.reset()
                finally:
                    torch.cuda.empty_cache()
                    torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()
