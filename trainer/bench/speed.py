"""Speed of the trainer on this machine's device: training, policy steps and sampling, each with its memory.

    python bench/speed.py --size 25m --size 135m --size 1b --out speed.json
    python bench/speed.py --size toy            # a minute on a processor

Training: tokens a second of passes forward and backward with the step of the optimiser, and the share of the device's
peak that the model's operations are (6 for each weight and token, and 12·layers·width·length for attention, halved for
looking back only). Sampling: new tokens a second with so many sequences at once, prompts of 64 tokens.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from coa_trainer.model import attention
from coa_trainer.model.adamw import AdamSettings, AdamW
from coa_trainer.model.datum import Datum, Loss
from coa_trainer.model.learner import Learner, PassOptions
from coa_trainer.model.probe import probe
from coa_trainer.sampling.choose_decoder import choose_decoder
from coa_trainer.sampling.draw import DrawRules
from coa_trainer.sampling.job import Batch, SampleRequest
from coa_trainer.sampling.sampler import Sampler

SIZES: dict[str, dict[str, int]] = {
    "toy": {"width": 64, "inner": 176, "layers": 2, "heads": 4, "shared": 2, "vocabulary": 512},
    "25m": {"width": 512, "inner": 1408, "layers": 8, "heads": 8, "shared": 2, "vocabulary": 6400},
    "135m": {"width": 576, "inner": 1536, "layers": 30, "heads": 9, "shared": 3, "vocabulary": 49152},
    "1b": {"width": 2048, "inner": 5632, "layers": 22, "heads": 32, "shared": 4, "vocabulary": 32000},
}
# Dense bfloat16 operations a second, by the name of the device.
PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12}


def model_of(size: str, device: torch.device, dtype: torch.dtype) -> Any:
    shape = SIZES[size]
    config = LlamaConfig(
        vocab_size=shape["vocabulary"],
        hidden_size=shape["width"],
        intermediate_size=shape["inner"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["shared"],
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        attn_implementation=attention.NAME,
    )
    torch.manual_seed(0)
    return LlamaForCausalLM(config).to(device=device, dtype=dtype).eval()


class Bench:
    def __init__(self, size: str, compiled: bool, batch_tokens: int) -> None:
        self.size = size
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        self.model = model_of(size, self.device, self.dtype)
        self.weights = sum(parameter.numel() for parameter in self.model.parameters())
        self.vocabulary = SIZES[size]["vocabulary"]
        abilities = probe(self.model, self.vocabulary)
        if compiled:
            for layer in self.model.model.layers:
                layer.compile(dynamic=False)
        self.learner = Learner(self.model, self.vocabulary, abilities, PassOptions(batch_tokens=batch_tokens))
        self.optimizer = AdamW(list(self.model.named_parameters()))

    def seconds(self, work: Callable[[], object], most: float = 12.0) -> float:
        """The median of as many times as fit, after two that do not count."""
        for _ in range(2):
            work()
        times: list[float] = []
        end = time.perf_counter() + most
        while time.perf_counter() < end and len(times) < 30:
            self.wait()
            start = time.perf_counter()
            work()
            self.wait()
            times.append(time.perf_counter() - start)
        return float(np.median(times))

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def memory(self) -> float | None:
        return torch.cuda.max_memory_allocated() / 2**30 if self.device.type == "cuda" else None

    def train(self, sequences: int, length: int, policy: bool) -> dict[str, Any]:
        random = np.random.default_rng(1)
        ids = random.integers(0, self.vocabulary, (sequences, length + 1))
        inputs: dict[str, Any] = {}
        if policy:
            ones = np.ones(length, dtype=np.float32)
            inputs = {"logprobs": -np.log(self.vocabulary) * ones, "advantages": ones, "weights": ones}
        data = [Datum(row[:-1], row[1:], {name: each.copy() for name, each in inputs.items()}) for row in ids]
        loss = (
            Loss("ppo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28}) if policy else Loss("cross_entropy")
        )

        def step() -> None:
            self.learner.run(data, loss, self.optimizer.collect)
            self.optimizer.update(AdamSettings(learning_rate=1e-6, grad_clip_norm=1.0))

        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        seconds = self.seconds(step)
        shape = SIZES[self.size]
        operations = 6 * self.weights + 6 * shape["layers"] * shape["width"] * length
        rate = sequences * length / seconds
        return {
            "what": "policy" if policy else "training",
            "sequences": sequences,
            "length": length,
            "tokens_per_second": round(rate),
            "steps_per_second": round(1 / seconds, 2),
            "utilisation": self.share(rate * operations),
            "memory_gib": self.memory(),
        }

    def share(self, operations: float) -> float | None:
        name = torch.cuda.get_device_name() if self.device.type == "cuda" else ""
        peak = next((value for key, value in PEAKS.items() if key in name), None)
        return None if peak is None else round(operations / peak, 3)

    def sample(self, sequences: int, prompt: int, new: int) -> dict[str, Any]:
        rows = max(256, sequences)
        decoder = choose_decoder(self.model, self.vocabulary)
        sampler = Sampler(decoder, 8192, self.vocabulary, None, rows, cache_tokens=1 << 22)
        random = np.random.default_rng(2)
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()

        def run() -> None:
            failures: list[BaseException] = []
            for number in range(sequences):
                ids = random.integers(0, self.vocabulary, prompt).tolist()
                request = SampleRequest(ids, new, DrawRules(), seed=number)
                sampler.add(request, Batch(lambda _: None, failures.append))
            while not sampler.idle:
                sampler.step()
            if failures:
                raise failures[0]

        seconds = self.seconds(run, most=20.0)
        return {
            "what": "sampling",
            "decoder": type(decoder).__name__,
            "sequences": sequences,
            "prompt": prompt,
            "new": new,
            "tokens_per_second": round(sequences * new / seconds),
            "memory_gib": self.memory(),
        }


Work = Callable[[], dict[str, Any]]


def toy_works(bench: Bench) -> list[Work]:
    return [
        partial(bench.train, 16, 64, policy=False),
        partial(bench.train, 16, 64, policy=True),
        partial(bench.sample, 16, 64, 16),
    ]


def real_works(bench: Bench, given: argparse.Namespace) -> list[Work]:
    return [
        *(partial(bench.train, max(1, given.batch_tokens // each), each, policy=False) for each in given.lengths),
        partial(bench.train, 128, 512, policy=True),
        partial(bench.sample, given.sequences, 64, given.new),
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", action="append", choices=SIZES, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--batch-tokens", type=int, default=65536)
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--sequences", type=int, default=1024)
    parser.add_argument("--new", type=int, default=256)
    given = parser.parse_args()
    results: list[dict[str, Any]] = []
    for size in given.size:
        bench = Bench(size, given.compile, 4096 if size == "toy" else given.batch_tokens)
        works = toy_works(bench) if size == "toy" else real_works(bench, given)
        for work in works:
            try:
                found = work()
            except torch.OutOfMemoryError as error:
                found = {"error": str(error).splitlines()[0]}
                torch.cuda.empty_cache()
            results.append({"size": size, "weights": bench.weights, "compiled": given.compile, **found})
            print(json.dumps(results[-1]), flush=True)
    if given.out is not None:
        given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
