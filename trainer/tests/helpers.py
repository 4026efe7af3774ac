"""Shared test helpers."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from coa_trainer.model.bases import BaseModels, ModelOptions
from coa_trainer.model.datum import Datum
from coa_trainer.model.learner import PassOptions
from coa_trainer.model.lora import LoraSettings
from coa_trainer.model.trained import TrainedModel, adapter_weights, full_weights, trained_model
from coa_trainer.sampling.job import Batch, SampleRequest
from coa_trainer.sampling.sampler import Sampler
from coa_trainer.sampling.token_sampling import SamplingParams


def bases_of(folder: Path, **options: Any) -> BaseModels:
    settings: dict[str, Any] = {"device": torch.device("cpu"), "dtype": torch.float32} | options
    return BaseModels({"tiny": folder}, ModelOptions(**settings))


def full_model(bases: BaseModels, options: PassOptions | None = None) -> TrainedModel:
    weights = full_weights(bases, "tiny", bases.fresh("tiny"))
    return trained_model(bases, "full", weights, options or PassOptions())


def lora_model(bases: BaseModels, name: str = "lora", **settings: Any) -> TrainedModel:
    lora = LoraSettings(**({"rank": 4} | settings))
    return trained_model(bases, name, adapter_weights(bases, "tiny", name, lora), PassOptions())


def random_datum(length: int, seed: int, **inputs: Any) -> Datum:
    random = np.random.default_rng(seed)
    tokens = random.integers(0, 256, length + 1)
    arrays = {name: np.asarray(values, dtype=np.float32) for name, values in inputs.items()}
    return Datum(tokens[:-1].astype(np.int64), tokens[1:].astype(np.int64), arrays)


def request(prompt: list[int], most: int, **others: Any) -> SampleRequest:
    params = {name: others.pop(name) for name in ("temperature", "top_k", "top_p", "allowed") if name in others}
    return SampleRequest(prompt=prompt, max_tokens=most, params=SamplingParams(**params), **others)


def sample_all(sampler: Sampler, requests: list[SampleRequest]) -> list[list[dict[str, Any]]]:
    """Samples all requests at the same time and returns the sequences of each."""
    results: dict[int, list[dict[str, Any]]] = {}
    failures: list[BaseException] = []
    for number, each in enumerate(requests):
        sampler.add(each, Batch(partial(results.__setitem__, number), failures.append))
    while not sampler.idle:
        sampler.step()
    if failures:
        raise failures[0]
    return [results[number] for number in range(len(requests))]
