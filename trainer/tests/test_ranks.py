"""A model sharded over two processes trains like a single process."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from coa_trainer.model.datum import Datum
from coa_trainer.model.sharded import even_rows
from live import Client, ServerError, datum, sample
from processes import Process, Program

TEXTS = (b"some text to be learned", b"another one", b"and a third that is longer than both of the others", b"end")


def grouped(*, forward: bool = False) -> list[dict[str, Any]]:
    """Two groups of rollouts: each group has one prompt, which is context, and all prompts begin in the same way."""
    examples = []
    for question in (b"What is 3+4?", b"Name a color, please."):
        prompt = b"You answer one question. " + question
        for number, answer in enumerate((b" seven", b" I do not know", b" red or blue")):
            inside: list[float | None] = [0.0] * (len(prompt) - 1)
            columns = {"weights": 0.5} if forward else {"weights": 0.5, "advantages": 1.0 - number, "logprobs": -5.5}
            inputs = {name: inside + [value] * len(answer) for name, value in columns.items()}
            examples.append(datum(prompt + answer, **inputs))
    return examples


def learned(client: Client, data: Path, name: str) -> tuple[str, list[float], list[float]]:
    """Trains four steps and saves a checkpoint; returns the model, losses and gradient norms."""
    model = client.create()
    batches = [[datum(text) for text in TEXTS], [datum(TEXTS[2])], [datum(text) for text in TEXTS[:3]]]
    losses, norms = [], []
    for batch, loss in [*((batch, "cross_entropy") for batch in batches), (grouped(), "ppo")]:
        losses.append(client.learn(model, batch, loss)["metrics"]["loss:sum"])
        norms.append(client.step(model, 0.01, adam_params={"learning_rate": 0.01, "weight_decay": 0.1})["metrics"])
    # Every position of a prompt has a log-probability, also where it was computed for another example.
    losses.append(client.forward(model, grouped(forward=True)))
    client.call("/save_weights", {"model_id": model, "path": name})
    assert (data / "checkpoints" / model / "weights" / name / "config.json").is_file()
    return model, losses, [each["grad_norm"] for each in norms]


def test_rows_are_spread_over_the_processes() -> None:
    """Shared prefixes count once; otherwise all examples would fit into the first row."""
    prompt = np.arange(300) % 256
    data = [Datum(tokens, tokens, {"weights": weights}) for tokens, weights in map(partial(rollout, prompt), range(16))]
    plans = even_rows(data, 4, 100_000)
    assert [member for plan in plans for member in plan.members] == list(range(16))
    sizes = [sum(len(data[m]) - s for m, s in zip(plan.members, plan.shared, strict=True)) for plan in plans]
    assert len(plans) == 4
    assert max(sizes) < 1.3 * min(sizes)
    assert all(len(plan.members) == 1 for plan in even_rows(data, 4, 1))


def rollout(prompt: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    answer = (np.arange(100) * (number + 1)) % 256
    weights = np.concatenate([np.zeros(len(prompt)), np.ones(len(answer))]).astype(np.float32)
    return np.concatenate([prompt, answer]), weights


def test_two_processes_train_like_one(tiny_folder: Path, tmp_path: Path) -> None:
    one, two = Process(tiny_folder, tmp_path / "one"), Program(tiny_folder, tmp_path / "two", ranks=2)
    try:
        sides = [(one.client, tmp_path / "one"), (two.client, tmp_path / "two")]
        (model, losses, norms), (spread, found, lengths) = (learned(*side, "end") for side in sides)
        assert found == pytest.approx(losses, rel=1e-5)
        assert lengths == pytest.approx(norms, rel=1e-5)
        folders = [
            data / "checkpoints" / name / "weights" / "end"
            for name, (_, data) in zip((model, spread), sides, strict=True)
        ]
        for file in ("model.safetensors", "optimizer.safetensors"):
            tensors, others = (load_file(folder / file) for folder in folders)
            assert tensors.keys() == others.keys()
            for name, tensor in tensors.items():
                assert torch.allclose(tensor, others[name], atol=1e-5), name
        assert sorted(path.name for path in folders[0].iterdir()) == sorted(path.name for path in folders[1].iterdir())

        # Sampling uses the current weights, also after another step.
        for _ in range(2):
            tokens, others_tokens = (
                sample(client, model_id=name, samples=2, max_tokens=12)
                for client, name in ((one.client, model), (two.client, spread))
            )
            for this, that in zip(tokens, others_tokens, strict=True):
                assert this["tokens"] == that["tokens"]
                assert np.abs(np.array(this["logprobs"]) - np.array(that["logprobs"])).max() < 1e-4
            for client, name in ((one.client, model), (two.client, spread)):
                client.learn(name, [datum(TEXTS[0])])
                client.step(name, 0.02)

        # Gathered weights do not outlive an optimizer step, and a checkpoint can be loaded.
        after = [
            client.forward(name, [datum(TEXTS[1])]) for client, name in ((one.client, model), (two.client, spread))
        ]
        assert after[1] == pytest.approx(after[0], rel=1e-4)
        body = {"model_id": spread, "path": f"tinker://{spread}/weights/end", "optimizer": True}
        assert two.client.call("/load_weights", body)["optimizer"] is True
        back = two.client.forward(spread, [datum(TEXTS[1])])
        assert back != pytest.approx(after[1], rel=1e-3)

        # Failures leave all processes unchanged and in step.
        with pytest.raises(ServerError, match="one GPU only"):
            two.client.create(rank=4)
        with pytest.raises(ServerError, match="Unknown loss"):
            two.client.learn(spread, [datum(TEXTS[0])], loss="nothing")
        assert two.client.forward(spread, [datum(TEXTS[1])]) == back
        assert two.end() == 0
    finally:
        one.kill()
        two.kill()
