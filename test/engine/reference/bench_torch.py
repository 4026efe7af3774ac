"""PyTorch's side of the benchmark: a process that answers each JSON line with a JSON line.

    OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive python test/engine/reference/bench_torch.py

The parent sets the OpenMP variables, because they are read when torch is imported; {"op": "settings"} reports them.
By default a waiting thread spins, which is fastest on an idle machine but several times slower with shared cores.
Memory is only comparable in a new process for each model: the allocator keeps some of what an earlier one used.

    {"op": "open", "config": {HF config}, "threads": 2}
        -> {"parameters", "base_memory_bytes"}          memory in use before the model was created
    {"op": "train", "batch": 8, "length": 256, "steps": 5}
        -> {"tokens_per_second", "best_tokens_per_second", "step_seconds", "peak_memory_bytes", "settings", "tried"}
    {"op": "generate", "batch": 32, "prompt": 64, "new": 64, "rounds": 2}
        -> {"tokens_per_second", "best_tokens_per_second", "round_seconds", "settings", "tried"}
    {"op": "settings"} -> versions, threads, environment and chosen settings
    {"op": "close"}    exits, as does the end of the input

The first call for a shape tries sdpa and eager attention on 1 and on `threads` threads, then AdamW as foreach and as
fused, and keeps the fastest: `tried` has the seconds per step of each. "settings" in a request, in the format of the response
({"attention", "threads", "optimizer"}; no optimizer for generate), sets them instead: so a parent can tune once, on an
idle machine, and interleave measurements after that. tokens_per_second uses the median step (or round).
A failure is returned as {"error"} and the process continues. Only new tokens count for generate; sampling is at
temperature 1 from the full vocabulary, and nothing stops early.
"""

import ctypes
import gc
import json
import os
import resource
import statistics
import sys
import time

import torch
import transformers
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

ENVIRONMENT = ("OMP_NUM_THREADS", "OMP_PROC_BIND", "KMP_BLOCKTIME", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "MKL_NUM_THREADS")


def memory(field):
    """VmRSS or VmHWM of this process in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def release():
    """Returns freed memory to the system, as far as the allocator can."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def forget_peak():
    """Resets the peak, so that earlier trials do not count."""
    release()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak_memory():
    try:
        return memory("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Bench:
    def __init__(self):
        self.model = None
        self.chosen = {}

    def open(self, config, threads=2, seed=0):
        self.model, self.optimizer, self.chosen = None, None, {}
        release()
        base = memory("VmRSS")
        self.threads = threads
        torch.manual_seed(seed)
        made = CONFIG_MAPPING[config["model_type"]].from_dict(config)
        self.model = AutoModelForCausalLM.from_config(made, attn_implementation="sdpa").float().eval()
        return {"parameters": sum(p.numel() for p in self.model.parameters()), "base_memory_bytes": base}

    def use(self, attention, threads, optimizer=None):
        torch.set_num_threads(threads)
        self.model.set_attn_implementation(attention)
        if optimizer is not None:
            parameters = list(self.model.parameters())
            self.optimizer = torch.optim.AdamW(
                [
                    {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": 0.1},
                    {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
                ],
                lr=1e-4,
                betas=(0.9, 0.95),
                **{optimizer: True},
            )

    def choose(self, key, work, optimizers, settings):
        """The fastest settings for one shape of work; each is run once to warm up and timed twice."""
        if settings is not None:
            self.chosen[key] = {"settings": settings, "tried": {}}
        if key in self.chosen:
            self.use(**self.chosen[key]["settings"])
            return self.chosen[key]
        tried = {}

        def attempt(**settings):
            self.use(**settings)
            work()
            tried[" ".join(str(value) for value in settings.values())] = seconds = min(timed(work), timed(work))
            return seconds, settings

        start = {} if optimizers is None else {"optimizer": optimizers[0]}
        attempts = [
            attempt(attention=attention, threads=threads, **start)
            for attention in ("sdpa", "eager")
            for threads in sorted({1, self.threads})
        ]
        best = min(attempts, key=lambda pair: pair[0])
        for optimizer in (optimizers or [])[1:]:
            best = min(best, attempt(**{**best[1], "optimizer": optimizer}), key=lambda pair: pair[0])
        self.use(**best[1])
        self.chosen[key] = {"settings": best[1], "tried": tried}
        return self.chosen[key]

    def train(self, batch, length, steps=5, max_norm=1.0, settings=None):
        vocabulary = self.model.config.vocab_size
        ids = torch.randint(vocabulary, (batch, length + 1))
        weights = torch.ones(batch * length)

        def step():
            logits = self.model(input_ids=ids[:, :-1], use_cache=False).logits
            losses = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
            )
            loss = (losses * weights).sum() / weights.sum()
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm)
            self.optimizer.step()
            return loss.item()

        chosen = self.choose(f"train {batch} x {length}", step, ["foreach", "fused"], settings)
        self.optimizer.zero_grad(set_to_none=True)
        forget_peak()
        step()
        seconds = [timed(step) for _ in range(steps)]
        return {**speed(batch * length, seconds, "step_seconds"), "peak_memory_bytes": peak_memory(), **chosen}

    def generate(self, batch, prompt, new, rounds=2, settings=None):
        ids = torch.randint(self.model.config.vocab_size, (batch, prompt))

        def run(count):
            with torch.inference_mode():
                self.model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    do_sample=True,
                    temperature=1.0,
                    top_k=0,
                    top_p=1.0,
                    min_new_tokens=count,
                    max_new_tokens=count,
                    use_cache=True,
                    pad_token_id=0,
                )

        chosen = self.choose(f"generate {batch} x {prompt}", lambda: run(max(2, new // 4)), None, settings)
        run(2)
        seconds = [timed(lambda: run(new)) for _ in range(rounds)]
        return {**speed(batch * new, seconds, "round_seconds"), **chosen}

    def settings(self):
        return {
            "python": sys.version.split()[0],
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "threads": torch.get_num_threads(),
            "interop_threads": torch.get_num_interop_threads(),
            "cpu": torch.backends.cpu.get_cpu_capability(),
            "mkl": torch.backends.mkl.is_available(),
            "environment": {name: os.environ.get(name) for name in ENVIRONMENT},
            "chosen": {key: value["settings"] for key, value in self.chosen.items()},
        }


def timed(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def speed(tokens, seconds, name):
    return {
        "tokens_per_second": tokens / statistics.median(seconds),
        "best_tokens_per_second": tokens / min(seconds),
        name: seconds,
    }


def main():
    torch.set_num_interop_threads(1)
    transformers.logging.set_verbosity_error()
    bench = Bench()
    operations = {"open": bench.open, "train": bench.train, "generate": bench.generate, "settings": bench.settings}
    for line in sys.stdin:
        request = json.loads(line)
        operation = request.pop("op")
        if operation == "close":
            return
        try:
            answer = operations[operation](**request)
        except Exception as problem:  # noqa: BLE001 - report any failure to the parent and continue
            answer = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
