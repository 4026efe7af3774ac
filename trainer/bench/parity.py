"""How far the fast paths are from plain float32, with a real model.

    python bench/parity.py MODEL_FOLDER [--prompts FILE] [--sequences 64] [--new 128]

Samples continuations of the prompts (one per line), then prints as lines of JSON
- how far the sampler's log-probabilities are from the learner's, in nats;
- loss, log-probabilities and gradient of a pass in the compute dtype, with packing, shared prefixes, compiled layers,
  relative to transformers in float32, one sequence at a time.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

from coa_trainer.model.bases import BaseModels, ModelOptions
from coa_trainer.model.datum import Datum, Loss
from coa_trainer.model.learner import PassOptions
from coa_trainer.model.trained import TrainedModel, full_weights, trained_model
from coa_trainer.sampling.choose_decoder import choose_decoder
from coa_trainer.sampling.job import Batch, SampleRequest
from coa_trainer.sampling.sampler import Sampler
from coa_trainer.sampling.token_sampling import SamplingParams

PROMPTS = [
    "Question: A train travels 60 km in 45 minutes. How far does it travel in two hours?\nAnswer:",
    "def fibonacci(n):\n    ",
    "The capital of France is",
    "Write a haiku about the sea.\n",
]
Sampled = list[tuple[list[int], dict[str, Any]]]


def opened(folder: Path, device: torch.device, dtype: torch.dtype, compiles: str) -> TrainedModel:
    bases = BaseModels({"model": folder}, ModelOptions(device, dtype, None, False, compiles))
    return trained_model(bases, "model", full_weights(bases, "model", bases.fresh("model")), PassOptions())


def sample(trained: TrainedModel, prompts: list[list[int]], each: int, new: int) -> Sampled:
    decoder = choose_decoder(trained.weights.model, trained.vocabulary)
    sampler = Sampler(decoder, trained.context_length, trained.vocabulary, None, 1024, 1 << 20)
    found: dict[int, list[dict[str, Any]]] = {}
    failures: list[BaseException] = []
    for number, prompt in enumerate(prompts):
        request = SampleRequest(prompt, new, SamplingParams(), count=each, seed=1000 * number)
        sampler.add(request, Batch(partial(found.__setitem__, number), failures.append))
    while not sampler.idle:
        sampler.step()
    if failures:
        raise failures[0]
    return [(prompts[number], one) for number in sorted(found) for one in found[number]]


def datum_of(prompt: list[int], sampled: dict[str, Any]) -> Datum:
    """As in reinforcement learning: only sampled tokens have weight."""
    tokens = np.array([*prompt, *sampled["tokens"]], dtype=np.int64)
    weights = np.zeros(len(tokens) - 1, dtype=np.float32)
    weights[len(prompt) - 1 :] = 1
    return Datum(tokens[:-1], tokens[1:], {"weights": weights})


def gaps(pairs: list[tuple[Any, Any]]) -> dict[str, float]:
    apart = np.concatenate([np.abs(np.asarray(one) - np.asarray(other)) for one, other in pairs])
    return {"mean": float(apart.mean()), "p99": float(np.quantile(apart, 0.99)), "max": float(apart.max())}


def reference(
    folder: Path, data: list[Datum], device: torch.device
) -> tuple[float, list[Any], dict[str, torch.Tensor]]:
    """Summed loss, log-probabilities of the weighted positions and gradients, from transformers in float32."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).to(device)
    total, logprobs = 0.0, []
    for datum in data:
        logits = model(torch.tensor(datum.tokens, device=device)[None], use_cache=False).logits[0]
        wanted = torch.tensor(datum.targets, device=device)[:, None]
        scores = logits.log_softmax(-1).gather(1, wanted)[:, 0]
        scores = scores[torch.tensor(datum.inputs["weights"], device=device) > 0]
        (-scores.sum()).backward()
        total -= float(scores.detach().sum())
        logprobs.append(scores.detach().cpu().numpy())
    gradients = {name: each.grad for name, each in model.named_parameters() if each.grad is not None}
    return total, logprobs, gradients


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prompts", type=Path)
    parser.add_argument("--sequences", type=int, default=64)
    parser.add_argument("--new", type=int, default=128)
    parser.add_argument("--compile", default="auto")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    tokenizer: Any = Tokenizer.from_file(str(given.folder / "tokenizer.json"))
    texts = given.prompts.read_text().splitlines() if given.prompts else PROMPTS
    prompts = [tokenizer.encode(text).ids for text in texts]
    trained = opened(given.folder, device, dtype, given.compile)
    sampled = sample(trained, prompts, max(1, given.sequences // len(prompts)), given.new)
    data = [datum_of(prompt, one) for prompt, one in sampled]
    passed = trained.run(data, Loss("cross_entropy"), backward=True)
    found = [logprobs[datum.inputs["weights"] > 0] for logprobs, datum in zip(passed.logprobs, data, strict=True)]
    pairs = [(one["model_logprobs"], mine) for (_, one), mine in zip(sampled, found, strict=True)]
    print(json.dumps({"what": "sampler and learner, nats", "tokens": sum(map(len, found)), **gaps(pairs)}), flush=True)
    gradients = {name: each.float().cpu() for name, each in trained.optimizer.gradients.items()}
    del trained
    loss, logprobs, wanted = reference(given.folder, data, device)
    apart = sum(float((gradients[name] - each.cpu()).square().sum()) for name, each in wanted.items()) ** 0.5
    size = sum(float(each.square().sum()) for each in wanted.values()) ** 0.5
    result = {
        "loss": passed.loss / loss - 1,
        "gradient": apart / size,
        "logprobs": gaps(list(zip(found, logprobs, strict=True))),
    }
    print(json.dumps({"what": f"{dtype} relative to float32".removeprefix("torch."), **result}), flush=True)


if __name__ == "__main__":
    main()
