"""Benchmarks training, policy-gradient steps and sampling on this machine's device, with memory use.

    python bench/speed.py --size 25m --size 135m --size 1b --out speed.json
        python bench/speed.py --size toy            # less than a minute on a CPU

Each part prints a line of JSON when it is measured; a part that fails is reported and the others continue.

Training: tokens per second of forward and backward passes with optimizer step, and the fraction of the device's peak
FLOPS (6 per parameter and token, plus 12·layers·width·length for attention, halved because it is causal). Sampling:
new tokens per second for a number of concurrent sequences with 64-token prompts.

With --out, results are saved together with the most expensive kernels and the fraction of time the device was busy
(`busy`), and as tables in a second file next to it.
"""

import argparse
import gc
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from coa_trainer.model.adamw import AdamSettings
from coa_trainer.model.bases import BaseModels, ModelOptions
from coa_trainer.model.compile_modes import MODES
from coa_trainer.model.datum import Datum, Loss
from coa_trainer.model.learner import PassOptions
from coa_trainer.model.trained import full_weights, trained_model
from coa_trainer.sampling.choose_decoder import choose_decoder
from coa_trainer.sampling.job import Batch, SampleRequest
from coa_trainer.sampling.sampler import Sampler
from coa_trainer.sampling.token_sampling import SamplingParams

SIZES: dict[str, dict[str, int]] = {
    "toy": {"width": 64, "inner": 176, "layers": 2, "heads": 2, "shared": 1, "vocabulary": 512},
    "25m": {"width": 512, "inner": 1408, "layers": 8, "heads": 8, "shared": 2, "vocabulary": 6400},
    "135m": {"width": 576, "inner": 1536, "layers": 30, "heads": 9, "shared": 3, "vocabulary": 49152},
    "1b": {"width": 2048, "inner": 5632, "layers": 22, "heads": 32, "shared": 4, "vocabulary": 32000},
    # The shapes of Qwen2.5-0.5B and -1.5B.
    "0.5b": {"width": 896, "inner": 4864, "layers": 24, "heads": 14, "shared": 2, "vocabulary": 151936},
    "1.5b": {"width": 1536, "inner": 8960, "layers": 28, "heads": 12, "shared": 2, "vocabulary": 151936},
}
QWEN = {"0.5b", "1.5b"}
# Peak dense bfloat16 FLOPS, by device name.
PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12}
PARTS = ("training", "ragged", "policy", "groups", "sampling")
# Rollouts of a task: tokens of the prompt they share, tokens of each answer, and how many there are.
PROMPT, ANSWER, GROUP = 370, 190, 16
CONTEXT = 8192

Result = dict[str, Any]


def write_config(folder: Path, size: str) -> None:
    shape = SIZES[size]
    family, architecture = ("qwen2", "Qwen2ForCausalLM") if size in QWEN else ("llama", "LlamaForCausalLM")
    config = {
        "model_type": family,
        "architectures": [architecture],
        "vocab_size": shape["vocabulary"],
        "hidden_size": shape["width"],
        "intermediate_size": shape["inner"],
        "num_hidden_layers": shape["layers"],
        "num_attention_heads": shape["heads"],
        "num_key_value_heads": shape["shared"],
        "max_position_embeddings": CONTEXT,
        "tie_word_embeddings": True,
    }
    (folder / "config.json").write_text(json.dumps(config))


class Bench:
    def __init__(self, size: str, given: argparse.Namespace) -> None:
        self.size = size
        self.given = given
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as name:
            write_config(Path(name), size)
            options = ModelOptions(self.device, dtype, 0, given.checkpointing, given.compile)
            bases = BaseModels({size: Path(name)}, options)
            weights = full_weights(bases, size, bases.fresh(size))
            passes = PassOptions(given.batch_tokens, given.checkpointing)
            self.trained = trained_model(bases, size, weights, passes)
        self.weights = self.trained.info["trained_parameters"]
        self.vocabulary = SIZES[size]["vocabulary"]
        body = self.trained.learner._body
        self.about: Result = {
            "custom_layers": body is not None,
            "compiled": body.compiler.mode if body is not None else "off",
            "opened_seconds": round(time.perf_counter() - started, 1),
        }

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def measure(self, work: Callable[[], object]) -> Result:
        """Median over as many runs as fit, after two warm-up runs, and what the device did meanwhile."""
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        started = time.perf_counter()
        for _ in range(2):
            work()
        self.wait()
        first = time.perf_counter() - started
        times: list[float] = []
        end = time.perf_counter() + self.given.seconds
        while not times or (time.perf_counter() < end and len(times) < 30):
            self.wait()
            start = time.perf_counter()
            work()
            self.wait()
            times.append(time.perf_counter() - start)
        seconds = float(np.median(times))
        found: Result = {"seconds": seconds, "runs": len(times), "first_two_seconds": round(first, 1)}
        if self.device.type == "cuda":
            found["memory_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
        if self.given.out is not None:
            found |= self.kernels(work)
        return found

    def kernels(self, work: Callable[[], object]) -> Result:
        on_cuda = self.device.type == "cuda"
        with profile(activities=[ProfilerActivity.CUDA if on_cuda else ProfilerActivity.CPU]) as seen:
            start = time.perf_counter()
            work()
            self.wait()
            wall = time.perf_counter() - start
        averages: Any = seen.key_averages()
        field = "self_device_time_total" if on_cuda else "self_cpu_time_total"
        rows = sorted(averages, key=lambda each: -getattr(each, field))
        total = sum(getattr(each, field) for each in rows) / 1e6
        table = [
            {
                "name": each.key[:90],
                "calls": each.count,
                "ms": round(getattr(each, field) / 1e3, 3),
                "share": round(getattr(each, field) / 1e6 / max(total, 1e-9), 3),
            }
            for each in rows[:25]
        ]
        return {"busy": round(total / wall, 3), "kernels": table}

    # Parts

    def train(self, what: str, lengths: list[int], policy: bool = False, prompt: int = 0) -> Result:
        """With a prompt, consecutive sequences share their first tokens, which are not trained on."""
        random = np.random.default_rng(1)
        data: list[Datum] = []
        for number, length in enumerate(lengths):
            ids = random.integers(0, self.vocabulary, length + 1)
            ones = np.ones(length, dtype=np.float32)
            weights = np.where(np.arange(length) < prompt - 1, 0, ones).astype(np.float32)
            if number % GROUP > 0:
                ids[:prompt] = data[-1].tokens[:prompt]
            inputs = {"logprobs": -np.log(self.vocabulary) * ones, "advantages": ones, "weights": weights}
            data.append(Datum(ids[:-1], ids[1:], {**inputs} if policy else {}))
        loss = (
            Loss("ppo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28}) if policy else Loss("cross_entropy")
        )

        def step() -> None:
            self.trained.run(data, loss, backward=True)
            self.trained.optimizer.update(AdamSettings(learning_rate=1e-6, grad_clip_norm=1.0))

        found = self.measure(step)
        shape = SIZES[self.size]
        tokens = sum(lengths)
        operations = 6 * self.weights * tokens
        operations += sum(6 * shape["layers"] * shape["width"] * length * length for length in lengths)
        return {
            "what": what,
            "sequences": len(lengths),
            "longest": max(lengths),
            "tokens_per_second": round(tokens / found["seconds"]),
            "steps_per_second": round(1 / found["seconds"], 2),
            "utilization": self.share(operations / found["seconds"]),
            **found,
        }

    def share(self, operations: float) -> float | None:
        name = torch.cuda.get_device_name() if self.device.type == "cuda" else ""
        peak = next((value for key, value in PEAKS.items() if key in name), None)
        return None if peak is None else round(operations / peak, 3)

    def sample(self, sequences: int, prompt: int, new: int) -> Result:
        decoder = choose_decoder(self.trained.weights.model, self.vocabulary)
        one = getattr(decoder, "one", None)
        sampler = Sampler(decoder, CONTEXT, self.vocabulary, None, max(256, sequences), cache_tokens=1 << 22)
        random = np.random.default_rng(2)
        marks: Result = {}

        def run() -> None:
            failures: list[BaseException] = []
            started = time.perf_counter()
            for number in range(sequences):
                ids = random.integers(0, self.vocabulary, prompt).tolist()
                request = SampleRequest(ids, new, SamplingParams(), seed=number)
                sampler.add(request, Batch(lambda _: None, failures.append))
            marks["adding_seconds"] = round(time.perf_counter() - started, 4)
            while not sampler.idle:
                sampler.step()
            if failures:
                raise failures[0]

        found = self.measure(run)
        return {
            "what": "sampling",
            "decoder": type(decoder).__name__,
            "ops": type(one.ops).__name__ if one is not None else None,
            "sequences": sequences,
            "prompt": prompt,
            "new": new,
            "tokens_per_second": round(sequences * new / found["seconds"]),
            "step_ms": round(found["seconds"] / new * 1e3, 3),
            **marks,
            **found,
        }


def works(bench: Bench, given: argparse.Namespace) -> list[tuple[str, Callable[[], Result]]]:
    toy = bench.size == "toy"
    lengths = [64] if toy else given.lengths
    total = 1024 if toy else given.batch_tokens
    uneven = np.random.default_rng(7).integers(16, 64 if toy else 1024, 40 if toy else total // 520).tolist()
    count, new = (16, 32) if toy else (given.sequences, given.new)
    listed: list[tuple[str, Callable[[], Result]]] = [
        ("training", lambda each=each: bench.train("training", [each] * max(1, total // each)))  # type: ignore[misc]
        for each in lengths
    ]
    listed.append(("ragged", lambda: bench.train("ragged", uneven)))
    listed.append(("policy", lambda: bench.train("policy", [lengths[0]] * max(1, total // lengths[0]), policy=True)))
    listed.append(("groups", lambda: bench.train("groups", [PROMPT + ANSWER] * GROUP * 4, policy=True, prompt=PROMPT)))
    listed.append(("sampling", lambda: bench.sample(count, 64, new)))
    return [(part, work) for part, work in listed if part in given.parts]


def say(result: Result) -> None:
    print(json.dumps({name: value for name, value in result.items() if name != "kernels"}), flush=True)
    for row in result.get("kernels", [])[:8]:
        print(f"    {row['share']:6.1%} {row['ms']:9.2f} ms {row['calls']:6d} × {row['name']}", flush=True)


def failure(error: BaseException) -> Result:
    traceback.print_exception(error, limit=-6, file=sys.stderr)
    return {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:400]}


def keep(results: list[Result], path: Path | None) -> None:
    """Called after every part, so that an interrupted run keeps its results."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1))
    lines: list[str] = []
    for result in results:
        lines += ["", json.dumps({name: value for name, value in result.items() if name != "kernels"})]
        lines += [
            f"{row['share']:7.1%} {row['ms']:10.3f} ms {row['calls']:6d} × {row['name']}"
            for row in result.get("kernels", [])
        ]
    path.with_suffix(".kernels.txt").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", action="append", choices=SIZES, required=True)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compile", choices=MODES, default="auto")
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--batch-tokens", type=int, default=65536)
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--sequences", type=int, default=1024)
    parser.add_argument("--new", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=5.0, help="time for the measured runs of one part")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        # Tensors this small do not benefit from a second thread.
        torch.set_num_threads(1)
    results: list[Result] = []
    for size in given.size:
        about: Result = {"size": size}
        try:
            bench = Bench(size, given)
        except Exception as error:
            results.append({**about, **failure(error)})
            say(results[-1])
            keep(results, given.out)
            continue
        about |= {"weights": bench.weights, **bench.about}
        for part, work in works(bench, given):
            try:
                found = work()
            except Exception as error:
                found = {"what": part, **failure(error)}
            results.append({**about, **found})
            say(results[-1])
            keep(results, given.out)
            gc.collect()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
        del bench, work
        gc.collect()


if __name__ == "__main__":
    main()
